"""Items that the settings want dropped: of pages that are unsure, or unchanged since they were last seen."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scrapy.exceptions import DropItem

from denoise_crawler.errors import SettingError
from denoise_crawler.methods import METHODS
from denoise_crawler.output.extractors import DROP, RENDER
from denoise_crawler.output.writing import DROP_UNCHANGED
from denoise_crawler.page.text import printable

if TYPE_CHECKING:
    from scrapy.settings import BaseSettings

    from denoise_crawler.crawl.report import CrawlReport
    from denoise_crawler.output.clean_page import CleanPage
    from denoise_crawler.output.writing import Writing


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


def check_wanted(clean_page: CleanPage, writing: Writing, report: CrawlReport, *, has_text: bool) -> None:
    """Raise LowConfidenceItem or UnchangedItem if an item of this page is to be dropped.

    Args:
        clean_page: The page.
        writing: What the settings say of such pages.
        report: Counts the item.
        has_text: Whether the item has a text of its own.
    """
    if clean_page.low_confidence and not has_text and writing.low_confidence == DROP:
        report.count("unsure_dropped")
        raise LowConfidenceItem(clean_page)
    if clean_page.unchanged and writing.changes == DROP_UNCHANGED:
        report.count("unchanged_dropped")
        raise UnchangedItem(clean_page)


def check_actions(writing: Writing, method: str, settings: BaseSettings) -> None:
    """Raise SettingError if the method cannot tell unsure pages, or nothing renders them."""
    if not writing.min_confidence:
        return
    if not METHODS[method].is_sure:
        those = ", ".join(name for name, one in METHODS.items() if one.is_sure)
        raise SettingError(
            f"DENOISE_MIN_CONFIDENCE is {writing.min_confidence!r}, but {method} cannot say how sure it is; "
            f"these can: {those}"
        )
    if writing.low_confidence == RENDER and not _has_rendering(settings):
        raise SettingError(
            f"DENOISE_LOW_CONFIDENCE is {RENDER!r}, which needs 'denoise_crawler.Rendering' in ADDONS"
        )


def _has_rendering(settings: BaseSettings) -> bool:
    names = (getattr(addon, "__name__", str(addon)) for addon in settings.getdict("ADDONS"))
    return any(name.rpartition(".")[2] == "Rendering" for name in names)
