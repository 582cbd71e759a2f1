"""The store of a crawl in one SQLite file: waiting items with their pages, and what is known of each site."""

from __future__ import annotations

import logging
import os
import sqlite3
import uuid
import zlib
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from denoise_crawler.errors import DamagedRowError
from denoise_crawler.methods.stored_bytes import MAX_BYTES, deflate, inflate
from denoise_crawler.page.text import without_lone_surrogates
from denoise_crawler.store.file import compact, open_database, transaction, unusable_store
from denoise_crawler.store.knowledge import SiteTables
from denoise_crawler.store.runs import RunFiles

logger = logging.getLogger(__name__)

_LEVEL = 1  # of zlib: a third of the time of its default for a tenth more bytes
_ROWS_AT_ONCE = 10_000
_ITEMS_AT_ONCE, _BYTES_AT_ONCE = 50, 1 << 20


@dataclass(slots=True, eq=False)
class ParkedResponse:
    """A response as bytes that only the caller reads, empty once it is stored; ``row`` is its row id, 0 before."""

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
        response = self.response.data if self.response is not None else b""
        is_small = 4 * len(self.html) <= MAX_BYTES or len(self.html.encode("utf-8", "replace")) <= MAX_BYTES
        return bool(self.row) or (is_small and len(response) <= MAX_BYTES)


class Parked(NamedTuple):
    """A waiting item as bytes; ``id`` is its row id, ``page`` that of its page (see :meth:`Store.page`)."""

    id: int
    site: str
    page: int
    item: bytes


class WaitingPage(NamedTuple):
    """A page with waiting items: its key, its site, the row of the first of them."""

    origin: bytes
    site: str
    first: int


