"""Warm-up: items wait in the store until their site is known; then they are cleaned and sent on."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any, ClassVar
from weakref import WeakKeyDictionary

from scrapy import signals

from denoise_crawler.crawl.close_hook import CloseHook
from denoise_crawler.crawl.counts import Counts, summarize_items
from denoise_crawler.crawl.failure_log import FailureLog
from denoise_crawler.crawl.feed_results import feeds_are_safe
from denoise_crawler.crawl.guarded_store import GuardedStore
from denoise_crawler.crawl.item_filler import ItemFiller
from denoise_crawler.crawl.leaving_items import LeavingItems
from denoise_crawler.crawl.outcomes import Outcomes
from denoise_crawler.crawl.owner import owner_of
from denoise_crawler.crawl.periodic_task import PeriodicTask
from denoise_crawler.crawl.replay import Replay
from denoise_crawler.crawl.scrapy_internals import scheduler_of
from denoise_crawler.crawl.settings import DenoiseSettings
from denoise_crawler.crawl.several_items import each_item
from denoise_crawler.crawl.site_turns import SharedTurn
from denoise_crawler.crawl.sites import Sites
from denoise_crawler.crawl.time_slice import TimeSlice, pause
from denoise_crawler.crawl.unsure_pages import UnsurePages
from denoise_crawler.crawl.waiting_items import WaitingItems
from denoise_crawler.page.text import printable
from denoise_crawler.store.damage import open_store

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Iterable, Iterator

    from scrapy.crawler import Crawler

    from denoise_crawler.crawl.item_batches import WaitingItem
    from denoise_crawler.crawl.site_turns import Turn
    from denoise_crawler.crawl.source_page import SourcePage

logger = logging.getLogger(__name__)


class Warmup:
    """Learns the pages of items, parks items until their site is known, and cleans them.

    There is one per crawler: :meth:`of`.
    """

    _of_crawler: ClassVar[WeakKeyDictionary[Crawler, Warmup]] = WeakKeyDictionary()
    _leaving_items: ClassVar[type[LeavingItems]] = LeavingItems

    def __init__(self, crawler: Crawler) -> None:
        self.settings = DenoiseSettings.from_settings(crawler.settings)
        self.filler = ItemFiller(self.settings)
        self.counts = Counts(crawler)
        self.outcomes = Outcomes(self.counts, self.filler)
        self.unsure = UnsurePages(crawler, self.settings.writing, self.counts)
        self._failures = FailureLog(self.settings, self.counts)
        self._crawler = crawler
        store = open_store(self.settings.store, owner=owner_of(crawler), job=self.settings.job)
        self._store = GuardedStore(store, self._failures.report_store)
        self.sites = Sites(self.settings, self._store, self.counts)
        self.waiting = WaitingItems(crawler, self._store, self.counts, self._failures)
        self.sites.relearn_from(lambda site: (source.page for source in self.waiting.sources(site)))
        self.leaving = self._leaving_items(
            self.settings, self.sites, self.filler, self.counts, self.outcomes, self.unsure, self._failures
        )
        self._sites_with_waiting: set[str] = set()
        self._releasing: set[str] = set()
        self._replay = Replay(crawler)
        self._slice = TimeSlice()
        self._close_hook = CloseHook(crawler, self._release_all, self._is_paused)
        if self.sites.have_time_limit:
            self._timer = PeriodicTask(crawler, self._release_on_timer)
        crawler.signals.connect(self._on_spider_opened, signals.spider_opened)
        crawler.signals.connect(self._on_engine_stopped, signals.engine_stopped)

    @classmethod
    def of(cls, crawler: Crawler) -> Warmup:
        """Return the warm-up of a crawler; the first call makes it.

        Raises:
            SettingError: A DENOISE_* setting is wrong.
            StoreError: The store cannot be opened.
        """
        if crawler not in cls._of_crawler:
            cls._of_crawler[crawler] = cls(crawler)
        return cls._of_crawler[crawler]

    # --- an item arrives

    async def take(self, item: Any, source: SourcePage | None, refused: list[WaitingItem]) -> Any | None:
        """Take an item from the spider.

        Args:
            item: The item.
            source: The page it came from, None if there is none.
            refused: Collects the items that the store could not take: see :meth:`emit_refused`.

        Returns:
            The item to pass on now, filled where possible; None if it waits or is dropped. A waiting item is later
            sent through the pipelines from here.
        """
        waits = await self._learn_and_park(item, source, refused)
        return None if waits else await self.unsure.pass_on(self.leaving.emit, item, source)

    async def emit_refused(self, refused: list[WaitingItem]) -> AsyncIterator[Any]:
        """Empty ``refused``, and yield its items filled."""
        while refused:
            for item in each_item(await self.unsure.pass_on(self.leaving.emit, *refused.pop(0))):
                yield item

    async def must_wait(self, item: Any, source: SourcePage | None) -> bool:
        """Learn the page of an item that a pipeline got; return True if the item waits in the store now."""
        refused: list[WaitingItem] = []
        if not await self._learn_and_park(item, source, refused):
            return False
        await pause()  # more items of the page may arrive meanwhile; one write stores them all
        self.waiting.write()
        return not refused

    async def _learn_and_park(self, item: Any, source: SourcePage | None, refused: list[WaitingItem]) -> bool:
        """Take the page's turn: learn it, and park the item or judge the page for it.

        The page that ends the warm-up of its site waits with the others. They are all judged in its turn, before
        another page of the site is learned.
        """
        parked = False
        try:
            if isinstance(item, self.settings.skipped_items) or source is None:
                return False
            async with source.arrivals:
                if not self._needs_turn(item, source):
                    return False
                async with self.sites.turns.of(source) as turn:
                    readable = await self.learn(source)
                    await self._slice.yield_if_over()
                    if not readable:
                        return False
                    parked = self._must_park(item, source) and self._park(item, source, refused)
                    self._report_known(source.page.site)
                    if not parked:
                        await self.leaving.judge_for(item, source, in_turn=True)
                    await self._release(source.page.site, turn)
                await self._release_overdue()
        except Exception:  # our mistake must not cost the item
            self.report_failure("A page" if source is None else source.page.url)
            if source is not None and not source.learned:  # its items leave now, so those of an earlier run do not
                source.learned = True
                self.waiting.supersede(source)
        return parked

    def _needs_turn(self, item: Any, source: SourcePage) -> bool:
        if not source.learned:
            return True
        return not source.skipped and (self._must_park(item, source) or self.leaving.needs_judging(item, source))

    async def learn(self, source: SourcePage) -> bool:
        """Learn a page in its turn, once. Drop the items that an earlier run parked from the same page.

        Returns:
            Whether the page has anything to read.
        """
        if not source.learned:
            source.learned = True
            await self._learn_page(source)
            if not source.skipped:
                self.counts.add("pages")
                self.waiting.supersede(source)
        return not source.skipped

    @property
    def by_addon(self) -> bool:
        """Whether the spider middleware passes the items in, and no pipeline."""
        return self.leaving.by_addon

    @by_addon.setter
    def by_addon(self, by_addon: bool) -> None:
        self.leaving.by_addon = by_addon

    def is_replayed(self, item: Any) -> bool:
        """Tell whether ``item`` waited before and is in the pipelines now."""
        return self._replay.has(item)

    def _must_park(self, item: Any, source: SourcePage) -> bool:
        """Tell whether an item has to wait: for more pages of its site, or behind earlier items of its page.

        The first item that arrives when its site is known waits too, and is released with the others. So the items
        of its page stay in order.
        """
        site = source.page.site
        backlog = site in self._sites_with_waiting and site not in self._releasing
        waits = self.sites.must_wait(site) or backlog or self.waiting.has_items_of(source)
        return waits and self.filler.can_fill(item)

    def _park(self, item: Any, source: SourcePage, refused: list[WaitingItem]) -> bool:
        if not self.waiting.park(item, source, refused):
            return False
        self._sites_with_waiting.add(source.page.site)
        return True

    async def _learn_page(self, source: SourcePage) -> None:
        try:
            source.skipped = await self.sites.learn(source.page)
            source.looked_at = True
        except Exception as error:  # the page can still be judged
            self._failures.report_source(source, error)

    def report_failure(self, url: str) -> None:
        """Count and log, inside an ``except`` block, that we failed on a page."""
        self._failures.report_page(url)

    def _report_known(self, site: str) -> None:
        if pages := self.sites.take_newly_known(site):
            waiting = self._store.waiting_count(site, inherited=bool(self.settings.job))
            logger.info("%s is known after %d pages; %d items go on", printable(site), pages, waiting)

    # --- waiting items are released

    async def _release_on_timer(self) -> None:
        await self._close_hook.run_before_close(self._release_overdue)

    async def _release_overdue(self) -> None:
        for site, after in self.sites.take_overdue():  # nobody asks for them again
            with self._failures.isolate_step("say that a site is overdue"):
                self._report_overdue(site, after)
            try:
                await self._release(site)
            except Exception:  # the other sites go on
                self._failures.report_release()

    def _report_overdue(self, site: str, after: str) -> None:
        if waiting := self.waiting.count(site):
            self.counts.add("sites_overdue")
            logger.info("%s: %d items go on after %s, with what is known of it", printable(site), waiting, after)

    async def _release(self, site: str, turn: Turn | None = None) -> None:
        """Release the items of a site that have to wait no longer; all are judged in ``turn``, if it is given."""
        if site not in self._sites_with_waiting or site in self._releasing or self.sites.must_wait(site):
            return
        self._releasing.add(site)
        try:
            while site in self._sites_with_waiting and not self._close_hook.must_keep_items():
                self._sites_with_waiting.discard(site)
                # Items left by a killed run are released last, because this run may fetch their pages again.
                await self._send(self.waiting.release(site, inherited=bool(self.settings.job)), turn)
        finally:
            self._releasing.discard(site)

    async def _release_all(self) -> None:
        """Release everything that still waits when the crawl ends."""
        short: set[str] = set()

        def waiting_items() -> Iterator[WaitingItem]:
            for waiting in self.waiting.release():
                with self._failures.isolate_step("count the sites that are not known"):
                    site = waiting.source.page.site
                    if self.sites.must_wait(site) and site not in short:
                        short.add(site)
                        self.counts.add("sites_short")
                yield waiting

        await self._send(waiting_items())

    async def _send(self, items: Iterable[WaitingItem], turn: Turn | None = None) -> None:
        """Send released items through the pipelines, as many at a time as Scrapy does."""
        shared = SharedTurn(turn)
        try:
            await self._replay.run(self._replay_calls(items, shared))
        except Exception:  # the crawl must go on and end normally
            self._failures.report_release()
        finally:
            shared.end()

    def _replay_calls(self, items: Iterable[WaitingItem], shared: SharedTurn) -> Iterator[Awaitable[None]]:
        for item, source in items:
            with self._failures.isolate_step("count the items of a turn"):
                shared.begin_item()
            yield self._send_one(item, source, shared)
            if self._close_hook.must_keep_items():
                break
        shared.end_item()

    async def _send_one(self, item: Any, source: SourcePage, shared: SharedTurn) -> None:
        try:
            await self._prepare_and_process(item, source, shared)
        finally:
            self.waiting.has_left(source)

    async def _prepare_and_process(self, item: Any, source: SourcePage, shared: SharedTurn) -> None:
        try:
            async with shared.item(source.page.site):
                ready = await self._prepare_released(item, source, shared)
        except Exception as error:  # the store no longer has it, so it goes on as it is
            self.report_failure(source.page.url)
            ready = self.leaving.unfilled(item, error)
        for each in each_item(ready):
            await self._replay.process(each, source)

    async def _prepare_released(self, item: Any, source: SourcePage, shared: SharedTurn) -> Any | None:
        """Return a released item, filled as DENOISE_SHORT_SITES says; None if it is to be dropped."""
        policy = "clean" if self.sites.is_ready(source.page.site) else self.settings.short_sites
        if policy == "drop":
            self.counts.add("dropped")
            return None
        self.counts.add("replayed")
        if policy == "clean":
            await self.leaving.judge_for(item, source, in_turn=not shared.is_over)
            return await self.unsure.pass_on(self.leaving.emit_judged, item, source)
        async with source.turn:
            return await self.leaving.fill_raw(item, source)

    # --- the crawl begins and ends

    async def _on_spider_opened(self) -> None:
        with self._failures.isolate_step("start the worker processes"):
            self.sites.start()
        with self._failures.isolate_step("learn the pages that an earlier run left"):
            for source in self.waiting.sources() if self.waiting.inherit() else ():
                if self.settings.job:
                    self._sites_with_waiting.add(source.page.site)
                if not self.sites.is_ready(site := source.page.site):
                    async with self.sites.turns.of(source):
                        await self._learn_page(source)
                    self._report_known(site)

    def _is_paused(self) -> bool:
        """Tell whether a job folder keeps requests for a later run, which will then release the items."""
        scheduler = scheduler_of(self._crawler)
        return bool(self.settings.job and scheduler is not None and scheduler.has_pending_requests())

    async def _on_engine_stopped(self) -> None:
        safe = False
        with self._failures.isolate_step("save what is known of the sites"):
            await self.sites.save_all()
        with self._failures.isolate_step("end the worker processes"):
            await self.sites.cleaner.close()
        with self._failures.isolate_step("look for what still waits"):
            logger.info(summarize_items(self.counts))
            if left := self.waiting.count():
                logger.info("%d items wait in %s for the next run", left, self.settings.store)
        with self._failures.isolate_step("tell whether the feeds were written"):
            safe = feeds_are_safe(self._crawler)
        if not safe:
            logger.error(
                "A feed failed: the items that had waited stay in %s for the next run", self.settings.store
            )
        self._store.close(safe=safe)
