"""The denoiser of a command that is given single pages, which knows their site; pages explained."""

from __future__ import annotations

import sys
from argparse import ArgumentParser, Namespace
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager
from dataclasses import KW_ONLY, dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from denoise_crawler.commands.page_input import report_failure
from denoise_crawler.denoiser import Cleaned, Cleaning, Denoiser
from denoise_crawler.errors import SourceError, StoreError
from denoise_crawler.methods.base import InMemoryKnowledge
from denoise_crawler.output.explanation import SURE, doubts
from denoise_crawler.output.extractors import is_low
from denoise_crawler.page import Page
from denoise_crawler.page.site import site_of
from denoise_crawler.page.text import printable
from denoise_crawler.reading import Reading, read_pages
from denoise_crawler.rules import KEEP, STRIP, SiteRules
from denoise_crawler.store import Store
from denoise_crawler.store.knowledge import StoredKnowledge


@dataclass
class KnownSite:
    """Opens the denoiser when the first page needs it; it stays open as long as ``opened``.

    Args:
        opened: Closes the store at the end of the command.
        cleaning: How pages are cleaned.
        store: The store of a crawl, None for none.
        site_pages: Returns the pages to learn first; None for none. All count as pages of one site.
        site: The name of the site, if it is not that of the page.
        site_of_url: Returns the site of a URL.
    """

    opened: ExitStack
    cleaning: Cleaning
    _: KW_ONLY
    store: Path | None = None
    site_pages: Callable[[], Iterable[tuple[str, str | bytes]]] | None = None
    site: str | None = None
    site_of_url: Callable[[str], str] = site_of
    _denoiser: Denoiser | None = field(default=None, init=False)

    def site_of(self, url: str) -> str:
        """Return the site of a page; if there are pages to learn first, all pages have the site of the first."""
        name = self.site_of_url(url) if self.site is None else self.site
        if self.site_pages is not None:
            self.site = name
        return name

    def denoiser(self, site: str) -> Denoiser:
        """Return the denoiser that knows ``site``.

        Raises:
            StoreError: The store cannot be read.
            SourceError: The pages to learn cannot be read.
        """
        if self._denoiser is None:
            store = self.store if self.site_pages is None else None
            self._denoiser = self.opened.enter_context(open_denoiser(store, self.cleaning))
            for url, html in self.site_pages() if self.site_pages is not None else ():
                with report_failure(url, "learned"):
                    self._denoiser.learn(Page.parse(url, html, site=site))
        return self._denoiser


@contextmanager
def open_denoiser(path: Path | None, cleaning: Cleaning) -> Iterator[Denoiser]:
    """Open the store of a crawl, read-only, and make a denoiser that knows its sites.

    What it learns stays in memory. Without a path it knows none.

    Raises:
        StoreError: The file cannot be read.
    """
    if path is None:
        yield cleaning.denoiser()
        return
    with closing(Store(path, read_only=True)) as store:
        yield cleaning.denoiser(InMemoryKnowledge(below=StoredKnowledge(store, cleaning.choice)))


def existing_store(path: Path, *, named: bool) -> Path | None:
    """Return the file of a store, None if it is not there; raise StoreError if the user ``named`` it."""
    if path.is_file():
        return path
    if named:
        raise StoreError(f"there is no store {path}")
    return None


def add_run_rules(parser: ArgumentParser) -> None:
    """Add ``--keep`` and ``--drop``."""
    for option, what in (("--keep", "stays, whatever the method says"), ("--drop", "goes")):
        words = f"what this selector (CSS or XPath) finds {what}; may be repeated"
        parser.add_argument(option, action="append", default=[], metavar="SELECTOR", help=words)


def read_rules(folder: str, arguments: Namespace | None = None) -> SiteRules:
    """Return the site rules of a folder and those of ``--keep`` and ``--drop``; print what is wrong in files.

    Raises:
        RulesError: The folder cannot be read, or a selector of an option is wrong.
    """
    rules = SiteRules.read(folder)
    for problem in rules.problems:
        print(printable(problem), file=sys.stderr)
    if arguments is not None:
        rules.add_everywhere(STRIP, arguments.drop)
        rules.add_everywhere(KEEP, arguments.keep)
    return rules


def read_some_pages(
    paths: Sequence[str | Path], reading: Reading, **fields: str
) -> Iterator[tuple[str, str | bytes]]:
    """Yield pages as :func:`read_pages` does; if there is none, raise SourceError, which says what is there."""
    yield from read_pages(paths, reading=reading, **fields)
    if not reading.pages:
        kinds = Counter(reading.damage) + Counter(reading.skipped)
        raise SourceError("; ".join([f"no page in {', '.join(map(str, paths))}", *kinds]))


class Explained(NamedTuple):
    """A page that was cleaned with ``Writing(explain=True)``, by a method that ``learns`` or not.

    ``known`` is how many pages of its site are known.
    """

    cleaned: Cleaned
    known: int
    learns: bool

    @property
    def blocks(self) -> list[Any]:
        """The blocks with their verdicts, none for a page that has nothing to read."""
        return list(self.cleaned.clean_page.explanation or [])

    @property
    def doubts(self) -> list[str]:
        """What lowers the confidence, if it is not high."""
        page, judgement = self.cleaned.page, self.cleaned.judgement
        is_unsure = is_low(judgement.confidence, SURE)
        return doubts(page, judgement, self.known if self.learns else None) if is_unsure else []

    def as_dict(self) -> dict[str, Any]:
        """Return all but the text."""
        clean = self.cleaned.clean_page
        return {
            "url": clean.url,
            "site": clean.site,
            "title": clean.title,
            "method": clean.method,
            "pages_known": self.known,
            "guarded": self.cleaned.guarded,
            "noise_ratio": clean.noise_ratio,
            "confidence": clean.confidence,
            "doubts": self.doubts,
            "skipped": self.cleaned.page.skipped,
            "blocks": self.blocks,
        }


def clean_known(denoiser: Denoiser, page: Page) -> Explained:
    """Clean a page by what is known of its site, which counts as warm if any page is."""
    method = denoiser.method_for(page.site)
    known = method.pages_known
    return Explained(denoiser.clean(page, warm=bool(known), method=method), known, denoiser.learns)
