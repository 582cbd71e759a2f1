"""``StyleTreePipeline`` learns the pages of a site and decides which items wait."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from scrapy.crawler import Crawler
from scrapy.exceptions import DropItem

from denoise_crawler.pipelines.item_pages import ItemPages

if TYPE_CHECKING:
    from typing_extensions import Self


class ParkedItem(DropItem):
    """The item waits in the store; it comes back when its site is known."""

    def __init__(self, site: str) -> None:
        super().__init__(f"waits until {site} is known", log_level="DEBUG")


class StyleTreePipeline:
    """Learns the page that an item carries in its HTML field (``DENOISE_HTML_FIELD``).

    The items of a site wait in the store until the site is known. For Scrapy they are dropped, and pass through
    the pipelines a second time when the quota of pages is reached or before the crawl ends. So put this pipeline
    before all others. If the add-on is enabled, the pipeline does nothing.
    """

    def __init__(self, crawler: Crawler) -> None:
        self._pages = ItemPages.of(crawler)

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Make the pipeline; raise what :meth:`ItemPages.of` raises."""
        return cls(crawler)

    async def process_item(self, item: Any) -> Any:
        """Learn the page of an item.

        Returns:
            The item, if its site is known.

        Raises:
            ParkedItem: The item waits.
        """
        if self._pages.passes_by(item):
            return item
        source = self._pages.source_of(item)
        if not await self._pages.fate.waits(item, source):
            return item
        assert source is not None  # noqa: S101 - an item without a page does not wait
        raise ParkedItem(source.page.site)


class DenoisePipeline:
    """Writes the clean text into the text field of an item (``DENOISE_TEXT_FIELD``), if that is empty.

    Put it behind :class:`StyleTreePipeline`. Without that pipeline, pages are judged by what the store already
    knows.
    """

    def __init__(self, crawler: Crawler) -> None:
        self._pages = ItemPages.of(crawler)

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Make the pipeline; raise what :meth:`ItemPages.of` raises."""
        return cls(crawler)

    async def process_item(self, item: Any) -> Any:
        """Return ``item`` filled; as it is if it has no page. Raise what :meth:`ItemFate.fill` raises."""
        if self._pages.passes_by(item):
            return item
        [filled] = await self._pages.fate.fill(item, self._pages.source_of(item))
        return filled
