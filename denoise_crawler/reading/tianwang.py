"""Tianwang files, the format of the Chinese Web Test collections (CWT).

A record is lines of fields (``version`` first, ``url``, ``date``, ``ip`` …, ``length`` last), an empty line
and ``length`` bytes: the HTTP headers, an empty line and the body. With ``unzip-length``, those are
compressed.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from denoise_crawler.reading.compression import inflated
from denoise_crawler.reading.http_response import html_of
from denoise_crawler.reading.records import MAX_RECORD, take_body

if TYPE_CHECKING:
    from collections.abc import Iterator

    from denoise_crawler.reading.account import Notes
    from denoise_crawler.reading.window import Window

RECORD = re.compile(
    rb"^version[ \t]*:[^\r\n]{0,60}\r?\n(?=[A-Za-z][A-Za-z-]{0,30}[ \t]*:)", re.MULTILINE | re.IGNORECASE
)
_FIELD = re.compile(rb"([A-Za-z][A-Za-z-]{0,30})[ \t]*:(.*)", re.DOTALL)
_LONGEST_LINE = 1 << 16
_MOST_FIELDS = 100


def pages(window: Window, notes: Notes) -> Iterator[tuple[str, str | bytes]]:
    """Yield the pages of the records; after damage go on with the next line that starts with ``version:``."""
    while True:
        at = window.offset
        if garbage := window.skip_to(RECORD):
            notes.damaged("garbage between records", at, repr(garbage))
        if not window.peek(1):
            return
        at = window.offset
        fields = _fields(window)
        raw = take_body(window, _number(fields.get("length", "")), RECORD, notes)
        raw, problem = inflated(raw, MAX_RECORD)
        if problem:
            notes.damaged("damaged body", at, problem)
        html = html_of(raw, notes, at)
        if html is not None:
            yield _address(fields, notes, at), html


def _fields(window: Window) -> dict[str, str]:
    """Take the lines of fields and the empty line behind them; stop before what is no field."""
    fields: dict[str, str] = {}
    for number in range(_MOST_FIELDS):
        if number and RECORD.match(window.peek(128)):
            break
        if not (field := _FIELD.match(window.peek(64))) or field[1].lower() == b"http":
            line = window.peek(2)
            window.skip(1 if line[:1] == b"\n" else 2 if line == b"\r\n" else 0)
            break
        field = _FIELD.match(window.line(_LONGEST_LINE))
        if field:
            fields.setdefault(field[1].decode().lower(), _text(field[2]).strip())
    return fields


def _text(value: bytes) -> str:
    try:
        return value.decode()
    except UnicodeDecodeError:
        return value.decode("gb18030", "replace")


def _number(value: str) -> int | None:
    return int(value) if value.isascii() and value.isdigit() and len(value) < 16 else None


def _address(fields: dict[str, str], notes: Notes, at: int) -> str:
    if url := fields.get("url", ""):
        return url
    notes.damaged("record without a url", at)
    return notes.made_up_address(at)
