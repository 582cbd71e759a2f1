"""Many pages in one file, read one at a time, so that large sets need no memory."""

from __future__ import annotations

from typing import IO, NamedTuple


class Place(NamedTuple):
    """The place of a page in the file, in bytes."""

    offset: int
    size: int


def to_utf8(text: str) -> bytes:
    """Encode ``text`` as UTF-8, lone surrogates included."""
    return text.encode("utf-8", "surrogatepass")


def write_page(file: IO[bytes], html: str) -> Place:
    """Append a page and return its place."""
    offset = file.tell()
    return Place(offset, file.write(to_utf8(html)))


def read_page(file: IO[bytes], place: Place) -> str:
    """Return the page at ``place``."""
    file.seek(place.offset)
    return file.read(place.size).decode("utf-8", "surrogatepass")
