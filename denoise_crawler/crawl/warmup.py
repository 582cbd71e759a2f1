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
from denoise_crawler.crawl.outcomes import Outcomes
from denoise_crawler.crawl.owner import owner_of
from denoise_crawler.crawl.periodic_task import PeriodicTask
from denoise_crawler.crawl.replay import Replay
from denoise_crawler.crawl.scrapy_versions import scheduler_of
from denoise_crawler.crawl.settings import DenoiseSettings
from denoise_crawler.crawl.several_items import each_item
from denoise_crawler.crawl.sites import Sites
from denoise_crawler.crawl.time_slice import TimeSlice, pause
from denoise_crawler.crawl.unsure_pages import UnsurePages, UnwantedItem
from denoise_crawler.crawl.waiting_items import WaitingItems
from denoise_crawler.errors import PartError
from denoise_crawler.page.text import printable
from denoise_crawler.store.damage import open_store

if TYPE_CHECKING:
    from collections.abc import Awaitable, Iterable, Iterator

    from scrapy.crawler import Crawler

    from denoise_crawler.crawl.item_batches import WaitingItem
    from denoise_crawler.crawl.source_page import SourcePage
    from denoise_crawler.denoiser import Cleaned

logger = logging.getLogger(__name__)


class Warmup:
    """Learns the pages of items, parks items until their site is known, and cleans them.

    There is one per crawler: :meth:`of`. ``by_addon``: the spider middleware passes the items in, no pipeline.
    """

    _of_crawler: ClassVar[WeakKeyDictionary[Crawler, Warmup]] = WeakKeyDictionary()

    def __init__(self, crawler: Crawler) -> None:
        self.settings = DenoiseSettings.from_settings(crawler.settings)
        self.filler = ItemFiller(self.settings)
        self.counts = Counts(crawler)
        self.outcomes = Outcomes(self.counts, self.filler)
        self.unsure = UnsurePages(crawler, self.settings.writing, self.counts)
        self.by_addon = False
        self._failures = FailureLog(self.settings, self.counts)
        self._crawler = crawler
        store = open_store(self.settings.store, owner=owner_of(crawler), job=self.settings.job)
        self._store = GuardedStore(store, self._failures.report_store)
        self.sites = Sites(self.settings, self._store, self.counts)
        self.waiting = WaitingItems(crawler, self._store, self.counts)
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
        return None if waits else self.unsure.pass_on(self.emit, item, source)

    def emit_refused(self, refused: list[WaitingItem]) -> Iterator[Any]:
        """Empty ``refused``, and yield its items filled."""
        while refused:
            yield from each_item(self.unsure.pass_on(self.emit, *refused.pop(0)))

    def flush(self, refused: list[WaitingItem]) -> Iterator[Any]:
        """Write all items that are about to wait, and yield those that the store refused, filled."""
        self.waiting.write()
        yield from self.emit_refused(refused)

    async def must_wait(self, item: Any, source: SourcePage | None) -> bool:
        """Learn the page of an item that a pipeline got; return True if the item waits in the store now."""
        refused: list[WaitingItem] = []
        if not await self._learn_and_park(item, source, refused):
            return False
        await pause()  # more items of the page may arrive meanwhile; one write stores them all
        self.waiting.write()
        return not refused

    async def _learn_and_park(self, item: Any, source: SourcePage | None, refused: list[WaitingItem]) -> bool:
        """Learn the page, park the item if it has to wait, and release items that no longer have to."""
        parked = False
        try:
            if isinstance(item, self.settings.skipped_items) or source is None or not self.is_readable(source):
                return False
            async with source.turn:
                self.learn(source)
                await self._slice.yield_if_over()
                parked = self._must_park(item, source) and self._park(item, source, refused)
            await self._release_ready(source.page.site)
        except Exception:  # our mistake must not cost the item
            self._report_failure_of(source)
        return parked

    def learn(self, source: SourcePage) -> None:
        """Learn a page, once. Items that an earlier run parked from the same page are dropped from the store."""
        if source.learned:
            return
        source.learned = True
        self.counts.add("pages")
        self.waiting.supersede(source)
        self._learn_page(source)

    def emit(self, item: Any, source: SourcePage | None) -> Any:
        """Count an item that leaves now; return it filled where possible. Raise UnwantedItem to drop it."""
        if isinstance(item, self.settings.skipped_items):
            self.counts.add("opted_out")
            return item
        try:
            if self.outcomes.is_skipped(source) or source is None:
                self.outcomes.count_unfilled(item)
                return item
            if not self.filler.can_fill(item):
                self.outcomes.count_complete(item)
                return item
        except Exception:  # an item class that we do not understand must not cost the item
            self._report_failure_of(source)
            self.outcomes.count_unfilled(item)
            return item
        return self.fill(item, source)

    def fill(self, item: Any, source: SourcePage) -> Any:
        """Return ``item`` with the clean text of its page; the item as it is if that fails."""
        try:
            cleaned = self.clean(source)
            self.counts.add("cleaned")
            return self._fill(item, cleaned)
        except UnwantedItem:
            raise
        except Exception:  # our mistake must not cost the item
            self.report_failure(source.page.url)
            self.outcomes.count_unfilled(item)
            return item

    def clean(self, source: SourcePage) -> Cleaned:
        """Return the cleaned page. It is judged once, however many items it has."""
        if source.cleaned is None:
            source.cleaned = self.sites.clean(source.page)
            self.count_cleaned(source.cleaned)
        return source.cleaned

    def count_cleaned(self, cleaned: Cleaned) -> None:
        """Count a cleaned page."""
        self._failures.count_judgement(cleaned)
        self.counts.add("characters_before", cleaned.visible)
        self.counts.add("characters_after", cleaned.kept)
        self.unsure.count(clean_page := cleaned.clean_page)
        if self.settings.writing.extractor and clean_page.text and clean_page.method == self.settings.choice.name:
            self._failures.report_extractor(clean_page.url)

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

    def _learn_page(self, source: SourcePage) -> None:
        try:
            self.sites.learn(source.page)
        except Exception:  # the page can still be judged
            self.report_failure(source.page.url)

    def _fill(self, item: Any, cleaned: Cleaned) -> Any:
        try:
            part = self.filler.part_of(item)
            clean_page = self.sites.part(cleaned, part) if part else cleaned.clean_page
        except PartError as error:
            self.outcomes.count_missing_part(item, error)
            return item
        self.unsure.check(clean_page, has_text=self.filler.has_text(item))
        results = self.filler.fill_each(item, clean_page, whole=self.by_addon and not part)
        return self.outcomes.count_filled(results)

    def is_readable(self, source: SourcePage) -> bool:
        """Tell whether the page has anything to read. This parses it, unless the spider has done so."""
        return not source.page.skipped

    def report_failure(self, url: str) -> None:
        """Count and log, inside an ``except`` block, that we failed on a page."""
        self._failures.report_page(url)

    def _report_failure_of(self, source: SourcePage | None) -> None:
        self.report_failure("A page" if source is None else source.page.url)

    # --- waiting items are released

    async def _release_ready(self, site: str) -> None:
        """Release the items of ``site`` if it is known now, and those of sites whose warm-up takes too long."""
        await self._release_overdue()
        await self._release(site)

    async def _release_on_timer(self) -> None:
        await self._close_hook.run_before_close(self._release_overdue)

    async def _release_overdue(self) -> None:
        for site in self.sites.take_overdue():
            if waiting := self.waiting.count(site):
                logger.info(
                    "%s: %d items go on after %g seconds, with what is known of it",
                    *(printable(site), waiting, self.settings.warmup_seconds),
                )
            await self._release(site)

    async def _release(self, site: str) -> None:
        if site not in self._sites_with_waiting or site in self._releasing or self.sites.must_wait(site):
            return
        self._releasing.add(site)
        try:
            while site in self._sites_with_waiting and not self._close_hook.must_keep_items():
                self._sites_with_waiting.discard(site)
                # Items left by a killed run are released last, because this run may fetch their pages again.
                await self._send(self.waiting.release(site, inherited=bool(self.settings.job)))
        finally:
            self._releasing.discard(site)

    async def _release_all(self) -> None:
        """Release everything that still waits when the crawl ends."""
        short: set[str] = set()

        def waiting_items() -> Iterator[WaitingItem]:
            for waiting in self.waiting.release():
                site = waiting.source.page.site
                if not self.sites.is_ready(site) and site not in short:
                    short.add(site)
                    self.counts.add("sites_short")
                yield waiting

        await self._send(waiting_items())

    async def _send(self, items: Iterable[WaitingItem]) -> None:
        """Send released items through the pipelines, as many at a time as Scrapy does."""
        try:
            await self._replay.run(self._replay_calls(items))
        except Exception:  # the crawl must go on and end normally
            self._failures.report_release()

    def _replay_calls(self, items: Iterable[WaitingItem]) -> Iterator[Awaitable[None]]:
        for item, source in items:
            try:
                ready = self._prepare_released(item, source)
            except Exception:  # the store no longer has it, so it goes on as it is
                self.report_failure(source.page.url)
                ready = item
            for each in each_item(ready):
                yield self._replay.process(each, source)
            if self._close_hook.must_keep_items():
                return

    def _prepare_released(self, item: Any, source: SourcePage) -> Any | None:
        """Return a released item, filled as DENOISE_SHORT_SITES says; None if it is to be dropped."""
        policy = "clean" if self.sites.is_ready(source.page.site) else self.settings.short_sites
        if policy == "drop":
            self.counts.add("dropped")
            return None
        self.counts.add("replayed")
        if policy == "clean":
            return self.unsure.pass_on(self.emit, item, source)
        self.counts.add("raw")
        if source.cleaned is None:
            source.cleaned = self.sites.raw(source.page)
        return self._fill(item, source.cleaned)

    # --- the crawl begins and ends

    def _on_spider_opened(self) -> None:
        with self._failures.isolate_step("learn the pages that an earlier run left"):
            for source in self.waiting.sources() if self.waiting.inherit() else ():
                if self.settings.job:
                    self._sites_with_waiting.add(source.page.site)
                if not self.sites.is_ready(source.page.site):
                    self._learn_page(source)

    def _is_paused(self) -> bool:
        """Tell whether a job folder keeps requests for a later run, which will then release the items."""
        scheduler = scheduler_of(self._crawler)
        return bool(self.settings.job and scheduler is not None and scheduler.has_pending_requests())

    def _on_engine_stopped(self) -> None:
        safe = False
        with self._failures.isolate_step("save what is known of the sites"):
            self.sites.save()
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
