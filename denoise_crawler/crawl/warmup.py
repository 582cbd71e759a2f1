"""The warm-up queue: items wait in the store until their site is known, and none overtakes another.

Inside a site there is one order. From the first item that waits, every later item of the site waits behind it. The
items are released page by page, as they came: those of the next page when the pipelines are done with the page
before. A callback whose item comes meanwhile is held until then.
"""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any, ClassVar
from weakref import WeakKeyDictionary

from scrapy.crawler import Crawler

from denoise_crawler.crawl.crawl_denoiser import CrawlDenoiser
from denoise_crawler.crawl.event_loop import Concurrently, Gate, PeriodicTask
from denoise_crawler.crawl.parked_items import WaitingItem
from denoise_crawler.crawl.scrapy_internals import SentItems
from denoise_crawler.crawl.shutdown import CloseHook
from denoise_crawler.crawl.sites import Site
from denoise_crawler.crawl.source_page import SourcePage
from denoise_crawler.page.text import printable

logger = logging.getLogger(__name__)

PATIENCE_SECONDS = 60.0  # for pipelines that end no item of a page; then the items of the next page begin


class WarmupQueue:
    """The items of a crawl that wait.

    An item waits because too little is known of its site. When the site is known, its time is over or the crawl
    ends, it is *released*: it goes through the pipelines, filled. Or it is left for the next run: where this run
    is killed, is a paused job, or is stopped while pipelines download.
    """

    _of_crawler: ClassVar[WeakKeyDictionary[Crawler, WarmupQueue]] = WeakKeyDictionary()

    def __init__(self, crawler: Crawler) -> None:
        self.denoiser = CrawlDenoiser.of(crawler)
        self._report, self._sites = self.denoiser.report, self.denoiser.sites
        self._waiting, self._has_job = self.denoiser.waiting, bool(self.denoiser.settings.job)
        self._gates: dict[str | None, Gate] = {}  # of the sites that were released; None: of all
        sent = SentItems(crawler)
        self._send, self.was_released = sent.send, sent.has
        self._pipelines = Concurrently(crawler.settings.getint("CONCURRENT_ITEMS"), PATIENCE_SECONDS)
        self._close_hook = CloseHook(crawler, self._release_all, self.denoiser.settings.job)
        if self._sites.have_time_limit:
            self._timer = PeriodicTask(crawler, partial(self._close_hook.run_before_close, self._release_overdue))

    @classmethod
    def of(cls, crawler: Crawler) -> WarmupQueue:
        """Return the one of a crawl; the first call makes it. Raise what :meth:`CrawlDenoiser.of` raises."""
        if crawler not in cls._of_crawler:
            cls._of_crawler[crawler] = cls(crawler)
        return cls._of_crawler[crawler]

    async def waits(self, item: Any, source: SourcePage | None) -> bool:
        """Learn the page of an item; park the item if it has to wait; return True if it waits.

        The last page of a warm-up waits too. It releases what waits of its site before this returns. Items that
        come meanwhile are not parked: this returns when it is their turn.
        """
        if source is None:
            return False
        parked = False
        try:
            if source.has_page and not isinstance(item, self.denoiser.settings.skipped_items):
                self.denoiser.learn(source)  # first: it drops what an earlier run left of the page
            site = self._sites.of(source.page.site)
            await self._wait_for_release(site, source)
            if self._must_wait(item, source, site):
                parked = self._waiting.park(item, source)
                if not parked:
                    await self._release(site, source.origin.key)
                else:
                    site.has_waiting = True
                    if site.is_known:
                        await self._close_hook.run_before_close(partial(self._release_safely, site))
        except Exception:  # a bug must not cost the item
            self._report.page_failed(source.page.url)
        return parked

    def _must_wait(self, item: Any, source: SourcePage, site: Site) -> bool:
        return site.has_waiting or (not site.is_known and self.denoiser.can_fill(item, source))

    async def _wait_for_release(self, site: Site, source: SourcePage) -> None:
        passed = source.origin.passed
        for gate in (self._gates.get(None), self._gates.get(site.name)):
            if gate is not None and gate not in passed:
                await gate.wait()
                if self.denoiser.by_addon:
                    # A callback yields one item at a time. If each waited for its turn anew, the callback would
                    # be held while all pages behind it are downloaded.
                    passed.add(gate)

    # --- items are released

    async def _release(self, site: Site, origin: bytes | None = None) -> None:
        """Release the items of a site, or of a page of it, unless the crawl stops and they have to stay."""
        gate = self._gates.get(site.name)
        if site.has_waiting and (gate is None or gate.is_open):
            with self._closed_gate(site.name):
                if await self._send_pages(site.name, origin):
                    left = origin and self._waiting.count(site.name, inherited=self._has_job)
                    site.has_waiting = bool(left)

    @contextmanager
    def _closed_gate(self, site: str | None) -> Iterator[None]:
        """Let items of a site that come inside the block wait; then they go on in the order of arrival."""
        gate = self._gates[site] = Gate()
        try:
            yield
        finally:
            gate.open()

    async def _release_safely(self, site: Site) -> None:
        try:
            await self._release(site)
        except Exception:  # the other sites go on
            self._report.release_failed()

    async def _release_overdue(self) -> None:
        for site, after in self._sites.take_overdue():  # nobody asks for them again
            with self._report.isolate_step("report that a site is overdue"):
                self._report_overdue(site.name, after)
            await self._release_safely(site)

    def _report_overdue(self, site: str, after: str) -> None:
        if waiting := self._waiting.count(site):
            self._report.count("sites_overdue")
            logger.info("%s: %d items go on after %s, with what is known of it", printable(site), waiting, after)

    async def _release_all(self) -> None:
        """Release everything that still waits when the crawl ends."""
        with self._report.isolate_step("count the sites that are not known"):
            short = [name for name in self._waiting.sites() if not self._sites.of(name).is_known]
            self._report.count("sites_short", len(short))
        with self._closed_gate(None):
            if await self._send_pages(None):
                for site in self._sites.all():
                    site.has_waiting = False
        await self._pipelines.wait_for_late()

    async def _send_pages(self, site: str | None, origin: bytes | None = None) -> bool:
        """Send what waits through the pipelines, a page after the other; return False if some items stay."""
        # In mid-crawl, items that a killed run left stay: this run may fetch their pages again.
        inherited = site is None or self._has_job
        try:
            for items in self._waiting.release(site, origin, inherited=inherited):
                if self._close_hook.must_keep_items():
                    return False
                if not await self._pipelines.run(self._sending(items)):
                    self._report.once("slow pipelines", _SLOW, PATIENCE_SECONDS)
            return not self._close_hook.must_keep_items()
        except Exception:  # the crawl must go on and end normally
            self._report.release_failed()
            return False

    def _sending(self, items: Iterator[WaitingItem]) -> Iterator[Awaitable[None]]:
        for item, source in items:
            yield self._send_each(self.denoiser.fill_or_drop(item, source, released=True), source)
            if self._close_hook.must_keep_items():
                break

    async def _send_each(self, items: list[Any], source: SourcePage) -> None:
        for item in items:
            await self._send(item, source.response)


_SLOW = (
    "No pipeline has finished an item of a page for %g seconds. The next page is released all the same: its items "
    "may overtake those. Otherwise the items of a page wait for those of the page before"
)
