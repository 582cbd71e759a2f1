"""The store of a crawl, read for a report."""

from __future__ import annotations

import sqlite3
import zlib
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from denoise_crawler.errors import StoreError
from denoise_crawler.methods.versioned_format import unpacked
from denoise_crawler.store import VERSION
from denoise_crawler.store.file import check_content

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

T = TypeVar("T")
_MAGIC = b"SQLite format 3\0"


@dataclass(slots=True)
class StoredSite:
    """The progress of a site by each method (its store key), and how many of its items wait."""

    pages_seen: dict[str, int] = field(default_factory=dict)
    ready: dict[str, bool] = field(default_factory=dict)
    known_by: list[str] = field(default_factory=list)
    waiting: int = 0


def is_store(path: Path) -> bool:
    """Tell whether a file is an SQLite database, as stores are."""
    try:
        with path.open("rb") as file:
            return file.read(len(_MAGIC)) == _MAGIC
    except OSError:
        return False


class StoreView:
    """A store file that is opened for each query and never written.

    Raises:
        StoreError: The file cannot be read.

    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.sites = self._sites()

    def knows(self, site: str, key: str) -> bool:
        """Tell whether the store knows a site by the method with this key."""
        return site in self.sites and key in self.sites[site].known_by

    def knowledge(self, site: str, method: str) -> list[bytes]:
        """Return the knowledge of a site by the method with this key, in a list."""
        rows = self._rows(
            "SELECT knowledge FROM site WHERE name = ? AND method = ? AND knowledge NOT NULL", site, method
        )
        return [row[0] for row in rows]

    def save_knowledge(self, *_: object) -> None:
        """Do nothing: the store is only read."""

    def pages(self) -> Iterator[tuple[str, str, str]]:
        """Yield (site, url, html) of the pages that wait, each URL once."""
        seen: set[str] = set()
        last = -1
        while rows := self._rows("SELECT id, site, url, html FROM page WHERE id > ? ORDER BY id LIMIT 20", last):
            for number, site, url, packed in rows:
                last = number
                if url not in seen:
                    seen.add(url)
                    yield site, url, self._unpack_html(packed, url)

    def _unpack_html(self, packed: bytes, url: str) -> str:
        try:
            return unpacked(packed).decode("utf-8", "replace")
        except (ValueError, zlib.error) as error:
            raise self._unreadable(f"the page {url} in it is damaged: {error}") from None

    def _sites(self) -> dict[str, StoredSite]:
        found: dict[str, StoredSite] = {}
        version = self._rows("PRAGMA user_version")[0][0]
        if version != VERSION:
            raise self._unreadable(f"it has version {version}, this release reads version {VERSION}")
        self._read(check_content)
        rows = self._rows(
            "SELECT name, method, pages_seen, ready, knowledge IS NOT NULL FROM site "
            "ORDER BY pages_seen DESC, name"
        )
        for name, key, pages_seen, ready, known in rows:
            site = found.setdefault(name, StoredSite())
            site.pages_seen[key], site.ready[key] = pages_seen, bool(ready)
            if known:
                site.known_by.append(key)
        waiting = self._rows(
            "SELECT site, count(*) FROM parked JOIN page ON page.id = page WHERE NOT released GROUP BY site"
        )
        for name, number in waiting:
            found.setdefault(name, StoredSite()).waiting = number
        return found

    def _rows(self, query: str, *values: object) -> list[tuple[Any, ...]]:
        return self._read(lambda db: db.execute(query, values).fetchall())

    def _read(self, read: Callable[[sqlite3.Connection], T]) -> T:
        try:
            address = f"{self.path.resolve().as_uri()}?mode=ro"
            with closing(sqlite3.connect(address, uri=True, timeout=10)) as db:
                db.execute("PRAGMA trusted_schema = OFF")
                return read(db)
        except (OSError, sqlite3.Error, OverflowError) as error:
            raise self._unreadable(str(error)) from None

    def _unreadable(self, why: str) -> StoreError:
        return StoreError(f"the store {self.path} cannot be read: {why}")
