"""Reads HTML files, one page each, in the folders that wget and other mirrors leave."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote

from denoise_crawler.reading.account import Notes, Reading, ReadOptions
from denoise_crawler.reading.archive_records import MAX_RECORD_BYTES
from denoise_crawler.reading.compression import Window
from denoise_crawler.reading.http_response import looks_like_html

_PAGE = re.compile(rb"<(?:!doctype\s+html|html|head|body|title|meta|frameset)\b", re.IGNORECASE)


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


def recognize(head: bytes) -> bool:
    """Return True if a file starts like a page."""
    return looks_like_html(head) and _PAGE.search(head[:4096]) is not None


def pages(windows: Iterator[Window], notes: Notes, options: ReadOptions) -> Iterator[tuple[str, bytes]]:
    """Yield the page up to the first damage; nothing, with a note, if it is too large or binary."""
    body = next(windows).take(MAX_RECORD_BYTES + 1)
    if len(body) > MAX_RECORD_BYTES:
        notes.note_damage("file too large", 0, f"more than {MAX_RECORD_BYTES} bytes")
    elif b"\0" in body[:4096] and not body.startswith((b"\xff\xfe", b"\xfe\xff")):
        notes.note_damage("binary file", 0, repr(body[:20]))
    else:
        yield _file_url(notes, options.base), body


def _file_url(notes: Notes, base: str | None) -> str:
    """Return the URL of a file: ``base`` and its path in the folder that is read.

    Without a ``base`` the first folder in it is the host, as in mirrors: ``https://HOST/PATH``. For a file right
    in that folder its name is the host; such an address is made up, as is one whose host has no dot.
    """
    folder = notes.top or notes.path.parent
    parts = notes.path.relative_to(folder).parts
    is_made_up = base is None and (len(parts) == 1 or "." not in parts[0])
    if base is None:
        parts = parts if len(parts) > 1 else (folder.resolve().name, *parts)
        base = "https:/"
    elif "://" not in base:
        base = f"https://{base}"
    path = [quote(os.fsencode(part), safe="") for part in parts]
    url = "/".join([base.rstrip("/") if base != "https:/" else base, *path])
    return notes.note_made_up(url) if is_made_up else url
