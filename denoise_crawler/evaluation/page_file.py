"""Many pages in one file, read back one at a time: a large set never lies in memory."""

from __future__ import annotations

from typing import IO, NamedTuple


class Place(NamedTuple):
    """Where a page lies in the file, in bytes of UTF-8."""

    offset: int
    size: int


def to_utf8(text: str) -> bytes:
    """Return ``text`` in UTF-8, whatever stands in it."""
    return text.encode("utf-8", "surrogatepass")


def write_page(file: IO[bytes], html: str) -> Place:
    """Append ``html`` and return its place."""
    offset = file.tell()
    return Place(offset, file.write(to_utf8(html)))


def read_page(file: IO[bytes], place: Place) -> str:
    """Return the page at ``place``."""
    file.seek(place.offset)
    return file.read(place.size).decode("utf-8", "surrogatepass")
