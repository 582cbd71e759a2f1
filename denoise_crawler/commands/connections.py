"""Connections for httpx: each leads to an address that was checked, or to the proxy that the environment names."""

from __future__ import annotations

import asyncio
import socket
import ssl
from concurrent.futures import Future
from contextlib import suppress
from functools import cache
from threading import Thread
from typing import TYPE_CHECKING, Any
from urllib.request import getproxies, proxy_bypass

import httpcore2
import httpx2
from httpcore2 import AnyIOBackend, AsyncConnectionPool, AsyncNetworkBackend, AsyncNetworkStream

from denoise_crawler.crawl.private_addresses import is_private
from denoise_crawler.errors import PrivateHostError
from denoise_crawler.page.site import DEFAULT_PORTS

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Iterable
    from typing import TypeAlias

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
