"""Extracts the page from the bytes of an HTTP response: headers, transfer and content encoding, charset."""

from __future__ import annotations

import re
from dataclasses import dataclass

from w3lib.encoding import html_body_declared_encoding, http_content_type_encoding, read_bom

from denoise_crawler.errors import UnreadableBodyError
from denoise_crawler.page.parsing import is_charset, is_utf8
from denoise_crawler.reading.account import Notes
from denoise_crawler.reading.archive_records import MAX_RECORD_BYTES
from denoise_crawler.reading.compression import decompress, decompress_brotli

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
    at, fields = status.end() if status else 0, dict[str, list[bytes]]()
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
    headers = {
        name: b" ".join(map(bytes.strip, lines))[:MAX_HEADER_BYTES].decode("latin-1")
        for name, lines in fields.items()
    }
    if at >= MAX_HEADER_BYTES:
        end = _HEADERS_END.search(raw, at - 1)
        return Response(code, headers, raw[end.end() :] if end else b"", cut=True)
    empty_line = _EMPTY_LINE.match(raw, at)
    return Response(code, headers, raw[empty_line.end() if empty_line else at :])


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
