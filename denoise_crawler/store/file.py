"""Opens, checks and creates the SQLite file of a store. Triggers, views and foreign tables are refused."""

from __future__ import annotations

import os
import sqlite3
import stat
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from functools import cache, partial
from pathlib import Path

from denoise_crawler.errors import DamagedStoreError, StoreError
from denoise_crawler.methods.keeping import MAX_BYTES

VERSION = 4
_BEFORE_HISTORY = 3  # the version that had no such table
_BUSY_SECONDS = 60
_MAX_LOG_PAGES = 256  # of 4 KiB, before SQLite empties its log: a quarter of its default
_MAGIC = b"SQLite format 3\0"
_DAMAGED = "malformed"  # SQLite says this of damaged files only
_STRANGE = "its tables are not those of a store: another program changed it"
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
    released INTEGER NOT NULL DEFAULT 0, page INTEGER NOT NULL, count INTEGER NOT NULL, items BLOB NOT NULL
);
CREATE INDEX parked_page ON parked (page);
"""
_HISTORY = """
CREATE TABLE history (
    site TEXT NOT NULL, method TEXT NOT NULL, begun INTEGER NOT NULL, run TEXT NOT NULL, pages INTEGER NOT NULL,
    visible INTEGER NOT NULL, kept INTEGER NOT NULL, compared INTEGER NOT NULL, novelty INTEGER NOT NULL,
    layouts INTEGER NOT NULL, template INTEGER NOT NULL,
    PRIMARY KEY (site, method, begun, run)
) WITHOUT ROWID
"""
# The types of each column: SQLite itself accepts any.
_NULLABLE_BYTES = (bytes, type(None))
COLUMNS: dict[str, dict[str, type | tuple[type, ...]]] = {
    "site": {"name": str, "method": str, "knowledge": _NULLABLE_BYTES, "pages_seen": int, "ready": int},
    "run": {"name": str, "owner": str, "job": str},
    "response": {"id": int, "data": bytes},
    "page": {"id": int, "response": int, "origin": bytes, "site": str, "url": str, "html": bytes},
    "parked": {
        **{"id": int, "run": str, "inherited": int, "released": int},
        **{"page": int, "count": int, "items": bytes},
    },
    "history": {
        **{"site": str, "method": str, "begun": int, "run": str, "pages": int, "visible": int, "kept": int},
        **{"compared": int, "novelty": int, "layouts": int, "template": int},
    },
}
# The names of runs are parts of file names.
_RUN_NAME_IN_SQL = "[0-9a-f]" * 32
_RUN_COLUMNS = {"run": "name", "parked": "run", "history": "run"}
_SQL_TYPES = {str: "'text'", bytes: "'blob'", int: "'integer'", _NULLABLE_BYTES: "'blob', 'null'"}
_NUMBERS = (0, 1 << 62)  # lowest and highest; adding 1 does not overflow
_RANGES = {"count": (1, 1_000)}  # items of a row
_JOURNAL_ENDS = bytes.fromhex("d9d505f920a163d7")  # ends a journal that names a file for SQLite to delete
_as_text = partial(str, encoding="utf-8", errors="replace")


def is_store(path: Path) -> bool:
    """Return True if a file is an SQLite database, as stores are."""
    try:
        with path.open("rb") as file:
            return file.read(len(_MAGIC)) == _MAGIC
    except OSError:
        return False


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


def open_database(path: Path, *, check: bool) -> sqlite3.Connection:
    """Open the file of a store, made if it is missing; ``check`` reads all of it for damage. Raise StoreError."""
    db = None
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        _check_files(path)
        _make_private(path)
        db = sqlite3.connect(path, timeout=_BUSY_SECONDS, isolation_level=None)
        restrict(db)
        db.execute("PRAGMA secure_delete = ON")  # headers of requests leave no trace in free pages
        _check_version(db)  # before anything is written or computed
        _use_wal(db)
        db.execute("PRAGMA synchronous = NORMAL")
        db.execute(f"PRAGMA wal_autocheckpoint = {_MAX_LOG_PAGES}")
        _prepare(db)
        if check and (found := db.execute("PRAGMA quick_check(1)").fetchone()[0]) != "ok":
            raise sqlite3.DatabaseError(f"{_DAMAGED}: {found}")
        check_content(db)
    except (OSError, sqlite3.Error) as error:
        if db is not None:
            db.close()
        raise unusable_store(path, error) from None
    return db


def open_read_only(path: Path) -> sqlite3.Connection:
    """Open the file of a store to read it. Nothing is written, not even beside it.

    Raises:
        StoreError: The file is missing, empty or no store of this version.
    """
    # unless told that nobody writes, SQLite makes files beside it and leaves them there
    alone = "" if path.with_name(f"{path.name}-wal").exists() else "&immutable=1"
    db = None
    try:
        _check_files(path)
        if not path.stat().st_size:
            raise sqlite3.DatabaseError("it is empty")
        db = sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro{alone}", uri=True, timeout=_BUSY_SECONDS)
        restrict(db)
        if _check_version(db) == _BEFORE_HISTORY:
            db.execute("PRAGMA temp_store = MEMORY")
            db.execute(_HISTORY.replace("TABLE", "TEMP TABLE", 1))  # an empty one, beside the file
        check_content(db)
    except (OSError, sqlite3.Error) as error:
        if db is not None:
            db.close()
        raise StoreError(
            f"{path} cannot be read as a store: {error}. Move it away or name another file."
        ) from None
    return db


def _make_private(path: Path) -> None:
    """Make a new file that only the user can read; one that exists keeps its mode, as do the files beside it."""
    with suppress(FileExistsError):
        os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))


@contextmanager
def transaction(db: sqlite3.Connection) -> Iterator[sqlite3.Connection]:
    """Commit all that is written inside the block, or roll it back if the block raises.

    Inside another transaction, what is written is committed with that one.
    """
    is_inner = db.in_transaction
    db.execute("SAVEPOINT part" if is_inner else "BEGIN IMMEDIATE")
    try:
        yield db
        if db.in_transaction:  # an error inside, which the block outlived, may have ended it
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


def real_path(path: Path) -> Path:
    """Return the target of a link, or ``path`` itself: the other files of a store are beside the real one.

    Raises:
        StoreError: The link leads to no file or to an empty one.
    """
    if not path.is_symlink():
        return path
    real = Path(os.path.realpath(path))
    if not real.is_file() or not real.stat().st_size:
        raise unusable_store(path, OSError(f"it is a link, and {real} is no store"))
    return real


def unusable_store(path: Path, error: Exception) -> StoreError:
    """Return the error for a file that cannot be used."""
    what = f"the store {path} cannot be used: {error}"
    message = f"{what}. Move it away or name another file in DENOISE_STORE."
    return DamagedStoreError(message, what) if _DAMAGED in str(error) else StoreError(message)


def restrict(db: sqlite3.Connection) -> None:
    """Let a file that may be malicious run nothing and return no value above 64 MB."""
    db.execute("PRAGMA trusted_schema = OFF")
    db.text_factory = _as_text  # text need not be UTF-8
    if hasattr(db, "setlimit"):  # since Python 3.11
        db.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, MAX_BYTES + 1_000_000)  # of a whole row


def check_content(db: sqlite3.Connection) -> None:
    """Raise sqlite3.DatabaseError for tables, triggers, views or values that no store of this version has."""
    check_schema(db)
    for table, invalid in invalid_rows():
        if db.execute(f"SELECT 1 FROM {table} WHERE {invalid} LIMIT 1").fetchone():  # noqa: S608 - names of ours
            raise sqlite3.DatabaseError(
                f"its table {table} has values of a wrong type or size: another program changed it"
            )


def invalid_rows() -> Iterator[tuple[str, str]]:
    """Yield each table with the SQL condition of rows that no store has."""
    for table, columns in COLUMNS.items():
        conditions = [_is_invalid(name, kind) for name, kind in columns.items()]
        if column := _RUN_COLUMNS.get(table):
            # GLOB reads up to the first NUL only
            conditions += [f"{column} NOT GLOB '{_RUN_NAME_IN_SQL}'", f"length(CAST({column} AS BLOB)) <> 32"]
        yield table, " OR ".join(conditions)


def _is_invalid(name: str, kind: type | tuple[type, ...]) -> str:
    lowest, highest = _RANGES.get(name, _NUMBERS)
    size = f"{name} NOT BETWEEN {lowest} AND {highest}" if kind is int else f"length({name}) > {MAX_BYTES}"
    return f"typeof({name}) NOT IN ({_SQL_TYPES[kind]}) OR {size}"


def check_schema(db: sqlite3.Connection) -> None:
    """Raise sqlite3.DatabaseError unless the file holds the tables and indexes of a store and nothing else."""
    [version] = db.execute("PRAGMA user_version").fetchone()
    if _schema_of(db) != _schema(version):
        raise sqlite3.DatabaseError(_STRANGE)


def _check_files(path: Path) -> None:
    """Raise OSError if the store is no file, or a file beside it would lead SQLite to other files."""
    for ending in ("", "-wal", "-shm", "-journal"):
        file = path.with_name(path.name + ending)
        try:
            is_file = stat.S_ISREG(file.lstat().st_mode)
            is_strange = is_file and ending == "-journal" and _names_a_file(file)
        except FileNotFoundError:  # or it has just been deleted by another process
            continue
        if not is_file:
            raise OSError(f"{file} is no file but a folder, a link or a device")
        if is_strange:
            raise OSError(f"{file} is not of a store: another program left it")


def _names_a_file(journal: Path) -> bool:
    with journal.open("rb") as file:
        file.seek(-min(len(_JOURNAL_ENDS), file.seek(0, os.SEEK_END)), os.SEEK_END)
        return file.read() == _JOURNAL_ENDS


def _check_version(db: sqlite3.Connection) -> int:
    """Return the version of a file; raise sqlite3.DatabaseError unless it is empty or a store that can be read.

    Version and tables are read in one transaction: another process may be making the store at this moment.
    """
    db.execute("BEGIN")
    [version] = db.execute("PRAGMA user_version").fetchone()
    tables = _schema_of(db)
    db.execute("COMMIT")
    if version == 0 and tables:
        raise sqlite3.DatabaseError("it is the database of another program")
    if version not in (0, _BEFORE_HISTORY, VERSION):
        raise sqlite3.DatabaseError(
            f"it has version {version}, this release of denoise_crawler reads version {VERSION}"
        )
    if tables and tables != _schema(version):
        raise sqlite3.DatabaseError(_STRANGE)
    return int(version)


def _prepare(db: sqlite3.Connection) -> None:
    db.execute("BEGIN IMMEDIATE")
    [version] = db.execute("PRAGMA user_version").fetchone()
    for statement in _SCHEMA.split(";") if version == 0 else ():
        db.execute(statement)
    if version < VERSION:
        db.execute(_HISTORY)
        db.execute(f"PRAGMA user_version = {VERSION}")
    db.execute("COMMIT")


def _schema_of(db: sqlite3.Connection) -> frozenset[tuple[str, ...]]:
    """Return the schema without the indexes of primary keys, which have no SQL."""
    rows = db.execute("SELECT type, name, tbl_name, sql FROM sqlite_master WHERE type <> 'index' OR sql NOT NULL")
    return frozenset(tuple(map(str, row)) for row in rows)


@cache
def _schema(version: int) -> frozenset[tuple[str, ...]]:
    with closing(sqlite3.connect(":memory:")) as db:
        db.executescript(_SCHEMA if version == _BEFORE_HISTORY else _SCHEMA + _HISTORY)
        return _schema_of(db)
