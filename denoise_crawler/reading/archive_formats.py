"""The formats of files with pages: one row a format."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any
from urllib.parse import quote

from denoise_crawler.page.text import without_lone_surrogates
from denoise_crawler.reading.compression import SUFFIXES, Notes, Reading, ReadOptions, Window, decompress, windows
from denoise_crawler.reading.http_response import (
    HTML_TYPES,
    MAX_RECORD_BYTES,
    extract_html,
    looks_like_html,
    pages_of_records,
    parse_content_length,
    parse_fields,
    parse_response,
    take_body,
    url_or_placeholder,
)

# --- reads HTML files, one page each, in the folders that wget and other mirrors leave

_PAGE = re.compile(rb"<(?:!doctype\s+html|html|head|body|title|meta|frameset)\b", re.IGNORECASE)


def files(folder: Path, reading: Reading) -> Iterator[Path]:
    """Yield the files below ``folder`` by name, those of a folder before those of its subfolders.

    Links to folders are not followed. Unreadable folders are noted in ``reading``.
    """

    def unreadable(error: OSError) -> None:
        Notes(Path(error.filename or folder), reading).note_damage(
            "unreadable folder", 0, str(error.strerror or error)
        )

    for place, subfolders, names in os.walk(folder, onerror=unreadable):
        subfolders.sort()
        for name in sorted(names):
            yield Path(place, name)


def is_html(head: bytes) -> bool:
    """Return True if a file starts like a page."""
    return looks_like_html(head) and _PAGE.search(head[:4096]) is not None


def html_pages(windows: Iterator[Window], notes: Notes, options: ReadOptions) -> Iterator[tuple[str, bytes]]:
    """Yield the page up to the first damage; nothing, with a note, if it is too large or binary."""
    body = next(windows).take(MAX_RECORD_BYTES + 1)
    if len(body) > MAX_RECORD_BYTES:
        notes.note_damage("file too large", 0, f"more than {MAX_RECORD_BYTES} bytes")
    elif b"\0" in body[:4096] and not body.startswith((b"\xff\xfe", b"\xfe\xff")):
        notes.note_damage("binary file", 0, repr(body[:20]))
    else:
        yield _file_url(notes, options.base), body


def _file_url(notes: Notes, base: str | None) -> str:
    """Return the URL of a file: ``base`` and its path in the folder that is read.

    Without a ``base`` the first folder in it is the host, as in mirrors: ``https://HOST/PATH``. For a file right
    in that folder its name is the host.
    """
    folder = notes.top or notes.path.parent
    parts = notes.path.relative_to(folder).parts
    if base is None:
        parts = parts if len(parts) > 1 else (folder.resolve().name, *parts)
        base = "https:/"
    elif "://" not in base:
        base = f"https://{base}"
    path = [quote(os.fsencode(part), safe="") for part in parts]
    return "/".join([base.rstrip("/") if base != "https:/" else base, *path])


# --- reads JSON Lines: one page a line, as in feeds and gold sets


def is_json_lines(head: bytes) -> bool:
    """Return True if a file starts with a JSON object."""
    return head.removeprefix(b"\xef\xbb\xbf").lstrip().startswith(b'{"')


def json_pages(windows: Iterator[Window], notes: Notes, options: ReadOptions) -> Iterator[tuple[str, str]]:
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


# --- reads Tianwang files, the format of the Chinese Web Test collections (CWT)
# A record is lines of fields (``version`` first, ``url``, ``date``, ``ip`` …, ``length`` last), an empty line and
# ``length`` bytes: the HTTP headers, an empty line and the body, all compressed if there is an ``unzip-length``.
# After damage reading goes on at the next line that starts with ``version:``.

_TIANWANG_RECORD = re.compile(
    rb"^version[ \t]*:[^\r\n]{0,60}\r?\n(?=[A-Za-z][A-Za-z-]{0,30}[ \t]*:)", re.MULTILINE | re.IGNORECASE
)
_FIELD = re.compile(rb"([A-Za-z][A-Za-z-]{0,30})[ \t]*:(.*)", re.DOTALL)
_MAX_LINE_BYTES = 1 << 16
_MAX_FIELDS = 100


def _take_page(window: Window, notes: Notes, at: int) -> tuple[str, str | bytes] | None:
    fields = _take_fields(window)
    raw = take_body(window, parse_content_length(fields.get("length", "")), _TIANWANG_RECORD, notes)
    raw, problem = decompress(raw, MAX_RECORD_BYTES)
    if problem:
        notes.note_damage("damaged body", at, problem)
    html = extract_html(raw, notes, at)
    return None if html is None else (url_or_placeholder(fields.get("url", ""), at, notes), html)


def _take_fields(window: Window) -> dict[str, str]:
    """Read the lines of fields and the empty line after them; stop before any other line."""
    fields: dict[str, str] = {}
    for number in range(_MAX_FIELDS):
        if number and _TIANWANG_RECORD.match(window.peek(128)):
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


# --- reads WARC files (ISO 28500), plain or gzipped record by record

_WARC_RECORD = re.compile(rb"^WARC/\d\.\d+[ \t]*\r?\n", re.MULTILINE)
_LOOKAHEAD_BYTES = 4096
_MAX_HEADERS = 200
_KINDS = frozenset(
    {"warcinfo", "response", "resource", "request", "metadata", "revisit", "conversion", "continuation"}
)


def _take_response(window: Window, notes: Notes, at: int) -> tuple[str, str | bytes] | None:
    """Take a record; return the page of a response, unless its status says that the request failed."""
    headers = _take_headers(window, notes)
    length, kind = parse_content_length(headers.get("content-length", "")), headers.get("warc-type", "").lower()
    kind = kind if kind in _KINDS else "unknown"
    if length is not None and length > MAX_RECORD_BYTES:
        _skip_record(window, length, kind, notes)
        return None
    raw = take_body(window, length, _WARC_RECORD, notes)
    if kind != "response":
        notes.note_skipped(f"{kind} record")
        return None
    html = extract_html(raw, notes, at)
    url = headers.get("warc-target-uri", "").strip("<>").replace(" ", "%20")
    return None if html is None else (url_or_placeholder(url, at, notes), html)


def _take_headers(window: Window, notes: Notes) -> dict[str, str]:
    """Read the headers of a record and the empty line after them."""
    at, lines = window.offset, list[bytes]()
    window.line(_MAX_LINE_BYTES)  # the version
    while len(lines) < _MAX_HEADERS and not _WARC_RECORD.match(window.peek(_LOOKAHEAD_BYTES)):
        line = window.line(_MAX_LINE_BYTES)
        if not line.strip():
            break
        if lines and line.startswith((b" ", b"\t")):
            lines[-1] += line
        else:
            lines.append(line)
    else:
        notes.note_damage("damaged record headers", at, "no empty line behind them")
    fields = [parse_fields(line)[0] for line in lines]  # one by one: a damaged line costs no other
    return {name: value.decode("utf-8", "replace") for field in fields for name, value in field.items()}


def _skip_record(window: Window, length: int, kind: str, notes: Notes) -> None:
    """Skip a record that is too large for a page; note damage only if it declares to be a page."""
    response = parse_response(window.peek(_LOOKAHEAD_BYTES))
    if kind == "response" and response.content_type in HTML_TYPES:
        notes.note_damage("record too large", window.offset, f"{length} bytes")
    else:
        notes.note_skipped("not HTML" if kind == "response" else f"{kind} record")
    if (passed := window.skip(length)) < length:
        notes.note_damage("file cut off", window.offset, f"{passed} bytes of {length}")


_HEAD_BYTES = 1 << 16


@dataclass(frozen=True, slots=True)
class Format:
    """One format.

    Attributes:
        title: What messages call it.
        endings: The endings of the names of its files.
        recognize: Returns something true if a file that starts with these bytes has the format.
        pages: Yields the pages of a file, given as windows without gaps, and notes what it finds.
        outweighs_name: Whether the content says more than the name of the file.
    """

    title: str
    endings: tuple[str, ...]
    recognize: Callable[[bytes], object]
    pages: Callable[[Iterator[Window], Notes, ReadOptions], Iterator[tuple[str, str | bytes]]]
    outweighs_name: bool = False


# Of several that recognize a file the first counts.
FORMATS = {
    "warc": Format(
        "WARC",
        (".warc",),
        _WARC_RECORD.match,
        partial(pages_of_records, _WARC_RECORD, _take_response),
        outweighs_name=True,
    ),
    "tianwang": Format(
        "Tianwang",
        (".tianwang", ".cwt"),
        _TIANWANG_RECORD.search,
        partial(pages_of_records, _TIANWANG_RECORD, _take_page),
    ),
    "jsonl": Format("JSON Lines", (".jsonl", ".jl", ".ndjson"), is_json_lines, json_pages),
    "html": Format("HTML", (".html", ".htm", ".xhtml", ".shtml"), is_html, html_pages),
}
UNDERSTOOD = "a folder, {}; each also compressed ({})".format(
    ", ".join(f"{known.title} ({', '.join(known.endings)})" for known in FORMATS.values()), ", ".join(SUFFIXES)
)


def format_of(path: Path) -> Format | None:
    """Return the format of the file at ``path``, by its content and its name; None if it is unknown.

    Raises:
        OSError: The file cannot be read.
    """
    content = windows(Notes(path, Reading()))  # holds the file open
    head = next(content).peek(_HEAD_BYTES)
    name = path.name.lower()
    for suffix in SUFFIXES:
        name = name.removesuffix(suffix)
    known = FORMATS.values()
    surely = (each for each in known if each.outweighs_name and each.recognize(head))
    by_name = (each for each in known if name.endswith(each.endings))
    by_content = (each for each in known if each.recognize(head))
    return next(chain(surely, by_name, by_content), None)
