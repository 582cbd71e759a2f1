"""A temporary folder; the next process that makes one removes what a killed one has left."""

from __future__ import annotations

import os
import shutil
import uuid
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from tempfile import gettempdir

from filelock import FileLock, Timeout

_PREFIX = "denoise-"


@contextmanager
def temporary_folder() -> Iterator[Path]:
    """Yield a new folder below ``TMPDIR`` and remove it at the end, with those that killed processes have left.

    A lock file beside the folder is held as long as the process lives, also if it cannot tidy up.
    """
    root = Path(gettempdir())
    _remove_abandoned(root)
    folder = root / f"{_PREFIX}{uuid.uuid4().hex}"
    lock = FileLock(folder.with_suffix(".lock"))
    with lock.acquire(timeout=0):  # before the folder is there, or another process might take it for abandoned
        try:
            folder.mkdir(mode=0o700)
            yield folder
        finally:
            _remove(folder)


def _remove_abandoned(root: Path) -> None:
    for file in root.glob(f"{_PREFIX}*.lock"):
        with suppress(OSError, Timeout):
            if _is_own(file):
                with FileLock(file).acquire(timeout=0):
                    _remove(file.with_suffix(""))


def _is_own(file: Path) -> bool:
    """Return True for a file of this user: what others put into a shared folder may lead anywhere."""
    return not file.is_symlink() and file.lstat().st_uid == getattr(os, "getuid", lambda: 0)()


def _remove(folder: Path) -> None:
    shutil.rmtree(folder, ignore_errors=True)
    with suppress(OSError):
        folder.with_suffix(".lock").unlink()
