"""What becomes of each item of a crawl: it passes, or waits in the store until its site is known."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Iterable, Iterator
from contextlib import nullcontext
from functools import partial
from typing import Any, ClassVar, TypeAlias
from weakref import WeakKeyDictionary

from scrapy import signals
from scrapy.crawler import Crawler

from denoise_crawler.crawl.ending import CloseHook, feeds_are_safe
from denoise_crawler.crawl.event_loop import PeriodicTask, SharedTurn, TimeSlice, Turn, run_concurrently
from denoise_crawler.crawl.filling import ItemFiller
from denoise_crawler.crawl.guarded_store import GuardedStore
from denoise_crawler.crawl.parking import WaitingItem, WaitingItems
from denoise_crawler.crawl.report import CrawlReport, UnwantedItem, check_wanted
from denoise_crawler.crawl.scrapy_internals import SentItems
from denoise_crawler.crawl.settings import DenoiseSettings
from denoise_crawler.crawl.sites import Sites
from denoise_crawler.crawl.source_page import SourcePage
from denoise_crawler.crawl.stored_names import owner_of
from denoise_crawler.denoiser import Cleaned
from denoise_crawler.errors import GivenUpError, PartError, describe_error
from denoise_crawler.page.text import printable
from denoise_crawler.store import Store
from denoise_crawler.store.damage import open_store

Fill: TypeAlias = Callable[..., Awaitable[list[Any]]]

logger = logging.getLogger(__name__)


class ItemFate:
    """Decides what becomes of each item of a crawl.

    An item *passes*: it goes on at once, filled with the clean text of its page. Or it *waits* in the store, on
    disk, because too little is known of its site. When the site is known, its time is over or the crawl ends, it
    *is released*: it goes through the pipelines, filled, in the order in which it came. Or it *is left* in the
    store *for the next run*: where this run is killed, is a paused job, or is stopped while pipelines download.

    Attributes:
        by_addon: Whether the spider middleware passes the items in, and no pipeline.
        before_close: Takes a function that is called before the spider is closed, behind the items that waited.
    """

    _of_crawler: ClassVar[WeakKeyDictionary[Crawler, ItemFate]] = WeakKeyDictionary()

    def __init__(self, crawler: Crawler) -> None:
        self._crawler, self.by_addon = crawler, False
        self.settings = DenoiseSettings.from_settings(crawler.settings)
        self.report = CrawlReport(crawler)
        self.filler = ItemFiller(self.settings, self.report)
        store = open_store(self.settings.store, owner=owner_of(crawler), job=self.settings.job)
        self._store = GuardedStore(store, partial(self.report.store_failed, self.settings.store))
        self.sites = Sites(self.settings, self._store, self.report)
        self.waiting = WaitingItems(crawler, self._store, self.report)
        self.sites.relearn_from(lambda site: (source.page for source in self.waiting.sources(site)))
        self._sites_with_waiting: set[str] = set()
        self._releasing: set[str] = set()
        sent = SentItems(crawler)
        self.send, self.was_released = sent.send, sent.has
        self._slice = TimeSlice()
        self._close_hook = CloseHook(crawler, self._release_all, self.settings.job)
        self.before_close = self._close_hook.finish.append
        if self.sites.have_time_limit:
            self._timer = PeriodicTask(crawler, partial(self._close_hook.run_before_close, self._release_overdue))
        crawler.signals.connect(self._on_spider_opened, signals.spider_opened)
        crawler.signals.connect(self._on_engine_stopped, signals.engine_stopped)

    @classmethod
    def of(cls, crawler: Crawler) -> ItemFate:
        """Return the one of a crawl; the first call makes it.

        Raises:
            SettingError: A DENOISE_* setting is wrong.
            StoreError: The store cannot be opened.
        """
        if crawler not in cls._of_crawler:
            cls._of_crawler[crawler] = cls(crawler)
        return cls._of_crawler[crawler]

    # --- an item arrives

    async def take(self, item: Any, source: SourcePage | None) -> list[Any]:
        """Take an item from the spider.

        Returns:
            The items that go on now, filled where possible: the item; several if each record of its page is an
            item; none if it waits or is dropped. A waiting item is later sent through the pipelines from here.
        """
        if await self.waits(item, source):
            return []
        return await self._unless_unwanted(self._fill_in_turn, item, source)

    async def waits(self, item: Any, source: SourcePage | None) -> bool:
        """Learn the page of an item in its turn; park the item, or judge the page for it; return whether it waits.

        The page that ends the warm-up of its site waits with the others. They are all judged in its turn, before
        another page of the site is learned.
        """
        parked = False
        try:
            if isinstance(item, self.settings.skipped_items) or source is None:
                return False
            if self._waits_for_others(item, source):
                return await self._park_behind_others(item, source)
            if source.arrivals.is_empty and not self._needs_turn(item, source):
                return False
            async with source.arrivals:
                if not self._needs_turn(item, source):
                    return False
                async with self.sites.turns.of(source) as turn:
                    readable = await self.learn(source)
                    await self._slice.yield_if_over()
                    if not readable:
                        return False
                    site = source.page.site
                    parked = self._must_park(item, source) and self.waiting.park(item, source)
                    if parked:
                        self._sites_with_waiting.add(site)
                    self._report_known(site)
                    if not parked:
                        await self._judge_for(item, source, in_turn=True)
                    await self._release(site, turn)
                await self._release_overdue()
        except Exception:  # a bug must not cost the item
            self.report.page_failed("A page" if source is None else source.page.url)
            if source is not None and not source.learned:  # its items leave now, so those of an earlier run do not
                source.learned = True
                self.waiting.supersede(source)
        return parked

    def _waits_for_others(self, item: Any, source: SourcePage) -> bool:
        """Return True if an item just has to wait: its page is learned, and its site is known by later ones."""
        is_next = source.is_settled and self.sites.turns.is_free(source)
        return is_next and self.sites.must_wait(source.page.site) and self.filler.can_fill(item)

    async def _park_behind_others(self, item: Any, source: SourcePage) -> bool:
        """Park an item as in its turn, which would begin at once and end at once; return whether it waits."""
        if not self.waiting.park(item, source):
            async with source.arrivals:
                await self._judge_for(item, source)
            return False
        self._sites_with_waiting.add(source.page.site)
        await self._slice.yield_if_over()
        await self._release_overdue()
        return True

    async def fill(self, item: Any, source: SourcePage | None) -> list[Any]:
        """Return what goes on for an item that does not wait, filled where possible. Items keep their order.

        Raises:
            UnwantedItem: The settings want items of such pages dropped.
        """
        return await self._unharmed(self._fill_in_turn, item, source)

    def _needs_turn(self, item: Any, source: SourcePage) -> bool:
        if not source.learned:
            return True
        return not source.skipped and (self._must_park(item, source) or self._needs_text(item, source))

    def _must_park(self, item: Any, source: SourcePage) -> bool:
        """Return True if an item has to wait: for more pages of its site, or behind earlier items of its page.

        The first item that arrives when its site is known waits too, and is released with the others. So the items
        of its page stay in order.
        """
        site = source.page.site
        backlog = site in self._sites_with_waiting and site not in self._releasing
        waits = self.sites.must_wait(site) or backlog or self.waiting.has_items_of(source)
        return waits and self.filler.can_fill(item)

    def _report_known(self, site: str) -> None:
        if pages := self.sites.take_newly_known(site):
            waiting = self.waiting.count(site, inherited=bool(self.settings.job))
            logger.info("%s is known after %d pages; %d items go on", printable(site), pages, waiting)

    # --- its page is learned and cleaned, once

    async def learn(self, source: SourcePage) -> bool:
        """Learn a page in its turn, once, in place of an earlier run; return whether it has anything to read."""
        if not source.learned:
            await self.sites.learn(source)
            source.learned = True
            if not source.skipped:
                self.report.count("pages")
                self.waiting.supersede(source)
        return not source.skipped

    async def is_skipped(self, source: SourcePage) -> bool:
        """Return True, and count an item, if there is nothing to read on its page."""
        await self.sites.look(source)
        if source.skipped:
            self.report.page_skipped(source.page.url, source.skipped)
        return bool(source.skipped)

    def _needs_text(self, item: Any, source: SourcePage) -> bool:
        """Return True if ``item`` needs the text of a page that is not cleaned yet."""
        if source.cleaned is not None or source.failed or source.skipped:
            return False
        try:
            return not isinstance(item, self.settings.skipped_items) and self.filler.can_fill(item)
        except Exception:  # it is reported when the item leaves
            return False

    async def _judge_for(self, item: Any, source: SourcePage, *, in_turn: bool = False) -> None:
        """Clean a page, if ``item`` needs its text: in the turn that it has, or in one that it waits for."""
        if self._needs_text(item, source):
            async with nullcontext() if in_turn else self.sites.turns.of(source):
                await self.sites.clean(source)

    # --- an item goes on, filled

    async def _unless_unwanted(self, fill: Fill, item: Any, source: SourcePage | None, *more: Any) -> list[Any]:
        """Return filled items; none if they are to be dropped, which Scrapy is told as by a pipeline."""
        try:
            return await self._unharmed(fill, item, source, *more)
        except UnwantedItem as error:
            response = None if source is None else source.response
            self._crawler.signals.send_catch_log(
                signals.item_dropped, item=item, response=response, spider=self._crawler.spider, exception=error
            )
            return []

    async def _unharmed(self, fill: Fill, item: Any, source: SourcePage | None, *more: Any) -> list[Any]:
        """Return filled items; the item as it came if that fails. Raise UnwantedItem to drop it."""
        try:
            return await fill(item, source, *more)
        except UnwantedItem:
            raise
        except Exception as error:  # neither a bug nor a strange class of items costs the item
            if not isinstance(error, GivenUpError):
                self.report.page_failed("A page" if source is None else source.page.url)
            return self.filler.unfilled(item, describe_error(error))

    async def _fill_in_turn(self, item: Any, source: SourcePage | None) -> list[Any]:
        async with nullcontext() if source is None else source.turn:
            return await self._filled(item, source)

    async def _filled(self, item: Any, source: SourcePage | None, *, in_turn: bool = False) -> list[Any]:
        if source is not None and source.cleaned is None:
            await self._judge_for(item, source, in_turn=in_turn)
        if isinstance(item, self.settings.skipped_items):
            self.report.count("opted_out")
            return [item]
        if source is None or ((source.skipped or not source.looked_at) and await self.is_skipped(source)):
            self.report.count("untouched", int(source is None))
            return self.filler.as_it_came(item)
        if not self.filler.can_fill(item):
            return self.filler.complete(item)
        if source.cleaned is None:
            return self.filler.unfilled(item, source.error)
        self.report.count("cleaned")
        self.sites.progress(source.page.site).items_cleaned += 1
        return await self._with_text(item, source.cleaned)

    async def _with_text(self, item: Any, cleaned: Cleaned) -> list[Any]:
        try:
            part = self.filler.part_of(item)
            clean_page = await self.sites.cleaner.part(cleaned, part) if part else cleaned.clean_page
        except PartError as error:
            message = "A part of a page is not found, and its item goes on without its text: %s"
            self.report.first("parts_missing", message, error)
            return self.filler.as_it_came(item)
        check_wanted(clean_page, self.settings.writing, self.report, has_text=self.filler.has_text(item))
        return self.filler.fill_each(item, clean_page, whole=self.by_addon and not part)

    # --- waiting items are released

    async def _release_overdue(self) -> None:
        for site, after in self.sites.take_overdue():  # nobody asks for them again
            with self.report.isolate_step("say that a site is overdue"):
                self._report_overdue(site, after)
            try:
                await self._release(site)
            except Exception:  # the other sites go on
                self.report.release_failed()

    def _report_overdue(self, site: str, after: str) -> None:
        if waiting := self.waiting.count(site):
            self.report.count("sites_overdue")
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
                with self.report.isolate_step("count the sites that are not known"):
                    site = waiting.source.page.site
                    if self.sites.must_wait(site) and site not in short:
                        short.add(site)
                        self.report.count("sites_short")
                yield waiting

        await self._send(waiting_items())

    async def _send(self, items: Iterable[WaitingItem], turn: Turn | None = None) -> None:
        """Send released items through the pipelines, as many at a time as Scrapy does."""
        shared = SharedTurn(turn)
        try:
            await run_concurrently(self._sending(items, shared), self._crawler.settings.getint("CONCURRENT_ITEMS"))
        except Exception:  # the crawl must go on and end normally
            self.report.release_failed()
        finally:
            shared.end()

    def _sending(self, items: Iterable[WaitingItem], shared: SharedTurn) -> Iterator[Awaitable[None]]:
        for item, source in items:
            with self.report.isolate_step("count the items of a turn"):
                shared.begin_item()
            yield self._send_one(item, source, shared)
            if self._close_hook.must_keep_items():
                break
        shared.end_item()

    async def _send_one(self, item: Any, source: SourcePage, shared: SharedTurn) -> None:
        try:
            try:
                async with shared.of_site[source.page.site]:
                    ready = await self._unless_unwanted(self._fill_released, item, source, shared)
            finally:
                shared.end_item()
            for each in ready:
                await self.send(each, source.response)
        finally:
            self.waiting.has_left(source)

    async def _fill_released(self, item: Any, source: SourcePage, shared: SharedTurn) -> list[Any]:
        """Return what goes on for a released item, filled as DENOISE_SHORT_SITES says."""
        policy = "clean" if self.sites.is_ready(source.page.site) else self.settings.short_sites
        if policy == "drop":
            self.report.count("dropped")
            return []
        self.report.count("replayed")
        if policy == "clean":
            return await self._filled(item, source, in_turn=not shared.is_over)
        async with source.turn:
            self.report.count("raw")
            if source.cleaned is None:
                source.cleaned = await self.sites.cleaner.raw(source.page)
            return await self._with_text(item, source.cleaned)

    # --- the crawl begins and ends

    async def _on_spider_opened(self) -> None:
        with self.report.isolate_step("start the worker processes"):
            self.sites.start()
        with self.report.isolate_step("learn the pages that an earlier run left"):
            for source in self.waiting.sources() if self.waiting.inherit() else ():
                if self.settings.job:
                    self._sites_with_waiting.add(source.page.site)
                if not self.sites.is_ready(site := source.page.site):
                    async with self.sites.turns.of(source):
                        await self.sites.learn(source)
                    self._report_known(site)

    async def _on_engine_stopped(self) -> None:
        safe = False
        with self.report.isolate_step("save what is known of the sites"):
            await self.sites.save_all()
        with self.report.isolate_step("end the worker processes"):
            await self.sites.cleaner.close()
        with self.report.isolate_step("look for what still waits"):
            logger.info(self.report.summary())
            if left := self.waiting.count():
                logger.info("%d items wait in %s for the next run", left, self.settings.store)
        with self.report.isolate_step("tell whether the feeds were written"):
            safe = feeds_are_safe(self._crawler)
        if not safe:
            logger.error("A feed failed: what had waited stays in %s for the next run", self.settings.store)
        self._store.safely(None, Store.close, safe=safe)
