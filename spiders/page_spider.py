"""What both spiders do: start, respect the limit, count failures, give up hosts that refuse."""

from __future__ import annotations

import logging
import re
from collections import Counter
from collections.abc import AsyncIterator, Iterable
from datetime import datetime, timezone
from re import Pattern
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from scrapy import Request, Spider, signals
from scrapy.crawler import Crawler
from scrapy.exceptions import (
    CannotResolveHostError,
    CloseSpider,
    DownloadConnectionRefusedError,
    DownloadTimeoutError,
    IgnoreRequest,
)
from scrapy.http import Response
from scrapy.settings import BaseSettings
from scrapy.spidermiddlewares.httperror import HttpError
from twisted.python.failure import Failure

from denoise_crawler.crawl.politeness import (
    CrawlDelayTooLongError,
    Politeness,
    PolitePriorityQueue,
    RobotsUnreachableError,
)
from denoise_crawler.crawl.scrapy_internals import requests_in_progress, require_scrapy
from denoise_crawler.crawl.settings import abort_on_setup_error
from denoise_crawler.errors import BadArgumentError, OldScrapyError
from denoise_crawler.page.site import host_of, without_port
from denoise_crawler.spiders.links import PageFingerprinter, is_on_site, scope_of, split_http
from denoise_crawler.spiders.private_hosts import HostGivenUpError, PrivateAddressError, PrivateHostsMiddleware

if TYPE_CHECKING:
    from typing_extensions import Self


# Close to the downloader, so that a request that waited for its turn sees the latest state of its host, and that
# requests made by redirects, robots.txt or a proxy pass too.
_MIDDLEWARES = {PrivateHostsMiddleware: 940}
# One 403 may be a paid page, and politeness handles one 429; three in a row mean that the host refuses the crawl.
_REFUSALS, _MAX_REFUSALS_IN_A_ROW = (403, 429), 3


class PageQueue(PolitePriorityQueue):
    """Returns no more requests at a time than pages are still wanted, and is empty once there are enough."""

    def stats(self, possible_slots: Iterable[str]) -> list[tuple[int, str]]:
        """Return the hosts to choose from. Each request in progress may become a page, until its callback ends."""
        has_room = requests_in_progress(self.crawler) < self._pages_wanted()
        return super().stats(possible_slots) if has_room else []

    def __len__(self) -> int:
        # The spider is idle when it is 0. In a job the requests stay, for a run with a larger limit.
        return super().__len__() if self._pages_wanted() else 0

    def _pages_wanted(self) -> float:
        spider: Any = self.crawler.spider
        return spider.pages_wanted()  # type: ignore[no-any-return]


_SETTINGS = {
    "SCHEDULER_PRIORITY_QUEUE": PageQueue,
    "SCHEDULER_DISK_QUEUE": "scrapy.squeues.PickleFifoDiskQueue",
    "SCHEDULER_MEMORY_QUEUE": "scrapy.squeues.FifoMemoryQueue",
    "REQUEST_FINGERPRINTER_CLASS": PageFingerprinter,
}


