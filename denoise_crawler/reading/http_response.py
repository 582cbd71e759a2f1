"""The page in the bytes of an HTTP response: headers, transfer and content encoding, charset."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from w3lib.encoding import html_body_declared_encoding, http_content_type_encoding, read_bom

from denoise_crawler.errors import UnreadableBodyError
from denoise_crawler.page.parsing import is_charset, is_utf8
from denoise_crawler.reading.compression import inflated, inflated_brotli
from denoise_crawler.reading.records import MAX_RECORD

if TYPE_CHECKING:
    from denoise_crawler.reading.account import Notes

MAX_HEADERS = 1 << 16  # bytes
HTML_TYPES = ("text/html", "application/xhtml+xml", "application/vnd.wap.xhtml+xml")
_STATUS = re.compile(rb"HTTP/\d[\d.]*[ \t]+(\d{3})[^\n]*(?:\n|$)")
_HEADER = re.compile(rb"([A-Za-z0-9!#$%&'*+.^_`|~-]{1,80})[ \t]*:([^\n]*)(?:\n|$)|[ \t]+\S[^\n]*(?:\n|$)")
_CHUNK_SIZE = re.compile(rb"[ \t]*([0-9A-Fa-f]{1,12})[ \t]*(?:;[^\n]{0,200})?\r?\n")
_TAG = re.compile(rb"<(?:!doctype|!--|/?[a-z][a-z0-9]*)[\s>/-]", re.IGNORECASE)
# Servers say these of every page, whatever it is written in.
_SAID_BY_DEFAULT = frozenset({"cp1252", "iso8859-1", "iso-8859-1", "latin-1", "ascii"})
_EMPTY_LINE = re.compile(rb"\r?\n")
_HEADERS_END = re.compile(rb"\n\r?\n")


@dataclass(frozen=True, slots=True)
class Response:
    """An HTTP response taken apart; ``status`` is None without a status line.

    ``cut`` says that there are more than :data:`MAX_HEADERS` bytes of headers, of which the first are read.
    """

    status: int | None
    headers: dict[str, str]
    body: bytes
    cut: bool = False

    @property
    def content_type(self) -> str:
        """The media type in lower case, without parameters."""
        return self.headers.get("content-type", "").split(";")[0].strip().lower()


def html_of(raw: bytes, notes: Notes, offset: int) -> str | bytes | None:
    """Return the page of a response; None, and a note why, if it holds none (error pages, pictures)."""
    response = response_of(raw)
    if response.cut:
        notes.damaged("damaged headers", offset, f"more than {MAX_HEADERS:,} bytes")
    if response.status is not None and not 200 <= response.status < 300:
        notes.skipped(f"HTTP status {response.status}")
        return None
    if response.content_type and response.content_type not in HTML_TYPES:
        notes.skipped("not HTML")
        return None
    try:
        body, problems = _decoded(response)
    except UnreadableBodyError as error:
        notes.damaged("unreadable body", offset, str(error))
        return None
    for problem in problems:
        notes.damaged("damaged body", offset, problem)
    if not response.content_type and not looks_like_html(body):
        notes.skipped("not HTML" if body.strip() else "no body")
        return None
    return in_its_charset(body, response.headers.get("content-type", ""))


def response_of(raw: bytes) -> Response:
    """Take a response apart; without headers, or with headers that end in no empty line, the rest is the body."""
    status = _STATUS.match(raw)
    code = int(status[1]) if status else None
    at, fields = status.end() if status else 0, dict[str, list[bytes]]()
    name = ""
    while at < MAX_HEADERS and (header := _HEADER.match(raw, at)) and header.end() > at:
        if header[1]:
            name = header[1].decode("ascii").lower()
            fields[name] = [header[2]]
        elif name:
            fields[name].append(header[0])  # a folded line
        else:
            break
        at = header.end()
    headers = {
        name: b" ".join(map(bytes.strip, lines))[:MAX_HEADERS].decode("latin-1") for name, lines in fields.items()
    }
    if at >= MAX_HEADERS:
        end = _HEADERS_END.search(raw, at - 1)
        return Response(code, headers, raw[end.end() :] if end else b"", cut=True)
    empty_line = _EMPTY_LINE.match(raw, at)
    return Response(code, headers, raw[empty_line.end() if empty_line else at :])


def looks_like_html(body: bytes) -> bool:
    """Tell whether there is a tag in the beginning of ``body``, and nothing that text does not hold."""
    head = body[:4096]
    return read_bom(head)[0] is not None or (b"\0" not in head and _TAG.search(head) is not None)


def in_its_charset(body: bytes, content_type: str) -> str | bytes:
    """Decode ``body`` by the charset of its Content-Type where that knows more than the page itself.

    The bytes come back as they are (to be decoded by what the page declares) if they are UTF-8, if the
    charset is what servers send by default, or if the page declares another and they are not in this one.
    """
    charset = http_content_type_encoding(re.sub("[\"']", "", content_type))
    if charset is None or charset in _SAID_BY_DEFAULT or not is_charset(charset):
        return body
    if is_utf8(body) or read_bom(body)[0]:
        return body
    try:
        return body.decode(charset)
    except UnicodeDecodeError:
        return body if html_body_declared_encoding(body) else body.decode(charset, "replace")
    except Exception:  # a codec may be anybody's, and raise anything
        return body


def _decoded(response: Response) -> tuple[bytes, list[str]]:
    """Return the body without transfer and content encoding, and the problems; raise UnreadableBodyError."""
    body, problems = response.body, list[str]()
    if "chunked" in response.headers.get("transfer-encoding", "").lower():
        body, problem = _joined(body)
        problems.append(problem)
    encodings = response.headers.get("content-encoding", "").lower().replace(",", " ").split()
    for encoding in reversed(encodings or [""]):
        body, problem = _without(body, encoding)
        problems.append(problem)
    return body, [problem for problem in problems if problem]


def _without(body: bytes, encoding: str) -> tuple[bytes, str]:
    if encoding in ("", "gzip", "x-gzip", "deflate"):
        raw_deflate = encoding == "deflate" and not looks_like_html(body)
        return inflated(body, MAX_RECORD, raw_deflate=raw_deflate)
    if encoding in ("identity", "none", "utf-8") or looks_like_html(body):
        return body, ""
    if encoding != "br":
        raise UnreadableBodyError(f"content encoding {encoding}")
    try:
        return inflated_brotli(body, MAX_RECORD)
    except ImportError:
        raise UnreadableBodyError("content encoding br: install brotli 1.2 or newer to read it") from None
    except ValueError as error:
        raise UnreadableBodyError(f"content encoding br: {error}") from None


def _joined(body: bytes) -> tuple[bytes, str]:
    """Join the chunks of a body; one without chunks, whatever its headers say, stays as it is."""
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
