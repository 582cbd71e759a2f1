"""``scrapy denoise tree``: draws a site's style tree, learned from pages on disk or by a crawl."""

from __future__ import annotations

import sys
from argparse import ArgumentTypeError, BooleanOptionalAction
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

from denoise_crawler.crawl.settings import DenoiseSettings, SettingError
from denoise_crawler.methods.style_tree import StyleTree
from denoise_crawler.output import drawing
from denoise_crawler.page import Page
from denoise_crawler.reading import SourceError, read_pages
from denoise_crawler.store import Store, StoreError

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace
    from collections.abc import Callable

    from scrapy.settings import BaseSettings

_TEXT_FORMATS = (".dot", ".gv")
_SITES_NAMED = 10


class _NoTreeError(Exception):
    """There is no tree to draw; the message says why and what to do."""


def add_arguments(parser: ArgumentParser) -> None:
    """Add what can be chosen."""
    parser.add_argument("paths", nargs="*", type=Path, metavar="PATH", help="pages to learn: files, folders")
    parser.add_argument(
        "-o", "--output", type=_output, required=True, metavar="FILE", help="a .dot, .svg, .pdf or .png file"
    )
    parser.add_argument("--site", metavar="NAME", help="the site to draw, if there are several")
    parser.add_argument(
        "--store", type=Path, metavar="FILE", help="without PATH: the store of a crawl (default: DENOISE_STORE)"
    )
    parser.add_argument(
        "--depth", type=_number(0), default=drawing.DEPTH, metavar="N", help="levels (%(default)s)"
    )
    parser.add_argument(
        "--min-pages",
        type=_number(1),
        default=drawing.MIN_PAGES,
        metavar="N",
        help="sequences of children on N pages or more (%(default)s)",
    )
    parser.add_argument(
        "--max-nodes", type=_number(1), default=drawing.MAX_NODES, metavar="N", help="nodes in all (%(default)s)"
    )
    parser.add_argument(
        "--collapse",
        action=BooleanOptionalAction,
        help="read runs of equal siblings as one (default: as the crawl)",
    )


def run(arguments: Namespace, settings: BaseSettings) -> int:
    """Write the drawing; return 1 where there is none to be made."""
    try:
        ours = DenoiseSettings.from_settings(settings)
        method = _method(arguments, ours)
        name = _learn(arguments, ours, method) if arguments.paths else _load(arguments, ours, method)
        _write(arguments, method, name)
    except (drawing.DrawingError, SettingError, SourceError, StoreError, _NoTreeError, OSError) as error:
        print(error, file=sys.stderr)
        return 1
    return 0


def _output(value: str) -> Path:
    path = Path(value)
    if path.suffix not in _TEXT_FORMATS and path.suffix[1:] not in drawing.FORMATS:
        raise ArgumentTypeError(f"{value} does not end in .dot, .svg, .pdf or .png")
    return path


def _number(least: int) -> Callable[[str], int]:
    def number(value: str) -> int:
        if not value.isdecimal() or int(value) < least:
            raise ArgumentTypeError(f"{value!r} is not a whole number, {least} or more")
        return int(value)

    return number


def _method(arguments: Namespace, settings: DenoiseSettings) -> StyleTree:
    """Return the method of the settings if it is this one, else this one with its defaults."""
    options = dict(settings.method_options) if settings.method == StyleTree.name else {}
    if arguments.collapse is not None:
        options["collapse"] = arguments.collapse
    return StyleTree(**options)  # type: ignore[arg-type]


def _learn(arguments: Namespace, settings: DenoiseSettings, method: StyleTree) -> str:
    """Learn the pages of the site that was named, or of the only one; return its name."""
    found: Counter[str] = Counter()
    for url, html in read_pages(arguments.paths):
        site = settings.site(url)
        found[site] += 1
        if site == (arguments.site or next(iter(found))):
            page = Page.parse(url, html, site=site)
            if not page.skipped:
                method.observe(page)
    if not found:
        raise _NoTreeError(f"no page was found in {', '.join(map(str, arguments.paths))}")
    name = str(arguments.site or next(iter(found)))
    if name not in found or (not arguments.site and len(found) > 1):
        named = ", ".join(f"{site} ({pages})" for site, pages in found.most_common(_SITES_NAMED))
        more = f" and {len(found) - _SITES_NAMED} more" if len(found) > _SITES_NAMED else ""
        raise _NoTreeError(f"a drawing shows one site: name it with --site. Found (pages): {named}{more}")
    if not method.pages_known:
        raise _NoTreeError(f"no page of {name} can be read")
    return name


def _load(arguments: Namespace, settings: DenoiseSettings, method: StyleTree) -> str:
    """Read what a crawl learned of the site that was named; return its name."""
    path = arguments.store or settings.store
    if not arguments.site:
        raise _NoTreeError(f"name pages to learn, or with --site the site to take from the store {path}")
    if not path.is_file():
        raise _NoTreeError(f"there is no store {path}; name another with --store")
    store = Store(path)
    try:
        known = store.knowledge(arguments.site, method.store_key)
    finally:
        store.close()
    if known is None:
        raise _NoTreeError(f"the store {path} has no style tree of {arguments.site!r}")
    try:
        method.merge_bytes(known)
    except ValueError as error:
        raise _NoTreeError(f"the tree of {arguments.site} in {path} cannot be read: {error}") from None
    return str(arguments.site)


def _write(arguments: Namespace, method: StyleTree, name: str) -> None:
    dot = drawing.tree_dot(
        method.tree,
        depth=arguments.depth,
        min_pages=arguments.min_pages,
        threshold=method.threshold,
        max_nodes=arguments.max_nodes,
        title=name,
    )
    path: Path = arguments.output
    if path.suffix in _TEXT_FORMATS:
        path.write_text(dot, encoding="utf-8")
    else:
        path.write_bytes(drawing.rendered(dot, path.suffix[1:]))
    print(f"{path}: {name}, {method.pages_known} pages")
