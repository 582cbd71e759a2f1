"""The SQLite file of a store: opening, schema, transactions."""

from __future__ import annotations

import os
import sqlite3
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from denoise_crawler.errors import DamagedStoreError, StoreError

VERSION = 5
_APPLICATION_ID = int.from_bytes(b"deno", "big")  # of a store among all SQLite databases
_BUSY_SECONDS = 60
_MAX_LOG_PAGES = 256  # of 4 KiB, before SQLite empties its log: a quarter of its default
_MAGIC = b"SQLite format 3\0"
_DAMAGED = "malformed"  # SQLite says this of damaged files only
_SCHEMA = """
CREATE TABLE site (
    name TEXT NOT NULL, method TEXT NOT NULL, knowledge BLOB,
    pages_seen INTEGER NOT NULL DEFAULT 0, ready INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (name, method)
) WITHOUT ROWID;
CREATE TABLE run (name TEXT PRIMARY KEY, owner TEXT NOT NULL, job TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE response (id INTEGER PRIMARY KEY, data BLOB NOT NULL);
CREATE TABLE page (
    id INTEGER PRIMARY KEY, response INTEGER NOT NULL DEFAULT 0, origin BLOB NOT NULL, site TEXT NOT NULL,
    url TEXT NOT NULL, html BLOB NOT NULL
);
CREATE INDEX page_site ON page (site);
CREATE INDEX page_origin ON page (origin);
CREATE INDEX page_response ON page (response);
CREATE TABLE parked (
    id INTEGER PRIMARY KEY, run TEXT NOT NULL, inherited INTEGER NOT NULL DEFAULT 0,
    released INTEGER NOT NULL DEFAULT 0, page INTEGER NOT NULL, item BLOB NOT NULL
);
CREATE INDEX parked_page ON parked (page)
"""


class _UnknownVersionError(sqlite3.DatabaseError):
    """The store is of another release."""


def is_store(path: Path) -> bool:
    """Return True if a file is an SQLite database, as stores are."""
    try:
        with path.open("rb") as file:
            return file.read(len(_MAGIC)) == _MAGIC
    except OSError:
        return False


def open_database(path: Path, *, check: bool = False, read_only: bool = False) -> sqlite3.Connection:
    """Open the file of a store, made if it is missing; ``check`` reads all of it for damage.

    If ``read_only``, it must be there, is always checked, and nothing is written, not even beside it.

    Raises:
        StoreError: The file cannot be used.
        DamagedStoreError: It is damaged, or of another release, and not only to be read.
    """
    db = None
    try:
        db = _connect_read_only(path) if read_only else _connect(path)
        is_store = _check_version(db)  # before anything is written
        if not read_only:
            _prepare(db)
        elif not is_store:
            raise sqlite3.DatabaseError("its tables are not those of a store")
        if (check or read_only) and db.execute("PRAGMA quick_check(1)").fetchone()[0] != "ok":
            raise sqlite3.DatabaseError(f"database disk image is {_DAMAGED}")
    except (OSError, sqlite3.Error) as error:
        if db is not None:
            db.close()
        if read_only:
            message = f"{path} cannot be read as a store: {error}. Move it away or name another file."
            raise StoreError(message) from None
        raise unusable_store(path, error) from None
    return db


def _connect(path: Path) -> sqlite3.Connection:
    path.parent.mkdir(parents=True, exist_ok=True)
    _make_private(path)
    return sqlite3.connect(path, timeout=_BUSY_SECONDS, isolation_level=None)


def _connect_read_only(path: Path) -> sqlite3.Connection:
    if not path.stat().st_size:
        raise sqlite3.DatabaseError("it is empty")
    # without immutable, SQLite makes files beside it and leaves them there
    alone = "" if path.with_name(f"{path.name}-wal").exists() else "&immutable=1"
    return sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro{alone}", uri=True, timeout=_BUSY_SECONDS)


