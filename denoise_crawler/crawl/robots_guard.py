"""What Politeness adds to Scrapy's ``RobotsTxtMiddleware``: hosts that ask for too much, or for nothing yet.

- A host whose ``Crawl-delay`` is above DENOISE_CRAWL_DELAY_MAX (300 seconds) is given up: its requests are
  dropped. A host that is asked as slowly as that anyway (DENOISE_DELAY_MIN, DOWNLOAD_SLOTS) is not.
- A robots.txt that cannot be reached (5xx, or no answer after Scrapy's retries) allows nothing: the requests to
  that host and port wait in the scheduler while robots.txt is asked again after DENOISE_ROBOTS_RETRY seconds
  (600), three times. Then they are dropped. ``DENOISE_ROBOTS_UNREACHABLE = "allow"`` crawls without rules
  instead, as Scrapy does. A host without an address fails at once, as without us: nobody can be asked there.
- A robots.txt that is not there (4xx) allows everything (RFC 9309), whatever the answer says.
- A request whose turn comes in more than a second goes back to the scheduler: so does the first page of a host,
  which has to wait for the gap after its robots.txt.
"""

from __future__ import annotations

import logging
import math
from dataclasses import dataclass
from time import monotonic
from typing import TYPE_CHECKING, Any, Protocol

from scrapy import Request, signals
from scrapy.downloadermiddlewares.robotstxt import RobotsTxtMiddleware
from scrapy.exceptions import CannotResolveHostError, DownloadCancelledError, IgnoreRequest
from scrapy.http import Response
from scrapy.http.request import NO_CALLBACK
from scrapy.settings.default_settings import RETRY_EXCEPTIONS
from scrapy.utils.defer import ensure_awaitable
from scrapy.utils.deprecate import argument_is_required
from scrapy.utils.httpobj import urlparse_cached
from scrapy.utils.misc import load_object

from denoise_crawler.crawl.host_gaps import read_seconds
from denoise_crawler.errors import DenoiseError
from denoise_crawler.page.site import DEFAULT_PORTS

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import TypeAlias

    from scrapy.crawler import Crawler
    from scrapy.robotstxt import RobotParser
    from scrapy.settings import BaseSettings
    from twisted.internet.defer import Deferred
    from twisted.python.failure import Failure

    from denoise_crawler.crawl.host_gaps import HostGaps

    Answer: TypeAlias = Response | Request

logger = logging.getLogger(__name__)

ROBOTS_RETRIES = 3
ON_UNREACHABLE = ("wait", "allow")
# Seconds of waiting from which a request is put back: below, the slot of its host keeps it.
_LONG_WAIT = 1.0
# In the meta of a request for a robots.txt, also after redirects and retries: the place it is for.
_ROBOTS_OF = "denoise_robots_of"
# What Scrapy takes for a failure of the network, and a robots.txt above DOWNLOAD_MAXSIZE. Any other error is of
# the crawl itself: it concerns the page as well.
_NO_ANSWER = (DownloadCancelledError, *[load_object(error) for error in RETRY_EXCEPTIONS])  # type: ignore[arg-type]


class CrawlDelayTooLongError(DenoiseError, IgnoreRequest):
    """The request was not sent: its host asks for longer gaps than the crawl waits."""


class RobotsUnreachableError(DenoiseError, IgnoreRequest):
    """The request was not sent: the robots.txt of its host could not be read."""


@dataclass(frozen=True, slots=True)
class RobotsPolicy:
    """How much a crawl waits for a host: ``crawl_delay_max`` and ``retry`` in seconds."""

    crawl_delay_max: float = 300.0
    retry: float = 600.0
    unreachable: str = "wait"

    @classmethod
    def from_settings(cls, settings: BaseSettings) -> RobotsPolicy:
        """Read DENOISE_CRAWL_DELAY_MAX and DENOISE_ROBOTS_*; raise ValueError naming a wrong setting."""
        longest = read_seconds("DENOISE_CRAWL_DELAY_MAX", settings.get("DENOISE_CRAWL_DELAY_MAX", 300.0))
        retry = read_seconds("DENOISE_ROBOTS_RETRY", settings.get("DENOISE_ROBOTS_RETRY", 600.0))
        unreachable = settings.get("DENOISE_ROBOTS_UNREACHABLE", "wait")
        if unreachable not in ON_UNREACHABLE:
            raise ValueError(
                f"DENOISE_ROBOTS_UNREACHABLE is {unreachable!r}: set it to one of {', '.join(ON_UNREACHABLE)}"
            )
        return cls(longest, retry, unreachable)


