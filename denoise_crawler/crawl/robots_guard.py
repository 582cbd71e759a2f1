"""What Politeness adds to Scrapy's ``RobotsTxtMiddleware``: limits for slow hosts and unreadable robots.txt.

- A host whose ``Crawl-delay`` is above DENOISE_CRAWL_DELAY_MAX (300 seconds) is given up: its requests are
  dropped. A host is kept if its gaps are that long anyway (DENOISE_DELAY_MIN, DOWNLOAD_SLOTS).
- A robots.txt that cannot be reached (5xx, or no answer after Scrapy's retries) allows nothing. The requests to
  that host and port wait in the scheduler. robots.txt is requested again after DENOISE_ROBOTS_RETRY seconds (600),
  three times; then the requests are dropped. With ``DENOISE_ROBOTS_UNREACHABLE = "allow"`` they are sent without
  rules instead, as in Scrapy. If a host name has no address, its requests fail at once, as in Scrapy.
- A robots.txt that does not exist (4xx) allows everything (RFC 9309), whatever the response says.
- A request whose turn is more than a second away goes back to the scheduler. So does the first page of a host,
  because it has to wait for the gap after robots.txt.
"""

from __future__ import annotations

import logging
import math
from dataclasses import dataclass
from time import monotonic
from typing import Any, Protocol, TypeAlias

from scrapy import Request, signals
from scrapy.crawler import Crawler
from scrapy.exceptions import CannotResolveHostError, DownloadCancelledError, IgnoreRequest
from scrapy.http import Response
from scrapy.http.request import NO_CALLBACK
from scrapy.robotstxt import RobotParser
from scrapy.settings import BaseSettings
from scrapy.settings.default_settings import RETRY_EXCEPTIONS
from scrapy.utils.defer import ensure_awaitable
from scrapy.utils.deprecate import argument_is_required
from scrapy.utils.httpobj import urlparse_cached
from scrapy.utils.misc import load_object
from twisted.internet.defer import Deferred
from twisted.python.failure import Failure

from denoise_crawler.crawl.host_gaps import HostGaps
from denoise_crawler.crawl.scrapy_internals import RobotsMiddleware
from denoise_crawler.crawl.settings_table import PolitenessSettings
from denoise_crawler.errors import DenoiseError
from denoise_crawler.page.site import DEFAULT_PORTS

Answer: TypeAlias = Response | Request

logger = logging.getLogger(__name__)

ROBOTS_RETRIES = 3
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


@dataclass(slots=True)
class _UnreachableRobots:
    """A robots.txt that could not be read when it was last requested."""

    why: str
    retry_at: float  # in monotonic seconds
    tries: int = 0
    has_no_address: bool = False

    @property
    def is_final(self) -> bool:
        return self.tries > ROBOTS_RETRIES


def authority_of(request: Request) -> str:
    """Return the host and port of a request as its URL spells them. Each authority has its own robots.txt."""
    return urlparse_cached(request).netloc.rpartition("@")[2].lower()


class _GuardedDownloader(Protocol):
    """What the guard asks of the downloader: see ``PoliteDownloader``."""

    crawler: Crawler
    settings: BaseSettings
    middleware: Any
    gaps: HostGaps

    @property
    def closing(self) -> bool: ...
    def get_slot_key(self, request: Request) -> str: ...
    def seconds_until_turn(self, host: str, now: float) -> float: ...
    def put_back(self, request: Request) -> Request | None: ...
    def empty_slot(self, host: str, error: IgnoreRequest) -> int: ...


