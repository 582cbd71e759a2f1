"""JSON Lines: one page a line, as feeds and gold sets write them."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from denoise_crawler.reading.records import MAX_RECORD

if TYPE_CHECKING:
    from collections.abc import Iterator

    from denoise_crawler.reading.account import Notes
    from denoise_crawler.reading.window import Window


def pages(window: Window, notes: Notes, *, url_field: str, html_field: str) -> Iterator[tuple[str, str]]:
    """Yield the pages of the lines that are JSON objects with HTML in ``html_field``.

    Without an address in ``url_field`` a page is called by its ``site`` and ``id``, as in gold sets.
    """
    number = 0
    while True:
        at, line = window.offset, window.line(MAX_RECORD)
        if not line:
            return
        number += 1
        if len(line) >= MAX_RECORD and not line.endswith(b"\n"):
            notes.damaged("line too long", at, f"line {number}: more than {MAX_RECORD} bytes")
            while (rest := window.line(1 << 16)) and not rest.endswith(b"\n"):
                pass
            continue
        if not (text := _text(line, number, at, notes)):
            continue
        record = _record(text, number, at, notes)
        html = record.get(html_field)
        if isinstance(html, str):
            yield _address(record, url_field, number, at, notes), html
        elif record:
            notes.damaged("no HTML in line", at, f"line {number}: no text in {html_field!r}")


def _text(line: bytes, number: int, at: int, notes: Notes) -> str:
    line = line.strip().removeprefix(b"\xef\xbb\xbf")
    try:
        return line.decode()
    except UnicodeDecodeError as error:
        notes.damaged("line not in UTF-8", at, f"line {number}: {error}")
        return line.decode("utf-8", "replace")


def _record(text: str, number: int, at: int, notes: Notes) -> dict[str, Any]:
    try:
        record = json.loads(text)
    except (ValueError, RecursionError) as error:
        notes.damaged("broken line", at, f"line {number}: {error}")
        return {}
    if isinstance(record, dict):
        return record
    notes.damaged("broken line", at, f"line {number}: no JSON object")
    return {}


def _address(record: dict[str, Any], url_field: str, number: int, at: int, notes: Notes) -> str:
    url = record.get(url_field)
    if isinstance(url, str) and url:
        return _without_surrogates(url)
    site, name = record.get("site"), record.get("id")
    if isinstance(site, str) and site and isinstance(name, (str, int)):
        return _without_surrogates(f"https://{site}/{name}")
    notes.damaged("no url in line", at, f"line {number}: no text in {url_field!r}, no site and id")
    return notes.made_up_address(number)


def _without_surrogates(url: str) -> str:
    return url.encode("utf-8", "replace").decode()  # JSON may hold half a pair, which nothing can write
