"""Tianwang files, the format of the Chinese Web Test collections (CWT).

A record is lines of fields (``version`` first, ``url``, ``date``, ``ip`` …, ``length`` last), an empty line
and ``length`` bytes: the HTTP headers, an empty line and the body. With ``unzip-length``, those are
compressed.
"""

from __future__ import annotations

import re
from functools import partial
from typing import TYPE_CHECKING

from denoise_crawler.reading.compression import inflated
from denoise_crawler.reading.http_response import html_of
from denoise_crawler.reading.records import (
    MAX_RECORD,
    address_of,
    length_of,
    page_of_record,
    record_offsets,
    take_body,
)

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
    for at in record_offsets(window, RECORD, notes):
        yield from page_of_record(partial(_page, window, notes), at, notes)


def _page(window: Window, notes: Notes, at: int) -> tuple[str, str | bytes] | None:
    fields = _fields(window)
    raw = take_body(window, length_of(fields.get("length", "")), RECORD, notes)
    raw, problem = inflated(raw, MAX_RECORD)
    if problem:
        notes.damaged("damaged body", at, problem)
    html = html_of(raw, notes, at)
    return None if html is None else (address_of(fields.get("url", ""), at, notes), html)


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
