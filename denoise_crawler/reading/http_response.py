"""Extracts the page from the bytes of an HTTP response: headers, transfer and content encoding, charset."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import TypeAlias

from w3lib.encoding import html_body_declared_encoding, http_content_type_encoding, read_bom

from denoise_crawler.errors import UnreadableBodyError
from denoise_crawler.page.parsing import is_charset, is_utf8
from denoise_crawler.reading.compression import Notes, ReadOptions, Window, decompress, decompress_brotli

# --- splits a file into records, whose lengths may be wrong

ArchivedPage: TypeAlias = tuple[str, str | bytes]

MAX_RECORD_BYTES = 64 << 20  # longer records are skipped
_LOOKAHEAD_BYTES = 512
_CLOSED = re.compile(rb"</(?:html|body)\b", re.IGNORECASE)
_RECORD_HEADERS_END = re.compile(rb"\r?\n\r?\n")
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
    start: re.Pattern[bytes],
    take_page: Callable[[Window, Notes, int], ArchivedPage | None],
    windows: Iterable[Window],
    notes: Notes,
    _: ReadOptions,
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
    """Read the body of a record from the window and record damage.

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
    headers = _RECORD_HEADERS_END.search(body, 0, length)
    declared = _CONTENT_LENGTH.search(body, 0, headers.start()) if headers else None
    if headers and declared and headers.end() + int(declared[1]) == length:
        return True
    content = body[headers.end() if headers else 0 : length]
    plain, problem = decompress(content, MAX_RECORD_BYTES)
    if plain is not content:
        return not problem
    return _CLOSED.search(body, 0, length) is not None and _CLOSED.search(body, length) is None


MAX_HEADER_BYTES = 1 << 16
HTML_TYPES = ("text/html", "application/xhtml+xml", "application/vnd.wap.xhtml+xml")
_STATUS = re.compile(rb"HTTP/\d[\d.]*[ \t]+(\d{3})[^\n]*(?:\n|$)")
_HEADER = re.compile(rb"([A-Za-z0-9!#$%&'*+.^_`|~-]{1,80})[ \t]*:([^\n]*)(?:\n|$)|[ \t]+\S[^\n]*(?:\n|$)")
_CHUNK_SIZE = re.compile(rb"[ \t]*([0-9A-Fa-f]{1,12})[ \t]*(?:;[^\n]{0,200})?\r?\n")
_TAG = re.compile(rb"<(?:!doctype|!--|/?[a-z][a-z0-9]*)[\s>/-]", re.IGNORECASE)
# Servers send these for every page, whatever its charset.
_DEFAULT_CHARSETS = frozenset({"cp1252", "iso8859-1", "iso-8859-1", "latin-1", "ascii"})
_EMPTY_LINE = re.compile(rb"\r?\n")
_HEADERS_END = re.compile(rb"\n\r?\n")


@dataclass(frozen=True, slots=True)
class Response:
    """A parsed HTTP response; ``status`` is None without a status line.

    ``cut`` says that the headers exceed :data:`MAX_HEADER_BYTES` and only the first are read.
    """

    status: int | None
    headers: dict[str, str]
    body: bytes
    cut: bool = False

    @property
    def content_type(self) -> str:
        """The media type in lower case, without parameters."""
        return self.headers.get("content-type", "").split(";")[0].strip().lower()


def extract_html(raw: bytes, notes: Notes, offset: int) -> str | bytes | None:
    """Return the page of a response at an ``offset`` of its file; None, with a note, for an error or a picture."""
    response = parse_response(raw)
    if response.cut:
        notes.note_damage("damaged headers", offset, f"more than {MAX_HEADER_BYTES:,} bytes")
    if response.status is not None and not 200 <= response.status < 300:
        notes.note_skipped(f"HTTP status {response.status}")
        return None
    if response.content_type and response.content_type not in HTML_TYPES:
        notes.note_skipped("not HTML")
        return None
    try:
        body, problems = _decode_body(response)
    except UnreadableBodyError as error:
        notes.note_damage("unreadable body", offset, str(error))
        return None
    for problem in problems:
        notes.note_damage("damaged body", offset, problem)
    if not response.content_type and not looks_like_html(body):
        notes.note_skipped("not HTML" if body.strip() else "no body")
        return None
    return decode_by_content_type(body, response.headers.get("content-type", ""))


