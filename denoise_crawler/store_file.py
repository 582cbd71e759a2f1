"""The file of a store: opened, checked, made where there is none."""

from __future__ import annotations

import sqlite3
import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

VERSION = 1
_BUSY_SECONDS = 60
_DAMAGED = "malformed"  # in what SQLite says of a damaged file, and of no other
_SCHEMA = """
CREATE TABLE site (
    name TEXT NOT NULL, method TEXT NOT NULL, knowledge BLOB,
    pages_seen INTEGER NOT NULL DEFAULT 0, ready INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (name, method)
) WITHOUT ROWID;
CREATE TABLE run (name TEXT PRIMARY KEY, spider TEXT NOT NULL, job TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE parked (
    id INTEGER PRIMARY KEY, run TEXT NOT NULL, origin BLOB NOT NULL, inherited INTEGER NOT NULL DEFAULT 0,
    released INTEGER NOT NULL DEFAULT 0, site TEXT NOT NULL, url TEXT NOT NULL, html BLOB NOT NULL,
    item BLOB NOT NULL
);
CREATE INDEX parked_waiting ON parked (run, site, released, id);
CREATE INDEX parked_origin ON parked (run, inherited, origin);
"""


def _use_wal(db: sqlite3.Connection) -> None:
    """Switch to write-ahead logging; SQLite does not wait for another process that does so right now."""
    deadline = time.monotonic() + _BUSY_SECONDS
    while True:
        try:
            db.execute("PRAGMA journal_mode = WAL")
            return
        except sqlite3.OperationalError as error:
            if "locked" not in str(error) or time.monotonic() > deadline:
                raise
            time.sleep(0.05)


class StoreError(Exception):
    """The store file cannot be used; the message says which and what to do."""


class DamagedStoreError(StoreError):
    """The file is a store that SQLite finds damaged; ``what`` says so without advice."""

    def __init__(self, message: str, what: str) -> None:
        super().__init__(message)
        self.what = what


def opened(path: Path, *, check: bool) -> sqlite3.Connection:
    """Open the file, made if it is missing; ``check`` reads all of it for damage. Raises :class:`StoreError`."""
    db = None
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        db = sqlite3.connect(path, timeout=_BUSY_SECONDS, isolation_level=None)
        _use_wal(db)
        db.execute("PRAGMA synchronous = NORMAL")
        _prepare(db)
        if check and (found := db.execute("PRAGMA quick_check(1)").fetchone()[0]) != "ok":
            raise sqlite3.DatabaseError(f"{_DAMAGED}: {found}")
    except (OSError, sqlite3.Error) as error:
        if db is not None:
            db.close()
        raise unusable(path, error) from None
    return db


def unusable(path: Path, error: Exception) -> StoreError:
    """Return the error for a file that cannot be used."""
    what = f"the store {path} cannot be used: {error}"
    message = f"{what}. Move it away or name another file in DENOISE_STORE."
    return DamagedStoreError(message, what) if _DAMAGED in str(error) else StoreError(message)


def _prepare(db: sqlite3.Connection) -> None:
    db.execute("BEGIN IMMEDIATE")
    version = db.execute("PRAGMA user_version").fetchone()[0]
    if version == 0:
        for statement in _SCHEMA.split(";"):
            db.execute(statement)
        db.execute(f"PRAGMA user_version = {VERSION}")
    db.execute("COMMIT")
    if version > VERSION:
        raise sqlite3.DatabaseError(
            f"it has version {version}, this release of denoise_crawler reads version {VERSION}"
        )
