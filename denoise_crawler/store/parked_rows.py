"""The table of waiting items: a row packs items of one page that came together.

The id of a row is the number of its first item, and a row of n items takes n numbers. So each item has a number,
and a row can be split where only some of its items go on.
"""

from __future__ import annotations

import zlib
from typing import TYPE_CHECKING, NamedTuple

import msgspec

from denoise_crawler.methods.versioned_format import decode_msgpack, deflate, inflate
from denoise_crawler.store.file import transaction

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterable, Iterator, Sequence

_LEVEL = 1  # of zlib: a third of the time of its default for a tenth more bytes
_SPANS_AT_ONCE = 10_000
_SUPERSEDED = "run = ? AND inherited AND NOT released AND page IN (SELECT id FROM page WHERE origin = ?)"

_encode = msgspec.msgpack.Encoder().encode


class Span(NamedTuple):
    """A range of item numbers, both ends included."""

    first: int
    last: int


class Row(NamedTuple):
    """A waiting row as stored; ``number`` is its count of items."""

    first: int
    number: int
    site: str
    page: int
    origin: bytes
    inherited: int
    items: bytes


def insert(db: sqlite3.Connection, run: str, page: int, items: Sequence[bytes]) -> None:
    """Add items of a page as one row at the end."""
    db.execute(
        "INSERT INTO parked (id, run, page, count, items) "
        "VALUES (coalesce((SELECT id + count FROM parked ORDER BY id DESC LIMIT 1), 1), ?, ?, ?, ?)",
        (run, page, len(items), _pack_items(items)),
    )


def items_of(items: bytes, count: int) -> list[bytes]:
    """Return the items of a row.

    Raises:
        ValueError: The bytes are damaged or hold another number of items.
    """
    try:
        found: list[bytes] = decode_msgpack(inflate(items), list[bytes])
    except (zlib.error, msgspec.MsgspecError) as error:
        raise ValueError(str(error)) from None
    if len(found) != count:
        raise ValueError(f"{len(found)} items instead of {count}")
    return found


def spans_waiting(db: sqlite3.Connection, run: str, site: str | None, last: int, *, inherited: bool) -> list[Span]:
    """Return the next waiting rows of a run after number ``last``, of ``site`` or of all sites."""
    query = (
        "SELECT id, id + count - 1 FROM parked WHERE run = ?1 AND NOT released AND id > ?2 "
        "AND (?3 OR NOT inherited) ORDER BY id LIMIT ?4"
        if site is None
        else "SELECT parked.id, parked.id + count - 1 FROM page CROSS JOIN parked ON parked.page = page.id "
        "WHERE run = ?1 AND NOT released AND parked.id > ?2 AND (?3 OR NOT inherited) AND page.site = ?5 "
        "ORDER BY parked.id LIMIT ?4"
    )
    values = (run, last, inherited, _SPANS_AT_ONCE, *(() if site is None else (site,)))
    return [Span(*found) for found in db.execute(query, values)]


def rows_waiting(db: sqlite3.Connection, span: Span) -> list[Row]:
    """Return the waiting rows in a span: one, unless it was split since."""
    found = db.execute(
        "SELECT parked.id, count, site, page, origin, inherited, items FROM parked JOIN page ON page.id = page "
        "WHERE parked.id BETWEEN ? AND ? AND NOT released ORDER BY parked.id",
        span,
    )
    return [Row(*row) for row in found.fetchall()]


def delete_superseded(db: sqlite3.Connection, run: str, origin: bytes) -> int:
    """Delete the waiting items that a run inherited of a page; return how many."""
    [found] = db.execute(
        f"SELECT coalesce(sum(count), 0) FROM parked WHERE {_SUPERSEDED}",  # noqa: S608 - words of ours
        (run, origin),
    ).fetchone()
    if found:
        with transaction(db):
            db.execute(f"DELETE FROM parked WHERE {_SUPERSEDED}", (run, origin))  # noqa: S608
    return int(found)


def set_released(db: sqlite3.Connection, numbers: Iterable[int], released: bool) -> None:
    """Mark items as released or waiting; split rows of which only some items are named."""
    for first, last in _spans(numbers):
        _split_row(db, first)
        _split_row(db, last + 1)
        db.execute("UPDATE parked SET released = ? WHERE id BETWEEN ? AND ?", (released, first, last))


def _split_row(db: sqlite3.Connection, number: int) -> None:
    """Split the row that has this item in its middle, so that a row begins with it."""
    before = db.execute("SELECT id, count FROM parked WHERE id < ? ORDER BY id DESC LIMIT 1", (number,)).fetchone()
    if before is None or sum(before) <= number:
        return
    first, count = before
    [items] = db.execute("SELECT items FROM parked WHERE id = ?", (first,)).fetchone()
    found, place = items_of(items, count), number - first
    db.execute(
        "INSERT INTO parked SELECT ?, run, inherited, released, page, ?, ? FROM parked WHERE id = ?",
        (number, count - place, _pack_items(found[place:]), first),
    )
    db.execute("UPDATE parked SET count = ?, items = ? WHERE id = ?", (place, _pack_items(found[:place]), first))


def _pack_items(items: Sequence[bytes]) -> bytes:
    return deflate(_encode(items), _LEVEL)


def _spans(numbers: Iterable[int]) -> Iterator[Span]:
    """Yield the ranges of consecutive numbers."""
    first = last = None
    for number in sorted(numbers):
        if first is None or last is None:
            first = number
        elif number != last + 1:
            yield Span(first, last)
            first = number
        last = number
    if first is not None and last is not None:
        yield Span(first, last)
