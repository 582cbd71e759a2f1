"""What is read or patched inside Scrapy where no public way leads, and what differs between its versions."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import scrapy
from scrapy import Request
from scrapy.core import downloader
from scrapy.extensions.feedexport import FeedExporter
from scrapy.http import Response
from scrapy.pipelines.media import MediaPipeline
from scrapy.utils.python import to_unicode

from denoise_crawler.errors import OldScrapyError

if TYPE_CHECKING:
    from scrapy.core.scheduler import BaseScheduler
    from scrapy.crawler import Crawler, CrawlerProcessBase
    from scrapy.robotstxt import RobotParser

# --- the engine: its slot holds the requests in progress and the reason why the crawl ends


def _slot_of(crawler: Crawler) -> Any:
    return getattr(crawler.engine, "_slot", None)


def scheduler_of(crawler: Crawler) -> BaseScheduler | None:
    """Return the scheduler of a crawl, None before the crawl has begun."""
    engine = crawler.engine
    if hasattr(engine, "scheduler"):  # since 2.19
        return engine.scheduler
    slot = _slot_of(crawler)
    return None if slot is None else slot.scheduler


def requests_in_progress(crawler: Crawler) -> int:
    """Return how many requests were sent whose callbacks have not ended."""
    return len(getattr(_slot_of(crawler), "inprogress", ()))


def has_begun(crawler: Crawler) -> bool:
    """Return True if the spider was opened and has not been closed."""
    return _slot_of(crawler) is not None


def is_closing(crawler: Crawler) -> bool:
    """Return True if the spider is being closed. Scrapy has no signal and no public attribute for it."""
    return getattr(_slot_of(crawler), "closing", None) is not None


def is_stopping(crawler: Crawler) -> bool:
    """Return True if the crawl is ending: its spider is being closed, or its engine was stopped."""
    engine: Any = crawler.engine
    return has_begun(crawler) and (is_closing(crawler) or not engine.running)


def wake(crawler: Crawler) -> None:
    """Make the engine ask the scheduler now. Otherwise it asks when a response comes, or after five seconds."""
    nextcall = getattr(_slot_of(crawler), "nextcall", None)
    if nextcall is not None:
        nextcall.schedule()


@contextmanager
def kept_open(crawler: Crawler) -> Iterator[None]:
    """Keep a spider that is open from being idle inside the block, as if a callback ran."""
    busy, active = _placeholder(), _scraper_of(crawler).slot.active
    active.add(busy)
    try:
        yield
    finally:
        active.discard(busy)
        wake(crawler)


class RequestInProgress:
    """A request in progress that is never sent: while it is there, the spider is not closed."""

    def __init__(self, crawler: Crawler) -> None:
        self._slot: Any = _slot_of(crawler)
        self._scraper, self._request = _scraper_of(crawler), _placeholder()
        self._slot.add_request(self._request)

    def is_last(self) -> bool:
        """Return True if no other request is in progress, and no callback and no pipeline runs."""
        return self._slot.inprogress == {self._request} and bool(self._scraper.slot.is_idle())

    def end(self) -> None:
        """Allow the spider to be closed."""
        self._slot.remove_request(self._request)


def _placeholder() -> Request:
    return Request("data:,items-that-wait")


def replace_close(crawler: Crawler, close: Callable[..., Awaitable[None]]) -> Callable[..., Awaitable[None]]:
    """Replace what the engine calls to close its spider by ``close``; return what it called before."""
    engine: Any = crawler.engine
    replaced: Callable[..., Awaitable[None]] = engine.close_spider_async
    engine.close_spider_async = close
    return replaced


# --- the scraper: callbacks and pipelines


def _scraper_of(crawler: Crawler) -> Any:
    engine: Any = crawler.engine
    return engine.scraper


class SentItems:
    """Items that are sent through the pipelines of a crawl, as those that come from the spider."""

    def __init__(self, crawler: Crawler) -> None:
        self._crawler = crawler
        self._there: dict[int, Any] = {}  # by their id()

    def has(self, item: Any) -> bool:
        """Return True if ``item`` is in the pipelines now, sent from here."""
        return id(item) in self._there

    async def send(self, item: Any, response: Response | None) -> None:
        """Send an item."""
        self._there[id(item)] = item
        try:
            await _scraper_of(self._crawler).start_itemproc_async(item, response=response)
        finally:
            del self._there[id(item)]


def has_media_pipeline(crawler: Crawler) -> bool:
    """Return True if a pipeline downloads files (ImagesPipeline, FilesPipeline and subclasses)."""
    pipelines = getattr(_scraper_of(crawler).itemproc, "middlewares", ())
    return any(isinstance(pipeline, MediaPipeline) for pipeline in pipelines)


def replace_exporter(crawler: Crawler, name: str, new: type, old: type) -> None:
    """Write feeds of the format ``name`` with ``new``, unless the project has set another than ``old``."""
    feeds = crawler.get_extension(FeedExporter)
    if feeds is not None and feeds.exporters.get(name) is old:
        feeds.exporters[name] = new


# --- the downloader


# The clock of `lastseen` in a slot; until Scrapy 2.15 it was time.time().
slot_clock: Callable[[], float] = getattr(downloader, "monotonic", time.time)


def crawl_delay_of(rules: RobotParser | None, user_agent: str | bytes) -> float:
    """Return the Crawl-delay in seconds of the rules of a robots.txt, 0 without one."""
    # Only since Scrapy 2.18 its parser has the method (scrapy#7830); the one that it wraps has it.
    tells: Any = rules if hasattr(rules, "crawl_delay") else getattr(rules, "rp", None)
    return float((hasattr(tells, "crawl_delay") and tells.crawl_delay(to_unicode(user_agent))) or 0.0)


# --- the program around the crawl


def raise_after_start(process: CrawlerProcessBase, error: BaseException) -> None:
    """Make ``process.start()`` raise ``error`` when all its crawls have ended."""
    run = process.start

    def start(*args: Any, **kwargs: Any) -> None:
        run(*args, **kwargs)
        raise error

    process.start = start  # type: ignore[method-assign]


# --- the supported versions: 2.15 and newer

# The first version on which the spiders and rendering are tested.
SPIDERS_SINCE = (2, 18)


def require_scrapy(part: str, least: tuple[int, int] = SPIDERS_SINCE) -> None:
    """Raise OldScrapyError, which names the ``part`` that needs it, if Scrapy is older than ``least``."""
    if scrapy.version_info[:2] < least:
        version = ".".join(map(str, least))
        raise OldScrapyError(
            f"{part} needs Scrapy {version} or newer, and this is {scrapy.__version__}: "
            f"pip install 'scrapy>={version}', or crawl without {part}"
        )
