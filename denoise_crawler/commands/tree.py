"""``scrapy denoise tree``: draws the style tree of a site, from pages on disk or from a crawl."""

from __future__ import annotations

from argparse import ArgumentParser, BooleanOptionalAction, Namespace
from collections import Counter
from contextlib import closing
from pathlib import Path

from scrapy.exceptions import UsageError
from scrapy.settings import BaseSettings

from denoise_crawler.commands.method_choice import add_output, check_new_file, new_file
from denoise_crawler.commands.page_input import fail, help_text, reading_bar, report_failure
from denoise_crawler.crawl.settings import DenoiseSettings
from denoise_crawler.errors import DenoiseError, DrawingError, OutputError
from denoise_crawler.methods.style_tree.method import StyleTree
from denoise_crawler.output import drawing
from denoise_crawler.output.options import add_number
from denoise_crawler.page import Page
from denoise_crawler.page.text import printable
from denoise_crawler.reading import Reading, read_pages
from denoise_crawler.store import Store

EPILOG = help_text(
    {
        "scrapy denoise tree mirror/ -o tree.svg": "learned from pages on disk",
        "scrapy denoise tree --site example.com -o tree.pdf": "as a crawl with style_tree left it",
    },
    "Solid boxes are elements, dashed ones the sequences of children that pages have there. Blue is kept, grey "
    "goes. .svg, .pdf and .png need Graphviz; .dot does not.",
    "Exit codes: 0 written, 1 there is nothing to draw, 2 wrong usage.",
)
_TEXT_FORMATS = (".dot", ".gv")
_SITES_NAMED = 10


def add_arguments(parser: ArgumentParser) -> None:
    """Add the arguments of the command."""
    add = parser.add_argument
    add("paths", nargs="*", type=Path, metavar="PATH", help="pages to learn: files, folders")
    add_output(parser, "FILE", "a new .dot, .svg, .pdf or .png file")
    add("--site", metavar="NAME", help="the site to draw, if there are several")
    what = "without PATH: the store of a crawl whose method was style_tree (default: DENOISE_STORE)"
    add("--store", type=Path, metavar="FILE", help=what)
    add_number(parser, "--depth", 0, drawing.DEPTH, "levels")
    add_number(parser, "--min-pages", 1, drawing.MIN_PAGES, "sequences of children on N pages or more")
    add_number(parser, "--max-nodes", 1, drawing.MAX_NODES, "nodes in all")
    what = "read runs of equal siblings as one (default: as the crawl)"
    add("--collapse", action=BooleanOptionalAction, help=what)


def run(arguments: Namespace, settings: BaseSettings) -> int:
    """Write the drawing; return 1 if there is nothing to draw."""
    path, replace = _output(arguments)
    try:
        ours = DenoiseSettings.from_settings(settings)
        method = _method(arguments, ours)
        name = _learn_site(arguments, ours, method) if arguments.paths else _load_site(arguments, ours, method)
        _write_drawing(path, arguments, method, name, replace=replace)
    except (DenoiseError, OSError) as error:
        return fail(error)
    return 0


def _output(arguments: Namespace) -> tuple[Path, bool]:
    """Return the file to write, and whether it may be there already; raise UsageError if it cannot be written."""
    replace = arguments.output is None
    path = Path(arguments.overwrite_output if replace else arguments.output)
    if path.suffix not in _TEXT_FORMATS and path.suffix[1:] not in drawing.FORMATS:
        raise UsageError(f"{path} does not end in .dot, .svg, .pdf or .png", print_help=False)
    try:
        check_new_file(path, replace=replace)
    except OutputError as error:
        raise UsageError(str(error), print_help=False) from None
    return path, replace


def _method(arguments: Namespace, settings: DenoiseSettings) -> StyleTree:
    """Return the style tree with the options of the settings, or with defaults if these name another method."""
    options = dict(settings.choice.options) if settings.choice.name == StyleTree.name else {}
    if arguments.collapse is not None:
        options["collapse"] = arguments.collapse
    return StyleTree(**options)  # type: ignore[arg-type]


def _learn_site(arguments: Namespace, settings: DenoiseSettings, method: StyleTree) -> str:
    """Learn the pages of the named site, or of the only one; return its name."""
    found: Counter[str] = Counter()
    paths, reading = arguments.paths, Reading()
    with reading_bar(lambda: read_pages(paths, reading=reading), lambda: reading, paths, ["learning"]) as pages:
        for url, html in pages():
            site = settings.site(url)
            found[site] += 1
            if site == (arguments.site or next(iter(found))):
                with report_failure(url, "learned"):
                    if not (page := Page.parse(url, html, site=site)).skipped:
                        method.observe(page)
    if not found:
        raise DrawingError(f"no page was found in {', '.join(map(str, arguments.paths))}")
    name = str(arguments.site or next(iter(found)))
    if name not in found or (not arguments.site and len(found) > 1):
        named = ", ".join(f"{site} ({pages})" for site, pages in found.most_common(_SITES_NAMED))
        more = f" and {len(found) - _SITES_NAMED} more" if len(found) > _SITES_NAMED else ""
        raise DrawingError(f"a drawing shows one site: name it with --site. Found (pages): {named}{more}")
    if not method.pages_known:
        raise DrawingError(f"no page of {name} can be read")
    return name


def _load_site(arguments: Namespace, settings: DenoiseSettings, method: StyleTree) -> str:
    """Load what a crawl learned of the named site; return its name."""
    path = arguments.store or settings.store
    if not arguments.site:
        raise DrawingError(f"name pages to learn, or with --site the site to take from the store {path}")
    if not path.is_file():
        raise DrawingError(f"there is no store {path}; name another with --store")
    with closing(Store(path, read_only=True)) as store:
        known = store.knowledge(arguments.site, method.store_key)
        others = [method for site, method in store.known() if site == arguments.site]
    if not known:
        of_others = _what_else_is_stored(others, method.store_key)
        raise DrawingError(f"the store {path} has no style tree of {arguments.site!r}: {of_others}")
    try:
        method.merge_bytes(known[0])
    except ValueError as error:
        raise DrawingError(f"the tree of {arguments.site} in {path} cannot be read: {error}") from None
    return str(arguments.site)


def _what_else_is_stored(store_keys: list[str], wanted: str) -> str:
    """Say what the store holds instead of the ``wanted`` tree, and how to get one."""
    if not store_keys:
        return "it knows nothing of this site. Name another with --site or --store, or pages to learn"
    names = sorted({key.partition(":")[0] for key in store_keys})
    if StyleTree.name in names:
        return (
            f"it holds {', '.join(store_keys)} instead of {wanted}. Set DENOISE_METHOD to {StyleTree.name!r} and "
            "features_per_leaf in DENOISE_METHOD_OPTIONS to the number behind the name"
        )
    return (
        f"it holds what {', '.join(names)} learned, which has no tree. Name pages to learn a tree from, or crawl "
        f"with DENOISE_METHOD = {StyleTree.name!r}"
    )


def _write_drawing(path: Path, arguments: Namespace, method: StyleTree, name: str, *, replace: bool) -> None:
    dot = drawing.tree_dot(
        method.tree,
        depth=arguments.depth,
        min_pages=arguments.min_pages,
        threshold=method.threshold,
        max_nodes=arguments.max_nodes,
        title=name,
    )
    with new_file(path, replace=replace) as file:
        if path.suffix in _TEXT_FORMATS:
            file.write_text(dot, encoding="utf-8")
        else:
            file.write_bytes(drawing.render_dot(dot, path.suffix[1:]))
    print(printable(f"{path}: {name}, {method.pages_known} pages"))