def parse_response(raw: bytes) -> Response:
    """Parse a response; if no empty line ends the headers, the body starts after the last header."""
    status = _STATUS.match(raw)
    code = int(status[1]) if status else None
    fields, at = parse_fields(raw, status.end() if status else 0)
    headers = {name: value[:MAX_HEADER_BYTES].decode("latin-1") for name, value in fields.items()}
    if at >= MAX_HEADER_BYTES:
        end = _HEADERS_END.search(raw, at - 1)
        return Response(code, headers, raw[end.end() :] if end else b"", cut=True)
    empty_line = _EMPTY_LINE.match(raw, at)
    return Response(code, headers, raw[empty_line.end() if empty_line else at :])


def parse_fields(raw: bytes, at: int = 0) -> tuple[dict[str, bytes], int]:
    """Return the header fields from ``at`` on, by their names in lower case, and where the first other line is.

    At most :data:`MAX_HEADER_BYTES` are read. Of equal names the last counts.
    """
    fields: dict[str, list[bytes]] = {}
    name = ""
    while at < MAX_HEADER_BYTES and (header := _HEADER.match(raw, at)) and header.end() > at:
        if header[1]:
            name = header[1].decode("ascii").lower()
            fields[name] = [header[2]]
        elif name:
            fields[name].append(header[0])  # a folded line
        else:
            break
        at = header.end()
    return {name: b" ".join(map(bytes.strip, lines)) for name, lines in fields.items()}, at


def looks_like_html(body: bytes) -> bool:
    """Return True if ``body`` starts like text with a tag."""
    head = body[:4096]
    return read_bom(head)[0] is not None or (b"\0" not in head and _TAG.search(head) is not None)


def decode_by_content_type(body: bytes, content_type: str) -> str | bytes:
    """Decode ``body`` by the charset of its Content-Type if that is more reliable than the page's own.

    Returns:
        The text. The body itself, to be decoded as the page declares, if it is UTF-8, if the charset is one that
        servers send by default, or if the body is invalid in it and the page declares another.
    """
    charset = http_content_type_encoding(re.sub("[\"']", "", content_type))
    if charset is None or charset in _DEFAULT_CHARSETS or not is_charset(charset):
        return body
    if is_utf8(body) or read_bom(body)[0]:
        return body
    try:
        return body.decode(charset)
    except UnicodeDecodeError:
        return body if html_body_declared_encoding(body) else body.decode(charset, "replace")
    except Exception:  # third-party codecs may raise anything
        return body


def _decode_body(response: Response) -> tuple[bytes, list[str]]:
    """Undo transfer and content encoding; return the body and the problems."""
    body, problems = response.body, list[str]()
    if "chunked" in response.headers.get("transfer-encoding", "").lower():
        body, problem = _join_chunks(body)
        problems.append(problem)
    encodings = response.headers.get("content-encoding", "").lower().replace(",", " ").split()
    for encoding in reversed(encodings or [""]):
        body, problem = _remove_encoding(body, encoding)
        problems.append(problem)
    return body, [problem for problem in problems if problem]


def _remove_encoding(body: bytes, encoding: str) -> tuple[bytes, str]:
    if encoding in ("", "gzip", "x-gzip", "deflate"):
        raw_deflate = encoding == "deflate" and not looks_like_html(body)
        return decompress(body, MAX_RECORD_BYTES, raw_deflate=raw_deflate)
    if encoding in ("identity", "none", "utf-8") or looks_like_html(body):
        return body, ""
    if encoding != "br":
        raise UnreadableBodyError(f"content encoding {encoding}")
    try:
        return decompress_brotli(body, MAX_RECORD_BYTES)
    except ImportError:
        raise UnreadableBodyError("content encoding br: install brotli 1.2 or newer to read it") from None
    except ValueError as error:
        raise UnreadableBodyError(f"content encoding br: {error}") from None


def _join_chunks(body: bytes) -> tuple[bytes, str]:
    """Join the chunks of a body; one without chunks is returned as it is, whatever its headers say."""
    parts, at = list[bytes](), 0
    while size := _CHUNK_SIZE.match(body, at):
        if not (length := int(size[1], 16)):
            return b"".join(parts), ""
        parts.append(body[size.end() : size.end() + length])
        at = size.end() + length
        at += 2 if body[at : at + 2] == b"\r\n" else body[at : at + 1] == b"\n"
    if not parts:
        return body, ""
    problem = "cut off" if at >= len(body) else "no length where one must be"
    return b"".join(parts) + body[at:], f"chunks: {problem}"
