"""What becomes of each item of a crawl: it passes, or waits in the store until its site is known."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Iterable, Iterator
from functools import partial
from typing import Any, ClassVar, TypeAlias
from weakref import WeakKeyDictionary

from scrapy import signals
from scrapy.crawler import Crawler

from denoise_crawler.crawl.ending import CloseHook, feeds_are_safe
from denoise_crawler.crawl.event_loop import PeriodicTask, run_concurrently
from denoise_crawler.crawl.filling import ItemFiller
from denoise_crawler.crawl.guarded_store import GuardedStore
from denoise_crawler.crawl.parking import WaitingItem, WaitingItems
from denoise_crawler.crawl.report import CrawlReport, UnwantedItem, check_wanted
from denoise_crawler.crawl.scrapy_internals import SentItems
from denoise_crawler.crawl.settings import DenoiseSettings
from denoise_crawler.crawl.sites import Sites
from denoise_crawler.crawl.source_page import SourcePage
from denoise_crawler.crawl.stored_items import owner_of
from denoise_crawler.denoiser import Cleaned
from denoise_crawler.errors import PartError, describe_error
from denoise_crawler.page.text import printable
from denoise_crawler.store import Store, open_store

Fill: TypeAlias = Callable[..., list[Any]]

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
        self._sites_with_waiting: set[str] = set()
        self._releasing: set[str] = set()
        sent = SentItems(crawler)
        self.send, self.was_released = sent.send, sent.has
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
        return self._unless_unwanted(self._filled, item, source)

    async def waits(self, item: Any, source: SourcePage | None) -> bool:
        """Learn the page of an item; park the item, or judge the page for it; return whether it waits.

        The page that ends the warm-up of its site waits with the others.
        """
        parked = False
        try:
            if isinstance(item, self.settings.skipped_items) or source is None or not self.learn(source):
                return False
            site = source.page.site
            parked = self._must_park(item, source) and self.waiting.park(item, source)
            if parked:
                self._sites_with_waiting.add(site)
            elif self._needs_text(item, source):
                self.sites.clean(source)
            self._report_known(site)
            await self._release(site)
            await self._release_overdue()
        except Exception:  # a bug must not cost the item
            self.report.page_failed("A page" if source is None else source.page.url)
            if source is not None and not source.learned:  # its items leave now, so those of an earlier run do not
                source.learned = True
                self.waiting.supersede(source)
        return parked

    async def fill(self, item: Any, source: SourcePage | None) -> list[Any]:
        """Return what goes on for an item that does not wait, filled where possible. Items keep their order.

        Raises:
            UnwantedItem: The settings want items of such pages dropped.
        """
        return self._unharmed(self._filled, item, source)

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

    def learn(self, source: SourcePage) -> bool:
        """Learn a page, once, in place of an earlier run; return whether it has anything to read."""
        if not source.learned:
            self.sites.learn(source)
            source.learned = True
            if not source.skipped:
                self.report.count("pages")
                self.waiting.supersede(source)
        return not source.skipped

    def is_skipped(self, source: SourcePage) -> bool:
        """Return True, and count an item, if there is nothing to read on its page."""
        self.sites.look(source)
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

    # --- an item goes on, filled

    def _unless_unwanted(self, fill: Fill, item: Any, source: SourcePage | None, *more: Any) -> list[Any]:
        """Return filled items; none if they are to be dropped, which Scrapy is told as by a pipeline."""
        try:
            return self._unharmed(fill, item, source, *more)
        except UnwantedItem as error:
            response = None if source is None else source.response
            self._crawler.signals.send_catch_log(
                signals.item_dropped, item=item, response=response, spider=self._crawler.spider, exception=error
            )
            return []

    def _unharmed(self, fill: Fill, item: Any, source: SourcePage | None, *more: Any) -> list[Any]:
        """Return filled items; the item as it came if that fails. Raise UnwantedItem to drop it."""
        try:
            return fill(item, source, *more)
        except UnwantedItem:
            raise
        except Exception as error:  # neither a bug nor a strange class of items costs the item
            self.report.page_failed("A page" if source is None else source.page.url)
            return self.filler.unfilled(item, describe_error(error))

    def _filled(self, item: Any, source: SourcePage | None) -> list[Any]:
        if source is not None and self._needs_text(item, source):
            self.sites.clean(source)
        if isinstance(item, self.settings.skipped_items):
            self.report.count("opted_out")
            return [item]
        if source is None or ((source.skipped or not source.looked_at) and self.is_skipped(source)):
            self.report.count("untouched", int(source is None))
            return self.filler.as_it_came(item)
        if not self.filler.can_fill(item):
            return self.filler.complete(item)
        if source.cleaned is None:
            return self.filler.unfilled(item, source.error)
        self.report.count("cleaned")
        self.sites.progress(source.page.site).items_cleaned += 1
        return self._with_text(item, source.cleaned)

    def _with_text(self, item: Any, cleaned: Cleaned) -> list[Any]:
        try:
            part = self.filler.part_of(item)
            clean_page = self.sites.cleaner.part(cleaned, part) if part else cleaned.clean_page
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

    async def _release(self, site: str) -> None:
        """Release the items of a site that have to wait no longer."""
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
                with self.report.isolate_step("count the sites that are not known"):
                    site = waiting.source.page.site
                    if self.sites.must_wait(site) and site not in short:
                        short.add(site)
                        self.report.count("sites_short")
                yield waiting

        await self._send(waiting_items())

    async def _send(self, items: Iterable[WaitingItem]) -> None:
        """Send released items through the pipelines, as many at a time as Scrapy does."""
        try:
            await run_concurrently(self._sending(items), self._crawler.settings.getint("CONCURRENT_ITEMS"))
        except Exception:  # the crawl must go on and end normally
            self.report.release_failed()

    def _sending(self, items: Iterable[WaitingItem]) -> Iterator[Awaitable[None]]:
        for item, source in items:
            yield self._send_one(source, self._unless_unwanted(self._fill_released, item, source))
            if self._close_hook.must_keep_items():
                break

    async def _send_one(self, source: SourcePage, ready: list[Any]) -> None:
        try:
            for each in ready:
                await self.send(each, source.response)
        finally:
            self.waiting.has_left(source)

    def _fill_released(self, item: Any, source: SourcePage) -> list[Any]:
        """Return what goes on for a released item, filled as DENOISE_SHORT_SITES says."""
        policy = "clean" if self.sites.is_ready(source.page.site) else self.settings.short_sites
        if policy == "drop":
            self.report.count("dropped")
            return []
        self.report.count("replayed")
        if policy == "clean":
            return self._filled(item, source)
        self.report.count("raw")
        if source.cleaned is None:
            source.cleaned = self.sites.cleaner.raw(source.page)
        return self._with_text(item, source.cleaned)

    # --- the crawl begins and ends

    async def _on_spider_opened(self) -> None:
        with self.report.isolate_step("load the method"):
            self.sites.start()
        with self.report.isolate_step("learn the pages that an earlier run left"):
            for source in self.waiting.sources() if self.waiting.inherit() else ():
                if self.settings.job:
                    self._sites_with_waiting.add(source.page.site)
                if not self.sites.is_ready(site := source.page.site):
                    self.sites.learn(source)
                    self._report_known(site)

    async def _on_engine_stopped(self) -> None:
        safe = False
        with self.report.isolate_step("save what is known of the sites"):
            self.sites.save_all()
        with self.report.isolate_step("look for what still waits"):
            logger.info(self.report.summary())
            if left := self.waiting.count():
                logger.info("%d items wait in %s for the next run", left, self.settings.store)
        with self.report.isolate_step("tell whether the feeds were written"):
            safe = feeds_are_safe(self._crawler)
        if not safe:
            logger.error("A feed failed: what had waited stays in %s for the next run", self.settings.store)
        self._store.safely(None, Store.close, safe=safe)
