"""Reads JSON Lines: one page a line, as in feeds and gold sets."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from denoise_crawler.page.text import without_lone_surrogates
from denoise_crawler.reading.account import Notes, ReadOptions
from denoise_crawler.reading.archive_records import MAX_RECORD_BYTES
from denoise_crawler.reading.compression import Window


def recognize(head: bytes) -> bool:
    """Return True if a file starts with a JSON object."""
    return head.removeprefix(b"\xef\xbb\xbf").lstrip().startswith(b'{"')


def pages(windows: Iterator[Window], notes: Notes, options: ReadOptions) -> Iterator[tuple[str, str]]:
    """Yield the pages of the lines that are JSON objects with HTML in the field of HTML.

    Without a URL in its field the URL is made of ``site`` and ``id``, as in gold sets.
    """
    for window in windows:
        yield from _pages_of_lines(window, notes, options)


def _pages_of_lines(window: Window, notes: Notes, options: ReadOptions) -> Iterator[tuple[str, str]]:
    number = 0
    while True:
        at, line = window.offset, window.line(MAX_RECORD_BYTES)
        if not line:
            return
        number += 1
        if len(line) >= MAX_RECORD_BYTES and not line.endswith(b"\n"):
            notes.note_damage("line too long", at, f"line {number}: more than {MAX_RECORD_BYTES} bytes")
            while (rest := window.line(1 << 16)) and not rest.endswith(b"\n"):
                pass
            continue
        if not (text := _decode_line(line, number, at, notes)):
            continue
        record = _parse_record(text, number, at, notes)
        html = record.get(options.html_field)
        if isinstance(html, str):
            yield _page_url(record, options.url_field, number, at, notes), html
        elif record:
            notes.note_damage("no HTML in line", at, f"line {number}: no text in {options.html_field!r}")


def _decode_line(line: bytes, number: int, at: int, notes: Notes) -> str:
    line = line.strip().removeprefix(b"\xef\xbb\xbf")
    try:
        return line.decode()
    except UnicodeDecodeError as error:
        notes.note_damage("line not in UTF-8", at, f"line {number}: {error}")
        return line.decode("utf-8", "replace")


def _parse_record(text: str, number: int, at: int, notes: Notes) -> dict[str, Any]:
    try:
        record = json.loads(text)
    except (ValueError, RecursionError) as error:
        notes.note_damage("broken line", at, f"line {number}: {error}")
        return {}
    if isinstance(record, dict):
        return record
    notes.note_damage("broken line", at, f"line {number}: no JSON object")
    return {}


def _page_url(record: dict[str, Any], url_field: str, number: int, at: int, notes: Notes) -> str:
    url = record.get(url_field)
    if isinstance(url, str) and url:
        return without_lone_surrogates(url)
    site, name = record.get("site"), record.get("id")
    if isinstance(site, str) and site and isinstance(name, (str, int)):
        return without_lone_surrogates(f"https://{site}/{name}")
    notes.note_damage("no url in line", at, f"line {number}: no text in {url_field!r}, no site and id")
    return notes.placeholder_url(number)
