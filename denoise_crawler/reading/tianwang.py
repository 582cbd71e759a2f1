"""Reads Tianwang files, the format of the Chinese Web Test collections (CWT).

A record is lines of fields (``version`` first, ``url``, ``date``, ``ip`` …, ``length`` last), an empty line and
``length`` bytes: the HTTP headers, an empty line and the body, all compressed if there is an ``unzip-length``.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from denoise_crawler.reading.account import Notes, ReadOptions
from denoise_crawler.reading.archive_records import (
    MAX_RECORD_BYTES,
    pages_of_records,
    parse_content_length,
    take_body,
    url_or_placeholder,
)
from denoise_crawler.reading.compression import Window, decompress
from denoise_crawler.reading.http_response import extract_html

_RECORD = re.compile(
    rb"^version[ \t]*:[^\r\n]{0,60}\r?\n(?=[A-Za-z][A-Za-z-]{0,30}[ \t]*:)", re.MULTILINE | re.IGNORECASE
)
_FIELD = re.compile(rb"([A-Za-z][A-Za-z-]{0,30})[ \t]*:(.*)", re.DOTALL)
_MAX_LINE_BYTES = 1 << 16
_MAX_FIELDS = 100


def recognize(head: bytes) -> bool:
    """Return True if one of the first lines of a file starts a record."""
    return _RECORD.search(head) is not None


def pages(windows: Iterator[Window], notes: Notes, _options: ReadOptions) -> Iterator[tuple[str, str | bytes]]:
    """Yield the pages of the records; after damage continue at the next line that starts with ``version:``."""
    return pages_of_records(windows, _RECORD, _take_page, notes)


def _take_page(window: Window, notes: Notes, at: int) -> tuple[str, str | bytes] | None:
    fields = _take_fields(window)
    raw = take_body(window, parse_content_length(fields.get("length", "")), _RECORD, notes)
    raw, problem = decompress(raw, MAX_RECORD_BYTES)
    if problem:
        notes.note_damage("damaged body", at, problem)
    html = extract_html(raw, notes, at)
    return None if html is None else (url_or_placeholder(fields.get("url", ""), at, notes), html)


def _take_fields(window: Window) -> dict[str, str]:
    """Take the lines of fields and the empty line after them; stop before any other line."""
    fields: dict[str, str] = {}
    for number in range(_MAX_FIELDS):
        if number and _RECORD.match(window.peek(128)):
            break
        if not (field := _FIELD.match(window.peek(64))) or field[1].lower() == b"http":
            line = window.peek(2)
            window.skip(1 if line[:1] == b"\n" else 2 if line == b"\r\n" else 0)
            break
        field = _FIELD.match(window.line(_MAX_LINE_BYTES))
        if field:
            fields.setdefault(field[1].decode().lower(), _decode_field(field[2]).strip())
    return fields


def _decode_field(value: bytes) -> str:
    try:
        return value.decode()
    except UnicodeDecodeError:
        return value.decode("gb18030", "replace")
