"""What is told of a page beside those seen before: its hash, its copies, whether it is unchanged."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from denoise_crawler.changes import MAX_PAGES
from denoise_crawler.changes.copies import SeenTexts
from denoise_crawler.changes.fingerprint import Fingerprint
from denoise_crawler.changes.history import PageHistory

if TYPE_CHECKING:
    from pathlib import Path


class PageChanges(NamedTuple):
    """What is told of one page; ``unchanged`` is None for a page that was never seen, or without a history."""

    content_hash: str
    near_duplicate_of: str | None
    soft_404: bool
    unchanged: bool | None


class ChangeWatch:
    r"""Watches pages go by.

    Args:
        history: The file that remembers pages from one run to the next; None for none.
        max_pages: So many pages are remembered there.

    Example:
        >>> watch = ChangeWatch()
        >>> watch.see("a.example", "https://a.example/1", "", "A storm.", "Menu\nA storm.").content_hash
        'f43e7eaec66d88b7'

    """

    def __init__(self, history: Path | str | None = None, max_pages: int = MAX_PAGES) -> None:
        self._texts = SeenTexts()
        self._history = PageHistory(history, max_pages) if history else None

    def see(self, site: str, url: str, title: str, text: str, whole: str) -> PageChanges:
        """Tell what is new of a page.

        Args:
            site: Its site.
            url: Its address.
            title: Its title.
            text: Its clean text.
            whole: All text that stands on it.
        """
        page = Fingerprint.of(text, whole)
        copies = self._texts.see(site, url, title, text, page.content)
        unchanged = None if self._history is None else self._history.see(url, page)
        return PageChanges(page.content_hash, *copies, unchanged)
