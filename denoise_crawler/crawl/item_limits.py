"""Scrapy's CLOSESPIDER_ITEMCOUNT and …_NO_ITEM: an item that waits counts as one that came out."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from scrapy.extensions.closespider import CloseSpider

if TYPE_CHECKING:
    from scrapy.crawler import Crawler


class ItemLimits:
    """Tells Scrapy's CloseSpider extension, where a limit is set, which items wait."""

    def __init__(self, crawler: Crawler) -> None:
        self._crawler = crawler

    def waits(self, item: Any) -> None:
        """Count ``item`` when it begins to wait: it shows that the crawl is alive, and brings its end nearer."""
        limits, spider = self._crawler.get_extension(CloseSpider), self._crawler.spider
        if limits is None or spider is None:
            return
        if limits.close_on.get("timeout_no_item"):
            limits.item_scraped_no_item(item, spider)
        if limits.close_on.get("itemcount") or limits.close_on.get("pagecount_no_item"):
            limits.item_scraped(item, spider)

    def goes_on(self) -> None:
        """Take an item that goes on out of the count: the extension counts it when it has come out."""
        limits = self._crawler.get_extension(CloseSpider)
        if limits is not None and limits.counter.get("itemcount"):
            limits.counter["itemcount"] -= 1
