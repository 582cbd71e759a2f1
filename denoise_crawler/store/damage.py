"""Recovers damaged stores: the file is set aside, never deleted, and its readable rows move to a new one."""

from __future__ import annotations

import logging
import sqlite3
import zlib
from collections.abc import Iterator
from contextlib import closing
from itertools import count, islice
from pathlib import Path
from typing import Any

from denoise_crawler.errors import DamagedStoreError
from denoise_crawler.methods.keeping import inflate
from denoise_crawler.store import Store
from denoise_crawler.store.file import check_schema, invalid_rows, real_path, restrict, unusable_store
from denoise_crawler.store.runs import RunFiles

logger = logging.getLogger(__name__)

_BESIDE = ("", "-wal", "-shm")  # the files that make up a database
_MAX_UNREADABLE_ROWS = 10_000  # in succession, then the rest is given up
# Copied in this order. Tables without a row id are read up to the first unreadable row.
_TABLES = {"site": "name, method", "run": "name", "history": "site, method, begun, run"}
_TABLES_BY_ID = ("response", "page", "parked")
_MIN_ROW_BYTES = 8  # bytes
_MAX_SQLITE_STEPS = 2_000_000_000  # some minutes: reading a malicious file may never end


def open_store(path: Path, *, owner: str, job: str) -> Store:
    """Open a store. A damaged one is set aside, and its readable rows are copied into a new one.

    Args:
        path: The file, made if it is missing.
        owner: The spider and project that this run belongs to.
        job: The job folder of this run, "" without one.

    Raises:
        StoreError: The file cannot be used.
    """
    path = real_path(path)
    inode = _inode(path)
    try:
        return Store(path, owner=owner, job=job, check=True)
    except DamagedStoreError as error:
        try:
            aside = _set_aside(path, inode)
        except OSError as failed:
            raise unusable_store(path, failed) from None
        store = Store(path, owner=owner, job=job)
        if aside is not None:
            items, sites = salvage(aside, store)
            logger.error(
                "%s. The file was set aside as %s; %d waiting items and %d sites could be read and stand in a "
                "new store.",
                error.what,
                aside,
                items,
                sites,
            )
        return store


def salvage(aside: Path, store: Store) -> tuple[int, int]:
    """Copy the readable rows of a damaged store, ``aside``, whose items then wait as those of a killed run.

    Return the numbers of waiting items and of sites that were copied.
    """
    uri = f"{aside.absolute().as_uri()}?mode=ro"
    with closing(sqlite3.connect(uri, uri=True)) as db, closing(sqlite3.connect(store.path, timeout=60)) as new:
        restrict(db)
        db.execute("PRAGMA writable_schema = ON")  # else a file that was cut is not read at all
        try:
            check_schema(db)
        except sqlite3.Error as error:
            logger.error("Nothing of %s is read: %s", aside, error)
            return 0, 0
        db.set_progress_handler(lambda: 1, _MAX_SQLITE_STEPS)
        most = aside.stat().st_size // _MIN_ROW_BYTES + 1  # database pages that form a circle have endless rows
        found = {table: _rows_in_order(db, table, key) for table, key in _TABLES.items()}
        found |= {table: _rows_by_id(db, table) for table in _TABLES_BY_ID}
        copied = {table: _copy_rows(new, table, islice(rows, most)) for table, rows in found.items()}
        for table, invalid in invalid_rows():
            copied[table] -= new.execute(f"DELETE FROM {table} WHERE {invalid}").rowcount  # noqa: S608
        new.execute("DELETE FROM parked WHERE page NOT IN (SELECT id FROM page)")
        # for rows whose run cannot be read
        new.execute(
            "INSERT INTO run SELECT DISTINCT run, ?, ? FROM parked WHERE run NOT IN (SELECT name FROM run)",
            (store.owner, store.job),
        )
        [items] = new.execute("SELECT coalesce(sum(count), 0) FROM parked").fetchone()
        new.commit()
    return int(items), copied["site"]


def _inode(path: Path) -> int | None:
    try:
        return path.stat().st_ino
    except OSError:
        return None


def _set_aside(path: Path, inode: int | None) -> Path | None:
    """Rename the files of a store; return the new name, None if another run did so meanwhile."""
    with RunFiles(path).lock("set-aside"):
        if inode is None or _inode(path) != inode:
            return None
        names = (path.with_name(f"{path.name}.damaged-{number}") for number in count(1))
        aside = next(name for name in names if not name.exists())
        for ending in _BESIDE:
            part = path.with_name(path.name + ending)
            if part.exists():
                part.rename(aside.with_name(aside.name + ending))
    return aside


def _copy_rows(new: sqlite3.Connection, table: str, rows: Iterator[tuple[Any, ...]]) -> int:
    copied = 0
    for row in rows:
        places = ", ".join("?" * len(row))
        copied += new.execute(f"INSERT OR IGNORE INTO {table} VALUES ({places})", row).rowcount  # noqa: S608
    return copied


def _rows_in_order(db: sqlite3.Connection, table: str, key: str) -> Iterator[tuple[Any, ...]]:
    try:
        yield from db.execute(f"SELECT * FROM {table} ORDER BY {key}")  # noqa: S608 - names of ours
    except sqlite3.Error:
        return


def _rows_by_id(db: sqlite3.Connection, table: str) -> Iterator[tuple[Any, ...]]:
    query = f"SELECT * FROM {table} WHERE id > ? ORDER BY id LIMIT 1"  # noqa: S608 - names of ours
    last, unreadable = 0, 0
    while unreadable < _MAX_UNREADABLE_ROWS:
        try:
            row = db.execute(query, (last,)).fetchone()
        except sqlite3.Error:
            row = ()
        if row is None:
            return
        if not row or row[0] <= last:  # a damaged index leads anywhere
            last, unreadable = last + 1, unreadable + 1
            continue
        last, unreadable = row[0], 0
        if _is_whole(row[-1]):
            yield row


def _is_whole(packed: object) -> bool:
    """Return True if the last column of a row can be unpacked: SQLite does not notice all damage."""
    try:
        inflate(packed)  # type: ignore[arg-type]
    except (TypeError, ValueError, zlib.error):
        return False
    return True
