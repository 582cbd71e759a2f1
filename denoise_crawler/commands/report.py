"""``scrapy denoise report``: writes a static site that shows sites, style trees and judged pages."""

from __future__ import annotations

import sys
import time
from argparse import ArgumentParser, Namespace
from collections.abc import Iterator
from contextlib import ExitStack, closing
from pathlib import Path

from rich.console import Console
from scrapy.exceptions import UsageError
from scrapy.settings import BaseSettings

from denoise_crawler.batch import cores
from denoise_crawler.commands.clean_output import Target
from denoise_crawler.commands.method_choice import add_method_choice, add_output, settings_with_method
from denoise_crawler.commands.page_input import (
    DONE,
    FAILED,
    INTERRUPTED,
    add_reading_options,
    add_workers,
    help_text,
    list_counts,
    read_named_pages,
    reading_bar,
)
from denoise_crawler.crawl.settings import DenoiseSettings
from denoise_crawler.errors import OutputError, SourceError, StoreError, WorkerError
from denoise_crawler.options import add_number
from denoise_crawler.page.text import counted, printable
from denoise_crawler.reading import Reading
from denoise_crawler.report import Bounds, Plan, RunFigures, write_report
from denoise_crawler.store import Store, is_store

SitedPages = Iterator[tuple[str, str, str | bytes]]

_DEFAULTS = Bounds()
EPILOG = help_text(
    {
        "scrapy denoise report pages.jsonl mirror/ -o report": "pages, learned and judged; open report/index.html",
        "scrapy denoise report -o report": "the store of the project's crawls",
        "scrapy denoise report crawl.sqlite mirror/ -o report": "pages, judged by what that crawl knows",
    },
    "A PATH is the store of a crawl, or a folder or file of pages as scrapy denoise clean reads them. Of a store, "
    "the sites, their progress and the pages that wait are shown; pages named beside it are judged by what the "
    "crawl knows. Open index.html in DIR.",
    "Exit codes: 0 written, 1 nothing to show or stopped, 2 wrong usage, 130 interrupted.",
)


def add_arguments(parser: ArgumentParser) -> None:
    """Add the arguments of the command."""
    add = parser.add_argument
    what = "a store or pages (default: the setting DENOISE_STORE)"
    add("paths", nargs="*", type=Path, metavar="PATH", help=what)
    add_output(parser, "DIR", "a new or empty folder")
    add_number(parser, "--pages", 0, _DEFAULTS.pages, "pages shown of a site")
    add_number(parser, "--sites", 0, _DEFAULTS.sites, "sites with pages of their own")
    add_number(parser, "--nodes", 1, _DEFAULTS.nodes, "nodes of a style tree")
    what = "let painted pages fetch their pictures and style sheets when looked at (default: none is fetched)"
    add("--remote", action="store_true", help=what)
    add_method_choice(parser)
    add_workers(parser)
    add_reading_options(parser)


def run(arguments: Namespace, settings: BaseSettings) -> int:
    """Write the report and return the exit code; raise UsageError for arguments that cannot be used."""
    chosen = settings_with_method(arguments, settings, {})
    with ExitStack() as opened:
        try:
            source = _Source(arguments, chosen, opened)
            # checks that the folder may be written to
            target = Target("painted", arguments.output, arguments.overwrite_output)
            target.open(map(str, source.paths), chosen.site)
        except (OutputError, SourceError, StoreError) as error:
            raise UsageError(str(error), print_help=False) from None
        return _make_report(arguments, chosen, source)


def _make_report(arguments: Namespace, chosen: DenoiseSettings, source: _Source) -> int:
    console = Console(stderr=True, highlight=False, soft_wrap=True)
    folder = Path(arguments.output or arguments.overwrite_output)
    start = time.monotonic()
    try:
        folder.mkdir(parents=True, exist_ok=True)
        names = ("learning", "judging")
        with reading_bar(source.read, lambda: source.reading, source.paths, names, console) as pages:
            bounds = Bounds(arguments.pages, arguments.sites, arguments.nodes)
            workers = arguments.workers or cores()
            plan = Plan(pages, chosen.choice, bounds, source.store, arguments.remote, workers)
            figures = write_report(folder, plan, source.figures())
    except KeyboardInterrupt:
        console.print("interrupted; the report is not whole", markup=False)
        return INTERRUPTED
    except (OSError, StoreError, WorkerError) as error:
        console.print(printable(f"stopped: {error}"), markup=False)
        return FAILED
    return _summarize(console, figures, source.reading, folder / "index.html", time.monotonic() - start)


class _Source:
    """The store and the pages that the user named; raises SourceError or StoreError if one cannot be read."""

    def __init__(self, arguments: Namespace, chosen: DenoiseSettings, opened: ExitStack) -> None:
        self._arguments, self._chosen = arguments, chosen
        named = arguments.paths or [chosen.store]
        stores = [path for path in named if path.is_file() and is_store(path)]
        self.paths = [path for path in named if path not in stores]
        if not arguments.paths and not stores:
            raise SourceError(f"there is no store {chosen.store}: name a store or pages")
        if len(stores) > 1:
            raise SourceError(f"{stores[0]} and {stores[1]} are both stores: name one")
        self.store = opened.enter_context(closing(Store(stores[0], read_only=True))) if stores else None
        self.reading = Reading()
        self.read()

    def read(self) -> SitedPages:
        """Return the pages for one more reading: those that wait in the store, then those named."""
        self.reading = Reading()
        return self._pages(read_named_pages(self.paths, self._arguments, self._chosen, self.reading))

    def figures(self) -> RunFigures:
        """Return the figures of a new run."""
        named = [*([self.store.path] if self.store else []), *self.paths]
        return RunFigures.begun([path.name or str(path) for path in named], self._chosen.choice.name)

    def _pages(self, read: Iterator[tuple[str, str | bytes]]) -> SitedPages:
        if self.store is not None:
            seen: set[str] = set()
            for page in self.store.all_pages():
                if page.url not in seen:
                    seen.add(page.url)
                    yield page.site, page.url, page.html
        for url, html in read:
            yield self._chosen.site(url), url, html


def _summarize(console: Console, figures: RunFigures, reading: Reading, index: Path, seconds: float) -> int:
    pages, sites = counted(figures.pages, "page"), counted(len(figures.sites), "site")
    console.print(f"{pages} of {sites} in {seconds:.1f} s ({figures.method})", markup=False)
    failed = sum(site.failed for site in figures.sites)
    if failed:
        console.print(f"could not be judged: {counted(failed, 'page')}", markup=False)
    if reading.damage:
        console.print(f"damage: {list_counts(reading.damage)}", markup=False)
    if not figures.sites:
        print("no page and no site was found", file=sys.stderr)
        return FAILED
    console.print(f"written: {index}", markup=False)
    return DONE
