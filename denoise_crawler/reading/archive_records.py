"""Splits a file into records, whose lengths may be wrong."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from typing import TypeAlias

from denoise_crawler.reading.account import Notes
from denoise_crawler.reading.compression import Window, decompress

ArchivedPage: TypeAlias = tuple[str, str | bytes]

MAX_RECORD_BYTES = 64 << 20  # longer records are skipped
_LOOKAHEAD_BYTES = 512
_CLOSED = re.compile(rb"</(?:html|body)\b", re.IGNORECASE)
_HEADERS_END = re.compile(rb"\r?\n\r?\n")
_CONTENT_LENGTH = re.compile(rb"^content-length:[ \t]*(\d{1,15})\s*$", re.IGNORECASE | re.MULTILINE)


def _record_offsets(window: Window, start: re.Pattern[bytes], notes: Notes) -> Iterator[int]:
    """Yield the offset of each record, with ``window`` at its start; what is between records is noted as damage.

    The caller takes the record from the window. After damage the next match of ``start`` is the next record.
    """
    while True:
        at = window.offset
        if garbage := window.skip_to(start):
            notes.note_damage("garbage between records", at, repr(garbage))
        if not window.peek(1):
            return
        yield window.offset


def pages_of_records(
    windows: Iterable[Window],
    start: re.Pattern[bytes],
    take_page: Callable[[Window, Notes, int], ArchivedPage | None],
    notes: Notes,
) -> Iterator[ArchivedPage]:
    """Yield each page of a file's records as (URL, HTML).

    A record begins where ``start`` matches. ``take_page`` takes the one at an offset from the window and returns
    its page, None if it has none; what it raises is noted as damage.

    Raises:
        OSError: Nothing more can be read from the file.
    """
    for window in windows:
        for at in _record_offsets(window, start, notes):
            try:
                page = take_page(window, notes, at)
            except OSError:
                raise
            except Exception as error:  # a bad record must not stop the records after it
                notes.note_damage("unreadable record", at, f"{type(error).__name__}: {error}")
                continue
            if page is not None:
                yield page


def parse_content_length(value: str) -> int | None:
    """Return the length in a header; None if it is no number."""
    return int(value) if value.isascii() and value.isdigit() and len(value) < 16 else None


def url_or_placeholder(value: str, at: int, notes: Notes) -> str:
    """Return the URL in a header; if it is empty, note damage and return a placeholder."""
    if value:
        return value
    notes.note_damage("record without a url", at)
    return notes.placeholder_url(at)


def take_body(window: Window, length: int | None, start: re.Pattern[bytes], notes: Notes) -> bytes:
    """Take the body of a record from the window and note damage.

    The declared ``length`` in bytes is right if the file ends or a record starts after it. With a wrong one the
    body extends to the next record or the end of the file, without what follows a complete page. It is empty if it
    is larger than :data:`MAX_RECORD_BYTES`.
    """
    if length is not None and length <= MAX_RECORD_BYTES and _ends_at_record(window, length, start):
        return window.take(length)
    at, end = window.offset, window.find(start, MAX_RECORD_BYTES)
    followed = end >= 0
    if not followed:
        end = len(window.peek(MAX_RECORD_BYTES + 1))
        if end > MAX_RECORD_BYTES:
            window.skip_to(start)
            notes.note_damage("record too large", at, f"more than {MAX_RECORD_BYTES} bytes")
            return b""
    return _trim_to_record(window.take(end), length, at, notes, followed=followed)


def _trim_to_record(body: bytes, length: int | None, at: int, notes: Notes, *, followed: bool) -> bytes:
    """Trim ``body``, which extends to the next record or the end of the file, to the record."""
    if length is None:
        notes.note_damage("record without a length", at)
        return body
    if len(body) < length:
        what = f"{len(body)} bytes of {length}"
        notes.note_damage("record shorter than its length" if followed else "file cut off", at, what)
        return body
    if _is_whole_page(body, length):
        notes.note_damage("garbage between records", at + length, repr(body[length:].strip()[:40]))
        return body[:length]
    notes.note_damage("record longer than its length", at, f"{len(body)} bytes instead of {length}")
    return body


def _ends_at_record(window: Window, length: int, start: re.Pattern[bytes]) -> bool:
    ahead = window.peek(length + _LOOKAHEAD_BYTES)
    if len(ahead) < length:
        return False
    behind = ahead[length:].lstrip()
    return not behind or start.match(behind) is not None


def _is_whole_page(body: bytes, length: int) -> bool:
    """Return True if the first ``length`` bytes are a complete page."""
    headers = _HEADERS_END.search(body, 0, length)
    declared = _CONTENT_LENGTH.search(body, 0, headers.start()) if headers else None
    if headers and declared and headers.end() + int(declared[1]) == length:
        return True
    content = body[headers.end() if headers else 0 : length]
    plain, problem = decompress(content, MAX_RECORD_BYTES)
    if plain is not content:
        return not problem
    return _CLOSED.search(body, 0, length) is not None and _CLOSED.search(body, length) is None
