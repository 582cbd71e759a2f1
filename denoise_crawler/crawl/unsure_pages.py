"""What a crawl does with items of pages that it is less sure of than DENOISE_MIN_CONFIDENCE."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any, TypeAlias

from scrapy import signals
from scrapy.exceptions import DropItem

from denoise_crawler.errors import LowConfidenceError, SettingError
from denoise_crawler.methods import METHODS
from denoise_crawler.output.low_confidence import DROP, RENDER, check_low_confidence, is_fallback
from denoise_crawler.output.writing import DROP_UNCHANGED
from denoise_crawler.page.text import printable

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from scrapy.crawler import Crawler
    from scrapy.settings import BaseSettings

    from denoise_crawler.crawl.counts import Counts
    from denoise_crawler.crawl.source_page import SourcePage
    from denoise_crawler.output.clean_page import CleanPage
    from denoise_crawler.output.writing import Writing

    Emit: TypeAlias = Callable[[Any, SourcePage | None], Awaitable[Any]]

logger = logging.getLogger(__name__)


class UnwantedItem(DropItem):
    """The settings want items of such pages dropped."""


class UnchangedItem(UnwantedItem):
    """The page of the item says what it said when it was last seen."""

    def __init__(self, clean_page: CleanPage) -> None:
        super().__init__(f"unchanged: {printable(clean_page.url)}", log_level="DEBUG")


class LowConfidenceItem(UnwantedItem):
    """The text of the item's page is less sure than DENOISE_MIN_CONFIDENCE."""

    def __init__(self, clean_page: CleanPage) -> None:
        super().__init__(f"confidence {clean_page.confidence} of {printable(clean_page.url)}", log_level="DEBUG")


class UnsurePages:
    """Counts unsure pages, and drops their items if the user wants that."""

    def __init__(self, crawler: Crawler, writing: Writing, counts: Counts) -> None:
        self._crawler, self._writing, self._counts = crawler, writing, counts

    def count(self, clean_page: CleanPage) -> None:
        """Count a page if it is unsure, and what was named for it if that gave no text; log the first one."""
        self._counts.add("unchanged", int(bool(clean_page.unchanged)))
        self._counts.add("error_pages", int(bool(clean_page.soft_404)))
        if not clean_page.low_confidence:
            return
        self._counts.add("unsure")
        action = self._writing.low_confidence
        gave_none = is_fallback(action) and not (clean_page.method or "").endswith(f"/{action}")
        if gave_none and not self._counts.add("unsure_fallbacks"):
            logger.warning("%s wrote nothing of %s: our own text stays", action, printable(clean_page.url))

    def check(self, clean_page: CleanPage, *, has_text: bool) -> None:
        """Raise LowConfidenceItem or UnchangedItem if an item of this page is to be dropped."""
        if clean_page.low_confidence and not has_text and self._writing.low_confidence == DROP:
            self._counts.add("unsure_dropped")
            raise LowConfidenceItem(clean_page)
        if clean_page.unchanged and self._writing.changes == DROP_UNCHANGED:
            self._counts.add("unchanged_dropped")
            raise UnchangedItem(clean_page)

    async def pass_on(self, emit: Emit, item: Any, source: SourcePage | None) -> Any | None:
        """Return what ``emit`` returns; None for an item that it drops, which Scrapy is told as by a pipeline."""
        try:
            return await emit(item, source)
        except UnwantedItem as error:
            response = None if source is None else source.response
            self._crawler.signals.send_catch_log(
                signals.item_dropped, item=item, response=response, spider=self._crawler.spider, exception=error
            )
            return None


def check_actions(minimum: float, action: str, method: str, settings: BaseSettings) -> None:
    """Check DENOISE_MIN_CONFIDENCE and DENOISE_LOW_CONFIDENCE against the other settings; raise SettingError."""
    try:
        check_low_confidence(minimum, action)
    except LowConfidenceError as error:
        raise SettingError(f"DENOISE_LOW_CONFIDENCE: {error}") from None
    if minimum and not METHODS[method].is_sure:
        those = ", ".join(name for name, one in METHODS.items() if one.is_sure)
        raise SettingError(
            f"DENOISE_MIN_CONFIDENCE is {minimum!r}, but {method} cannot say how sure it is; these can: {those}"
        )
    if minimum and action == RENDER and not _has_rendering(settings):
        raise SettingError(
            f"DENOISE_LOW_CONFIDENCE is {RENDER!r}, which needs 'denoise_crawler.Rendering' in ADDONS"
        )


def _has_rendering(settings: BaseSettings) -> bool:
    names = (getattr(addon, "__name__", str(addon)) for addon in settings.getdict("ADDONS"))
    return any(name.rpartition(".")[2] == "Rendering" for name in names)
