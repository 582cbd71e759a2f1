"""One question to a web server and its answer, within bounds of size, at an address that was checked."""

from __future__ import annotations

import asyncio
import socket
import ssl
from collections.abc import AsyncIterator, Callable, Collection, Iterable
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from threading import Thread
from typing import Any, TypeAlias
from urllib.request import getproxies, proxy_bypass

import httpcore2
import httpx2
from httpcore2 import AnyIOBackend, AsyncConnectionPool, AsyncNetworkBackend, AsyncNetworkStream

from denoise_crawler.errors import FetchError, PrivateHostError
from denoise_crawler.page.site import DEFAULT_PORTS, is_private
from denoise_crawler.reading.compression import decompress

MayBePrivate: TypeAlias = Callable[[str, int], bool]  # of a host and a port

_READ_BYTES = 4096


class CheckedBackend(AsyncNetworkBackend):
    """Looks a host up once, and connects to an address that it found, if none of them is private.

    Args:
        may_be_private: Whether the addresses of a host and port may be private.

    """

    def __init__(self, may_be_private: MayBePrivate) -> None:
        self._may_be_private = may_be_private
        self._network = AnyIOBackend()
        self._opened: list[AsyncNetworkStream] = []

    async def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[httpcore2.SOCKET_OPTION] | None = None,
    ) -> AsyncNetworkStream:
        """Connect; raise PrivateHostError, or OSError for a name that has no address."""
        addresses = await look_up(host)
        if not self._may_be_private(host, port):
            _refuse_private(host, addresses)
        for number, address in enumerate(addresses, 1):
            try:
                stream = await self._network.connect_tcp(address, port, timeout, local_address, socket_options)
            except httpcore2.ConnectError:
                if number == len(addresses):
                    raise
            else:
                self._opened.append(stream)
                return _Stream(stream)
        raise OSError(f"{host} has no address")

    async def aclose(self) -> None:
        """Close all connections: a TLS handshake that is cancelled leaves its own open."""
        for stream in self._opened:
            await stream.aclose()


class _Stream(AsyncNetworkStream):
    """Reads little at a time, so that what one server floods us with is worked through between others' turns."""

    def __init__(self, stream: AsyncNetworkStream) -> None:
        self._stream = stream

    async def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        return await self._stream.read(min(max_bytes, _READ_BYTES), timeout)

    async def write(self, buffer: bytes, timeout: float | None = None) -> None:
        await self._stream.write(buffer, timeout)

    async def aclose(self) -> None:
        await self._stream.aclose()

    async def start_tls(
        self, ssl_context: ssl.SSLContext, server_hostname: str | None = None, timeout: float | None = None
    ) -> AsyncNetworkStream:
        return _Stream(await self._stream.start_tls(ssl_context, server_hostname, timeout))

    def get_extra_info(self, info: str) -> Any:
        return self._stream.get_extra_info(info)


async def look_up(host: str) -> list[str]:
    """Return the IP addresses of a host; raise OSError, or UnicodeError for what can be no name.

    The system's look-up cannot be cancelled. So it has a thread of its own, which nobody waits for.
    """
    found: Future[list[str]] = Future()
    found.set_running_or_notify_cancel()

    def ask() -> None:
        try:
            addresses = socket.getaddrinfo(host, None, type=socket.SOCK_STREAM)
            found.set_result([str(address[0]) for *_, address in addresses])
        except (OSError, UnicodeError) as error:
            found.set_exception(error)

    Thread(target=ask, daemon=True).start()
    return await asyncio.wrap_future(found)


async def transport_to(url: str, may_be_private: MayBePrivate) -> httpx2.AsyncBaseTransport:
    """Return what carries a request to the server of a URL; raise PrivateHostError.

    A proxy looks the name up itself, so the name is checked here.
    """
    at = httpx2.URL(url)  # as the client reads it
    host, port = at.raw_host.decode(), at.port or DEFAULT_PORTS[at.scheme]
    proxy = getproxies().get(at.scheme)
    if not proxy or proxy_bypass(f"{host}:{port}"):
        return _Transport(CheckedBackend(may_be_private))
    if not may_be_private(host, port):
        with suppress(OSError, UnicodeError):  # a name that is not known here the proxy may know
            _refuse_private(host, await look_up(host))
    found = httpx2.Proxy(proxy if "://" in proxy else f"http://{proxy}")
    return _Transport(CheckedBackend(lambda *_: True), httpcore2.Proxy(str(found.url), found.raw_auth))


def _refuse_private(host: str, addresses: list[str]) -> None:
    if any(map(is_private, addresses)):
        raise PrivateHostError(f"{host} is on this machine or a private network: it may not be fetched from")


@cache
def _verifying() -> ssl.SSLContext:
    return ssl.create_default_context()


class _Transport(httpx2.AsyncBaseTransport):
    """Hands the requests of httpx to connections of httpcore, whose network can be chosen."""

    def __init__(self, network: CheckedBackend, proxy: httpcore2.Proxy | None = None) -> None:
        self._network = network
        self._pool = AsyncConnectionPool(_verifying(), proxy, network_backend=network)

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        at = request.url
        url = httpcore2.URL(scheme=at.raw_scheme, host=at.raw_host, port=at.port, target=at.raw_path)
        asked = httpcore2.Request(request.method, url, headers=request.headers.raw)
        answer = await self._pool.handle_async_request(asked)
        status, headers, extensions = answer.status, answer.headers, answer.extensions
        return httpx2.Response(status, headers=headers, stream=_Body(answer), extensions=dict(extensions))

    async def aclose(self) -> None:
        await self._pool.aclose()
        await self._network.aclose()


class _Body(httpx2.AsyncByteStream):
    def __init__(self, answer: httpcore2.Response) -> None:
        self._answer = answer

    async def __aiter__(self) -> AsyncIterator[bytes]:
        async for part in self._answer.aiter_stream():
            yield part

    async def aclose(self) -> None:
        await self._answer.aclose()


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
    """Ask an http or https URL once, and follow no redirection.

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
