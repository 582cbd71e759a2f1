"""The file of a store: opened, checked, made where there is none. Data only: what else is in it is refused."""

from __future__ import annotations

import sqlite3
import time
from contextlib import closing
from functools import cache
from typing import TYPE_CHECKING, Any

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
# Of each column the types that its values have: SQLite itself takes any.
COLUMNS: dict[str, tuple[tuple[str, type | tuple[type, ...]], ...]] = {
    "site": (
        ("name", str),
        ("method", str),
        ("knowledge", (bytes, type(None))),
        ("pages_seen", int),
        ("ready", int),
    ),
    "run": (("name", str), ("spider", str), ("job", str)),
    "parked": (
        *(("id", int), ("run", str), ("origin", bytes), ("inherited", int), ("released", int), ("site", str)),
        *(("url", str), ("html", bytes), ("item", bytes)),
    ),
}
_NAMES = {str: "'text'", bytes: "'blob'", int: "'integer'", (bytes, type(None)): "'blob', 'null'"}


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
        db.execute("PRAGMA trusted_schema = OFF")
        _check_version(db)  # before anything is written
        _use_wal(db)
        db.execute("PRAGMA synchronous = NORMAL")
        _prepare(db)
        if check and (found := db.execute("PRAGMA quick_check(1)").fetchone()[0]) != "ok":
            raise sqlite3.DatabaseError(f"{_DAMAGED}: {found}")
        check_content(db)
    except (OSError, sqlite3.Error) as error:
        if db is not None:
            db.close()
        raise unusable(path, error) from None
    return db


def opened_to_read(path: Path) -> sqlite3.Connection:
    """Open the file of a store to read what is known of sites: nothing is written, not even beside it.

    Raises :class:`StoreError` for a file that is missing or empty, or is no store of this version.
    """
    # SQLite makes files beside one that has none, and leaves them there, unless told that nobody writes to it
    alone = "" if path.with_name(f"{path.name}-wal").exists() else "&immutable=1"
    db = None
    try:
        if not path.stat().st_size:
            raise sqlite3.DatabaseError("it is empty")
        db = sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro{alone}", uri=True, timeout=_BUSY_SECONDS)
        db.execute("PRAGMA trusted_schema = OFF")
        _check_version(db)
        check_content(db)
    except (OSError, sqlite3.Error) as error:
        if db is not None:
            db.close()
        raise StoreError(
            f"{path} cannot be read as a store: {error}. Move it away or name another file."
        ) from None
    return db


def unusable(path: Path, error: Exception) -> StoreError:
    """Return the error for a file that cannot be used."""
    what = f"the store {path} cannot be used: {error}"
    message = f"{what}. Move it away or name another file in DENOISE_STORE."
    return DamagedStoreError(message, what) if _DAMAGED in str(error) else StoreError(message)


def check_content(db: sqlite3.Connection) -> None:
    """Raise sqlite3.DatabaseError for tables, triggers, views or values that a store of this version has not."""
    if _schema_of(db) != _schema():
        raise sqlite3.DatabaseError("its tables are not those of a store: another program changed it")
    for table, columns in COLUMNS.items():
        odd = " OR ".join(f"typeof({name}) NOT IN ({_NAMES[kind]})" for name, kind in columns)
        if db.execute(f"SELECT 1 FROM {table} WHERE {odd} LIMIT 1").fetchone():  # noqa: S608 - names of ours
            raise sqlite3.DatabaseError(
                f"its table {table} has values of a wrong type: another program changed it"
            )


def fits(table: str, row: tuple[Any, ...]) -> bool:
    """Tell whether a row has the types of the values of a table."""
    columns = COLUMNS[table]
    return len(row) == len(columns) and all(
        isinstance(value, kind) for value, (_, kind) in zip(row, columns, strict=True)
    )


def _check_version(db: sqlite3.Connection) -> None:
    version = db.execute("PRAGMA user_version").fetchone()[0]
    if version == 0 and _schema_of(db):
        raise sqlite3.DatabaseError("it is the database of another program")
    if not 0 <= version <= VERSION:
        raise sqlite3.DatabaseError(
            f"it has version {version}, this release of denoise_crawler reads version {VERSION}"
        )


def _prepare(db: sqlite3.Connection) -> None:
    db.execute("BEGIN IMMEDIATE")
    if db.execute("PRAGMA user_version").fetchone()[0] == 0:
        for statement in _SCHEMA.split(";"):
            db.execute(statement)
        db.execute(f"PRAGMA user_version = {VERSION}")
    db.execute("COMMIT")


def _schema_of(db: sqlite3.Connection) -> frozenset[tuple[str, ...]]:
    rows = db.execute(
        "SELECT type, name, tbl_name, sql FROM sqlite_master WHERE name NOT LIKE 'sqlite\\_%' ESCAPE '\\'"
    )
    return frozenset(tuple(map(str, row)) for row in rows)


@cache
def _schema() -> frozenset[tuple[str, ...]]:
    with closing(sqlite3.connect(":memory:")) as db:
        db.executescript(_SCHEMA)
        return _schema_of(db)
