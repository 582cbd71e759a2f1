"""What changed on a page since it was last seen, in this run or, by a file, in one before; and its copies."""

from __future__ import annotations

import logging
import sqlite3
from pathlib import Path
from typing import NamedTuple
from weakref import finalize

from denoise_crawler.changes import MAX_PAGES
from denoise_crawler.changes.copies import SeenTexts
from denoise_crawler.changes.fingerprint import Fingerprint
from denoise_crawler.page.text import hash64, printable

logger = logging.getLogger(__name__)

BUSY_SECONDS = 10.0
_VERSION = 1
_SWEEP_EVERY = 500  # pages; so many more than the limit may be there
_SIGNED = 1 << 63


class PageHistory:
    """Remembers the fingerprint of each page by its URL, in a file that several processes may share.

    A file that cannot be used costs only the answers: they are None, and one warning names the file.

    Args:
        path: The file; it is made if it is missing.
        max_pages: So many pages are kept, those that were seen last.

    Example:
        >>> from tempfile import TemporaryDirectory
        >>> with TemporaryDirectory() as folder:
        ...     history, page = PageHistory(f"{folder}/seen.sqlite"), Fingerprint.of("A storm.", "A storm.")
        ...     print(history.see("https://a.example/", page), history.see("https://a.example/", page))
        ...     history.close()
        None True
    """

    def __init__(self, path: Path | str, max_pages: int = MAX_PAGES) -> None:
        self._path, self._max_pages = Path(path), max_pages
        self._seen = 0
        self._file: sqlite3.Connection | None = None
        self._usable = True

    def see(self, url: str, page: Fingerprint) -> bool | None:
        """Remember a page; return True if it says what it said when it was last seen, None if it never was."""
        if not self._usable:
            return None
        try:
            return self._see(self._opened(), hash64(url) - _SIGNED, page)
        except (sqlite3.Error, OSError) as error:
            self._usable = False
            logger.warning(
                "%s cannot be used (%s): this run does not tell which pages are unchanged. Free the file, or "
                "remove it to begin anew",
                printable(self._path),
                printable(error),
            )
            return None

    def close(self) -> None:
        """Close the file."""
        if self._file is not None:
            self._file.close()
            self._file = None

    def _see(self, file: sqlite3.Connection, key: int, page: Fingerprint) -> bool | None:
        row = file.execute("SELECT fingerprint FROM pages WHERE key = ?", (key,)).fetchone()
        file.execute(
            "INSERT OR REPLACE INTO pages (seen, key, fingerprint) "
            "VALUES ((SELECT coalesce(max(seen), 0) + 1 FROM pages), ?, ?)",
            (key, page.to_bytes()),
        )
        if self._seen % _SWEEP_EVERY == 0:
            file.execute(
                "DELETE FROM pages WHERE seen <= (SELECT seen FROM pages ORDER BY seen DESC LIMIT 1 OFFSET ?)",
                (self._max_pages,),
            )
        self._seen += 1
        try:
            return None if row is None else page.says_the_same(Fingerprint.from_bytes(row[0]))
        except ValueError:  # a damaged row counts as never seen
            return None

    def _opened(self) -> sqlite3.Connection:
        if self._file is None:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            file = sqlite3.connect(self._path, timeout=BUSY_SECONDS, isolation_level=None, check_same_thread=False)
            file.execute("PRAGMA journal_mode = WAL")
            file.execute("PRAGMA synchronous = OFF")
            if file.execute("PRAGMA user_version").fetchone()[0] not in (0, _VERSION):
                file.close()
                raise OSError("it was made by another version")
            file.execute(
                "CREATE TABLE IF NOT EXISTS pages (seen INTEGER PRIMARY KEY, key INTEGER UNIQUE, fingerprint BLOB)"
            )
            file.execute(f"PRAGMA user_version = {_VERSION}")
            self._file = file
            finalize(self, file.close)
        return self._file


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
        """Remember a page with its clean text, and the ``whole`` text on it; return what is new of it."""
        page = Fingerprint.of(text, whole)
        copies = self._texts.see(site, url, title, text, page.content)
        unchanged = None if self._history is None else self._history.see(url, page)
        return PageChanges(page.content_hash, *copies, unchanged)
