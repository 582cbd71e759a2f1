"""The runs of a store: lock files show which are alive and which ended well."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from filelock import FileLock, Timeout


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
        self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        return FileLock(self._file(name, "lock"))

    def _file(self, run: str, ending: str) -> Path:
        return self._folder / f"{run}.{ending}"
