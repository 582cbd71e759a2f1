"""What happens when a crawl ends: the items that wait are released while requests can still be made."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

from scrapy import signals
from scrapy.crawler import Crawler
from scrapy.extensions.feedexport import FeedExporter
from scrapy.utils.defer import deferred_from_coro, maybe_deferred_to_future

from denoise_crawler.crawl import scrapy_internals
from denoise_crawler.crawl.event_loop import Gate, sleep

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
    """

    def __init__(self, crawler: Crawler, release: Callable[[], Awaitable[None]], job: str) -> None:
        self._crawler, self._release, self._job = crawler, release, job
        self._releasing: Gate | None = None
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
                await sleep(_POLL_SECONDS)
            await self._release_once(keep=self.must_keep_items())
        finally:
            last.end()
        await maybe_deferred_to_future(closed)

    async def _release_once(self, *, keep: bool = False) -> None:
        """Release the waiting items unless they ``keep`` waiting; a second call meanwhile waits for the first."""
        if self._releasing is not None:
            await self._releasing.wait()
            return
        self._releasing = Gate()
        try:
            if not (keep or self._is_paused()):
                await self._release()
        finally:
            gate, self._releasing = self._releasing, None
            gate.open()

    def _is_paused(self) -> bool:
        scheduler = scrapy_internals.scheduler_of(self._crawler)
        return bool(self._job and scheduler is not None and scheduler.has_pending_requests())


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
