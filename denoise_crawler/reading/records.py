"""Records that follow one another, each with a length that may be wrong."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from denoise_crawler.reading.compression import inflated

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import TypeAlias

    from denoise_crawler.reading.account import Notes
    from denoise_crawler.reading.window import Window

    Found: TypeAlias = tuple[str, str | bytes]

MAX_RECORD = 64 << 20  # bytes; a longer record is passed over
_AHEAD = 512
_CLOSED = re.compile(rb"</(?:html|body)\b", re.IGNORECASE)
_HEADERS_END = re.compile(rb"\r?\n\r?\n")
_CONTENT_LENGTH = re.compile(rb"^content-length:[ \t]*(\d{1,15})\s*$", re.IGNORECASE | re.MULTILINE)


def record_offsets(window: Window, start: re.Pattern[bytes], notes: Notes) -> Iterator[int]:
    """Yield where each record begins, with ``window`` there; what stands between records is noted as damage.

    Whoever iterates takes the record from the window; after damage it goes on with the next ``start``.
    """
    while True:
        at = window.offset
        if garbage := window.skip_to(start):
            notes.damaged("garbage between records", at, repr(garbage))
        if not window.peek(1):
            return
        yield window.offset


def page_of_record(take: Callable[[int], Found | None], at: int, notes: Notes) -> Iterator[Found]:
    """Yield the page that ``take`` gets from the record at ``at``, if it is one; whatever it raises is damage.

    Only OSError gets through: then there is nothing more to be read from the file.
    """
    try:
        found = take(at)
    except OSError:
        raise
    except Exception as error:  # no record may cost those behind it
        notes.damaged("unreadable record", at, f"{type(error).__name__}: {error}")
        return
    if found is not None:
        yield found


def length_of(value: str) -> int | None:
    """Return the length that a header gives, None if that is no number."""
    return int(value) if value.isascii() and value.isdigit() and len(value) < 16 else None


def address_of(value: str, at: int, notes: Notes) -> str:
    """Return the address that a header gives; for an empty one a made-up address, and damage is noted."""
    if value:
        return value
    notes.damaged("record without a url", at)
    return notes.made_up_address(at)


def take_body(window: Window, length: int | None, start: re.Pattern[bytes], notes: Notes) -> bytes:
    """Take the body of a record, ``length`` bytes if that fits: if after them the file ends or a record starts.

    Else it reaches to the next ``start`` of a record or the end; what follows a whole page is garbage and
    is left out. Damage is noted. Empty for a body of more than :data:`MAX_RECORD` bytes.
    """
    if length is not None and length <= MAX_RECORD and _fits(window, length, start):
        return window.take(length)
    at, end = window.offset, window.find(start, MAX_RECORD)
    followed = end >= 0
    if not followed:
        end = len(window.peek(MAX_RECORD + 1))
        if end > MAX_RECORD:
            window.skip_to(start)
            notes.damaged("record too large", at, f"more than {MAX_RECORD} bytes")
            return b""
    return _cut(window.take(end), length, at, notes, followed=followed)


def _cut(body: bytes, length: int | None, at: int, notes: Notes, *, followed: bool) -> bytes:
    """Return what of ``body``, which holds all up to the next record or the end, belongs to the record."""
    if length is None:
        notes.damaged("record without a length", at)
        return body
    if len(body) < length:
        what = f"{len(body)} bytes of {length}"
        notes.damaged("record shorter than its length" if followed else "file cut off", at, what)
        return body
    if _whole(body, length):
        notes.damaged("garbage between records", at + length, repr(body[length:].strip()[:40]))
        return body[:length]
    notes.damaged("record longer than its length", at, f"{len(body)} bytes instead of {length}")
    return body


def _fits(window: Window, length: int, start: re.Pattern[bytes]) -> bool:
    ahead = window.peek(length + _AHEAD)
    if len(ahead) < length:
        return False
    behind = ahead[length:].lstrip()
    return not behind or start.match(behind) is not None


def _whole(body: bytes, length: int) -> bool:
    """Tell whether the first ``length`` bytes are a whole page and what follows is not part of it."""
    headers = _HEADERS_END.search(body, 0, length)
    declared = _CONTENT_LENGTH.search(body, 0, headers.start()) if headers else None
    if headers and declared and headers.end() + int(declared[1]) == length:
        return True
    content = body[headers.end() if headers else 0 : length]
    plain, problem = inflated(content, MAX_RECORD)
    if plain is not content:
        return not problem
    return _CLOSED.search(body, 0, length) is not None and _CLOSED.search(body, length) is None
