"""The runs of a store: lock files show which are alive and which ended well; a row has the figures of a site."""

from __future__ import annotations

import stat
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import astuple, dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from filelock import FileLock, Timeout

from denoise_crawler.page.text import without_lone_surrogates

if TYPE_CHECKING:
    import sqlite3


class RunFiles:
    """The folder ``STORE-runs`` with a lock file for each run, held while the run lives."""

    def __init__(self, store: Path) -> None:
        self._store = store
        self._folder = store.with_name(store.name + "-runs")
        self._own: FileLock | None = None

    @property
    def has_begun(self) -> bool:
        """Whether this process holds the lock of its run."""
        return self._own is not None

    def begin(self, run: str) -> None:
        """Hold the lock file of ``run`` until :meth:`end`."""
        lock = self.lock(run)
        lock.acquire(timeout=0)
        self._own = lock

    def end(self, run: str) -> None:
        """Release and delete the lock file of this process's run."""
        if self._own is not None:
            self._own.release()
            self._own = None
            self._file(run, "lock").unlink(missing_ok=True)

    def mark_ended_well(self, run: str) -> None:
        """Record in a file that a run ended well, if the store cannot be written."""
        # renaming works on a full disk
        self._file(run, "lock").rename(self._file(run, "ended"))

    def has_ended_well(self, run: str) -> bool:
        """Return True if :meth:`mark_ended_well` was called for ``run``."""
        return self._file(run, "ended").exists()

    def is_alive(self, run: str) -> bool:
        """Return True if a process holds the lock of ``run``."""
        try:
            with self.lock(run).acquire(timeout=0):
                return False
        except Timeout:
            return True

    @contextmanager
    def lock_dead_run(self, run: str) -> Iterator[bool]:
        """Lock a run if it is dead; yield whether it is. Its files are then deleted, unless the block raises."""
        lock = self.lock(run)
        try:
            lock.acquire(timeout=0)
        except Timeout:
            yield False
            return
        try:
            yield True
        finally:
            lock.release()
        for ending in ("lock", "ended"):
            self._file(run, ending).unlink(missing_ok=True)

    def lock(self, name: str) -> FileLock:
        """Return the lock of this name, whose file is in the folder, made if it is missing."""
        self._folder.mkdir(mode=self._mode(), parents=True, exist_ok=True)
        return FileLock(self._file(name, "lock"))

    def _mode(self) -> int:
        """Return the mode of a new folder: open to those who may write to the store."""
        try:
            writable = stat.S_IMODE(self._store.stat().st_mode) & 0o222
        except FileNotFoundError:
            writable = 0
        return 0o700 | writable | writable << 1 | writable >> 1

    def _file(self, run: str, ending: str) -> Path:
        return self._folder / f"{run}.{ending}"


MAX_RUNS = 300  # of a site and method, the last ones
_PLACES = ", ".join("?" * 11)
_TOO_OLD = (
    "DELETE FROM history WHERE site = ?1 AND method = ?2 AND begun < "
    "(SELECT begun FROM history WHERE site = ?1 AND method = ?2 ORDER BY begun DESC LIMIT 1 OFFSET ?3)"
)


@dataclass(slots=True)
class SiteRun:
    """The figures of a site in one run.

    Attributes:
        begun: When the run began, in milliseconds since 1970: two short runs may begin in one second.
        run: The name of the run; empty for the one that has the store open.
        pages: Pages that had anything to read.
        visible: The characters of the pages that were judged, without white space.
        kept: The characters of these that were kept.
        compared: Pages that came when the site was known.
        novelty: The sum of their novelty in thousandths: the share of text where no known page has any.
        layouts: New layouts.
        template: Lines that came back on pages of the site; 0 for a method that counts none.
    """

    begun: int
    run: str = ""
    pages: int = 0
    visible: int = 0
    kept: int = 0
    compared: int = 0
    novelty: int = 0
    layouts: int = 0
    template: int = 0

    @property
    def drift(self) -> float | None:
        """The mean novelty (0 to 1) of the pages that came when the site was known; None if none did.

        Example:
            >>> SiteRun(0, compared=4, novelty=1_000).drift
            0.25
        """
        return self.novelty / 1_000 / self.compared if self.compared else None


def save(db: sqlite3.Connection, site: str, method: str, figures: SiteRun, run: str) -> None:
    """Keep the figures of a run for a site, and delete the runs before the last MAX_RUNS."""
    site = without_lone_surrogates(site)
    begun, own, *rest = astuple(figures)
    values = (site, method, begun, own or run, *rest)
    db.execute(f"INSERT OR REPLACE INTO history VALUES ({_PLACES})", values)  # noqa: S608 - places only
    db.execute(_TOO_OLD, (site, method, MAX_RUNS - 1))


def of_site(db: sqlite3.Connection, site: str, method: str) -> list[SiteRun]:
    """Return the figures of each run for a site, in the order of time."""
    query = (
        "SELECT begun, run, pages, visible, kept, compared, novelty, layouts, template FROM history "
        "WHERE site = ? AND method = ? ORDER BY begun, run"
    )
    return [SiteRun(*row) for row in db.execute(query, (without_lone_surrogates(site), method))]
