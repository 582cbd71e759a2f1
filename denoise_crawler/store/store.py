"""The store of a crawl in one SQLite file: waiting items with their pages, and knowledge of each site."""

from __future__ import annotations

import logging
import sqlite3
import uuid
import zlib
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, suppress
from pathlib import Path

from denoise_crawler.errors import DamagedRowError
from denoise_crawler.methods.stored_bytes import deflate, inflate
from denoise_crawler.page.text import without_lone_surrogates
from denoise_crawler.store import parked_rows, runs
from denoise_crawler.store.file import compact, open_database, open_read_only, transaction, unusable_store
from denoise_crawler.store.parked_rows import Parked, ParkedPage, ParkedResponse, SiteState, StoredSite
from denoise_crawler.store.runs import RunFiles, SiteRun

logger = logging.getLogger(__name__)

_LEVEL = 1  # of zlib: a third of the time of its default for a tenth more bytes


class Store:
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
        self.run = uuid.uuid4().hex
        self._runs = RunFiles(self.path)
        self._read_only, self._has_inherited = read_only, False
        self._not_gone: set[int] = set()  # ids of rows that were released together, until their items go on
        self._db = open_read_only(self.path) if read_only else open_database(self.path, check=check)

    def close(self, *, safe: bool = True) -> None:
        """Close the file; delete this run's released rows, or, where that is not ``safe``, let them wait again."""
        if self._read_only:
            self._db.close()
            return
        try:
            with transaction(self._db) as db:
                parked_rows.unrelease(db, self._not_gone)
                if safe:
                    db.execute("DELETE FROM parked WHERE run = ? AND released", (self.run,))
                else:
                    db.execute("UPDATE parked SET released = 0 WHERE run = ?", (self.run,))
                db.execute(
                    "DELETE FROM run WHERE name = ?1 AND NOT EXISTS (SELECT 1 FROM parked WHERE run = ?1)",
                    (self.run,),
                )
                parked_rows.delete_pages_without_items(db)
            compact(self._db)
        except sqlite3.Error:
            if safe and self._runs.has_begun and not self._not_gone:
                with suppress(OSError):
                    self._runs.mark_ended_well(self.run)
            raise
        finally:
            self._db.close()
            self._runs.end(self.run)

    def together(self) -> AbstractContextManager[object]:
        """Commit at once all that is written inside a block."""
        return transaction(self._db)

    # --- sites

    def site(self, name: str, method: str) -> SiteState:
        """Return the progress of a site with a method."""
        query = "SELECT pages_seen, ready FROM site WHERE name = ? AND method = ?"
        row = self._db.execute(query, (name, method)).fetchone()
        return SiteState(row[0], bool(row[1])) if row else SiteState()

    def knowledge(self, site: str, method: str) -> list[bytes]:
        """Return the knowledge of a site in a list, empty if there is none."""
        rows = self._db.execute(
            "SELECT knowledge FROM site WHERE name = ? AND method = ? AND knowledge IS NOT NULL", (site, method)
        )
        return [row[0] for row in rows]

    def sites(self) -> dict[str, StoredSite]:
        """Return all sites by name, those with the most pages seen first."""
        sites: dict[str, StoredSite] = {}
        for name, method, *state, known in self._db.execute(
            "SELECT name, method, pages_seen, ready, knowledge IS NOT NULL FROM site "
            "ORDER BY pages_seen DESC, name, method"
        ):
            site = sites.setdefault(name, StoredSite())
            site.states[method] = SiteState(state[0], bool(state[1]))
            site.known_by += [method] if known else []
        for name, waiting in self._db.execute(
            "SELECT site, count(*) FROM parked JOIN page ON page.id = page WHERE NOT released GROUP BY site"
        ):
            sites.setdefault(name, StoredSite()).waiting = waiting
        return sites

    def known(self) -> list[tuple[str, str]]:
        """Return each (site, method) with knowledge."""
        query = "SELECT name, method FROM site WHERE knowledge IS NOT NULL ORDER BY name, method"
        return self._db.execute(query).fetchall()

    def save_state(self, name: str, method: str, state: SiteState) -> None:
        """Keep the progress of a site, unless another run has got further."""
        with transaction(self._db) as db:
            db.execute(
                "INSERT INTO site (name, method, pages_seen, ready) VALUES (?, ?, ?, ?) ON CONFLICT DO UPDATE "
                "SET pages_seen = max(pages_seen, excluded.pages_seen), ready = max(ready, excluded.ready)",
                (name, method, state.pages_seen, state.ready),
            )

    def save_knowledge(self, site: str, method: str, known: bytes, merge: Callable[[list[bytes]], bytes]) -> None:
        """Keep knowledge of a site; ``merge`` makes one of the stored knowledge and ``known``."""
        with transaction(self._db) as db:
            stored = self.knowledge(site, method)
            if stored == [known]:
                return
            merged = merge([*stored, known]) if stored else known
            db.execute(
                "INSERT INTO site (name, method, knowledge) VALUES (?1, ?2, ?3) "
                "ON CONFLICT DO UPDATE SET knowledge = ?3",
                (site, method, merged),
            )

    def save_run(self, site: str, method: str, figures: SiteRun) -> None:
        """Keep the figures of a run for a site: of this run, unless ``figures`` names another."""
        with transaction(self._db) as db:
            runs.save(db, site, method, figures, self.run)

    def history(self, site: str, method: str) -> list[SiteRun]:
        """Return the figures of each run for a site, in the order of time."""
        return runs.of_site(self._db, site, method)

    def keep_sample(self, site: str, url: str, html: str, most: int) -> bool:
        """Keep a page as one of ``most`` samples of its site; return whether there is room for another one."""
        return parked_rows.keep(self._db, site, url, html, most)

    # --- items that wait

    def park(self, page: ParkedPage, item: bytes) -> None:
        """Store an item of a page until its site is known; the first one brings the page and its response.

        The item is in the file when this returns.
        """
        self._begin_run()
        if page.row:  # one statement is a transaction of its own
            parked_rows.insert(self._db, self.run, page.row, item)
            return
        with transaction(self._db) as db:
            response, row = self._write_page(db, page)
            parked_rows.insert(db, self.run, row, item)
        page.row = row
        if page.response is not None:
            page.response.row = response

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
        """Yield the pages with waiting items, and the samples; raise DamagedRowError for a damaged one."""
        yield from (self.page(row) for (row,) in self._db.execute("SELECT id FROM page ORDER BY id").fetchall())

    def pages_waiting(self) -> list[tuple[str, int]]:
        """Return (site, row id) of each page with waiting items of this run."""
        return self._db.execute(
            "SELECT site, page.id FROM parked JOIN page ON page.id = page WHERE run = ? AND NOT released "
            "GROUP BY page.id ORDER BY min(parked.id)",
            (self.run,),
        ).fetchall()

    def waiting(self, site: str | None = None, *, inherited: bool = True) -> Iterator[Parked]:
        """Yield waiting items page by page, in the order of the pages' first items. Damaged ones are logged."""
        for page in self.origins_waiting(site, inherited=inherited):
            for batch in self.waiting_of(page.origin, page.site, inherited=inherited):
                yield from batch

    def origins_waiting(
        self, site: str | None = None, last: int = -1, *, inherited: bool = True
    ) -> list[parked_rows.WaitingPage]:
        """Return the next pages with waiting items whose first item lies behind the row ``last``."""
        name = None if site is None else without_lone_surrogates(site)
        return parked_rows.pages_waiting(self._db, self.run, name, last, inherited=inherited)

    def waiting_of(self, origin: bytes, site: str, *, inherited: bool = True) -> Iterator[list[Parked]]:
        """Yield the waiting items of a page in order, in lists, each of few bytes or of one item."""
        last = -1
        while batches := parked_rows.ids_waiting(self._db, self.run, origin, site, last, inherited=inherited):
            last = batches[-1][-1]
            for ids in batches:
                rows = parked_rows.rows_waiting(self._db, ids)
                yield [parked for row in rows if (parked := self._unpack(row)) is not None]

    def _unpack(self, row: Parked) -> Parked | None:
        """Return a waiting item unpacked, None if it is damaged."""
        try:
            return row._replace(item=inflate(row.item))
        except (TypeError, ValueError, zlib.error) as error:
            logger.error("An item that waits in %s cannot be read (%s) and stays there", self.path, error)
            return None

    def release_together(self, batch: list[Parked]) -> list[Parked]:
        """Mark items as released in one transaction; return those that still waited.

        They stay in the file until :meth:`close`, when feeds are safe. One for which :meth:`note_gone` is not
        called waits again then.
        """
        with transaction(self._db) as db:
            released = [parked for parked in batch if parked_rows.release(db, parked.id)]
        self._not_gone.update(parked.id for parked in released)
        return released

    def note_gone(self, parked: Parked) -> None:
        """Record that an item that was released with others goes on now."""
        self._not_gone.discard(parked.id)

    def keep_waiting(self, batch: list[Parked]) -> None:
        """Let items that were released with others wait again, because they did not go on."""
        kept = [parked.id for parked in batch]
        with transaction(self._db) as db:
            parked_rows.unrelease(db, kept)
        self._not_gone.difference_update(kept)

    def _write_page(self, db: sqlite3.Connection, page: ParkedPage) -> tuple[int, int]:
        """Write a page, and its response unless it is stored; return the row ids of response and page."""
        response = page.response.row if page.response is not None else 0
        if page.response is not None and not response:
            response = _insert(db, "INSERT INTO response (data) VALUES (?)", deflate(page.response.data, _LEVEL))
        html = deflate(page.html.encode("utf-8", "replace"), _LEVEL)
        row = _insert(
            db,
            "INSERT INTO page (response, origin, site, url, html) VALUES (?, ?, ?, ?, ?)",
            *(response, page.origin, without_lone_surrogates(page.site), without_lone_surrogates(page.url), html),
        )
        return response, row

    def waiting_count(self, site: str | None = None, *, inherited: bool = True) -> int:
        """Count the waiting items of this run; arguments as for :meth:`waiting`."""
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
        return parked_rows.delete_superseded(self._db, self.run, origin) if self._has_inherited else 0

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
            if job not in ("", self.job) and _exists(job):
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
        self._has_inherited = self._has_inherited or adopted.rowcount > 0
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


def _insert(db: sqlite3.Connection, statement: str, *values: object) -> int:
    row = db.execute(statement, values).lastrowid
    assert row is not None  # noqa: S101 - SQLite numbers every row of these tables
    return row


def _exists(folder: str) -> bool:
    try:
        return Path(folder).exists()
    except (OSError, ValueError):  # a path that no file system takes
        return False
