"""``DenoisePipeline`` fills an item with the clean text of the page that it carries."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from denoise_crawler.pipelines.item_pages import ItemPages

if TYPE_CHECKING:
    from scrapy.crawler import Crawler
    from typing_extensions import Self


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
