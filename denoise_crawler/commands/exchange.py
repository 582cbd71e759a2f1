"""One question to a web server and its answer, within bounds of size."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import httpcore2
import httpx2

from denoise_crawler.commands.connections import transport_to
from denoise_crawler.errors import FetchError
from denoise_crawler.reading.compression import decompress

if TYPE_CHECKING:
    from collections.abc import Collection

    from denoise_crawler.commands.connections import MayBePrivate

_REDIRECTIONS = (301, 302, 303, 307, 308)
_COMPRESSED = ("gzip", "x-gzip", "deflate")  # not asked for, but some servers send nothing else
_FAILURES = (
    *(httpx2.HTTPError, httpx2.InvalidURL),
    *(httpcore2.NetworkError, httpcore2.ProtocolError, httpcore2.ProxyError, httpcore2.TimeoutException),
    *(OSError, ValueError, ImportError),
)


@dataclass(frozen=True, slots=True)
class Answer:
    """What a server answers: the status with its reason, where it leads, the Content-Type, and the body."""

    status: int
    reason: str
    leads_to: str = ""
    content_type: str = ""
    body: bytes = b""

    @property
    def is_good(self) -> bool:
        """Tell whether it has what was asked for."""
        return 200 <= self.status < 300


@dataclass(frozen=True, slots=True)
class Question:
    """How pages are asked for.

    Args:
        headers: What is sent with each request.
        max_bytes: A body that has more is refused.
        types: The media types that are accepted; none for all.
        may_be_private: Whether the addresses of a host and port may be private.

    """

    headers: dict[str, str]
    max_bytes: int
    may_be_private: MayBePrivate
    types: Collection[str] = ()


async def answer_of(url: str, question: Question) -> Answer:
    """Ask once, and follow no redirection.

    Args:
        url: An http or https URL.
        question: How it is asked.

    Raises:
        FetchError: There is no answer, or none that is accepted; the message says why and names the URL.
        PrivateHostError: The host has a private address.

    """
    headers = {"Accept-Encoding": "identity", "Connection": "close", **question.headers}
    try:
        transport = await transport_to(url, question.may_be_private)
        # Time-outs of the client begin anew with each byte: who asks has a limit for the whole.
        client = httpx2.AsyncClient(transport=transport, timeout=None, trust_env=False)
        async with client, client.stream("GET", url, headers=headers) as response:
            return await _read(response, url, question)
    except _FAILURES as error:
        raise FetchError(f"{url} cannot be fetched: {_reason(error)}") from None


async def _read(response: httpx2.Response, url: str, question: Question) -> Answer:
    status, reason = response.status_code, response.reason_phrase
    leads_to = response.headers.get("Location", "") if status in _REDIRECTIONS else ""
    if leads_to or not 200 <= status < 300:
        return Answer(status, reason, leads_to)
    content_type = response.headers.get("Content-Type", "")
    kind = content_type.partition(",")[0].partition(";")[0].strip().lower()
    if question.types and kind and kind not in question.types:
        raise FetchError(f"{url} is {kind}, not HTML")
    body = await _body(response, url, question.max_bytes)
    return Answer(status, reason, "", content_type, body)


async def _body(response: httpx2.Response, url: str, max_bytes: int) -> bytes:
    body = bytearray()
    async for part in response.aiter_raw():
        body += part
        if len(body) > max_bytes:
            raise FetchError(f"{url} is larger than {max_bytes:,} bytes")
    encoding = response.headers.get("Content-Encoding", "").strip().lower()
    if encoding not in _COMPRESSED:
        return bytes(body)
    plain, problem = decompress(bytes(body), max_bytes, raw_deflate=encoding == "deflate")
    if problem:
        raise FetchError(f"{url} cannot be fetched: {problem}")
    return plain


def _reason(error: BaseException) -> str:
    """Return what a library found, not what it made of it."""
    while isinstance(inner := error.__cause__ or next(iter(error.args), None), BaseException):
        error = inner
    return str(error) or type(error).__name__