class RobotsGuard:
    """Replaces the ``RobotsTxtMiddleware`` of a crawl, and calls it.

    Requests wait in the scheduler. The guard has one entry per authority in trouble, because a link to another
    port or spelling of a host must not hold up the host. The entries are forgotten between the runs of a JOBDIR.
    """

    def __init__(self, downloader: _GuardedDownloader, polite: PolitenessSettings) -> None:
        self._downloader, self._polite = downloader, polite
        self._stats = downloader.crawler.stats
        self._unreachable: dict[str, _UnreachableRobots] = {}
        self._too_slow: dict[str, float] = {}
        self._slowed: set[str] = set()
        self._given_up: set[str] = set()
        self._robots: RobotsMiddleware | None = None
        downloader.crawler.signals.connect(self._on_robots_parsed, signal=signals.robots_parsed)

    def replace_middleware(self) -> bool:
        """Take the place of the ``RobotsTxtMiddleware``; return False if the crawl has none."""
        try:
            self._robots = RobotsMiddleware(self._downloader.middleware, self.process_request)
        except LookupError:
            return False
        return True

    def seconds_until_retry(self, authority: str, now: float) -> float:
        """Return the seconds until robots.txt is requested again; 0 or less if requests need not wait for it."""
        found = self._unreachable.get(authority)
        return found.retry_at - now if found and not found.is_final and not found.has_no_address else 0.0

    async def process_request(self, request: Request) -> Answer | None:
        """Let a request through (None), put it back into the scheduler (the request), or raise IgnoreRequest."""
        host, authority = self._downloader.get_slot_key(request), authority_of(request)
        obeys = not request.meta.get("dont_obey_robotstxt") and urlparse_cached(request).scheme in DEFAULT_PORTS
        self._drop_if_too_slow(host)
        if obeys and not self._may_fetch_robots(authority):
            return self._put_back_or_drop(authority, request)
        own = await self._call_robots_middleware(request)
        if own is not None:  # a subclass of Scrapy's may return a response
            return own
        self._drop_if_too_slow(host)
        if obeys and authority in self._unreachable:
            # The middleware forgets it, so that it requests it again when the time has come.
            self._robots.forget(urlparse_cached(request).netloc)  # type: ignore[union-attr]
            return self._put_back_or_drop(authority, request)
        closing = self._downloader.closing
        if closing or self._downloader.seconds_until_turn(host, monotonic()) > _MAX_SLOT_WAIT_SECONDS:
            return self._downloader.put_back(request)
        return None

    async def _call_robots_middleware(self, request: Request) -> Answer | None:
        assert self._robots is not None  # noqa: S101 - set by replace_middleware
        method = self._robots.process_request
        spider = {"spider": self._downloader.crawler.spider} if argument_is_required(method, "spider") else {}
        answer: Answer | None = await ensure_awaitable(method(request=request, **spider))
        return answer

    def _may_fetch_robots(self, authority: str) -> bool:
        found = self._unreachable.get(authority)
        return found is None or (not found.is_final and monotonic() >= found.retry_at)

    def _put_back_or_drop(self, authority: str, request: Request) -> Request:
        found = self._unreachable[authority]
        if found.has_no_address:
            raise CannotResolveHostError(f"no address of {authority} was found")
        if not found.is_final and (waits := self._downloader.put_back(request)):
            return waits
        self._stats.inc_value("denoise/polite/dropped")
        raise RobotsUnreachableError(f"the robots.txt of {authority} could not be read ({found.why})")

    def _drop_if_too_slow(self, host: str) -> None:
        if host in self._too_slow:
            self._stats.inc_value("denoise/polite/dropped")
            raise self._too_slow_error(host)

    def _too_slow_error(self, host: str) -> CrawlDelayTooLongError:
        return CrawlDelayTooLongError(f"the robots.txt of {host} asks for gaps of {self._too_slow[host]:g} s")

    # --- what robots.txt says

    def _on_robots_parsed(self, robotparser: RobotParser, request: Request) -> None:
        # RobotsTxtMiddleware applies the rules for this user agent.
        settings = self._downloader.settings
        agent = settings["ROBOTSTXT_USER_AGENT"] or request.headers.get(b"User-Agent", settings["USER_AGENT"])
        seconds = robotparser.crawl_delay(agent or "")
        if seconds is None or math.isnan(seconds):
            return
        host, gaps = self._downloader.get_slot_key(request), self._downloader.gaps
        if seconds > max(self._polite.crawl_delay_max, gaps.min_gap(host)):
            self._give_up_too_slow(host, seconds)
        elif gaps.raise_floor(host, seconds):
            logger.info("Crawl-delay: gaps at %s are %g s or longer", host, seconds)
            self._slowed.add(host)
            self._stats.set_value("denoise/polite/crawl_delay_hosts", len(self._slowed))

    def _give_up_too_slow(self, host: str, seconds: float) -> None:
        if host not in self._too_slow:
            logger.warning(
                "%s is given up, its requests are dropped: its robots.txt asks for gaps of %g s, and "
                "DENOISE_CRAWL_DELAY_MAX is %g. Raise that setting to crawl this host as slowly as it asks",
                host,
                seconds,
                self._polite.crawl_delay_max,
            )
        self._too_slow[host] = seconds
        self._give_up(host)
        dropped = self._downloader.empty_slot(host, self._too_slow_error(host))
        if dropped:
            self._stats.inc_value("denoise/polite/dropped", dropped)

    def _give_up(self, name: str) -> None:
        self._given_up.add(name)
        self._stats.set_value("denoise/polite/hosts_given_up", len(self._given_up))

    # --- whether robots.txt can be read

    def watch(self, request: Request, answer: Deferred[Answer]) -> Deferred[Answer]:
        """Follow what happens to a request for robots.txt; leave other requests alone."""
        authority = self._robots_authority(request) if self._robots else None
        if authority:
            answer.addCallbacks(self._on_answer, self._on_failure, (authority,), {}, (authority,))
        return answer

    def _robots_authority(self, request: Request) -> str | None:
        parts = urlparse_cached(request)
        is_robots = parts.path == "/robots.txt" and parts.scheme in DEFAULT_PORTS
        if is_robots and request.callback is NO_CALLBACK and request.meta.get("dont_obey_robotstxt"):
            request.meta.setdefault(_ROBOTS_OF_KEY, authority_of(request))
        found: str | None = request.meta.get(_ROBOTS_OF_KEY)
        return found

    def _on_answer(self, answer: Answer, authority: str) -> Answer:
        if isinstance(answer, Request):  # a redirect or a retry
            return answer
        if answer.status < 500:
            self._unreachable.pop(authority, None)
        else:
            self._note_unreachable(authority, f"HTTP {answer.status}")
        return answer if answer.status < 400 else answer.replace(body=b"")

    def _on_failure(self, failure: Failure, authority: str) -> Failure:
        if isinstance(failure.value, CannotResolveHostError):
            retry_at = monotonic() + self._polite.robots_retry
            self._unreachable[authority] = _UnreachableRobots("no address", retry_at, has_no_address=True)
        elif isinstance(failure.value, _NO_ANSWER):
            self._note_unreachable(authority, type(failure.value).__name__)
        else:  # the same without this package, also if a component of the crawl blocked the request
            self._unreachable.pop(authority, None)
        return failure

    def _note_unreachable(self, authority: str, why: str) -> None:
        if self._polite.robots_unreachable == "allow":
            return
        found = self._unreachable.setdefault(authority, _UnreachableRobots(why, 0.0))
        found.why, found.tries, found.retry_at = why, found.tries + 1, monotonic() + self._polite.robots_retry
        if found.tries == 1:
            self._stats.inc_value("denoise/polite/robots_unreachable")
        if found.is_final:
            self._give_up(authority)
            logger.warning(
                "%s is given up, its requests are dropped: its robots.txt could not be read (%s). "
                'DENOISE_ROBOTS_UNREACHABLE = "allow" crawls such hosts without rules',
                authority,
                why,
            )
            return
        logger.log(
            logging.WARNING if found.tries == 1 else logging.INFO,
            "The robots.txt of %s could not be read (%s): no requests are sent there for DENOISE_ROBOTS_RETRY = "
            "%g s; then robots.txt is requested again, at most %d more times",
            authority,
            why,
            self._polite.robots_retry,
            ROBOTS_RETRIES + 1 - found.tries,
        )
