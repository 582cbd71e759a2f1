"""Names what went wrong with a request, in one word for the stats."""

from __future__ import annotations

from scrapy.exceptions import (
    CannotResolveHostError,
    DownloadConnectionRefusedError,
    DownloadTimeoutError,
    IgnoreRequest,
)
from scrapy.spidermiddlewares.httperror import HttpError
from twisted.python.failure import Failure

from denoise_crawler.crawl.robots_guard import CrawlDelayTooLongError, RobotsUnreachableError
from denoise_crawler.spiders.private_hosts import PrivateAddressError
from denoise_crawler.spiders.refused_hosts import HostGivenUpError

_KIND_OF_ERROR: tuple[tuple[type[BaseException], str], ...] = (
    (HostGivenUpError, "given_up"),
    (PrivateAddressError, "private"),
    (CrawlDelayTooLongError, "crawl_delay"),
    (RobotsUnreachableError, "robots_unreachable"),
    (CannotResolveHostError, "dns"),
    (DownloadTimeoutError, "timeout"),
    (TimeoutError, "timeout"),
    (DownloadConnectionRefusedError, "connection"),
    (ConnectionError, "connection"),
)


def http_status(failure: Failure) -> int:
    """Return the HTTP status of an error response, 0 if there was no response."""
    return failure.value.response.status if isinstance(failure.value, HttpError) else 0


def failure_kind(failure: Failure) -> str:
    """Return ``http_404`` or the like, ``robots``, a word of ``_KIND_OF_ERROR``, or ``other``."""
    if status := http_status(failure):
        return f"http_{status}"
    for error, kind in _KIND_OF_ERROR:
        if isinstance(failure.value, error):
            return kind
    if isinstance(failure.value, IgnoreRequest) and "robots.txt" in str(failure.value):
        return "robots"
    return "other"


ADVICE = {
    "dns": "the host name was not found: check its spelling and the network",
    "timeout": "the server did not answer in time: try later, or raise DOWNLOAD_TIMEOUT",
    "connection": "the server takes no connections there: check host and port",
    "robots": "the site's robots.txt does not allow it: start from a page it allows",
    "crawl_delay": "the site's robots.txt asks for gaps above DENOISE_CRAWL_DELAY_MAX: raise it to wait that long",
    "robots_unreachable": "the site's robots.txt could not be read: check host and port, or try later",
    "private": "it led to this machine or a private network: name that address as start_url if you mean it",
    "given_up": "its host refused earlier requests: come back later with a larger DENOISE_DELAY_MIN",
    "http_403": "the server refuses this crawler: see its terms, say who you are in USER_AGENT",
    "http_404": "there is no such page: check the address",
    "http_410": "the page is gone: check the address",
    "http_429": "the server asks for fewer requests: come back later with a larger DENOISE_DELAY_MIN",
}
