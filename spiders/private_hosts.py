"""Keeps a crawl away from private networks, except where a start page is, and from hosts that refuse it."""

from __future__ import annotations

import asyncio
import socket
from typing import Any, TypeAlias

from scrapy import Request
from scrapy.crawler import Crawler
from scrapy.exceptions import CannotResolveHostError, IgnoreRequest
from scrapy.utils.defer import maybe_deferred_to_future
from scrapy.utils.reactorless import is_reactorless
from twisted.internet.defer import Deferred
from twisted.internet.interfaces import IResolutionReceiver
from zope.interface import implementer

from denoise_crawler.errors import DenoiseError
from denoise_crawler.page.site import DEFAULT_PORTS, host_of, is_private, literal_address
from denoise_crawler.spiders.links import split_http

Endpoint: TypeAlias = tuple[str, int]  # an IP address and a port


class PrivateAddressError(DenoiseError, IgnoreRequest):
    """The request was not sent: its host is on this machine or a private network, and no start page is there."""


class HostGivenUpError(DenoiseError, IgnoreRequest):
    """The request was not sent, because its host had refused others before."""


class PrivateHostsMiddleware:
    """Downloader middleware that refuses requests to this machine, to private networks and to hosts given up.

    Names and redirects that lead there are refused too. It allows the address and port of each URL that the user
    gave (``given_urls``). The crawl's own resolver looks names up and keeps the result, so the connection goes to
    the address that was checked. A proxy looks names up itself; behind one, only literal IP addresses are checked.
    """

    def __init__(self, crawler: Crawler) -> None:
        self._crawler = crawler
        self._allowed: set[Endpoint] = set()

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> PrivateHostsMiddleware:
        """Make the middleware."""
        return cls(crawler)

    async def process_request(self, request: Request) -> None:
        """Raise HostGivenUpError, PrivateAddressError, or CannotResolveHostError for a name without address."""
        if (host := host_of(request.url)) in getattr(self._crawler.spider, "hosts_given_up", ()):
            raise HostGivenUpError(f"{host} refused earlier requests")
        endpoints = await resolve_endpoints(request.url, look_up="proxy" not in request.meta)
        private = {endpoint for endpoint in endpoints if is_private(endpoint[0])}
        if not private or private <= await self._allowed_endpoints():
            return
        (address, port), *_ = sorted(private)
        where = f"{address} port {port} is on this machine or a private network"
        raise PrivateAddressError(f"{where}, and no start page is there")

    async def _allowed_endpoints(self) -> set[Endpoint]:
        if not self._allowed:
            for url in getattr(self._crawler.spider, "given_urls", list)():
                try:
                    self._allowed |= await resolve_endpoints(url)
                except CannotResolveHostError:
                    continue
        return self._allowed


async def resolve_endpoints(url: str, *, look_up: bool = True) -> set[Endpoint]:
    """Return the IP addresses and ports of the server of a URL, none for one that is not http(s).

    Without ``look_up`` only literal IP addresses and ``localhost`` are known.

    Raises:
        CannotResolveHostError: The name has no address.
    """
    parts = split_http(url)
    if parts is None:
        return set()
    host, port = str(parts.hostname), parts.port or DEFAULT_PORTS[parts.scheme]
    written = literal_address(host)
    if written or not look_up:
        return {(written, port)} if written else set()
    addresses = await (_resolve_by_asyncio(host) if is_reactorless() else _resolve_by_twisted(host))
    if not addresses:
        raise CannotResolveHostError(f"no address of {host} was found")
    return {(address, port) for address in addresses}


async def _resolve_by_asyncio(host: str) -> set[str]:
    try:
        addresses = await asyncio.get_running_loop().getaddrinfo(host, None, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError):
        return set()
    return {str(address[0]) for *_, address in addresses}


async def _resolve_by_twisted(host: str) -> set[str]:
    from twisted.internet import reactor

    receiver = _AddressReceiver()
    resolver: Any = reactor
    resolver.nameResolver.resolveHostName(receiver, host)
    return await maybe_deferred_to_future(receiver.complete)


@implementer(IResolutionReceiver)
class _AddressReceiver:
    """Collects the addresses of a name from Twisted's resolvers."""

    def __init__(self) -> None:
        self.complete: Deferred[set[str]] = Deferred()
        self._addresses: set[str] = set()

    def resolutionBegan(self, resolution: Any) -> None:  # noqa: N802 - Twisted's name
        """Do nothing."""

    def addressResolved(self, address: Any) -> None:  # noqa: N802 - Twisted's name
        """Add an address."""
        self._addresses.add(address.host)

    def resolutionComplete(self) -> None:  # noqa: N802 - Twisted's name
        """Return the addresses."""
        self.complete.callback(self._addresses)
