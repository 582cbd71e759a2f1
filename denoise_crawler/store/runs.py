"""The runs of a store: the files that show which are alive and which ended well, and what each saw of a site."""

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


# --- the files beside a store that show which of its runs are alive and which ended well


class RunFiles:
    """The folder ``STORE-runs`` with a lock file for each run, held while the run lives.

    Links are not followed, so that a store from a stranger cannot lead to other files.
    """

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

    def note_that_it_ended_well(self, run: str) -> None:
        """Record in a file that a run ended well, if the store cannot be written."""
        # renaming works on a full disk
        self._file(run, "lock").rename(self._file(run, "ended"))

    def has_ended_well(self, run: str) -> bool:
        """Return True if :meth:`note_that_it_ended_well` was called for ``run``."""
        return self._file(run, "ended").exists()

    @contextmanager
    def lock_dead_run(self, run: str) -> Iterator[bool]:
        """Lock a run if it is dead; yield whether it is. Its files are then deleted, unless the block raises."""
        if self._has_strange_file(run):  # no live run has one
            yield True
        else:
            try:
                lock = self.lock(run)
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
        if self._has_strange_file(name):
            raise OSError(f"{self._file(name, 'lock')} is a link or no file")
        return FileLock(self._file(name, "lock"))

    def _mode(self) -> int:
        """Return the mode of a new folder: open to those who may write to the store."""
        try:
            writable = stat.S_IMODE(self._store.stat().st_mode) & 0o222
        except FileNotFoundError:
            writable = 0
        return 0o700 | writable | writable << 1 | writable >> 1

    def _has_strange_file(self, name: str) -> bool:
        """Return True if the lock file is not one of ours, such as a hard link to another file."""
        if self._folder.is_symlink():
            raise OSError(f"{self._folder} is a link")
        try:
            found = self._file(name, "lock").lstat()
        except FileNotFoundError:
            return False
        return not stat.S_ISREG(found.st_mode) or found.st_nlink > 1

    def _file(self, run: str, ending: str) -> Path:
        return self._folder / f"{run}.{ending}"


# --- what each run saw of a site, a small row a run, so that a report can show the site over time

MAX_RUNS = 300  # of a site and method, the last ones
_PLACES = ", ".join("?" * 11)
_TOO_OLD = (
    "DELETE FROM history WHERE site = ?1 AND method = ?2 AND begun < "
    "(SELECT begun FROM history WHERE site = ?1 AND method = ?2 ORDER BY begun DESC LIMIT 1 OFFSET ?3)"
)


@dataclass(slots=True)
class SiteRun:
    """What one run saw of a site.

    Attributes:
        begun: When the run began, in milliseconds since 1970: two short runs may begin in one second.
        run: The name of the run; empty for the one that has the store open.
        pages: Pages that had anything to read.
        visible: The characters of the pages that were judged, without white space.
        kept: Those of them that were no noise.
        compared: Pages that came when the site was known.
        novelty: The sum of their novelty in thousandths: the share of text where no known page has any.
        layouts: New layouts that were found.
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


def save(db: sqlite3.Connection, site: str, method: str, one: SiteRun, run: str) -> None:
    """Keep what a run saw of a site, and forget the runs before the last MAX_RUNS."""
    site = without_lone_surrogates(site)
    begun, own, *rest = astuple(one)
    values = (site, method, begun, own or run, *rest)
    db.execute(f"INSERT OR REPLACE INTO history VALUES ({_PLACES})", values)  # noqa: S608 - places only
    db.execute(_TOO_OLD, (site, method, MAX_RUNS - 1))


def of_site(db: sqlite3.Connection, site: str, method: str) -> list[SiteRun]:
    """Return what each run saw of a site, in the order of time."""
    query = (
        "SELECT begun, run, pages, visible, kept, compared, novelty, layouts, template FROM history "
        "WHERE site = ? AND method = ? ORDER BY begun, run"
    )
    return [SiteRun(*row) for row in db.execute(query, (without_lone_surrogates(site), method))]
