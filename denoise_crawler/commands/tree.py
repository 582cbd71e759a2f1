"""``scrapy denoise tree``: draws the style tree of a site, from pages on disk or from a crawl."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from collections import Counter
from contextlib import ExitStack, closing
from datetime import datetime, timezone
from importlib.metadata import version
from pathlib import Path

from scrapy.exceptions import UsageError
from scrapy.settings import BaseSettings

from denoise_crawler.commands.method_choice import add_output, check_new_file, new_file
from denoise_crawler.commands.page_input import fail, help_text, reading_bar
from denoise_crawler.crawl.settings import DenoiseSettings
from denoise_crawler.errors import DenoiseError, DrawingError, OutputError
from denoise_crawler.methods.style_tree import SiteStyleTree
from denoise_crawler.output.options import add_number
from denoise_crawler.page import Page
from denoise_crawler.page.text import printable
from denoise_crawler.reading import Reading, read_pages
from denoise_crawler.report import RunFigures
from denoise_crawler.report.explorer import (
    MAX_NODES,
    SiteSample,
    pages_html,
    style_tree_of,
    tree_data,
    tree_dot,
    tree_html,
)
from denoise_crawler.store import Store

EPILOG = help_text(
    {
        "scrapy denoise tree mirror/ -o tree.html": "learned from pages on disk",
        "scrapy denoise tree --store crawl.sqlite -o tree.html": "as a crawl with style_tree left it",
        "scrapy denoise tree --pages a.html b.html -o both.html": "two pages, and how they become one style tree",
        "scrapy denoise tree mirror/ --nodes 60 -o tree.dot": "for Graphviz: dot -Tsvg tree.dot -o tree.svg",
    },
    "Exit codes: 0 written, 1 there is nothing to draw, 2 wrong usage.",
)
_FORMATS = (".html", ".dot")
_SITES_NAMED = 10


def add_arguments(parser: ArgumentParser) -> None:
    """Add the arguments of the command."""
    add = parser.add_argument
    add("paths", nargs="*", type=Path, metavar="PATH", help="pages to learn: files, folders")
    add_output(parser, "FILE", "a new .html or .dot file")
    add("--site", metavar="NAME", help="the site to draw, if there are several")
    add("--pages", nargs=2, type=Path, metavar="PAGE", help="two small pages, drawn beside their style tree")
    what = "without PATH: the store of a crawl whose method was style_tree (default: DENOISE_STORE)"
    add("--store", type=Path, metavar="FILE", help=what)
    add_number(parser, "--nodes", 1, MAX_NODES, "nodes in all")


def run(arguments: Namespace, settings: BaseSettings) -> int:
    """Write the drawing; return 1 if there is nothing to draw."""
    replace = arguments.output is None
    path = Path(arguments.overwrite_output if replace else arguments.output)
    if path.suffix not in _FORMATS:
        raise UsageError(f"{path} does not end in .html or .dot", print_help=False)
    try:
        check_new_file(path, replace=replace)
    except OutputError as error:
        raise UsageError(str(error), print_help=False) from None
    try:
        _draw(path, arguments, DenoiseSettings.from_settings(settings), replace=replace)
    except (DenoiseError, OSError) as error:
        return fail(error)
    return 0


def _draw(path: Path, arguments: Namespace, settings: DenoiseSettings, *, replace: bool) -> None:
    if arguments.pages:
        _draw_pages(path, arguments, settings, replace=replace)
        return
    site, sample, store = arguments.site, SiteSample(), None
    with ExitStack() as opened:
        if arguments.paths:
            site = _read_site(arguments, settings, sample)
        else:
            store = opened.enter_context(closing(_stored(arguments.store or settings.store)))
            site = site or _only_site(store)
        tree, note = style_tree_of(site, sample, settings.choice, store)
    if tree is None:
        raise DrawingError(f"{site}: {note}")
    shown = [Page.parse(url, html, site=site) for url, html in sample.pages()]
    data = tree_data(tree, shown, threshold=tree.threshold, max_nodes=arguments.nodes)
    figures = _figures(arguments.paths)
    with new_file(path, replace=replace) as file:
        is_dot = path.suffix == ".dot"
        text = (
            tree_dot(data)
            if is_dot
            else tree_html(data, site, figures, [{"title": page.url} for page in shown], note)
        )
        file.write_text(text, encoding="utf-8", errors="replace")
    print(printable(f"{path}: {site}, {tree.pages_known} pages"))


def _draw_pages(path: Path, arguments: Namespace, settings: DenoiseSettings, *, replace: bool) -> None:
    if path.suffix != ".html":
        raise DrawingError(f"{path} does not end in .html, as a drawing of two pages does")
    choice = settings.choice
    method = SiteStyleTree(**(choice.options if choice.name == SiteStyleTree.name else {}))  # type: ignore[arg-type]
    read = [page for named in arguments.pages for page in read_pages(named)]
    pages = [Page.parse(f"{number}:{url}", html, site="-") for number, (url, html) in enumerate(read, 1)]
    with new_file(path, replace=replace) as file:
        text = pages_html(pages, method, _figures(arguments.pages), max_nodes=arguments.nodes)
        file.write_text(text, encoding="utf-8", errors="replace")


def _figures(paths: list[Path]) -> RunFigures:
    made = datetime.now(timezone.utc).strftime("%Y-%m-%d %H:%M UTC")
    return RunFigures(list(map(str, paths)), SiteStyleTree.name, made, version("denoise-crawler"))


def _stored(path: Path) -> Store:
    if not path.is_file():
        raise DrawingError(f"name pages to learn: there is no store {path}; another is named with --store")
    return Store(path, read_only=True)


def _only_site(store: Store) -> str:
    sites = Counter(site for site, _ in store.known())
    if not sites:
        raise DrawingError(f"the store {store.path} knows no site; name pages to learn")
    return _the_one(sites, None)


def _read_site(arguments: Namespace, settings: DenoiseSettings, sample: SiteSample) -> str:
    """Sample the pages of the named site, or of the only one; return its name."""
    sites: Counter[str] = Counter()
    paths, reading = arguments.paths, Reading()
    with reading_bar(lambda: read_pages(paths, reading=reading), lambda: reading, paths, ["learning"]) as pages:
        for url, html in pages():
            site = settings.site(url)
            sites[site] += 1
            if site == (arguments.site or next(iter(sites))):
                sample.add(url, html)
    if not sites:
        raise DrawingError(f"no page was found in {', '.join(map(str, paths))}")
    return _the_one(sites, arguments.site)


def _the_one(sites: Counter[str], wanted: str | None) -> str:
    """Return the site that is wanted, or the only one."""
    name = wanted or next(iter(sites))
    if name not in sites or (not wanted and len(sites) > 1):
        named = ", ".join(f"{site} ({count})" for site, count in sites.most_common(_SITES_NAMED))
        more = f" and {len(sites) - _SITES_NAMED} more" if len(sites) > _SITES_NAMED else ""
        raise DrawingError(f"a drawing shows one site: name it with --site. Found: {named}{more}")
    return name
