"""``StyleTreePipeline``: accumulates the pages of a site and decides what must wait."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from scrapy.exceptions import DropItem, NotConfigured

from denoise_crawler.crawl.settings import is_off
from denoise_crawler.pipelines.item_pages import ItemPages

if TYPE_CHECKING:
    from scrapy.crawler import Crawler
    from typing_extensions import Self


class ParkedItem(DropItem):
    """The item waits in the store; it will come again when its site is known."""

    def __init__(self, site: str) -> None:
        super().__init__(f"waits until {site} is known", log_level="DEBUG")


class StyleTreePipeline:
    """Learns the page that an item carries in its HTML field (``DENOISE_HTML_FIELD``).

    Until the site is known its items wait in the store: Scrapy sees them dropped, and later sees them a
    second time, so this pipeline stands before all others. They come again when the quota is reached, or
    before the crawl ends. With the add-on in force it lets everything pass.
    """

    def __init__(self, crawler: Crawler) -> None:
        self._pages = ItemPages.of(crawler)

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Set up; raise SettingError or StoreError, or NotConfigured where ``DENOISE_ENABLED`` is False."""
        if is_off(crawler.settings):
            raise NotConfigured
        return cls(crawler)

    async def process_item(self, item: Any) -> Any:
        """Learn the item's page; return the item if its site is known, else let it wait."""
        if self._pages.is_done(item):
            return item
        source = self._pages.source_of(item)
        if not await self._pages.warmup.must_wait(item, source):
            return item
        assert source is not None  # noqa: S101 - what has no page does not wait
        raise ParkedItem(source.page.site)
