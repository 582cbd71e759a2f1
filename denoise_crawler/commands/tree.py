"""``scrapy denoise tree``: draws the style tree of a site, or of two pages with the formulas of the paper."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from collections import Counter
from contextlib import closing
from pathlib import Path
from typing import Any

from scrapy.exceptions import UsageError
from scrapy.settings import BaseSettings

from denoise_crawler.commands.method_choice import add_output
from denoise_crawler.commands.page_input import fail, help_text, reading_bar
from denoise_crawler.crawl.settings import DenoiseSettings
from denoise_crawler.errors import DenoiseError, SourceError, StoreError
from denoise_crawler.methods.style_tree import SiteStyleTree
from denoise_crawler.options import add_number
from denoise_crawler.page import Page
from denoise_crawler.page.text import counted, printable
from denoise_crawler.reading import Reading, read_pages
from denoise_crawler.report.explorer import MAX_NODES, SiteSample, pages_html, style_tree_of, tree_data
from denoise_crawler.report.figures import RunFigures
from denoise_crawler.report.rendering import render_page
from denoise_crawler.store import Store

EPILOG = help_text(
    {
        "scrapy denoise tree mirror/ -o tree.html": "learned from pages on disk",
        "scrapy denoise tree --store crawl.sqlite -o tree.html": "as a crawl with style_tree left it",
        "scrapy denoise tree --pages a.html b.html -o both.html": "two pages, and how they become one style tree",
    },
    "Exit codes: 0 written, 1 there is nothing to draw, 2 wrong usage.",
)
_SITES_NAMED = 10


def add_arguments(parser: ArgumentParser) -> None:
    """Add the arguments of the command."""
    add = parser.add_argument
    add("paths", nargs="*", type=Path, metavar="PATH", help="pages to learn: files, folders")
    add_output(parser, "FILE", "a new HTML file")
    add("--site", metavar="NAME", help="the site to draw, if there are several")
    add("--pages", nargs=2, type=Path, metavar="PAGE", help="two small pages, drawn beside their style tree")
    what = "without PATH: the store of a crawl whose method was style_tree (default: DENOISE_STORE)"
    add("--store", type=Path, metavar="FILE", help=what)
    add_number(parser, "--nodes", 1, MAX_NODES, "nodes in all")


def run(arguments: Namespace, settings: BaseSettings) -> int:
    """Write the drawing; return 1 if there is nothing to draw."""
    path, mode = Path(arguments.output or arguments.overwrite_output), "w" if arguments.output is None else "x"
    if mode == "x" and path.exists():
        raise UsageError(f"{path} is there already; name another file, or overwrite it with -O", print_help=False)
    chosen = DenoiseSettings.from_settings(settings)
    try:
        html, of = _of_two_pages(arguments, chosen) if arguments.pages else _of_a_site(arguments, chosen)
        with path.open(mode, encoding="utf-8", errors="replace") as file:
            file.write(html)
    except (DenoiseError, OSError) as error:
        return fail(error)
    print(printable(f"{path}: {of}"))
    return 0


def _of_a_site(arguments: Namespace, settings: DenoiseSettings) -> tuple[str, str]:
    """Return the drawing and what it is of."""
    site, sample = arguments.site, SiteSample()
    if arguments.paths:
        site = _read_site(arguments, settings, sample)
        tree, note = style_tree_of(site, sample, settings.choice, None)
    else:
        with closing(_stored(arguments.store or settings.store)) as store:
            site = site or _only(Counter(name for name, stored in store.sites().items() if stored.known_by), None)
            tree, note = style_tree_of(site, sample, settings.choice, store)
    if tree is None:
        raise SourceError(f"{site}: {note}")
    shown = [Page.parse(url, html, site=site) for url, html in sample.pages()]
    values: dict[str, Any] = {
        "site": site,
        "data": tree_data(tree, shown, threshold=tree.threshold, max_nodes=arguments.nodes),
        "pages": [{"title": page.title or page.url, "file": ""} for page in shown],
        "note": note,
        "home": "",
    }
    html = render_page("tree.html", scripts=["tree.js"], run=_figures(arguments.paths), **values)
    return html, f"{site}, {counted(tree.pages_known, 'page')}"


def _of_two_pages(arguments: Namespace, settings: DenoiseSettings) -> tuple[str, str]:
    read = [page for path in arguments.pages for page in read_pages(path)]
    pages = [Page.parse(f"{number}:{url}", html, site="-") for number, (url, html) in enumerate(read, 1)]
    html = pages_html(pages, settings.choice, _figures(arguments.pages), max_nodes=arguments.nodes)
    return html, " and ".join(page.title or url for page, (url, _) in zip(pages, read, strict=True))


def _figures(paths: list[Path]) -> RunFigures:
    return RunFigures.begun(list(map(str, paths)), SiteStyleTree.name)


def _stored(path: Path) -> Store:
    if not path.is_file():
        raise StoreError(f"name pages to learn: there is no store {path}; another is named with --store")
    return Store(path, read_only=True)


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
    return _only(sites, arguments.site)


def _only(sites: Counter[str], wanted: str | None) -> str:
    """Return the site that is wanted, or the only one."""
    if not sites:
        raise SourceError("no page and no site was found; name pages to learn")
    name = wanted or next(iter(sites))
    if name not in sites or (not wanted and len(sites) > 1):
        named = ", ".join(f"{site} ({count})" for site, count in sites.most_common(_SITES_NAMED))
        more = f" and {len(sites) - _SITES_NAMED} more" if len(sites) > _SITES_NAMED else ""
        raise SourceError(f"a drawing shows one site: name it with --site. Found: {named}{more}")
    return name
