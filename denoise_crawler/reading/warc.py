"""WARC files (ISO 28500), plain or gzipped record by record."""

from __future__ import annotations

import re
from functools import partial
from io import BytesIO
from typing import TYPE_CHECKING

from denoise_crawler.errors import needs

with needs("commands"):
    from warcio.exceptions import ArchiveLoadFailed
    from warcio.recordloader import ArcWarcRecordLoader

from denoise_crawler.reading.http_response import HTML_TYPES, html_of, response_of
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

RECORD = re.compile(rb"^WARC/\d\.\d+[ \t]*\r?\n", re.MULTILINE)
_AHEAD = 4096
_LONGEST_LINE = 1 << 16
_MOST_HEADERS = 200
_KINDS = frozenset(
    {"warcinfo", "response", "resource", "request", "metadata", "revisit", "conversion", "continuation"}
)
_loader = ArcWarcRecordLoader()


def pages(window: Window, notes: Notes) -> Iterator[tuple[str, str | bytes]]:
    """Yield the HTML pages of the response records that say the request succeeded (or do not say)."""
    for at in record_offsets(window, RECORD, notes):
        yield from page_of_record(partial(_page, window, notes), at, notes)


def _page(window: Window, notes: Notes, at: int) -> tuple[str, str | bytes] | None:
    headers = _headers(window, notes)
    length, kind = length_of(headers.get("content-length", "")), headers.get("warc-type", "").lower()
    kind = kind if kind in _KINDS else "unknown"
    if length is not None and length > MAX_RECORD:
        _pass_over(window, length, kind, notes)
        return None
    raw = take_body(window, length, RECORD, notes)
    if kind != "response":
        notes.skipped(f"{kind} record")
        return None
    html = html_of(raw, notes, at)
    return None if html is None else (address_of(headers.get("warc-target-uri", ""), at, notes), html)


def _headers(window: Window, notes: Notes) -> dict[str, str]:
    """Take the headers of a record and the empty line behind them."""
    at, lines = window.offset, [window.line(_LONGEST_LINE)]
    while len(lines) < _MOST_HEADERS and not RECORD.match(window.peek(_AHEAD)):
        line = window.line(_LONGEST_LINE)
        if not line.strip():
            break
        lines.append(line)
    else:
        notes.damaged("damaged record headers", at, "no empty line behind them")
    stream = BytesIO(b"".join(lines) + b"\r\n")
    try:
        headers = _loader.parse_record_stream(stream, no_record_parse=True, known_format="warc").rec_headers
    except ArchiveLoadFailed as error:
        notes.damaged("damaged record headers", at, str(error).strip())
        return {}
    return {name.lower(): value for name, value in headers.headers}


def _pass_over(window: Window, length: int, kind: str, notes: Notes) -> None:
    """Pass over a record that is too large to be a page; damage only if it says that it is one."""
    response = response_of(window.peek(_AHEAD))
    if kind == "response" and response.content_type in HTML_TYPES:
        notes.damaged("record too large", window.offset, f"{length} bytes")
    else:
        notes.skipped("not HTML" if kind == "response" else f"{kind} record")
    if (passed := window.skip(length)) < length:
        notes.damaged("file cut off", window.offset, f"{passed} bytes of {length}")