def _prepare(db: sqlite3.Connection) -> None:
    """Set what this connection does its own way, and make the tables if there are none."""
    db.execute("PRAGMA secure_delete = ON")  # headers of requests leave no trace in free pages
    _use_wal(db)
    db.execute("PRAGMA synchronous = NORMAL")
    db.execute(f"PRAGMA wal_autocheckpoint = {_MAX_LOG_PAGES}")
    _create_tables(db)


def unusable_store(path: Path, error: Exception) -> StoreError:
    """Return the error for a file that cannot be used."""
    what = f"the store {path} cannot be used: {error}"
    message = f"{what}. Move it away or name another file in DENOISE_STORE."
    if isinstance(error, _UnknownVersionError) or _DAMAGED in str(error):
        return DamagedStoreError(message, what)
    return StoreError(message)


def is_private(path: Path) -> bool:
    """Return True if a file belongs to this user and no other may write it, or there is none.

    Only then are its rows unpickled. On Windows, which has access lists instead, it is always True.
    """
    try:
        state = path.stat()
    except FileNotFoundError:
        return True
    return not hasattr(os, "geteuid") or (state.st_uid == os.geteuid() and not state.st_mode & 0o022)


@contextmanager
def transaction(db: sqlite3.Connection) -> Iterator[sqlite3.Connection]:
    """Commit all that is written inside the block, or roll it back if the block raises.

    Inside another transaction, what is written is committed with that one.
    """
    is_inner = db.in_transaction
    db.execute("SAVEPOINT part" if is_inner else "BEGIN IMMEDIATE")
    try:
        yield db
        if db.in_transaction:  # an error that the block caught may have ended it
            db.execute("RELEASE part" if is_inner else "COMMIT")
    except BaseException:
        if db.in_transaction:  # on a full disk, SQLite has rolled back already
            db.execute("ROLLBACK TO part" if is_inner else "ROLLBACK")
            if is_inner:
                db.execute("RELEASE part")
        raise


def compact(db: sqlite3.Connection) -> None:
    """Return the space of deleted rows to the disk if it is more than a quarter of the file."""
    free, pages = (db.execute(f"PRAGMA {name}_count").fetchone()[0] for name in ("freelist", "page"))
    if free > pages / 4:
        with suppress(sqlite3.OperationalError):  # another run reads, or there is no room for the copy
            db.execute("VACUUM")


def _make_private(path: Path) -> None:
    """Create the file readable by its user alone; an existing file, and those beside it, keep their mode."""
    with suppress(FileExistsError):
        os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))


def _use_wal(db: sqlite3.Connection) -> None:
    """Switch to write-ahead logging; wait for other processes that do so, as SQLite does not."""
    deadline = time.monotonic() + _BUSY_SECONDS
    while True:
        try:
            db.execute("PRAGMA journal_mode = WAL")
            return
        except sqlite3.OperationalError as error:
            if "locked" not in str(error) or time.monotonic() > deadline:
                raise
            time.sleep(0.05)


def _check_version(db: sqlite3.Connection) -> bool:
    """Return True if the database is a store of this version, False if new; else raise sqlite3.DatabaseError.

    One transaction reads all: another process may be creating the store at this moment.
    """
    db.execute("BEGIN")
    application, version = (
        db.execute(f"PRAGMA {name}").fetchone()[0] for name in ("application_id", "user_version")
    )
    [tables] = db.execute("SELECT count(*) FROM sqlite_master").fetchone()
    db.execute("COMMIT")
    if tables and application != _APPLICATION_ID:
        raise sqlite3.DatabaseError("it is the database of another program")
    if tables and version != VERSION:
        raise _UnknownVersionError(f"it has version {version}, this release reads version {VERSION}")
    return bool(tables)


def _create_tables(db: sqlite3.Connection) -> None:
    with transaction(db):
        if db.execute("PRAGMA user_version").fetchone()[0] == 0:
            for statement in _SCHEMA.split(";"):
                db.execute(statement)
            db.execute(f"PRAGMA application_id = {_APPLICATION_ID}")
            db.execute(f"PRAGMA user_version = {VERSION}")
