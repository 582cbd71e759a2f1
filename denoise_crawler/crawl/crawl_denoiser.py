"""What the components of one crawl share: its settings, its sites, its store, and how an item is filled."""

from __future__ import annotations

import inspect
import json
import logging
import os
from functools import partial
from pathlib import Path
from typing import Any, ClassVar
from weakref import WeakKeyDictionary

from scrapy import Spider, signals
from scrapy.crawler import Crawler
from scrapy.http import Response
from scrapy.utils.conf import closest_scrapy_cfg

from denoise_crawler.crawl.item_fields import ItemWriter
from denoise_crawler.crawl.parked_items import GuardedStore, WaitingItems
from denoise_crawler.crawl.report import CrawlReport, LowConfidenceItem, class_path
from denoise_crawler.crawl.settings import DenoiseSettings
from denoise_crawler.crawl.shutdown import feeds_are_safe
from denoise_crawler.crawl.sites import Sites
from denoise_crawler.crawl.source_page import ResponsePages, SourcePage
from denoise_crawler.errors import describe_error
from denoise_crawler.output.extractors import DROP
from denoise_crawler.store import Store, open_store

logger = logging.getLogger(__name__)


class CrawlDenoiser:
    """Learns the pages of one crawl and fills its items.

    Attributes:
        by_addon: Whether the spider middleware passes the items in, and no pipeline.
    """

    _of_crawler: ClassVar[WeakKeyDictionary[Crawler, CrawlDenoiser]] = WeakKeyDictionary()

    def __init__(self, crawler: Crawler) -> None:
        self._crawler, self.by_addon = crawler, False
        self.settings = DenoiseSettings.from_settings(crawler.settings)
        self.report = CrawlReport(crawler)
        self.writer = ItemWriter(self.settings, self.report)
        store = open_store(self.settings.store, owner=owner_of(crawler), job=self.settings.job)
        self._store = GuardedStore(store, partial(self.report.store_failed, self.settings.store))
        self.sites = Sites(self.settings, self._store, self.report)
        self.waiting = WaitingItems(crawler, self._store, self.report)
        crawler.signals.connect(self._on_spider_opened, signals.spider_opened)
        crawler.signals.connect(self._on_engine_stopped, signals.engine_stopped)

    @classmethod
    def of(cls, crawler: Crawler) -> CrawlDenoiser:
        """Return the one of a crawl; the first call makes it.

        Raises:
            SettingError: A DENOISE_* setting is wrong.
            StoreError: The store cannot be opened.
        """
        if crawler not in cls._of_crawler:
            cls._of_crawler[crawler] = cls(crawler)
        return cls._of_crawler[crawler]

    def pages_of(self, response: Response) -> ResponsePages:
        """Return what finds the page of each item of a response."""
        return ResponsePages(response, self._crawler, self.settings, self.writer, self.report)

    def learn(self, source: SourcePage) -> None:
        """Learn a page, once, in place of what an earlier run left of it."""
        if not source.learned:
            self.waiting.supersede(source)
            self.sites.learn(source)
            self.report.count("pages", int(not source.page.skipped))

    def is_skipped(self, source: SourcePage) -> bool:
        """Return True, and count an item, if there is nothing to read on its page."""
        if source.page.skipped:
            self.report.page_skipped(source.page.url, source.page.skipped)
        return bool(source.page.skipped)

    def can_fill(self, item: Any, source: SourcePage) -> bool:
        """Return True if an item gets anything from its page."""
        if not source.has_page or source.page.skipped or isinstance(item, self.settings.skipped_items):
            return False
        return self.writer.can_fill(item)

    # --- an item goes on, filled

    def fill(self, item: Any, source: SourcePage | None, *, released: bool = False) -> list[Any]:
        """Return what goes on for an item, filled where possible: the item, or one for each record of its page.

        Args:
            item: The item.
            source: Its page, None if that cannot be read.
            released: Whether the item waited; then DENOISE_SHORT_SITES says what becomes of it.

        Returns:
            The items; the item as it came if anything goes wrong; none if it is dropped.

        Raises:
            LowConfidenceItem: The settings want items of such pages dropped.
        """
        try:
            if released and source is not None:
                return self._fill_released(item, source)
            return self._filled(item, source)
        except LowConfidenceItem:
            raise
        except Exception as error:  # neither a bug nor a strange class of items costs the item
            self.report.page_failed("A page" if source is None else source.page.url)
            return self.writer.unfilled(item, describe_error(error))

    def fill_or_drop(self, item: Any, source: SourcePage | None, *, released: bool = False) -> list[Any]:
        """Return what :meth:`fill` returns; an unwanted item is dropped, which Scrapy is told as by a pipeline."""
        try:
            return self.fill(item, source, released=released)
        except LowConfidenceItem as error:
            response = None if source is None else source.response
            self._crawler.signals.send_catch_log(
                signals.item_dropped, item=item, response=response, spider=self._crawler.spider, exception=error
            )
            return []

    def _fill_released(self, item: Any, source: SourcePage) -> list[Any]:
        is_short = not self.sites.of(source.page.site).is_ready and self.can_fill(item, source)
        if is_short and self.settings.short_sites == "drop":
            self.report.count("dropped")
            return []
        self.report.count("replayed")
        return self._filled(item, source)

    def _filled(self, item: Any, source: SourcePage | None) -> list[Any]:
        if isinstance(item, self.settings.skipped_items):
            self.report.count("opted_out")
            return [item]
        if source is None or not source.has_page or self.is_skipped(source):
            self.report.count("untouched", int(source is None or not source.has_page))
            return self.writer.as_it_came(item)
        if not self.writer.can_fill(item):
            source.page.hold()  # the spider goes on, and the next item may need the page
            return self.writer.complete(item)
        self.sites.clean(source)
        if source.cleaned is None:
            return self.writer.unfilled(item, source.error)
        self.report.count("cleaned")
        self.sites.of(source.page.site).items_cleaned += 1
        clean_page = source.cleaned.clean_page
        is_dropped = clean_page.low_confidence and self.settings.writing.low_confidence == DROP
        if is_dropped and not self.writer.has_text(item):
            self.report.count("unsure_dropped")
            raise LowConfidenceItem(clean_page)
        return self.writer.fill_each(item, clean_page, whole=self.by_addon)

    # --- the crawl begins and ends

    def _on_spider_opened(self) -> None:
        polite = getattr(self._crawler.engine.downloader, "polite", None)
        if polite is not None and polite.delay_max >= 1:
            quota = self.settings.warmup_pages if self.settings.choice.learns else 0
            self.report.pace(polite.delay_min, polite.delay_max, quota)
        with self.report.isolate_step("load the method"):  # so that no page waits for it
            self.settings.choice.prepare()
        with self.report.isolate_step("learn the pages that an earlier run left"):
            for source in self.waiting.sources() if self.waiting.inherit() else ():
                source.learned = not source.has_page
                site = self.sites.learn(source)
                site.has_waiting = site.has_waiting or bool(self.settings.job)

    def _on_engine_stopped(self) -> None:
        safe = False
        with self.report.isolate_step("save what is known of the sites"):
            self.sites.save_all()
        with self.report.isolate_step("look for what still waits"):
            self.report.log_summary()
            if left := self.waiting.count():
                logger.info("%d items wait in %s for the next run", left, self.settings.store)
        with self.report.isolate_step("find out whether the feeds were written"):
            safe = feeds_are_safe(self._crawler)
        if not safe:
            logger.error("A feed failed: what had waited stays in %s for the next run", self.settings.store)
        self._store.safely(None, Store.close, safe=safe)


def owner_of(crawler: Crawler) -> str:
    """Return a string that tells the spider of ``crawler`` from all others that may use the same store."""
    spider = crawler.spidercls
    names = [_project_of(spider), crawler.settings.get("BOT_NAME"), class_path(spider), spider.name or ""]
    return json.dumps(names)


def _project_of(spider: type[Spider]) -> str:
    if config := closest_scrapy_cfg():
        return str(Path(config).resolve().parent)
    if project := os.environ.get("SCRAPY_PROJECT"):
        return f"project {project}"
    try:
        return str(Path(inspect.getfile(spider)).resolve())
    except (OSError, TypeError):
        return ""
