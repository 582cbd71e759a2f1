"""Scrapy's ``RobotsTxtMiddleware`` for polite crawls: Crawl-delay counts, and an unreachable robots.txt."""

from __future__ import annotations

import logging
import math
from dataclasses import dataclass
from time import monotonic
from typing import TYPE_CHECKING, cast

from scrapy import Request
from scrapy.crawler import Crawler
from scrapy.downloadermiddlewares.robotstxt import RobotsTxtMiddleware
from scrapy.exceptions import CannotResolveHostError, DownloadCancelledError, IgnoreRequest
from scrapy.http import Response
from scrapy.http.request import NO_CALLBACK
from scrapy.robotstxt import RobotParser
from scrapy.settings.default_settings import RETRY_EXCEPTIONS
from scrapy.utils.httpobj import urlparse_cached
from scrapy.utils.misc import load_object

from denoise_crawler.crawl.scrapy_internals import is_closing
from denoise_crawler.errors import DenoiseError
from denoise_crawler.page.site import DEFAULT_PORTS

if TYPE_CHECKING:
    from denoise_crawler.crawl.politeness import PoliteDownloader

logger = logging.getLogger(__name__)

# When a robots.txt that could not be fetched is requested again, and how often.
RETRY_SECONDS = 600.0
MAX_RETRIES = 3
# A request that has to wait longer is put back; otherwise the slot of its host keeps it.
_MAX_SLOT_WAIT_SECONDS = 1.0
# The meta key that says for which authority a robots.txt is, also after redirects and retries.
_ROBOTS_OF_KEY = "denoise_robots_of"
# The errors that Scrapy takes for network failures, and that of a robots.txt above DOWNLOAD_MAXSIZE. Any other
# error comes from the crawl itself and concerns the page as well.
_NO_ANSWER = (DownloadCancelledError, *[load_object(error) for error in RETRY_EXCEPTIONS])  # type: ignore[arg-type]


class CrawlDelayTooLongError(DenoiseError, IgnoreRequest):
    """The request was not sent, because its host asks for longer gaps than the crawl accepts."""


class RobotsUnreachableError(DenoiseError, IgnoreRequest):
    """The request was not sent, because the robots.txt of its host could not be read."""


@dataclass(frozen=True)
class _Refusal:
    """Why requests to a host or an authority are not sent, and until when, in monotonic seconds."""

    error: Exception
    until: float = math.inf
    tries: int = 0

    @property
    def waits(self) -> bool:
        """Whether requests wait in the scheduler until robots.txt is requested again; else they are dropped."""
        return 0 < self.tries <= MAX_RETRIES


def authority_of(request: Request) -> str:
    """Return the host and port of a request as its URL spells them. Each authority has its own robots.txt."""
    return urlparse_cached(request).netloc.rpartition("@")[2].lower()


