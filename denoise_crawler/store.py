"""The embedded store: parked pages and their items, and what is known of each site. One SQLite file."""

from __future__ import annotations

import sqlite3
import time
import uuid
import zlib
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from filelock import FileLock, Timeout

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

VERSION = 1
_BUSY_SECONDS = 60
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


@dataclass(frozen=True, slots=True)
class Parked:
    """A page that waits, with one item of it. ``origin`` tells whether a later page is the same one."""

    id: int
    site: str
    url: str
    html: str
    item: bytes
    origin: bytes


@dataclass(frozen=True, slots=True)
class SiteState:
    """How far a site has come: pages seen so far, and whether its warm-up is over."""

    pages_seen: int = 0
    ready: bool = False


class Store:
    """One run's view of a store file, which several runs may have open at a time.

    Parked rows belong to a run. The rows of a run that ended without handing them on (killed, or paused
    with a job folder) go to the next run of the same spider: see :meth:`inherit`.
    """

    def __init__(self, path: str | Path, *, spider: str = "", job: str = "") -> None:
        self.path = Path(path)
        self.spider, self.job = spider, job
        self.run = uuid.uuid4().hex
        self._lock: FileLock | None = None
        self._db = self._open()

    def close(self) -> None:
        """Forget this run's rows that were handed on, and close the file."""
        with self._transaction() as db:
            db.execute("DELETE FROM parked WHERE run = ? AND released", (self.run,))
            db.execute(
                "DELETE FROM run WHERE name = ?1 AND NOT EXISTS (SELECT 1 FROM parked WHERE run = ?1)",
                (self.run,),
            )
        self._db.close()
        if self._lock is not None:
            self._lock.release()
            self._lock_file(self.run).unlink(missing_ok=True)

    # --- sites

    def site(self, name: str, method: str) -> SiteState:
        """Return how far a site has come with a method."""
        row = self._db.execute(
            "SELECT pages_seen, ready FROM site WHERE name = ? AND method = ?", (name, method)
        ).fetchone()
        return SiteState(row[0], bool(row[1])) if row else SiteState()

    def knowledge(self, name: str, method: str) -> bytes | None:
        """Return what is known of a site, None if nothing is."""
        row = self._db.execute(
            "SELECT knowledge FROM site WHERE name = ? AND method = ?", (name, method)
        ).fetchone()
        return row[0] if row else None

    def save_state(self, name: str, method: str, state: SiteState) -> None:
        """Keep how far a site has come; another run may have brought it further."""
        with self._transaction() as db:
            db.execute(
                "INSERT INTO site (name, method, pages_seen, ready) VALUES (?, ?, ?, ?) ON CONFLICT DO UPDATE "
                "SET pages_seen = max(pages_seen, excluded.pages_seen), ready = max(ready, excluded.ready)",
                (name, method, state.pages_seen, state.ready),
            )

    def save_knowledge(
        self, name: str, method: str, knowledge: bytes, merge: Callable[[bytes, bytes], bytes]
    ) -> None:
        """Keep ``knowledge`` of a site, merged with what other runs have saved meanwhile."""
        with self._transaction() as db:
            known = self.knowledge(name, method)
            if known == knowledge:
                return
            merged = merge(known, knowledge) if known else knowledge
            db.execute(
                "INSERT INTO site (name, method, knowledge) VALUES (?1, ?2, ?3) "
                "ON CONFLICT DO UPDATE SET knowledge = ?3",
                (name, method, merged),
            )

    # --- parked pages

    def park(self, site: str, url: str, html: str, item: bytes, origin: bytes) -> None:
        """Let an item wait, with its page."""
        self._begin_run()
        with self._transaction() as db:
            db.execute(
                "INSERT INTO parked (run, origin, site, url, html, item) VALUES (?, ?, ?, ?, ?, ?)",
                (
                    self.run,
                    origin,
                    site,
                    url.encode("utf-8", "replace").decode(),
                    zlib.compress(html.encode("utf-8", "replace")),
                    zlib.compress(item),
                ),
            )

    def waiting(self, site: str | None = None, *, inherited: bool = True) -> Iterator[Parked]:
        """Yield this run's rows that wait (of one ``site``, or of all), in order, also those parked meanwhile."""
        query = (
            "SELECT id, site, url, html, item, origin FROM parked WHERE run = ?1 AND NOT released AND id > ?2 "
            "AND (?3 IS NULL OR site = ?3) AND (?4 OR NOT inherited) ORDER BY id LIMIT 1"
        )
        last = -1
        while row := self._db.execute(query, (self.run, last, site, inherited)).fetchone():
            last = row[0]
            yield Parked(last, row[1], row[2], zlib.decompress(row[3]).decode(), zlib.decompress(row[4]), row[5])

    def hand_on(self, parked: Parked) -> None:
        """Note that a row waits no longer; it stays in the file until :meth:`close`, when feeds are safe."""
        with self._transaction() as db:
            db.execute("UPDATE parked SET released = 1 WHERE id = ?", (parked.id,))

    def waiting_count(self, site: str | None = None, *, inherited: bool = True) -> int:
        """Return how many rows of this run wait."""
        found: int = self._db.execute(
            "SELECT count(*) FROM parked WHERE run = ?1 AND NOT released AND (?2 IS NULL OR site = ?2) "
            "AND (?3 OR NOT inherited)",
            (self.run, site, inherited),
        ).fetchone()[0]
        return found

    def supersede(self, origin: bytes) -> int:
        """Drop the waiting rows that an earlier run left of a page which has come again; return how many."""
        found = self._db.execute(
            "SELECT count(*) FROM parked WHERE run = ? AND inherited AND origin = ? AND NOT released",
            (self.run, origin),
        ).fetchone()[0]
        if found:
            with self._transaction() as db:
                db.execute(
                    "DELETE FROM parked WHERE run = ? AND inherited AND origin = ? AND NOT released",
                    (self.run, origin),
                )
        return int(found)

    def inherit(self) -> int:
        """Take over the rows of this spider's runs that are no longer alive; return how many.

        The rows of a paused job go to that job only, as long as its folder is there. Rows that were handed
        on but never known to be safe in a feed (the run was killed) wait again.
        """
        taken = 0
        rows = self._db.execute(
            "SELECT name, job FROM run WHERE spider = ? AND name <> ?", (self.spider, self.run)
        ).fetchall()
        for run, job in rows:
            if job not in ("", self.job) and Path(job).exists():
                continue
            try:
                with FileLock(self._lock_file(run), timeout=0):
                    taken += self._take_over(run)
            except Timeout:
                continue  # alive
            self._lock_file(run).unlink(missing_ok=True)
        return taken

    def _take_over(self, run: str) -> int:
        self._begin_run()
        with self._transaction() as db:
            taken = db.execute(
                "UPDATE parked SET run = ?, inherited = 1, released = 0 WHERE run = ?", (self.run, run)
            ).rowcount
            db.execute("DELETE FROM run WHERE name = ?", (run,))
        return taken

    # --- the file

    def _open(self) -> sqlite3.Connection:
        db = None
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            db = sqlite3.connect(self.path, timeout=_BUSY_SECONDS, isolation_level=None)
            _use_wal(db)
            db.execute("PRAGMA synchronous = NORMAL")
            self._prepare(db)
        except (OSError, sqlite3.Error) as error:
            if db is not None:
                db.close()
            raise self._unusable(error) from None
        return db

    def _unusable(self, error: Exception) -> StoreError:
        return StoreError(
            f"the store {self.path} cannot be used: {error}. Move it away or name another file in DENOISE_STORE."
        )

    def _prepare(self, db: sqlite3.Connection) -> None:
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

    def _begin_run(self) -> None:
        """Announce this run, alive as long as it holds its lock file."""
        if self._lock is not None:
            return
        lock_file = self._lock_file(self.run)
        try:
            lock_file.parent.mkdir(parents=True, exist_ok=True)
            lock = FileLock(lock_file)
            lock.acquire(timeout=0)
        except OSError as error:
            raise self._unusable(error) from None
        try:
            with self._transaction() as db:
                db.execute("INSERT INTO run VALUES (?, ?, ?)", (self.run, self.spider, self.job))
        except BaseException:
            lock.release()
            raise
        self._lock = lock

    def _lock_file(self, run: str) -> Path:
        return self.path.with_name(self.path.name + "-runs") / f"{run}.lock"

    @contextmanager
    def _transaction(self) -> Iterator[sqlite3.Connection]:
        self._db.execute("BEGIN IMMEDIATE")
        try:
            yield self._db
            self._db.execute("COMMIT")
        except BaseException:
            if self._db.in_transaction:  # on a full disk, SQLite has rolled back already
                self._db.execute("ROLLBACK")
            raise