@dataclass(slots=True)
class _Unreachable:
    """A robots.txt that could not be read: why, how often, and when it is asked again (monotonic seconds)."""

    why: str
    again: float
    tries: int = 0
    has_no_address: bool = False

    @property
    def is_final(self) -> bool:
        return self.tries > ROBOTS_RETRIES


def authority_of(request: Request) -> str:
    """Return the host of a request as its URL spells it, with the port: what has a robots.txt of its own."""
    return urlparse_cached(request).netloc.rpartition("@")[2].lower()


class GuardedDownloader(Protocol):
    """What the guard asks of the downloader: see ``PoliteDownloader``."""

    crawler: Crawler
    settings: BaseSettings
    middleware: Any
    gaps: HostGaps

    @property
    def closing(self) -> bool:
        """Whether the crawl ends."""

    def get_slot_key(self, request: Request) -> str:
        """Return the host of a request."""

    def wait(self, host: str, now: float) -> float:
        """Return the seconds until the turn of a host."""

    def put_back(self, request: Request) -> Request | None:
        """Return the request to hand to the scheduler, None for one that did not come from there."""

    def empty(self, host: str, error: IgnoreRequest) -> int:
        """Send away what waits for the turn of a host."""


class RobotsGuard:
    """Stands in for the ``RobotsTxtMiddleware`` of a crawl, and asks it.

    What waits lies in the scheduler; here is one entry for each place in trouble, a host as it is spelled with
    its port: a link to another port or spelling must not hold up a host. It is forgotten between the runs of a
    JOBDIR.
    """

    def __init__(self, downloader: GuardedDownloader, policy: RobotsPolicy) -> None:
        self._downloader = downloader
        self._policy = policy
        self._stats = downloader.crawler.stats
        self._unreachable: dict[str, _Unreachable] = {}
        self._too_slow: dict[str, float] = {}
        self._slowed: set[str] = set()
        self._given_up: set[str] = set()
        self._robots: RobotsTxtMiddleware | None = None
        self._ask_robots: Callable[..., Any] | None = None
        self._arguments: dict[str, Any] = {}
        downloader.crawler.signals.connect(self._robots_parsed, signal=signals.robots_parsed)

    def stand_in(self) -> bool:
        """Take the place of the ``RobotsTxtMiddleware``; return False where the crawl has none."""
        methods = self._downloader.middleware.methods["process_request"]
        for place, method in enumerate(methods):
            owner = getattr(method, "__self__", None)
            if isinstance(owner, RobotsTxtMiddleware):
                if not hasattr(owner, "_parsers"):
                    raise RuntimeError("this version of Scrapy has no RobotsTxtMiddleware._parsers")
                self._robots, self._ask_robots = owner, method
                methods[place] = self.process_request
                return True
        return False

    def wait(self, place: str, now: float) -> float:
        """Return the seconds until robots.txt is asked again; 0 or less where requests need not wait for that."""
        found = self._unreachable.get(place)
        return found.again - now if found and not found.is_final and not found.has_no_address else 0.0

    async def process_request(self, request: Request) -> Answer | None:
        """Let a request through (None), send it back to the scheduler (itself), or raise IgnoreRequest."""
        host, place = self._downloader.get_slot_key(request), authority_of(request)
        obeys = not request.meta.get("dont_obey_robotstxt") and urlparse_cached(request).scheme in DEFAULT_PORTS
        self._refuse_too_slow(host)
        if obeys and not self._may_ask(place):
            return self._turned_away(place, request)
        if (own := await self._asked_robots(request)) is not None:  # a middleware derived from Scrapy's may answer
            return own
        self._refuse_too_slow(host)
        if obeys and place in self._unreachable:
            # Forgotten, so that the middleware asks again when the time has come.
            self._robots._parsers.pop(urlparse_cached(request).netloc, None)  # type: ignore[union-attr]
            return self._turned_away(place, request)
        if self._downloader.closing or self._downloader.wait(host, monotonic()) > _LONG_WAIT:
            return self._downloader.put_back(request)
        return None

    async def _asked_robots(self, request: Request) -> Answer | None:
        method = self._ask_robots
        assert method is not None  # noqa: S101 - this stands in its place
        spider = {"spider": self._downloader.crawler.spider} if argument_is_required(method, "spider") else {}
        answer: Answer | None = await ensure_awaitable(method(request=request, **spider))
        return answer

    def _may_ask(self, place: str) -> bool:
        found = self._unreachable.get(place)
        return found is None or (not found.is_final and monotonic() >= found.again)

    def _turned_away(self, place: str, request: Request) -> Request:
        found = self._unreachable[place]
        if found.has_no_address:
            raise CannotResolveHostError(f"no address of {place} was found")
        if not found.is_final and (waits := self._downloader.put_back(request)):
            return waits
        self._stats.inc_value("denoise/polite/dropped")
        raise RobotsUnreachableError(f"the robots.txt of {place} could not be read ({found.why})")

    def _refuse_too_slow(self, host: str) -> None:
        if host in self._too_slow:
            self._stats.inc_value("denoise/polite/dropped")
            raise self._too_slow_error(host)

    def _too_slow_error(self, host: str) -> CrawlDelayTooLongError:
        return CrawlDelayTooLongError(f"the robots.txt of {host} asks for gaps of {self._too_slow[host]:g} s")

    # --- what robots.txt says

    def _robots_parsed(self, robotparser: RobotParser, request: Request) -> None:
        # The user agent has to be the one that RobotsTxtMiddleware asks for.
        settings = self._downloader.settings
        agent = settings["ROBOTSTXT_USER_AGENT"] or request.headers.get(b"User-Agent", settings["USER_AGENT"])
        seconds = robotparser.crawl_delay(agent or "")
        if seconds is None or math.isnan(seconds):
            return
        host, gaps = self._downloader.get_slot_key(request), self._downloader.gaps
        if seconds > max(self._policy.crawl_delay_max, gaps.least(host)):
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
                self._policy.crawl_delay_max,
            )
        self._too_slow[host] = seconds
        self._give_up(host)
        dropped = self._downloader.empty(host, self._too_slow_error(host))
        if dropped:
            self._stats.inc_value("denoise/polite/dropped", dropped)

    def _give_up(self, name: str) -> None:
        self._given_up.add(name)
        self._stats.set_value("denoise/polite/hosts_given_up", len(self._given_up))

    # --- whether robots.txt can be read

    def watch(self, request: Request, answer: Deferred[Answer]) -> Deferred[Answer]:
        """Note what becomes of a request for a robots.txt; leave any other as it is."""
        place = self._place_of_robots(request) if self._robots else None
        return answer.addCallbacks(self._answered, self._failed, (place,), {}, (place,)) if place else answer

    def _place_of_robots(self, request: Request) -> str | None:
        parts = urlparse_cached(request)
        is_robots = parts.path == "/robots.txt" and parts.scheme in DEFAULT_PORTS
        if is_robots and request.callback is NO_CALLBACK and request.meta.get("dont_obey_robotstxt"):
            request.meta.setdefault(_ROBOTS_OF, authority_of(request))
        found: str | None = request.meta.get(_ROBOTS_OF)
        return found

    def _answered(self, answer: Answer, place: str) -> Answer:
        if isinstance(answer, Request):  # a redirect, or one more try
            return answer
        if answer.status < 500:
            self._unreachable.pop(place, None)
        else:
            self._note_unreachable(place, f"HTTP {answer.status}")
        return answer if answer.status < 400 else answer.replace(body=b"")

    def _failed(self, failure: Failure, place: str) -> Failure:
        if isinstance(failure.value, CannotResolveHostError):
            again = monotonic() + self._policy.retry
            self._unreachable[place] = _Unreachable("no address", again, has_no_address=True)
        elif isinstance(failure.value, _NO_ANSWER):
            self._note_unreachable(place, type(failure.value).__name__)
        else:  # as without us, also where a component of the crawl did not let it through
            self._unreachable.pop(place, None)
        return failure

    def _note_unreachable(self, place: str, why: str) -> None:
        if self._policy.unreachable == "allow":
            return
        found = self._unreachable.setdefault(place, _Unreachable(why, 0.0))
        found.why, found.tries, found.again = why, found.tries + 1, monotonic() + self._policy.retry
        if found.tries == 1:
            self._stats.inc_value("denoise/polite/robots_unreachable")
        if found.is_final:
            self._give_up(place)
            logger.warning(
                "%s is given up, its requests are dropped: its robots.txt could not be read (%s). "
                'DENOISE_ROBOTS_UNREACHABLE = "allow" crawls such hosts without rules',
                place,
                why,
            )
            return
        logger.log(
            logging.WARNING if found.tries == 1 else logging.INFO,
            "The robots.txt of %s could not be read (%s): nothing is asked there for DENOISE_ROBOTS_RETRY = %g s, "
            "then robots.txt again, %d times more at most",
            place,
            why,
            self._policy.retry,
            ROBOTS_RETRIES + 1 - found.tries,
        )
