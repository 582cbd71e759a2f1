"""Scrapy's CLOSESPIDER_ITEMCOUNT and …_NO_ITEM: a waiting item counts like one that was scraped."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from scrapy.extensions.closespider import CloseSpider

if TYPE_CHECKING:
    from scrapy.crawler import Crawler


class ItemLimits:
    """Tells Scrapy's CloseSpider extension, if a limit is set, which items wait."""

    def __init__(self, crawler: Crawler) -> None:
        self._crawler = crawler

    def count_waiting(self, item: Any) -> None:
        """Count ``item`` when it begins to wait: the crawl is alive, and closer to its item limit."""
        limits, spider = self._crawler.get_extension(CloseSpider), self._crawler.spider
        if limits is None or spider is None:
            return
        if limits.close_on.get("timeout_no_item"):
            limits.item_scraped_no_item(item, spider)
        if limits.close_on.get("itemcount") or limits.close_on.get("pagecount_no_item"):
            limits.item_scraped(item, spider)

    def uncount_released(self) -> None:
        """Take a released item out of the count, because the extension counts it when it is scraped."""
        limits = self._crawler.get_extension(CloseSpider)
        if limits is not None and limits.counter.get("itemcount"):
            limits.counter["itemcount"] -= 1
