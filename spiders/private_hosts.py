"""Addresses of this machine and of private networks: a crawl asks there only what a start page is served from."""

from __future__ import annotations

import asyncio
import socket
from typing import TYPE_CHECKING, Any

from scrapy.exceptions import CannotResolveHostError, IgnoreRequest
from scrapy.utils.defer import maybe_deferred_to_future
from scrapy.utils.reactorless import is_reactorless
from twisted.internet.defer import Deferred
from twisted.internet.interfaces import IResolutionReceiver
from zope.interface import implementer

from denoise_crawler.crawl.private_addresses import is_private, literal_address
from denoise_crawler.errors import DenoiseError
from denoise_crawler.page.site import DEFAULT_PORTS
from denoise_crawler.spiders.links import split_http

if TYPE_CHECKING:
    from typing import TypeAlias

    from scrapy import Request
    from scrapy.crawler import Crawler

    Place: TypeAlias = tuple[str, int]  # an IP address and a port


class PrivateAddressError(DenoiseError, IgnoreRequest):
    """The request was not sent: its host is this machine, or in a private network, and no start page's."""


class PrivateHostsMiddleware:
    """Downloader middleware: refuses loopback, link-local and private addresses, also behind names and redirects.

    Let through are the address and port of each page the spider was given (``given_urls``). Names are looked up by
    the crawl's own resolver, which keeps what it found: the connection goes to the address that was checked.
    Behind a proxy, which looks names up itself, only addresses written as such are known.
    """

    def __init__(self, crawler: Crawler) -> None:
        self._crawler = crawler
        self._given: set[Place] = set()

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> PrivateHostsMiddleware:
        """Build it for one crawl."""
        return cls(crawler)

    async def process_request(self, request: Request) -> None:
        """Raise PrivateAddressError, or CannotResolveHostError for a name that has no address."""
        found = await places(request.url, look_up="proxy" not in request.meta)
        private = {place for place in found if is_private(place[0])}
        if not private or private <= await self._given_places():
            return
        (address, port), *_ = sorted(private)
        raise PrivateAddressError(
            f"{address} port {port} is of this machine or of a private network, and no start page is there"
        )

    async def _given_places(self) -> set[Place]:
        if not self._given:
            for url in getattr(self._crawler.spider, "given_urls", list)():
                try:
                    self._given |= await places(url)
                except CannotResolveHostError:
                    continue
        return self._given


async def places(url: str, *, look_up: bool = True) -> set[Place]:
    """Return where the server of an http(s) address is; nothing for any other address.

    Without ``look_up``, only hosts written as an IP address and ``localhost`` are known. Raises
    CannotResolveHostError.
    """
    parts = split_http(url)
    if parts is None:
        return set()
    host, port = str(parts.hostname), parts.port or DEFAULT_PORTS[parts.scheme]
    written = literal_address(host)
    if written or not look_up:
        return {(written, port)} if written else set()
    addresses = await (_asked_asyncio(host) if is_reactorless() else _asked_twisted(host))
    if not addresses:
        raise CannotResolveHostError(f"no address of {host} was found")
    return {(address, port) for address in addresses}


async def _asked_asyncio(host: str) -> set[str]:
    try:
        found = await asyncio.get_running_loop().getaddrinfo(host, None, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError):
        return set()
    return {str(address[0]) for *_, address in found}


async def _asked_twisted(host: str) -> set[str]:
    from twisted.internet import reactor

    receiver = _Receiver()
    resolver: Any = reactor
    resolver.nameResolver.resolveHostName(receiver, host)
    return await maybe_deferred_to_future(receiver.complete)


@implementer(IResolutionReceiver)
class _Receiver:
    """Gathers the addresses of a name, as Twisted's resolvers tell them."""

    def __init__(self) -> None:
        self.complete: Deferred[set[str]] = Deferred()
        self._addresses: set[str] = set()

    def resolutionBegan(self, resolution: Any) -> None:  # noqa: N802 - Twisted's name
        """Nothing is to be done."""

    def addressResolved(self, address: Any) -> None:  # noqa: N802 - Twisted's name
        """Take an address."""
        self._addresses.add(address.host)

    def resolutionComplete(self) -> None:  # noqa: N802 - Twisted's name
        """Give what came."""
        self.complete.callback(self._addresses)
