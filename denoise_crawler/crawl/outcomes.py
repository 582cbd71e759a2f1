"""What became of items, counted as they go on, and said where a user should know."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any

from denoise_crawler.crawl.unparkable import OncePerClass
from denoise_crawler.page import MAX_ATTRIBUTES, MAX_CHARACTERS, MAX_ELEMENTS, MAX_TEXT
from denoise_crawler.page.text import printable

if TYPE_CHECKING:
    from scrapy.http import Response

    from denoise_crawler.crawl.counts import Counts
    from denoise_crawler.crawl.filling import Filled, Filler
    from denoise_crawler.crawl.source import Source
    from denoise_crawler.errors import GivenPageError

logger = logging.getLogger(__name__)
_WHY_SKIPPED = {
    "too_large": f"it has more than {MAX_CHARACTERS:,} bytes of HTML, {MAX_TEXT:,} bytes of text, "
    f"{MAX_ELEMENTS:,} tags or {MAX_ATTRIBUTES:,} attributes; to have it cleaned, yield it in parts, an item each "
    "with its own HTML"
}


class Outcomes:
    """Counts items, each once, when it goes on."""

    def __init__(self, counts: Counts, filler: Filler) -> None:
        self._counts, self._filler = counts, filler
        self._with_own_text = OncePerClass()

    def passed(self, item: Any) -> None:
        """Count an item that goes on as it came, because there is no page to fill it with."""
        self._counts.add("items")
        self._count_text(item, wrote=False)

    def had_all(self, item: Any) -> None:
        """Count an item that has no empty field to fill: its page is not judged for it."""
        self._counts.add("items")
        if self._filler.has_text(item):
            if self._with_own_text.is_first(type(item)):
                logger.info("%s items have a text of their own and pass as they are", type(item).__qualname__)
        else:
            self._counts.add("unfilled")
        self._count_text(item, wrote=False)

    def filled(self, filled: Filled) -> None:
        """Count an item that was filled as far as its class lets us."""
        self._counts.add("items")
        self._counts.add("unfilled", int(not filled.has_text))
        self._count_text(filled.item, wrote=filled.wrote)

    def lacks_part(self, item: Any, error: Exception) -> None:
        """Count an item whose part is not on its page; say so once."""
        self._counts.add("items")
        if not self._counts.add("parts_missing"):
            logger.warning("A part of a page is not found, and its item goes on without its text: %s", error)
        self._count_text(item, wrote=False)

    def wrong_page(self, response: Response, error: GivenPageError) -> None:
        """Count a response whose spider named something else as the page of its items; say so once."""
        if not self._counts.add("wrong_pages"):
            logger.error("%s: %s. Its items pass unchanged.", printable(response.url), printable(error))

    def is_skipped(self, source: Source | None) -> bool:
        """Tell, and count, whether there is nothing to be judged."""
        if source is None:
            self._counts.add("untouched")
            return True
        page = source.page
        if page.skipped:
            if not self._counts.add(f"skipped/{page.skipped}"):
                why = _WHY_SKIPPED.get(page.skipped, page.skipped)
                logger.warning("Nothing to read at %s: %s. Its items pass unchanged.", printable(page.url), why)
            return True
        return False

    def _count_text(self, item: Any, *, wrote: bool) -> None:
        has_text = self._filler.has_text(item)
        self._counts.add("with_text", int(has_text))
        self._counts.add("own_text", int(has_text and not wrote))