class PageSpider(Spider):
    """The base of the spiders. It has no name, so Scrapy does not list it.

    A subclass sets ``stats_prefix`` and ``start_urls``. Its callbacks return the requests of all links that belong
    to it: Scrapy's scheduler and duplicate filter choose.

    Args:
        sites: The sites to stay on, as ``scope_of`` returns them.
        max_pages: How many pages become items, in all runs of a job; 0 for no limit.
    """

    stats_prefix = "denoise/page"

    def __init__(self, sites: list[str], max_pages: int) -> None:
        super().__init__()
        self.sites = sites
        self.max_pages = max_pages
        self.state: dict[str, Any] = {}
        self.hosts_given_up: set[str] = set()
        self._refusals = Counter[str]()  # of each host, in a row
        self.allowed_domains = [without_port(site) for site in sites]
        self._hosts_asked: set[str] = set()
        self._has_logged_error = False

    @classmethod
    def update_settings(cls, settings: BaseSettings) -> None:
        """Keep polite gaps, and keep away from private hosts and from hosts given up."""
        Politeness().update_settings(settings, "spider")
        settings.setdict(_SETTINGS, "spider")
        super().update_settings(settings)
        middlewares = {**_MIDDLEWARES, **settings.getdict("DOWNLOADER_MIDDLEWARES")}
        # Not at the priority of the setting itself, because the crawl command merges its settings again.
        settings.set("DOWNLOADER_MIDDLEWARES", middlewares, priority="spider")

    @classmethod
    def from_crawler(cls, crawler: Crawler, *args: Any, **kwargs: Any) -> Self:
        """Make the spider. If an argument is bad or Scrapy too old, the crawl does not begin."""
        with abort_on_setup_error(crawler, (BadArgumentError, OldScrapyError)):
            require_scrapy(f"the spider {cls.name}")
            try:
                spider = super().from_crawler(crawler, *args, **kwargs)
            except BadArgumentError as error:
                raise BadArgumentError(f"{cls.name}: {error}") from None
        crawler.signals.connect(spider.on_engine_started, signals.engine_started)
        crawler.signals.connect(spider.on_scheduled, signals.request_scheduled)
        crawler.signals.connect(spider.on_response, signals.response_downloaded)
        return spider

    @property
    def pages(self) -> int:
        """The number of pages that became items, also in earlier runs of the job."""
        return int(self.state.get("denoise_pages", 0))

    def pages_wanted(self) -> float:
        """Return how many more pages may become items; infinity without a limit."""
        return max(0, self.max_pages - self.pages) if self.max_pages else float("inf")

    def on_engine_started(self) -> None:
        """Allow the sites to which start pages led in an earlier run of the job; ``state`` is filled by now."""
        for site in self.state.get("denoise_sites", []):
            self._allow_site(site)

    async def start(self) -> AsyncIterator[Any]:
        """Yield the requests for the start pages. A resumed job does not fetch them again."""
        if not self.pages_wanted():
            self.logger.info("max_pages=%d was reached in an earlier run of this job", self.max_pages)
        for url in self.start_urls:
            yield self.start_request(url)

    def start_request(self, url: str) -> Request:
        """Return the request for a start page, which may redirect to another host."""
        meta = {"allow_offsite": True}
        return Request(url, self.parse, errback=self.failed, cb_kwargs={"start": True}, meta=meta)

    def given_urls(self) -> list[str]:
        """Return the URLs that the user named; these may be on this machine or a private network."""
        return list(self.start_urls)

    def count_page(self) -> None:
        """Count a page that becomes an item."""
        self.state["denoise_pages"] = self.pages + 1
        self.count("pages")

    def is_usable(self, response: Response, *, start: bool) -> bool:
        """Return True if to read a response; count it if it is an error or off the sites.

        A start page adds the site to which it redirected.
        """
        if response.status != 200:
            self.count_failure(f"http_{response.status}")
            return False
        self._hosts_asked -= set(map(host_of, response.meta.get("redirect_urls", [])))
        self._hosts_asked.add(host_of(response.url))
        if start and not is_on_site(response.url, self.sites):
            self.state.setdefault("denoise_sites", []).append(scope_of(response.url))
            self._allow_site(scope_of(response.url))
        if not is_on_site(response.url, self.sites):
            self.count("offsite")
            return False
        return True

    def failed(self, failure: Failure) -> None:
        """Count what went wrong with a request (errback). Errors are never fatal."""
        request: Request = failure.request  # type: ignore[attr-defined]
        kind = failure_kind(failure)
        if kind == "robots":
            self.count("robots_forbidden")
        else:
            self.count_failure(kind)
        if request.cb_kwargs.get("start"):
            url = request.meta.get("redirect_urls", [request.url])[0]
            reason = ADVICE.get(kind, str(failure.value) or type(failure.value).__name__)
            self.log_error("the start page %s could not be read (%s): %s", url, kind, reason)
        else:
            level = logging.DEBUG if kind == "robots" else logging.INFO
            self.logger.log(level, "no page from %s: %s (%s)", request.url, kind, failure.getErrorMessage())
        if self.hosts_given_up and self.is_hopeless():
            # Close at once: in a job, the URLs that are still scheduled stay for a later run.
            raise CloseSpider("refused")

    def count_failure(self, kind: str) -> None:
        """Count a failure in total and by kind."""
        self.count("failed")
        self.count(f"failed/{kind}")

    def log_error(self, message: str, *values: object) -> None:
        """Log an error meant for the user."""
        self._has_logged_error = True
        self.logger.error(message, *values)

    def count(self, name: str) -> None:
        """Count one in ``<stats_prefix>/<name>``."""
        self.crawler.stats.inc_value(f"{self.stats_prefix}/{name}")

    def is_hopeless(self) -> bool:
        """Return True if every host that could give a page was given up."""
        return self._hosts_asked <= self.hosts_given_up

    def on_scheduled(self, request: Request) -> None:
        """Allow the domain to which a start page redirects, so that its robots.txt can be read."""
        self._hosts_asked.add(host_of(request.url))
        if request.cb_kwargs.get("start"):
            self._allow_domain(scope_of(request.url))

    def on_response(self, response: Response, request: Request) -> None:
        """Give up a host that refuses again and again, retries included."""
        if urlsplit(request.url).path == "/robots.txt":
            return
        host = host_of(request.url)
        if response.status not in _REFUSALS:
            self._refusals.pop(host, None)
            return
        self._refusals[host] += 1
        if self._refusals[host] >= _MAX_REFUSALS_IN_A_ROW and host not in self.hosts_given_up:
            self.hosts_given_up.add(host)
            self.count("hosts_given_up")
            self.logger.warning(
                "%s refuses to serve us (HTTP %d, %d answers in a row): no more requests are sent to it in "
                "this crawl. Come back later with a larger DENOISE_DELAY_MIN",
                *(host, response.status, _MAX_REFUSALS_IN_A_ROW),
            )

    def _allow_site(self, site: str) -> None:
        if site not in self.sites:
            self.sites.append(site)
        self._allow_domain(site)

    def _allow_domain(self, site: str) -> None:
        if without_port(site) not in self.allowed_domains:
            self.allowed_domains.append(without_port(site))

    def closed(self, reason: str) -> None:
        """Log an error if a crawl ran to its end and found no page."""
        if reason == "finished" and not self.pages and not self._has_logged_error:
            self.log_error("the crawl found no page; it started from %s", " ".join(self.start_urls))


