"""When items stop waiting: their time is over, or the crawl ends, while requests can still be made."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from heapq import heappop, heappush
from math import inf
from typing import Any, NamedTuple

from scrapy import signals
from scrapy.crawler import Crawler
from scrapy.extensions.feedexport import FeedExporter
from scrapy.utils.asyncio import is_asyncio_available
from scrapy.utils.defer import deferred_from_coro, maybe_deferred_to_future
from twisted.internet.defer import Deferred

from denoise_crawler.crawl import scrapy_internals

_POLL_SECONDS = 0.02


class CloseHook:
    """Releases waiting items before the engine closes the spider, however the crawl ends.

    Scrapy has no signal for this moment. At ``spider_idle`` another handler may still keep the spider open, and
    Ctrl-C and CloseSpider do not send that signal. When pipelines are closed, the engine takes no more requests,
    and pipelines that download files fail. So ``engine.close_spider_async`` is wrapped:

    * When the spider is idle and nobody keeps it open, the items are released first. If that brings new requests,
      the spider stays open; it will be idle again.
    * In every other case (Ctrl-C, CloseSpider) Scrapy starts nothing new and waits for the requests in progress.
      A request that is never sent is added. It is the last one in progress, and the items are released
      before it is removed.

    Args:
        crawler: The crawl.
        release: Releases the items; called once when the crawl ends.
        job: The job folder, an empty string without one. If it keeps requests for a later run, the items stay in
            the store for that.

    Attributes:
        finish: Called in turn when the items are released, or stay in the store, however the crawl ends.
    """

    def __init__(self, crawler: Crawler, release: Callable[[], Awaitable[None]], job: str) -> None:
        self._crawler, self._release, self._job = crawler, release, job
        self._releasing: Deferred[None] | None = None
        self.finish: list[Callable[[], Awaitable[None]]] = []
        crawler.signals.connect(self._wrap_close, signals.spider_opened)

    def must_keep_items(self) -> bool:
        """Return True if waiting items must stay in the store: the crawl stops, and pipelines download files.

        With a polite gap between requests their files may take an hour. Nobody who stops a crawl waits for that,
        and no item may leave without its files.
        """
        crawler = self._crawler
        return scrapy_internals.is_stopping(crawler) and scrapy_internals.has_media_pipeline(crawler)

    async def run_before_close(self, release: Callable[[], Awaitable[None]]) -> None:
        """Release items in the middle of a crawl; the crawl does not end before ``release`` is done.

        If the crawl is already ending this does nothing: the items are released then anyway.
        """
        if not self._is_open() or self._releasing is not None:
            return
        with scrapy_internals.kept_open(self._crawler):
            await release()

    def _is_open(self) -> bool:
        return scrapy_internals.has_begun(self._crawler) and not scrapy_internals.is_closing(self._crawler)

    def _wrap_close(self) -> None:
        self._close = scrapy_internals.replace_close(self._crawler, self._close_spider)

    async def _close_spider(self, *, reason: str = "cancelled") -> None:
        engine: Any = self._crawler.engine
        if not self._is_open():
            await self._close(reason=reason)
        elif engine.running and engine.spider_is_idle():
            await self._release_once()
            if reason != "finished" or not engine.running or engine.spider_is_idle():
                await self._close(reason=reason)
        else:
            await self._close_busy_spider(reason)

    async def _close_busy_spider(self, reason: str) -> None:
        """Close the spider as Scrapy does, but release the waiting items before its slot is closed."""
        last = scrapy_internals.RequestInProgress(self._crawler)
        closed = deferred_from_coro(self._close(reason=reason))
        try:
            while not last.is_last():
                await _sleep(_POLL_SECONDS)
            await self._release_once(keep=self.must_keep_items())
        finally:
            last.end()
        await maybe_deferred_to_future(closed)

    async def _release_once(self, *, keep: bool = False) -> None:
        """Release the waiting items unless they ``keep`` waiting; a second call meanwhile waits for the first."""
        if self._releasing is not None:
            await maybe_deferred_to_future(_follow(self._releasing))
            return
        self._releasing = Deferred()
        try:
            if not (keep or self._is_paused()):
                await self._release()
            for finish in self.finish:
                await finish()
        finally:
            done, self._releasing = self._releasing, None
            done.callback(None)

    def _is_paused(self) -> bool:
        scheduler = scrapy_internals.scheduler_of(self._crawler)
        return bool(self._job and scheduler is not None and scheduler.has_pending_requests())


def _follow(first: Deferred[None]) -> Deferred[None]:
    """Return a new Deferred that fires when ``first`` does."""
    follower: Deferred[None] = Deferred()

    def fire(result: Any) -> Any:
        follower.callback(None)
        return result

    first.addBoth(fire)
    return follower


async def _sleep(seconds: float) -> None:
    if is_asyncio_available():
        await asyncio.sleep(seconds)
        return
    from twisted.internet import reactor
    from twisted.internet.task import deferLater

    await deferLater(reactor, seconds)


def feeds_are_safe(crawler: Crawler) -> bool:
    """Return True if all feeds of a finished crawl were written.

    Scrapy writes no feed that got no item and reports nothing of it; that is no failure.
    """
    stats = crawler.stats.get_stats()
    stored, failed = (
        sum(value for name, value in stats.items() if name.startswith(f"feedexport/{how}_count/"))
        for how in ("success", "failed")
    )
    exporter = crawler.get_extension(FeedExporter)
    got_items = exporter is not None and any(slot.itemcount for slot in exporter.slots)
    return not failed and (stored > 0 or not got_items)


# --- how long the sites of a crawl have been in their warm-up, by a clock that only goes forward


class OverdueSite(NamedTuple):
    """A site whose warm-up has taken too long, and how long, in words."""

    site: str
    after: str


@dataclass(slots=True)
class _Clock:
    """When the first page and the last new page of a site came."""

    first: float
    last: float


class WarmupClocks:
    """Tells which sites have waited too long for a new page, or for all of their pages.

    Args:
        pause: The longest time without a new page, in seconds; 0 for no limit.
        longest: The longest time since the first page; 0 for no limit.
        now: The clock.

    Example:
        >>> time = 0.0
        >>> clocks = WarmupClocks(30, 300, now=lambda: time)
        >>> clocks.note("example.com")
        >>> time = 20.0
        >>> clocks.note("example.com")
        >>> time = 45.0
        >>> clocks.take_overdue()
        []
        >>> time = 51.0
        >>> clocks.take_overdue()
        [OverdueSite(site='example.com', after='30 seconds without a new page')]
    """

    def __init__(self, pause: float, longest: float, *, now: Callable[[], float] = time.monotonic) -> None:
        self._pause, self._longest, self._now = pause or inf, longest or inf, now
        self._clocks: dict[str, _Clock] = {}
        self._deadlines: list[tuple[float, str]] = []  # a heap; a deadline may have moved on since, never back

    def note(self, site: str, *, new: bool = True) -> None:
        """Note that a page of a site has come; ``new`` tells whether it was another one than those before."""
        now, clock = self._now(), self._clocks.get(site)
        if clock is None:
            clock = self._clocks[site] = _Clock(now, now)
            heappush(self._deadlines, (self._deadline(clock), site))
        elif new:
            clock.last = now

    def stop(self, site: str) -> None:
        """Forget a site: its warm-up is over."""
        self._clocks.pop(site, None)

    def take_overdue(self) -> list[OverdueSite]:
        """Return the sites whose time is over, those that were due first at the front, and forget them."""
        found, now = [], self._now()
        while self._deadlines and self._deadlines[0][0] < now:
            _, site = heappop(self._deadlines)
            if (clock := self._clocks.get(site)) is None:
                continue
            if (deadline := self._deadline(clock)) >= now:
                heappush(self._deadlines, (deadline, site))
                continue
            del self._clocks[site]
            found.append(OverdueSite(site, self._after(clock, now)))
        return found

    def _deadline(self, clock: _Clock) -> float:
        return min(clock.last + self._pause, clock.first + self._longest)

    def _after(self, clock: _Clock, now: float) -> str:
        if now - clock.last > self._pause:
            return f"{self._pause:g} seconds without a new page"
        return f"{self._longest:g} seconds"
