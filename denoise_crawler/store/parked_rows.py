"""Waiting items as bytes, their pages, and the responses of these."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import NamedTuple

from denoise_crawler.methods.stored_bytes import MAX_BYTES, deflate
from denoise_crawler.page.text import without_lone_surrogates
from denoise_crawler.store.file import transaction


@dataclass(slots=True, eq=False)
class ParkedResponse:
    """A response as bytes that only the caller reads; ``row`` is its row id, 0 before it is stored."""

    data: bytes
    row: int = 0


@dataclass(slots=True, eq=False)
class ParkedPage:
    """A page with waiting items; ``row`` is its row id, 0 before it is stored.

    Pages with the same ``origin`` are the same page. ``response`` is None if it is unknown.
    """

    site: str
    url: str
    html: str
    origin: bytes
    response: ParkedResponse | None = None
    row: int = 0

    def is_storable(self) -> bool:
        """Return True if the HTML and the response are small enough to be read back, as those in a store are."""
        if self.row:
            return True
        others = len(self.response.data) if self.response is not None else 0
        return max(others, len(self.html)) <= MAX_BYTES and len(self.html.encode("utf-8", "replace")) <= MAX_BYTES


class Parked(NamedTuple):
    """A waiting item as bytes; ``id`` is its row id, ``page`` that of its page (see :meth:`Store.page`)."""

    id: int
    site: str
    page: int
    item: bytes
    origin: bytes
    inherited: int = 0


_LEVEL = 1  # of zlib: a third of the time of its default for a tenth more bytes
_IDS_AT_ONCE = 10_000
_MOST_ROWS, _MOST_BYTES = 50, 100_000  # of rows that are read at once
_SUPERSEDED = "run = ? AND inherited AND NOT released AND page IN (SELECT id FROM page WHERE origin = ?)"


def insert(db: sqlite3.Connection, run: str, page: int, item: bytes) -> None:
    """Add an item of a page at the end."""
    db.execute("INSERT INTO parked (run, page, item) VALUES (?, ?, ?)", (run, page, deflate(item, _LEVEL)))


class WaitingPage(NamedTuple):
    """A page with waiting items: its key and its site, and the row of the first of them."""

    origin: bytes
    site: str
    first: int


def pages_waiting(
    db: sqlite3.Connection, run: str, site: str | None, last: int, *, inherited: bool
) -> list[WaitingPage]:
    """Return the next pages with waiting items of a run, those whose first item came first at the front."""
    query = (
        "SELECT origin, site, min(parked.id) AS first FROM parked JOIN page ON page.id = page WHERE run = ?1 "
        "AND NOT released AND (?2 IS NULL OR site = ?2) AND (?3 OR NOT inherited) GROUP BY origin, site "
        "HAVING first > ?4 ORDER BY first LIMIT ?5"
    )
    return [WaitingPage(*row) for row in db.execute(query, (run, site, inherited, last, _IDS_AT_ONCE))]


def ids_waiting(
    db: sqlite3.Connection, run: str, origin: bytes, site: str, last: int, *, inherited: bool
) -> list[list[int]]:
    """Return the ids of the next waiting rows of a page after ``last``, in batches.

    The rows of a batch are read at once: they hold few bytes, or there is only one.
    """
    query = (
        "SELECT parked.id, length(item) FROM page CROSS JOIN parked ON parked.page = page.id WHERE origin = ?1 "
        "AND site = ?2 AND run = ?3 AND NOT released AND parked.id > ?4 AND (?5 OR NOT inherited) "
        "ORDER BY parked.id LIMIT ?6"
    )
    values = (origin, site, run, last, inherited, _IDS_AT_ONCE)
    batches: list[list[int]] = []
    left = 0
    for row, size in db.execute(query, values):
        if size > left or len(batches[-1]) == _MOST_ROWS:
            batches.append([])
            left = _MOST_BYTES
        batches[-1].append(row)
        left -= size
    return batches


def rows_waiting(db: sqlite3.Connection, ids: list[int]) -> list[Parked]:
    """Return the rows with these ids that still wait, in order, with their items as stored."""
    query = (
        "SELECT parked.id, site, page, item, origin, inherited FROM parked JOIN page ON page.id = page "  # noqa: S608
        f"WHERE parked.id IN ({', '.join('?' * len(ids))}) AND NOT released ORDER BY parked.id"
    )
    return [Parked(*row) for row in db.execute(query, ids)]


def release(db: sqlite3.Connection, row: int) -> bool:
    """Mark a row as released; return False if it did not wait."""
    return db.execute("UPDATE parked SET released = 1 WHERE id = ? AND NOT released", (row,)).rowcount > 0


def unrelease(db: sqlite3.Connection, rows: Iterable[int]) -> None:
    """Let released rows wait again."""
    db.executemany("UPDATE parked SET released = 0 WHERE id = ?", [(row,) for row in rows])


def delete_superseded(db: sqlite3.Connection, run: str, origin: bytes) -> int:
    """Delete the waiting items that a run inherited of a page; return how many."""
    return db.execute(f"DELETE FROM parked WHERE {_SUPERSEDED}", (run, origin)).rowcount  # noqa: S608


ORIGIN = b"sample"  # of the row of a page; those of other pages are fingerprints of 20 bytes
MAX_CHARACTERS = 1_000_000
_SAMPLE_LEVEL = 6


def keep(db: sqlite3.Connection, site: str, url: str, html: str, most: int) -> bool:
    """Keep a page unless there are ``most`` of its site; return whether there is room for another one."""
    site, url = without_lone_surrogates(site), without_lone_surrogates(url)
    packed = deflate(html[:MAX_CHARACTERS].encode("utf-8", "replace"), _SAMPLE_LEVEL)
    with transaction(db):
        rows = db.execute("SELECT url FROM page WHERE site = ? AND origin = ?", (site, ORIGIN))
        kept = {row[0] for row in rows}
        if html and url not in kept and len(kept) < most and len(html) <= MAX_CHARACTERS:
            db.execute(
                "INSERT INTO page (origin, site, url, html) VALUES (?, ?, ?, ?)", (ORIGIN, site, url, packed)
            )
            kept.add(url)
    return len(kept) < most


def delete_pages_without_items(db: sqlite3.Connection) -> None:
    """Delete the pages without waiting items, except samples, and the responses of no page."""
    db.execute(
        "DELETE FROM page WHERE origin <> ? AND NOT EXISTS (SELECT 1 FROM parked WHERE page = page.id)", (ORIGIN,)
    )
    db.execute("DELETE FROM response WHERE NOT EXISTS (SELECT 1 FROM page WHERE response = response.id)")


@dataclass(frozen=True, slots=True)
class SiteState:
    """The progress of a site: pages seen so far, and whether its warm-up is over."""

    pages_seen: int = 0
    ready: bool = False


@dataclass(slots=True)
class StoredSite:
    """A site by all methods.

    Attributes:
        states: Its progress, by the store key of the method.
        known_by: The store keys of the methods that know it.
        waiting: How many of its items wait, of all runs.
    """

    states: dict[str, SiteState] = field(default_factory=dict)
    known_by: list[str] = field(default_factory=list)
    waiting: int = 0