def now_utc() -> str:
    """Return the current time, ISO 8601 in UTC."""
    return datetime.now(timezone.utc).isoformat(timespec="seconds")


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


def failure_kind(failure: Failure) -> str:
    """Return ``http_404`` or the like, ``robots``, a word of ``_KIND_OF_ERROR``, or ``other``."""
    if isinstance(failure.value, HttpError):
        return f"http_{failure.value.response.status}"
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


# --- reads and checks what a user writes after ``-a``, before the crawl starts

# Commas inside URLs are common (/story,123.html). Only a comma before a scheme separates two URLs.
_URL_SEPARATOR = re.compile(r"\s+|,(?=\s*[A-Za-z][A-Za-z0-9+.-]*://)")


def read_urls(name: str, text: str | None) -> list[str]:
    """Return the http(s) URLs in an argument, without fragments; commas or spaces separate them.

    Raises:
        BadArgumentError: One of them is no http(s) URL.

    Example:
        >>> read_urls("start_url", "https://example.com, https://example.org/a,1.html")
        ['https://example.com/', 'https://example.org/a,1.html']
    """
    complete = []
    for url in filter(None, (part.strip(",") for part in _URL_SEPARATOR.split((text or "").strip()))):
        parts = split_http(url)
        if parts is None:
            raise BadArgumentError(
                f"{name}={url!r} is not an http or https address; write it in full, like {name}=https://example.com/"
            )
        complete.append(parts._replace(path=parts.path or "/", fragment="").geturl())
    return complete


def read_count(name: str, text: str | int | None) -> int:
    """Return a whole number of 0 or more; no argument or an empty one is 0, which means no limit.

    Raises:
        BadArgumentError: The argument is something else.
    """
    try:
        count = int(text or 0)
    except ValueError:
        count = -1
    if count < 0:
        raise BadArgumentError(f"{name}={text!r} is not a whole number of 0 or more (0 means no limit)")
    return count


def read_patterns(name: str, text: str | None) -> tuple[Pattern[str], ...]:
    r"""Return the regular expressions in an argument; spaces separate them, ``\s`` is a space inside one.

    Raises:
        BadArgumentError: One of them is no regular expression.
    """
    patterns = []
    for part in (text or "").split():
        try:
            patterns.append(re.compile(part))
        except (re.error, OverflowError, RecursionError) as error:
            raise BadArgumentError(f"{name}={part!r} is not a valid regular expression: {error}") from None
    return tuple(patterns)


def reject_unknown(given: dict[str, object], known: tuple[str, ...]) -> None:
    """Raise BadArgumentError for an unknown argument, so that a misspelt limit does not start an unlimited crawl.

    Names that begin with ``_`` are allowed, because job runners such as scrapyd pass ``_job``.
    """
    for name in given:
        if name not in known and not name.startswith("_"):
            raise BadArgumentError(f"unknown argument {name!r}; this spider knows {', '.join(known)}")
