"""What a worker process of a crawl does with pages, and what it and the crawl say to each other.

It knows nothing of Scrapy, and no file: what is known of sites it asks the crawl for, and hands on to it.
"""

from __future__ import annotations

import faulthandler
import logging
import os
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from time import perf_counter
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from denoise_crawler.core import choose
from denoise_crawler.crawl.page_cleaner import Learned, PageCleaner
from denoise_crawler.denoiser import RAW, Cleaned, Cleaning
from denoise_crawler.errors import PartError
from denoise_crawler.methods import Judgement
from denoise_crawler.output.clean_page import CleanPage
from denoise_crawler.page import Page
from denoise_crawler.page.held_pages import PageWindow

if TYPE_CHECKING:
    from denoise_crawler.workers.process import Line

# what is sent of a cleaned page: its judgement without the nodes, its record, and what ``Cleaned`` counts
SentPage: TypeAlias = tuple[Judgement | None, CleanPage, int, int]


class HandedPage(NamedTuple):
    """A page for a worker. Its HTML is None if the worker has it: see :class:`PageWindow`."""

    number: int
    url: str
    site: str
    html: str | None


class Ask(NamedTuple):
    """A worker asks what is known of a site; the reply is the bytes, or None."""

    site: str


class Keep(NamedTuple):
    """A worker hands on what it knows of a site, to be kept; the reply is whether that worked."""

    site: str
    known: bytes


class Logged(NamedTuple):
    """A line for the log of the crawl."""

    name: str
    level: int
    message: str


class MissingPart(NamedTuple):
    """The result where a part is not on its page: the message of the PartError."""

    message: str


class AskedKnowledge:
    """What is known of sites. It lies in the store, which only the crawl itself reads and writes."""

    def __init__(self, line: Line) -> None:
        self._line = line

    def get(self, site: str) -> bytes | None:
        """Return what is known of ``site``, or None."""
        known: bytes | None = self._line.ask(Ask(site))
        return known

    def put(self, site: str, known: bytes) -> bool:
        """Have kept what is ``known`` of ``site``; return whether that worked."""
        done: bool = self._line.ask(Keep(site, known))
        return done


class LogToCrawl(logging.Handler):
    """Sends the lines of the log to the crawl."""

    def __init__(self, line: Line) -> None:
        super().__init__()
        self._line = line

    def emit(self, record: logging.LogRecord) -> None:
        """Send one line."""
        self._line.send(Logged(record.name, record.levelno, self.format(record)))


@dataclass(slots=True)
class HeldPage:
    """A page in the window of a worker, and its record once it was cleaned."""

    page: Page
    cleaned: Cleaned | None = None


def begin(cleaning: Cleaning, core: str | None, line: Line) -> PageTasks:
    """Make ready a worker process of a crawl; ``core`` is None where it uses what it finds."""
    faulthandler.enable()
    os.dup2(2, 1)  # what a user's function prints must not come between the items of a feed on the standard output
    logging.basicConfig(level=logging.WARNING, handlers=[LogToCrawl(line)], format="%(message)s")
    if core is not None:
        choose(core)
    return PageTasks(cleaning, AskedKnowledge(line))


class PageTasks:
    """The tasks of a worker, by name."""

    def __init__(self, cleaning: Cleaning, knowledge: AskedKnowledge) -> None:
        self._seconds: defaultdict[str, float] = defaultdict(float)
        self._pages = PageCleaner(cleaning, knowledge, self._timed)
        self._window = PageWindow[int, HeldPage]()

    def do(self, name: str, page: HandedPage | None, *given: Any) -> tuple[Any, dict[str, float]]:
        """Do a task; return its result, and the seconds by stage since the last result."""
        held = () if page is None else (self._held(page),)
        result = getattr(self, name)(*held, *given)
        seconds, self._seconds = self._seconds, defaultdict(float)
        return result, dict(seconds)

    def start(self) -> None:
        """Do nothing: whoever asked knows now that this process works."""

    def skipped(self, held: HeldPage) -> str | None:
        """Return why the page has nothing to read."""
        return held.page.skipped

    def learn(self, held: HeldPage, ready: bool) -> Learned:
        """Learn the page."""
        return self._pages.learn(held.page, ready=ready)

    def clean(self, held: HeldPage, warm: bool) -> SentPage:
        """Clean the page."""
        return self._keep(held, self._pages.clean(held.page, warm=warm))

    def raw(self, held: HeldPage) -> SentPage:
        """Return the page with all of its text."""
        return self._keep(held, self._pages.raw(held.page))

    def preview(self, held: HeldPage) -> SentPage:
        """Clean the page for somebody who looks at it."""
        return _sent(self._pages.preview(held.page))

    def part(self, held: HeldPage, part: str, method: str, warm: bool) -> CleanPage | MissingPart:
        """Return the clean text of a part. The page is cleaned again, as before, if its record was dropped."""
        if held.cleaned is None:
            is_raw, page = method == RAW, held.page
            held.cleaned = self._pages.raw(page) if is_raw else self._pages.clean(page, warm=warm)
        try:
            return self._pages.part(held.cleaned, part)
        except PartError as error:
            return MissingPart(str(error))

    def save(self, site: str | None) -> None:
        """Hand on what is known of ``site``, None: of all sites."""
        self._pages.save(site)

    def _keep(self, held: HeldPage, cleaned: Cleaned) -> SentPage:
        held.cleaned = cleaned
        return _sent(cleaned)

    def _held(self, handed: HandedPage) -> HeldPage:
        number, url, site, html = handed
        held = self._window.get(number)
        if held is None:
            assert html is not None  # noqa: S101 - the crawl's window is the same
            held = HeldPage(Page.parse(url, html, site=site))
            self._window.add(number, len(html), held)
        return held

    @contextmanager
    def _timed(self, name: str) -> Iterator[None]:
        start = perf_counter()
        try:
            yield
        finally:
            self._seconds[name] += perf_counter() - start


def _sent(cleaned: Cleaned) -> SentPage:
    judgement = found = cleaned.judgement
    if found is not None:
        judgement = Judgement([], [], guarded=found.guarded, obeyed=found.obeyed, passed_over=found.passed_over)
    return judgement, cleaned.clean_page, cleaned.visible, cleaned.kept
