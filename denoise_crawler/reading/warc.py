"""Reads WARC files (ISO 28500), plain or gzipped record by record."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from io import BytesIO
from typing import Any

from denoise_crawler.errors import needs
from denoise_crawler.reading.account import Notes, ReadOptions
from denoise_crawler.reading.archive_records import (
    MAX_RECORD_BYTES,
    pages_of_records,
    parse_content_length,
    take_body,
    url_or_placeholder,
)
from denoise_crawler.reading.compression import Window
from denoise_crawler.reading.http_response import HTML_TYPES, extract_html, parse_response

_RECORD = re.compile(rb"^WARC/\d\.\d+[ \t]*\r?\n", re.MULTILINE)
_LOOKAHEAD_BYTES = 4096
_MAX_LINE_BYTES = 1 << 16
_MAX_HEADERS = 200
_KINDS = frozenset(
    {"warcinfo", "response", "resource", "request", "metadata", "revisit", "conversion", "continuation"}
)


def recognize(head: bytes) -> bool:
    """Return True if a file starts with a record.

    Raises:
        MissingExtraError: It does, and warcio is not installed.
    """
    return _RECORD.match(head) is not None and _header_reader() is not None


def pages(windows: Iterator[Window], notes: Notes, _options: ReadOptions) -> Iterator[tuple[str, str | bytes]]:
    """Yield the HTML pages of response records, unless their status says that the request failed."""
    return pages_of_records(windows, _RECORD, _take_response, notes)


def _take_response(window: Window, notes: Notes, at: int) -> tuple[str, str | bytes] | None:
    headers = _take_headers(window, notes)
    length, kind = parse_content_length(headers.get("content-length", "")), headers.get("warc-type", "").lower()
    kind = kind if kind in _KINDS else "unknown"
    if length is not None and length > MAX_RECORD_BYTES:
        _skip_record(window, length, kind, notes)
        return None
    raw = take_body(window, length, _RECORD, notes)
    if kind != "response":
        notes.note_skipped(f"{kind} record")
        return None
    html = extract_html(raw, notes, at)
    return None if html is None else (url_or_placeholder(headers.get("warc-target-uri", ""), at, notes), html)


def _take_headers(window: Window, notes: Notes) -> dict[str, str]:
    """Take the headers of a record and the empty line after them."""
    at, lines = window.offset, [window.line(_MAX_LINE_BYTES)]
    while len(lines) < _MAX_HEADERS and not _RECORD.match(window.peek(_LOOKAHEAD_BYTES)):
        line = window.line(_MAX_LINE_BYTES)
        if not line.strip():
            break
        lines.append(_without_spaces_in_address(line))
    else:
        notes.note_damage("damaged record headers", at, "no empty line behind them")
    stream = BytesIO(b"".join(lines) + b"\r\n")
    loader, broken = _header_reader()
    try:
        headers = loader.parse_record_stream(stream, no_record_parse=True, known_format="warc").rec_headers
    except broken as error:
        notes.note_damage("damaged record headers", at, str(error).strip())
        return {}
    return {name.lower(): value for name, value in headers.headers}


def _without_spaces_in_address(line: bytes) -> bytes:
    """Write spaces in a page's address as %20, as warcio does: it prints such an address as it stands."""
    name, colon, value = line.partition(b":")
    if name.strip().lower() != b"warc-target-uri":
        return line
    return name + colon + b" " + value.strip().replace(b" ", b"%20") + b"\r\n"


@lru_cache(maxsize=1)
def _header_reader() -> tuple[Any, type[Exception]]:
    """Return warcio's reader of record headers and the error it raises: only WARC files need the package."""
    with needs("commands"):
        from warcio.exceptions import ArchiveLoadFailed
        from warcio.recordloader import ArcWarcRecordLoader
    return ArcWarcRecordLoader(), ArchiveLoadFailed


def _skip_record(window: Window, length: int, kind: str, notes: Notes) -> None:
    """Skip a record that is too large for a page; note damage only if it declares to be a page."""
    response = parse_response(window.peek(_LOOKAHEAD_BYTES))
    if kind == "response" and response.content_type in HTML_TYPES:
        notes.note_damage("record too large", window.offset, f"{length} bytes")
    else:
        notes.note_skipped("not HTML" if kind == "response" else f"{kind} record")
    if (passed := window.skip(length)) < length:
        notes.note_damage("file cut off", window.offset, f"{passed} bytes of {length}")
