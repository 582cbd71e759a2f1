"""Opens the store of a crawl; a file that is damaged, or of another release, is moved aside for a new one."""

from __future__ import annotations

import logging
import sqlite3
from contextlib import closing, suppress
from itertools import count
from pathlib import Path

from denoise_crawler.errors import DamagedStoreError
from denoise_crawler.store.file import is_private, transaction, unusable_store
from denoise_crawler.store.runs import RunFiles
from denoise_crawler.store.store import Store

logger = logging.getLogger(__name__)

_BESIDE = ("", "-wal", "-shm")  # the files that make up a database
# What waiting items need. Rows of another release can be copied if it had the same columns.
_WAITING = {
    "run": "name, owner, job",
    "response": "id, data",
    "page": "id, response, origin, site, url, html",
    "parked": "id, run, inherited, released, page, item",
}
_INCOMPLETE = (
    "DELETE FROM page WHERE response <> 0 AND response NOT IN (SELECT id FROM response)",
    "DELETE FROM parked WHERE page NOT IN (SELECT id FROM page) OR run NOT IN (SELECT name FROM run)",
)


def open_store(path: Path, *, owner: str, job: str) -> Store:
    """Open the store of a crawl.

    A file that is damaged, or of another release, is moved aside, never deleted. A new one takes its place, with
    the waiting items that can be read; sites are learned anew. The arguments are those of :class:`Store`.

    Raises:
        StoreError: The file cannot be used.
    """
    path = path.resolve()
    inode = _inode(path)
    try:
        return Store(path, owner=owner, job=job, check=True)
    except DamagedStoreError as error:
        try:
            aside = _move_aside(path, inode)
        except OSError as failed:
            raise unusable_store(path, failed) from None
        store = Store(path, owner=owner, job=job)
        if aside is not None:
            logger.error(
                "%s. The file was moved to %s, and sites are learned anew. %d waiting items could be read and are "
                "in the new store.",
                *(error.what, aside, _copy_waiting(aside, store)),
            )
        return store


def _inode(path: Path) -> int | None:
    try:
        return path.stat().st_ino
    except OSError:
        return None


def _move_aside(path: Path, inode: int | None) -> Path | None:
    """Rename the files of a store; return the new name, None if another run did so meanwhile."""
    with RunFiles(path).lock("aside"):
        if inode is None or _inode(path) != inode:
            return None
        names = (path.with_name(f"{path.name}.damaged-{number}") for number in count(1))
        aside = next(name for name in names if not name.exists())
        for ending in _BESIDE:
            with suppress(FileNotFoundError):
                path.with_name(path.name + ending).rename(aside.with_name(aside.name + ending))
    return aside


def _copy_waiting(aside: Path, store: Store) -> int:
    """Copy the waiting items of dead runs, of each table up to the first row that cannot be read.

    Return the number of items.
    """
    if not is_private(aside):
        return 0
    with (
        closing(sqlite3.connect(f"{aside.absolute().as_uri()}?mode=ro", uri=True)) as old,
        closing(sqlite3.connect(store.path, timeout=60, isolation_level=None)) as new,
        transaction(new),
    ):
        if new.execute("SELECT 1 FROM page").fetchone():  # of another crawl, with the same numbers
            return 0
        for table, columns in _WAITING.items():
            places = ", ".join("?" * len(columns.split()))
            with suppress(sqlite3.Error, OSError, ValueError):  # the last two of garbage as the name of a run
                for row in old.execute(f"SELECT {columns} FROM {table}"):  # noqa: S608 - names of this file
                    if table != "run" or not RunFiles(store.path).is_alive(row[0]):
                        new.execute(f"INSERT OR IGNORE INTO {table} ({columns}) VALUES ({places})", row)  # noqa: S608
        for statement in _INCOMPLETE:
            new.execute(statement)
        [items] = new.execute("SELECT count(*) FROM parked").fetchone()
    return int(items)
