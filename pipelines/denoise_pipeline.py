"""``DenoisePipeline``: strips the noise of the page that an item carries, and fills the item."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from scrapy.exceptions import NotConfigured

from denoise_crawler.crawl.settings import is_off
from denoise_crawler.pipelines.item_pages import ItemPages

if TYPE_CHECKING:
    from scrapy.crawler import Crawler
    from typing_extensions import Self


class DenoisePipeline:
    """Writes the clean text into the item's text field (``DENOISE_TEXT_FIELD``), if that is empty.

    Stands behind :class:`StyleTreePipeline`; without it, pages are judged by what the store knows already.
    """

    def __init__(self, crawler: Crawler) -> None:
        self._pages = ItemPages.of(crawler)

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Set up; raise SettingError or StoreError, or NotConfigured where ``DENOISE_ENABLED`` is False."""
        if is_off(crawler.settings):
            raise NotConfigured
        return cls(crawler)

    def process_item(self, item: Any) -> Any:
        """Return ``item`` filled; an item without a page is returned as it is."""
        if self._pages.is_done(item):
            return item
        return self._pages.warmup.emit(item, self._pages.source_of(item))
