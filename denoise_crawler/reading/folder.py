"""The files of a folder."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from denoise_crawler.reading.account import Notes

if TYPE_CHECKING:
    from collections.abc import Iterator

    from denoise_crawler.reading.account import Reading


def files(folder: Path, reading: Reading) -> Iterator[Path]:
    """Yield the files below ``folder`` by name, those of a folder before those of its subfolders.

    Links to folders are not followed. Unreadable folders are noted in ``reading``.
    """

    def unreadable(error: OSError) -> None:
        Notes(Path(error.filename or folder), reading).note_damage(
            "unreadable folder", 0, str(error.strerror or error)
        )

    for place, subfolders, names in os.walk(folder, onerror=unreadable):
        subfolders.sort()
        for name in sorted(names):
            yield Path(place, name)
