"""Hosts that refuse to serve us: after a few refusals nothing more is asked of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scrapy.exceptions import IgnoreRequest

from denoise_crawler.errors import DenoiseError
from denoise_crawler.page.site import host_of

if TYPE_CHECKING:
    from scrapy import Request
    from scrapy.crawler import Crawler

REFUSALS = frozenset({403, 429})
# One 403 may be a paid page, one 429 is a request to wait, which is done elsewhere; three in a row mean no.
REFUSALS_IN_A_ROW = 3


class HostGivenUpError(DenoiseError, IgnoreRequest):
    """The request was not sent: its host had refused us before."""


class RefusedHosts:
    """Counts refusals (403, 429) in a row per host and says when a host is to be left alone."""

    def __init__(self) -> None:
        self._in_a_row: dict[str, int] = {}
        self.given_up: set[str] = set()

    def answered(self, url: str, status: int) -> bool:
        """Note an answer, also one that will be retried; True exactly once per host: when it is given up."""
        host = host_of(url)
        if status not in REFUSALS:
            self._in_a_row.pop(host, None)
            return False
        self._in_a_row[host] = self._in_a_row.get(host, 0) + 1
        if self._in_a_row[host] < REFUSALS_IN_A_ROW or host in self.given_up:
            return False
        self.given_up.add(host)
        return True


class RefusedHostsMiddleware:
    """Downloader middleware: lets no request to a given-up host through, also one scheduled before."""

    def __init__(self, crawler: Crawler) -> None:
        self._crawler = crawler

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> RefusedHostsMiddleware:
        """Build it for one crawl."""
        return cls(crawler)

    def process_request(self, request: Request) -> None:
        """Raise HostGivenUpError for a host the spider has given up."""
        hosts = getattr(self._crawler.spider, "refused_hosts", None)
        if isinstance(hosts, RefusedHosts) and host_of(request.url) in hosts.given_up:
            raise HostGivenUpError(f"{host_of(request.url)} refused earlier requests")