class Store(SiteTables):
    """One run's view of a store file, which several runs may have open at a time.

    Waiting items belong to a run. The items of a run that was killed, or paused with a job folder, go to the next
    run of the same owner: see :meth:`inherit`.

    Args:
        path: The file, made if it is missing.
        owner: The spider and project that this run belongs to.
        job: The job folder of this run, "" without one.
        check: Whether to read the whole file for damage.
        read_only: Whether to read only and leave the file as it is.

    Raises:
        StoreError: The file cannot be used.
        DamagedStoreError: The file is damaged, or of another release.
    """

    def __init__(
        self, path: str | Path, *, owner: str = "", job: str = "", check: bool = False, read_only: bool = False
    ) -> None:
        self.path = Path(path).resolve()  # SQLite keeps its other files beside the target of a link
        self.owner, self.job = owner, job
        self._runs = RunFiles(self.path)
        self._read_only = read_only
        super().__init__(open_database(self.path, check=check, read_only=read_only), uuid.uuid4().hex)

    def close(self, *, safe: bool = True) -> None:
        """Close the file; delete this run's released rows, or, where that is not ``safe``, let them wait again."""
        if self._read_only:
            self._db.close()
            return
        try:
            with transaction(self._db) as db:
                if safe:
                    db.execute("DELETE FROM parked WHERE run = ? AND released", (self.run,))
                else:
                    db.execute("UPDATE parked SET released = 0 WHERE run = ?", (self.run,))
                db.execute(
                    "DELETE FROM run WHERE name = ?1 AND NOT EXISTS (SELECT 1 FROM parked WHERE run = ?1)",
                    (self.run,),
                )
                db.execute("DELETE FROM page WHERE id NOT IN (SELECT page FROM parked)")
                db.execute("DELETE FROM response WHERE id NOT IN (SELECT response FROM page)")
            compact(self._db)
        except sqlite3.Error:
            if safe and self._runs.has_begun:
                with suppress(OSError):
                    self._runs.mark_ended_well(self.run)
            raise
        finally:
            self._db.close()
            self._runs.end(self.run)

    # --- items that wait

    def park(self, page: ParkedPage, item: bytes) -> int:
        """Store an item of a page until its site is known; the first one brings the page and its response.

        The item is in the file when this returns the row id of the page.
        """
        self._begin_run()
        statement, data = "INSERT INTO parked (run, page, item) VALUES (?, ?, ?)", deflate(item, _LEVEL)
        if page.row:  # one statement is a transaction of its own
            self._insert(statement, self.run, page.row, data)
            return page.row
        with transaction(self._db):
            response, row = self._write_page(page)
            self._insert(statement, self.run, row, data)
        page.row = row
        if response and page.response is not None:
            page.response.row, page.response.data = response, b""  # the crawl has the response itself
        return row

    def _write_page(self, page: ParkedPage) -> tuple[int, int]:
        """Write a page, and its response unless it is stored; return the row ids of response and page."""
        response = page.response.row if page.response is not None else 0
        if page.response is not None and not response:
            response = self._insert("INSERT INTO response (data) VALUES (?)", deflate(page.response.data, _LEVEL))
        html = deflate(page.html.encode("utf-8", "replace"), _LEVEL)
        row = self._insert(
            "INSERT INTO page (response, origin, site, url, html) VALUES (?, ?, ?, ?, ?)",
            *(response, page.origin, without_lone_surrogates(page.site), without_lone_surrogates(page.url), html),
        )
        return response, row

    def _insert(self, statement: str, *values: object) -> int:
        row = self._db.execute(statement, values).lastrowid
        assert row is not None  # noqa: S101 - SQLite numbers every row of these tables
        return row

    def page(self, row: int) -> ParkedPage:
        """Return the page with this row id.

        Raises:
            DamagedRowError: The page or its response is damaged.
        """
        columns = self._db.execute(
            "SELECT site, url, html, origin, response, response.data "
            "FROM page LEFT JOIN response ON response.id = page.response WHERE page.id = ?",
            (row,),
        ).fetchone()
        if columns is None:
            raise DamagedRowError(f"the page of an item that waits in {self.path} is not there")
        site, url, html, origin, response, data = columns
        try:
            parked = ParkedResponse(inflate(data), response) if response else None
            return ParkedPage(site, url, inflate(html).decode(), origin, parked, row)
        except (TypeError, ValueError, zlib.error) as error:
            raise DamagedRowError(f"a page that waits in {self.path} is damaged ({error}): {url}") from None

    def all_pages(self) -> Iterator[ParkedPage]:
        """Yield the pages with waiting items; raise DamagedRowError for a damaged one."""
        yield from (self.page(row) for (row,) in self._db.execute("SELECT id FROM page ORDER BY id").fetchall())

    def pages_waiting(self) -> list[tuple[str, int]]:
        """Return (site, row id) of each page with waiting items of this run."""
        return self._db.execute(
            "SELECT site, page.id FROM parked JOIN page ON page.id = page WHERE run = ? AND NOT released "
            "GROUP BY page.id ORDER BY min(parked.id)",
            (self.run,),
        ).fetchall()

    def next_pages(self, site: str | None = None, last: int = -1, *, inherited: bool = True) -> list[WaitingPage]:
        """Return the next pages with waiting items, in the order of their first items.

        Args:
            site: The site; None for all.
            last: The row of the first item of the page before.
            inherited: Whether items of earlier runs count.
        """
        name = None if site is None else without_lone_surrogates(site)
        query = (
            "SELECT origin, site, min(parked.id) AS first FROM parked JOIN page ON page.id = page WHERE run = ?1 "
            "AND NOT released AND (?2 IS NULL OR site = ?2) AND (?3 OR NOT inherited) GROUP BY origin, site "
            "HAVING first > ?4 ORDER BY first LIMIT ?5"
        )
        return [
            WaitingPage(*row) for row in self._db.execute(query, (self.run, name, inherited, last, _ROWS_AT_ONCE))
        ]

    def next_items(self, page: WaitingPage, last: int = -1, *, inherited: bool = True) -> list[Parked]:
        """Return waiting items of a page behind the row ``last``, in order, few enough for memory; [] at the end.

        ``inherited`` says whether those of earlier runs count. A damaged item stays, and is logged. Where the file
        is damaged, those before are returned first.
        """
        query = (
            "SELECT parked.id, site, page, item FROM page CROSS JOIN parked ON parked.page = page.id "
            "WHERE origin = ? AND site = ? AND run = ? AND NOT released AND parked.id > ? "
            "AND (? OR NOT inherited) ORDER BY parked.id"
        )
        items: list[Parked] = []
        size = 0
        rows = self._db.execute(query, (page.origin, page.site, self.run, last, inherited))
        try:
            for row in rows:
                if (item := self._inflated(Parked(*row))) is not None:
                    items.append(item)
                    size += len(item.item)
                if len(items) == _ITEMS_AT_ONCE or size > _BYTES_AT_ONCE:
                    break
        except sqlite3.Error:
            if not items:
                raise
        return items

    def _inflated(self, parked: Parked) -> Parked | None:
        try:
            return parked._replace(item=inflate(parked.item))
        except (TypeError, ValueError, zlib.error) as error:
            logger.error("An item that waits in %s cannot be read (%s) and stays there", self.path, error)
            return None

    def release(self, rows: Iterable[int], *, released: bool = True) -> int:
        """Mark items as released, or as waiting again; return how many.

        A released item stays in the file until :meth:`close`, when feeds are safe.
        """
        statement = "UPDATE parked SET released = ? WHERE id = ?"
        with transaction(self._db) as db:
            marked = db.executemany(statement, [(released, row) for row in rows])
        return marked.rowcount

    def waiting_count(self, site: str | None = None, *, inherited: bool = True) -> int:
        """Count the waiting items of this run; arguments as for :meth:`next_pages`."""
        waiting: int = self._db.execute(
            "SELECT count(*) FROM parked WHERE run = ?1 AND NOT released AND (?3 OR NOT inherited)"
            if site is None
            else "SELECT count(*) FROM page CROSS JOIN parked ON parked.page = page.id WHERE run = ?1 "
            "AND NOT released AND (?3 OR NOT inherited) AND page.site = ?2",
            (self.run, site, inherited),
        ).fetchone()[0]
        return waiting

    def supersede(self, origin: bytes) -> int:
        """Delete the items that an earlier run left of a page that was fetched again; return how many."""
        pages = "SELECT id FROM page WHERE origin = ?2"
        statement = f"DELETE FROM parked WHERE run = ?1 AND inherited AND NOT released AND page IN ({pages})"  # noqa: S608
        return self._db.execute(statement, (self.run, origin)).rowcount

    def inherit(self) -> int:
        """Adopt the rows of this owner's dead runs; return how many items they hold.

        The rows of a paused job go to that job only, while its folder exists. Released rows wait again if their
        run was killed or a feed failed.
        """
        inherited = 0
        rows = self._db.execute(
            "SELECT name, job FROM run WHERE owner = ? AND name <> ?", (self.owner, self.run)
        ).fetchall()
        for run, job in rows:
            if job not in ("", self.job) and os.path.exists(job):  # noqa: PTH110 - False for what can be no path
                continue
            try:
                with self._runs.lock_dead_run(run) as is_dead:
                    inherited += self._adopt(run) if is_dead else 0
            except OSError as error:
                logger.error("What waits of an earlier run in %s stays there: %s", self.path, error)
        return inherited

    def _adopt(self, run: str) -> int:
        self._begin_run()
        with transaction(self._db) as db:
            if self._runs.has_ended_well(run):
                db.execute("DELETE FROM parked WHERE run = ? AND released", (run,))
            adopted = db.execute(
                "UPDATE parked SET run = ?, inherited = 1, released = 0 WHERE run = ?", (self.run, run)
            )
            db.execute("DELETE FROM run WHERE name = ?", (run,))
        return adopted.rowcount

    # --- the file

    def _begin_run(self) -> None:
        """Register this run, which is alive while it holds its lock file."""
        if self._runs.has_begun:
            return
        try:
            self._runs.begin(self.run)
        except OSError as error:
            raise unusable_store(self.path, error) from None
        try:
            with transaction(self._db) as db:
                db.execute("INSERT INTO run VALUES (?, ?, ?)", (self.run, self.owner, self.job))
        except BaseException:
            self._runs.end(self.run)
            raise
