"""Counts what happened to each item, and logs what a user should know."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any

from denoise_crawler.crawl.several_items import SeveralItems
from denoise_crawler.crawl.unparkable import FirstOfClass
from denoise_crawler.page import MAX_ATTRIBUTES, MAX_ELEMENTS, MAX_HTML_BYTES, MAX_TEXT_BYTES
from denoise_crawler.page.text import printable

if TYPE_CHECKING:
    from scrapy.http import Response

    from denoise_crawler.crawl.counts import Counts
    from denoise_crawler.crawl.item_filler import FillResult, ItemFiller
    from denoise_crawler.crawl.source_page import SourcePage
    from denoise_crawler.errors import GivenPageError

logger = logging.getLogger(__name__)
_WHY_SKIPPED = {
    "too_large": f"it has more than {MAX_HTML_BYTES:,} bytes of HTML, {MAX_TEXT_BYTES:,} bytes of text, "
    f"{MAX_ELEMENTS:,} tags or {MAX_ATTRIBUTES:,} attributes; to have it cleaned, yield it in parts, an item each "
    "with its own HTML"
}


class Outcomes:
    """Counts each item once, when it leaves."""

    def __init__(self, counts: Counts, filler: ItemFiller) -> None:
        self._counts, self._filler = counts, filler
        self._with_own_text = FirstOfClass()

    def count_unfilled(self, item: Any) -> None:
        """Count an item that leaves as it came, because there is no page to fill it from."""
        self._counts.add("items")
        self._count_text(item, wrote=False)

    def count_complete(self, item: Any) -> None:
        """Count an item that has no empty field to fill. Its page is not judged for it."""
        self._counts.add("items")
        if self._filler.has_text(item):
            if self._with_own_text.is_first(type(item)):
                logger.info("%s items have a text of their own and pass as they are", type(item).__qualname__)
        else:
            self._counts.add("unfilled")
        self._count_text(item, wrote=False)

    def count_filled(self, results: list[FillResult]) -> Any:
        """Count items that were filled as far as their class allows; return the item, or all that go on for it."""
        for result in results:
            self._counts.add("items")
            self._counts.add("unfilled", int(not result.has_text))
            self._count_text(result.item, wrote=result.wrote)
        return results[0].item if len(results) == 1 else SeveralItems(result.item for result in results)

    def count_missing_part(self, item: Any, error: Exception) -> None:
        """Count an item whose part is not on its page; log the first one."""
        self._counts.add("items")
        if not self._counts.add("parts_missing"):
            logger.warning("A part of a page is not found, and its item goes on without its text: %s", error)
        self._count_text(item, wrote=False)

    def report_wrong_page(self, response: Response, error: GivenPageError) -> None:
        """Count a response whose spider named something that is no page; log the first one."""
        if not self._counts.add("wrong_pages"):
            logger.error("%s: %s. Its items pass unchanged.", printable(response.url), printable(error))

    def count_without_page(self) -> None:
        """Count an item that has no page."""
        self._counts.add("untouched")

    def count_skipped(self, source: SourcePage, skipped: str) -> None:
        """Count an item whose page has nothing to read, and log the first for each reason."""
        if not self._counts.add(f"skipped/{skipped}"):
            why = _WHY_SKIPPED.get(skipped, skipped)
            url = printable(source.page.url)
            logger.warning("Nothing to read at %s: %s. Its items pass unchanged.", url, why)

    def _count_text(self, item: Any, *, wrote: bool) -> None:
        has_text = self._filler.has_text(item)
        self._counts.add("with_text", int(has_text))
        self._counts.add("own_text", int(has_text and not wrote))
