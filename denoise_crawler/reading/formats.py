"""Which format a file has: by its content, then by its name."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from denoise_crawler.reading.account import Notes, Reading
from denoise_crawler.reading.compression import SUFFIXES, windows
from denoise_crawler.reading.http_response import looks_like_html
from denoise_crawler.reading.tianwang import RECORD as TIANWANG_RECORD
from denoise_crawler.reading.warc import RECORD as WARC_RECORD

if TYPE_CHECKING:
    from pathlib import Path

# Each with the endings of its files.
FORMATS: dict[str, tuple[str, ...]] = {
    "html": (".html", ".htm", ".xhtml", ".shtml"),
    "jsonl": (".jsonl", ".jl", ".ndjson"),
    "tianwang": (".tianwang", ".cwt"),
    "warc": (".warc",),
}
_HEAD = 1 << 16
_PAGE = re.compile(rb"<(?:!doctype\s+html|html|head|body|title|meta|frameset)\b", re.IGNORECASE)


def format_of(path: Path) -> str | None:
    """Return the name of the format of the file at ``path``, None if it is none of :data:`FORMATS`.

    Raises OSError for a file that cannot be read.
    """
    head = b""
    for window in windows(Notes(path, Reading())):
        head = window.peek(_HEAD)
        break
    if WARC_RECORD.match(head):
        return "warc"
    return _by_name(path.name) or _by_content(head)


def _by_name(name: str) -> str | None:
    name = name.lower()
    for suffix in SUFFIXES:
        name = name.removesuffix(suffix)
    return next((found for found, endings in FORMATS.items() if name.endswith(endings)), None)


def _by_content(head: bytes) -> str | None:
    if TIANWANG_RECORD.search(head):
        return "tianwang"
    if head.removeprefix(b"\xef\xbb\xbf").lstrip().startswith(b'{"'):
        return "jsonl"
    return "html" if looks_like_html(head) and _PAGE.search(head[:4096]) else None
