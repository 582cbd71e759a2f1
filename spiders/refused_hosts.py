"""Hosts that refuse the crawl: after a few refusals they get no more requests."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scrapy.exceptions import IgnoreRequest

from denoise_crawler.errors import DenoiseError
from denoise_crawler.page.site import host_of

if TYPE_CHECKING:
    from scrapy import Request
    from scrapy.crawler import Crawler

REFUSAL_STATUSES = frozenset({403, 429})
# One 403 may be a paid page, and politeness handles one 429; three in a row mean that the host refuses the crawl.
MAX_REFUSALS_IN_A_ROW = 3


class HostGivenUpError(DenoiseError, IgnoreRequest):
    """The request was not sent, because its host had refused others before."""


class RefusedHosts:
    """Counts refusals (403, 429) in a row per host, and decides when to give up a host."""

    def __init__(self) -> None:
        self._in_a_row: dict[str, int] = {}
        self.given_up: set[str] = set()

    def add_response(self, url: str, status: int) -> bool:
        """Count a response, also one that will be retried.

        Args:
            url: The URL of the request.
            status: The HTTP status.

        Returns:
            True once per host: when it is given up.

        Example:
            >>> hosts = RefusedHosts()
            >>> [hosts.add_response("https://example.com/", 403) for _ in range(4)]
            [False, False, True, False]
        """
        host = host_of(url)
        if status not in REFUSAL_STATUSES:
            self._in_a_row.pop(host, None)
            return False
        self._in_a_row[host] = self._in_a_row.get(host, 0) + 1
        if self._in_a_row[host] < MAX_REFUSALS_IN_A_ROW or host in self.given_up:
            return False
        self.given_up.add(host)
        return True


class RefusedHostsMiddleware:
    """Downloader middleware that drops requests to hosts given up, also those scheduled before."""

    def __init__(self, crawler: Crawler) -> None:
        self._crawler = crawler

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> RefusedHostsMiddleware:
        """Make the middleware."""
        return cls(crawler)

    def process_request(self, request: Request) -> None:
        """Raise HostGivenUpError if the spider has given up the host."""
        hosts = getattr(self._crawler.spider, "refused_hosts", None)
        if isinstance(hosts, RefusedHosts) and host_of(request.url) in hosts.given_up:
            raise HostGivenUpError(f"{host_of(request.url)} refused earlier requests")