class PoliteRobotsTxtMiddleware(RobotsTxtMiddleware):
    """Keeps requests from hosts that ask for too long gaps, or whose robots.txt cannot be fetched.

    Scrapy ignores Crawl-delay (scrapy#892), and takes a robots.txt that cannot be fetched (5xx, or no answer) for
    one that allows everything. By RFC 9309 it allows nothing, and one that does not exist (4xx) everything.
    """

    def __init__(self, crawler: Crawler) -> None:
        super().__init__(crawler)
        self._too_slow: dict[str, _Refusal] = {}  # by host
        self._unreachable: dict[str, _Refusal] = {}  # by authority: a dead port must not hold up its host
        self._slowed: set[str] = set()

    @property
    def _downloader(self) -> PoliteDownloader:
        return cast("PoliteDownloader", self.crawler.engine.downloader)  # made after this middleware

    async def process_request(self, request: Request) -> Request | None:  # type: ignore[override]
        """Let a request through (None), put it back into the scheduler (the request), or raise IgnoreRequest."""
        is_robots_txt = request.callback is NO_CALLBACK and urlparse_cached(request).path == "/robots.txt"
        if is_robots_txt and request.meta.get("dont_obey_robotstxt"):
            request.meta.setdefault(_ROBOTS_OF_KEY, authority_of(request))
        if refusal := self._refusal_of(request):
            return self._put_back_or_raise(request, refusal)
        await super().process_request(request)
        if refusal := self._refusal_of(request):
            self._parsers.pop(urlparse_cached(request).netloc, None)  # Scrapy would never request it again
            return self._put_back_or_raise(request, refusal)
        wait = self._downloader.seconds_until_turn(self._downloader.get_slot_key(request))
        if wait > _MAX_SLOT_WAIT_SECONDS or is_closing(self.crawler):
            return self._downloader.put_back(request)
        return None

    def _refusal_of(self, request: Request) -> _Refusal | None:
        refusal = self._too_slow.get(self._downloader.get_slot_key(request))
        obeys = not request.meta.get("dont_obey_robotstxt") and urlparse_cached(request).scheme in DEFAULT_PORTS
        if not refusal and obeys:
            refusal = self._unreachable.get(authority_of(request))
        return refusal if refusal and monotonic() < refusal.until else None

    def _put_back_or_raise(self, request: Request, refusal: _Refusal) -> Request:
        if refusal.waits and (waiting := self._downloader.put_back(request)):
            return waiting
        self.crawler.stats.inc_value("denoise/polite/dropped")
        raise type(refusal.error)(*refusal.error.args)

    def seconds_until_retry(self, authority: str) -> float:
        """Return the seconds until robots.txt is requested again; 0 or less if requests need not wait for it."""
        refusal = self._unreachable.get(authority)
        return refusal.until - monotonic() if refusal and refusal.waits else 0.0

    async def robot_parser(self, request: Request) -> RobotParser | None:
        """Return the rules of a host, after its gaps were raised to its Crawl-delay."""
        parser = await super().robot_parser(request)
        agent = self._robotstxt_useragent or request.headers.get(b"User-Agent", self._default_useragent)
        seconds = parser.crawl_delay(agent or "") if parser else None
        host, downloader = self._downloader.get_slot_key(request), self._downloader
        if not seconds or not seconds > downloader.shortest_gap(host):  # not a number is not longer
            return parser
        if seconds > downloader.polite.crawl_delay_max:
            self._give_up_too_slow(host, seconds)
        else:
            downloader.raise_gap(host, seconds)
            self._slowed.add(host)
            self.crawler.stats.set_value("denoise/polite/crawl_delay_hosts", len(self._slowed))
        return parser

    def _give_up_too_slow(self, host: str, seconds: float) -> None:
        if host in self._too_slow:
            return
        error = CrawlDelayTooLongError(f"the robots.txt of {host} asks for gaps of {seconds:g} s")
        self._too_slow[host] = _Refusal(error)
        limit = f"DENOISE_CRAWL_DELAY_MAX is {self._downloader.polite.crawl_delay_max:g}"
        self._log_given_up(host, f"{error}, and {limit}. Raise that setting to crawl it as slowly as it asks")
        if dropped := self._downloader.empty_slot(host, error):
            self.crawler.stats.inc_value("denoise/polite/dropped", dropped)

    def _log_given_up(self, name: str, reason: str) -> None:
        self.crawler.stats.inc_value("denoise/polite/hosts_given_up")
        logger.warning("%s is given up, its requests are dropped: %s", name, reason)

    def process_response(self, request: Request, response: Response) -> Response:
        """Record whether a robots.txt was answered; leave other responses alone."""
        if (authority := request.meta.get(_ROBOTS_OF_KEY)) is None:
            return response
        if response.status >= 500:
            self._record_failure(authority, f"HTTP {response.status}")
        else:
            self._unreachable.pop(authority, None)
        return response if response.status < 400 else response.replace(body=b"")

    def process_exception(self, request: Request, exception: Exception) -> None:
        """Record that a robots.txt has no answer."""
        if (authority := request.meta.get(_ROBOTS_OF_KEY)) is None:
            return
        if isinstance(exception, CannotResolveHostError):
            self._unreachable[authority] = _Refusal(exception, monotonic() + RETRY_SECONDS)
        elif isinstance(exception, _NO_ANSWER):
            self._record_failure(authority, type(exception).__name__)
        else:
            self._unreachable.pop(authority, None)

    def _record_failure(self, authority: str, reason: str) -> None:
        tries = self._unreachable[authority].tries + 1 if authority in self._unreachable else 1
        error = RobotsUnreachableError(f"the robots.txt of {authority} could not be read ({reason})")
        until = monotonic() + RETRY_SECONDS if tries <= MAX_RETRIES else math.inf
        self._unreachable[authority] = _Refusal(error, until, tries)
        if tries == 1:
            self.crawler.stats.inc_value("denoise/polite/robots_unreachable")
            logger.warning("%s: its requests wait, it is asked again after %g s", error, RETRY_SECONDS)
        elif tries > MAX_RETRIES:
            self._log_given_up(authority, str(error))
