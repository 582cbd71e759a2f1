"""Folders of HTML files, as wget and other mirrors leave them."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import quote

from denoise_crawler.reading.account import Notes
from denoise_crawler.reading.records import MAX_RECORD

if TYPE_CHECKING:
    from collections.abc import Iterator

    from denoise_crawler.reading.account import Reading
    from denoise_crawler.reading.window import Window


def files(folder: Path, reading: Reading) -> Iterator[Path]:
    """Yield the files below ``folder``, by name: those of a folder before those of its subfolders.

    Links to folders are not followed.
    """

    def unreadable(error: OSError) -> None:
        Notes(Path(error.filename or folder), reading).damaged(
            "unreadable folder", 0, str(error.strerror or error)
        )

    for place, subfolders, names in os.walk(folder, onerror=unreadable):
        subfolders.sort()
        for name in sorted(names):
            yield Path(place, name)


def address(file: Path, folder: Path, base: str | None) -> str:
    """Return the address of ``file`` below ``folder``: ``base`` and its path there.

    Without a ``base`` the first folder below ``folder`` is taken for the host, as mirrors name it:
    ``https://HOST/PATH``. A file that lies in ``folder`` itself has the name of ``folder`` for host.
    """
    parts = file.relative_to(folder).parts
    if base is None:
        parts = parts if len(parts) > 1 else (folder.resolve().name, *parts)
        base = "https:/"
    elif "://" not in base:
        base = f"https://{base}"
    return "/".join([base.rstrip("/") if base != "https:/" else base, *map(_quoted, parts)])


def page(window: Window, notes: Notes) -> bytes | None:
    """Return the one page that a file holds, None if that is none."""
    body = window.take(MAX_RECORD + 1)
    if len(body) > MAX_RECORD:
        notes.damaged("file too large", 0, f"more than {MAX_RECORD} bytes")
        return None
    if b"\0" in body[:4096] and not body.startswith((b"\xff\xfe", b"\xfe\xff")):
        notes.damaged("binary file", 0, repr(body[:20]))
        return None
    return body


def _quoted(part: str) -> str:
    return quote(os.fsencode(part), safe="")
