"""Polite gaps between the requests to a host, by Scrapy's own downloader: ``denoise_crawler.Politeness``.

Requests wait in the scheduler until just before their turn: they do not use up CONCURRENT_REQUESTS, and a job
keeps them on disk. Those that Scrapy sends past it (robots.txt, media pipelines) wait in the slot of their host.
"""

from __future__ import annotations

import logging
import math
import random
import time
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from typing import Any
from urllib.parse import urlsplit
from weakref import WeakKeyDictionary

from scrapy import Request, signals
from scrapy.core.downloader import Downloader, Slot
from scrapy.crawler import Crawler
from scrapy.downloadermiddlewares.robotstxt import RobotsTxtMiddleware
from scrapy.exceptions import CannotResolveHostError, DownloadCancelledError, IgnoreRequest
from scrapy.http import Response
from scrapy.pqueues import DownloaderAwarePriorityQueue
from scrapy.robotstxt import RobotParser
from scrapy.settings import BaseSettings
from scrapy.settings.default_settings import RETRY_EXCEPTIONS
from scrapy.utils.httpobj import urlparse_cached
from scrapy.utils.misc import load_object

from denoise_crawler.crawl.scrapy_internals import crawl_delay_of, is_closing, slot_clock, wake
from denoise_crawler.crawl.settings import abort_on_setup_error
from denoise_crawler.crawl.settings_table import PolitenessSettings
from denoise_crawler.errors import DenoiseError
from denoise_crawler.options import SECONDS
from denoise_crawler.page.site import canonical_host

logger = logging.getLogger(__name__)

# When a robots.txt that could not be fetched is requested again, and how often.
ROBOTS_RETRY_SECONDS = 600.0
MAX_ROBOTS_RETRIES = 3
# Network failures, and a robots.txt above DOWNLOAD_MAXSIZE. Any other error concerns the page as well.
_NO_ANSWER = (DownloadCancelledError, *[load_object(error) for error in RETRY_EXCEPTIONS])  # type: ignore[arg-type]
# A delay of 0 makes Scrapy send a whole slot queue at once, whatever the concurrency of the slot is.
_MIN_GAP_SECONDS = 0.001
# A request leaves the scheduler a little early, its slot keeps the exact time. One that is too early goes back.
_LEAD_SECONDS = 0.1
_MAX_SLOT_WAIT_SECONDS = 1.0


class CrawlEndsError(DenoiseError, IgnoreRequest):
    """The request was not sent, because the crawl ended before its turn."""


class CrawlDelayTooLongError(DenoiseError, IgnoreRequest):
    """The request was not sent, because its host asks for longer gaps than the crawl accepts."""


class RobotsUnreachableError(DenoiseError, IgnoreRequest):
    """The request was not sent, because the robots.txt of its host could not be read."""


class PoliteSlot(Slot):
    """The downloader slot of a host, with one random draw per request.

    Scrapy's own draws anew at every wake-up, which favours long gaps: of 5 to 20 s the mean is 15.8 s. The draw is
    kept and not the gap: a Crawl-delay that is learned while a request waits counts.
    """

    def __init__(self, shortest: Callable[[], float], spread: float, stats: Any = None) -> None:
        self._shortest, self._spread, self._stats = shortest, spread, stats
        self.not_before = self._drawn_after = 0.0
        self._draw = random.random()
        super().__init__(1, 0.0, 0.0)  # positional, because Scrapy 2.19 renamed the third parameter

    def download_delay(self) -> float:
        """Return the seconds between the last start (``lastseen``) and the next one."""
        if not self.lastseen:  # no request yet, and the clock may have started less than a gap ago
            return max(_MIN_GAP_SECONDS, self.not_before)
        if self.lastseen != self._drawn_after:
            if self._stats and self._drawn_after:
                gap = self.lastseen - self._drawn_after
                self._stats.inc_value("denoise/polite/gaps")
                self._stats.inc_value("denoise/polite/gap_seconds_total", gap)
                self._stats.min_value("denoise/polite/gap_seconds_min", gap)
            self._draw, self._drawn_after = random.random(), self.lastseen
        # Scrapy forgets a slot `delay` + 60 s after its last request, so this is the longest gap possible.
        self.delay = self._gap(1.0)
        return self._gap(self._draw)

    def _gap(self, draw: float) -> float:
        return max(self._shortest() + draw * self._spread, _MIN_GAP_SECONDS, self.not_before - self.lastseen)


class PoliteDownloader(Downloader):
    """Scrapy's downloader with a PoliteSlot per host. A wrong setting ends the program."""

    _SLOT_GC_INTERVAL = 0.05

    def __init__(self, crawler: Crawler) -> None:
        # Checked before Scrapy opens anything, so that a wrong setting leaves nothing to close.
        with abort_on_setup_error(crawler):
            self.polite = PolitenessSettings.read(crawler.settings)
            self.floors = {
                canonical_host(host): SECONDS.check(f"DOWNLOAD_SLOTS[{host!r}]['delay']", options.get("delay", 0))
                for host, options in crawler.settings.getdict("DOWNLOAD_SLOTS").items()
            }
        super().__init__(crawler)
        self.from_queue: WeakKeyDictionary[Request, bool] = WeakKeyDictionary()  # with their dont_filter
        self.next_turn = math.inf
        crawler.signals.connect(self._on_response, signal=signals.response_downloaded)

    def get_slot_key(self, request: Request) -> str:
        """Return the host of a request in canonical form; without one (data:, file:) an empty string."""
        # The meta key download_slot is ignored: redirects copy it, and one host would have two slots.
        return canonical_host(urlparse_cached(request).hostname or "")

    def shortest_gap(self, host: str) -> float:
        """Return the shortest gap in seconds that a host may have now."""
        return max(self.polite.delay_min, self.floors.get(host, 0.0))

    def _get_slot(self, request: Request, spider: Any = None) -> tuple[str, Slot]:  # noqa: ARG002
        host = self.get_slot_key(request)
        if host not in self.slots:
            shortest, spread = lambda: self.shortest_gap(host), self.polite.delay_max - self.polite.delay_min
            self.slots[host] = PoliteSlot(shortest, spread, self.crawler.stats) if host else Slot(16, 0.0, 0.0)
            self._start_slot_gc()
        return host, self.slots[host]

    def seconds_until_turn(self, host: str) -> float:
        """Return the seconds until the turn of a host; 0 or less if it has come."""
        slot = self.slots.get(host)
        return slot.lastseen + slot.download_delay() - slot_clock() if slot else 0.0

    def _on_response(self, response: Response, request: Request) -> None:
        self.from_queue.pop(request, None)
        header = response.headers.get("Retry-After") if response.status in (429, 503) else None
        if header and (seconds := parse_retry_after(header.decode("latin-1"))) is not None:
            slot: Any = self._get_slot(request)[1]  # Scrapy ignores the header (scrapy#3849)
            slot.not_before = max(slot.not_before, slot_clock() + min(seconds, self.polite.retry_after_max))
            self.crawler.stats.inc_value("denoise/polite/retry_after")

    def _slot_gc(self, age: float = 60) -> None:
        super()._slot_gc(age)
        # A crawl that ends waits for all requests in slots, and no signal tells that it ends (scrapy#2969).
        if is_closing(self.crawler):
            for host in list(self.slots):
                self.empty_slot(host, CrawlEndsError("the crawl ended before the turn of this request"))
        elif time.monotonic() >= self.next_turn:
            self.next_turn = math.inf
            wake(self.crawler)

    def empty_slot(self, host: str, error: IgnoreRequest) -> None:
        """Put the waiting requests of a slot back into the scheduler; those that did not come from it fail."""
        queue = self.slots[host].queue
        while queue:
            request, answer = queue.popleft()
            if self.put_back(request):
                answer.callback(request)  # type: ignore[arg-type] # Scrapy accepts a Request here
            else:
                answer.errback(error)

    def put_back(self, request: Request) -> bool:
        """Prepare a request for the scheduler, which will return it first; False if it did not come from there."""
        if request not in self.from_queue:
            return False
        request.dont_filter = True  # the duplicate filter has seen it, but must not drop it
        request.priority += 1
        return True


class PolitePriorityQueue(DownloaderAwarePriorityQueue):
    """Returns a request when it is the turn of its host, None while all hosts have to wait. Hosts take turns."""

    def __init__(self, crawler: Crawler, *args: Any, **kwargs: Any) -> None:
        super().__init__(crawler, *args, **kwargs)
        self._downloader: Any = crawler.engine.downloader
        self._downloader_interface: Any = self  # Scrapy asks it the next two methods

    def get_slot_key(self, request: Request) -> str:
        """Return the host and port of a request. Each has its own robots.txt, and may have to wait for it."""
        return urlparse_cached(request).netloc

    def stats(self, possible_slots: Iterable[str]) -> list[tuple[int, str]]:
        """Return the authorities whose turn it is. If there are none, the engine is woken when the first comes."""
        robots = self.crawler.get_downloader_middleware(PoliteRobotsTxtMiddleware)
        # Not slot.active: it lacks requests that wait in a middleware, for example for robots.txt.
        busy = {self._downloader.get_slot_key(request) for request in self._downloader.active} - {""}
        waits = {}
        for authority in possible_slots:
            if (host := canonical_host(urlsplit(f"//{authority}").hostname or "")) not in busy:
                retry = robots.seconds_until_retry(authority) if robots else 0.0
                waits[authority] = max(self._downloader.seconds_until_turn(host) - _LEAD_SECONDS, retry)
        self._downloader.next_turn = time.monotonic() + min(waits.values(), default=math.inf)
        return [(0, authority) for authority, wait in waits.items() if wait <= 0]

    def push(self, request: Request) -> None:
        """Queue a request; the duplicate filter applies again to one that was put back."""
        request.dont_filter = self._downloader.from_queue.pop(request, request.dont_filter)
        super().push(request)

    def pop(self) -> Request | None:
        """Return a request whose turn it is, or None."""
        if (request := super().pop()) is not None:
            self._downloader.from_queue[request] = request.dont_filter
        return request


@dataclass(frozen=True)
class _Failure:
    """Why a robots.txt could not be fetched; requests wait for the next try if it had some tries."""

    error: Exception
    retry_at: float
    tries: int = 0


class PoliteRobotsTxtMiddleware(RobotsTxtMiddleware):
    """Keeps requests from hosts that ask for too long gaps, or whose robots.txt cannot be fetched.

    Scrapy ignores Crawl-delay (scrapy#892), and takes a robots.txt that cannot be fetched (5xx, or no answer) for
    one that allows everything. By RFC 9309 it allows nothing, and one that does not exist (4xx) everything.
    """

    def __init__(self, crawler: Crawler) -> None:
        super().__init__(crawler)
        self._too_slow: dict[str, str] = {}  # hosts that are given up, and why
        self._failures: dict[str, _Failure] = {}  # by authority: a dead port must not hold up its host

    async def process_request(self, request: Request) -> Request | None:  # type: ignore[override]
        """Let a request through (None), put it back into the scheduler (the request), or raise IgnoreRequest."""
        downloader: Any = self.crawler.engine.downloader
        host = downloader.get_slot_key(request)
        try:
            if host in self._too_slow:
                raise CrawlDelayTooLongError(self._too_slow[host])
            await super().process_request(request)
        except RobotsUnreachableError:
            failure = self._failures.get(urlparse_cached(request).netloc)
            if failure and failure.tries and downloader.put_back(request):
                return request
            raise
        if host in self._too_slow:
            raise CrawlDelayTooLongError(self._too_slow[host])
        too_early = downloader.seconds_until_turn(host) > _MAX_SLOT_WAIT_SECONDS
        return request if too_early and downloader.put_back(request) else None

    def seconds_until_retry(self, authority: str) -> float:
        """Return the seconds until robots.txt is requested again; 0 or less if requests need not wait for it."""
        failure = self._failures.get(authority)
        return failure.retry_at - time.monotonic() if failure and failure.tries else 0.0

    async def robot_parser(self, request: Request) -> RobotParser | None:
        """Return the rules of a host, after its gaps were raised to its Crawl-delay."""
        netloc = urlparse_cached(request).netloc
        failure = self._failures.get(netloc)
        if not failure or time.monotonic() >= failure.retry_at:
            parser = await super().robot_parser(request)
            failure = self._failures.get(netloc)
        if failure:
            self._parsers.pop(netloc, None)  # else Scrapy would never request it again
            raise type(failure.error)(*failure.error.args)
        agent = self._robotstxt_useragent or request.headers.get(b"User-Agent", self._default_useragent)
        self._obey_delay(request, crawl_delay_of(parser, agent or ""))
        return parser

    def _obey_delay(self, request: Request, seconds: float) -> None:
        downloader: Any = self.crawler.engine.downloader
        host = downloader.get_slot_key(request)
        if host in self._too_slow or not seconds > downloader.shortest_gap(host):
            return
        if seconds <= (accepted := downloader.polite.crawl_delay_max):
            downloader.floors[host] = seconds
            self.crawler.stats.inc_value("denoise/polite/crawl_delay_hosts")
            return
        why = f"its robots.txt asks for gaps of {seconds:g} s, and DENOISE_CRAWL_DELAY_MAX is {accepted:g}"
        self._too_slow[host] = f"{host} is given up: {why}"
        self._log_given_up(host, f"{why}. Raise that setting to crawl this host as slowly as it asks")
        downloader.empty_slot(host, CrawlDelayTooLongError(self._too_slow[host]))

    def process_exception(self, request: Request, exception: Exception) -> None:  # noqa: ARG002
        """Count the requests that are dropped."""
        if isinstance(exception, (CrawlDelayTooLongError, RobotsUnreachableError)):
            self.crawler.stats.inc_value("denoise/polite/dropped")

    def _log_given_up(self, name: str, why: str) -> None:
        self.crawler.stats.inc_value("denoise/polite/hosts_given_up")
        logger.warning("%s is given up, its requests are dropped: %s", name, why)

    # Scrapy calls one of these two for each robots.txt; the first is a coroutine since Scrapy 2.18.
    def _parse_robots(self, response: Response, netloc: str, *args: Any) -> Any:
        self._record(netloc, f"HTTP {response.status}" if response.status >= 500 else "")
        readable = response if response.status < 400 else response.replace(body=b"")
        return super()._parse_robots(readable, netloc, *args)

    def _robots_error(self, exc: Exception, netloc: str) -> None:
        if isinstance(exc, CannotResolveHostError):
            self._failures[netloc] = _Failure(exc, time.monotonic() + ROBOTS_RETRY_SECONDS)
        else:
            self._record(netloc, type(exc).__name__ if isinstance(exc, _NO_ANSWER) else "")
        super()._robots_error(exc, netloc)

    def _record(self, authority: str, problem: str) -> None:
        before = self._failures.pop(authority, None)
        if not problem:
            return
        tries = before.tries + 1 if before else 1
        is_final = tries > MAX_ROBOTS_RETRIES
        retry_at = math.inf if is_final else time.monotonic() + ROBOTS_RETRY_SECONDS
        error = RobotsUnreachableError(f"the robots.txt of {authority} could not be read ({problem})")
        self._failures[authority] = _Failure(error, retry_at, 0 if is_final else tries)
        if is_final:
            self._log_given_up(authority, str(error))
        elif tries == 1:
            self.crawler.stats.inc_value("denoise/polite/robots_unreachable")
            logger.warning("%s: its requests wait, it is asked again after %g s", error, ROBOTS_RETRY_SECONDS)


class Politeness:
    """Scrapy add-on: polite gaps for every spider. Settings of the project or a spider win."""

    def update_settings(self, settings: BaseSettings, priority: str = "addon") -> None:
        """Apply the settings of a polite crawl; log a warning if other settings keep the gap from being kept."""
        polite = {"ROBOTSTXT_OBEY": True, "CONCURRENT_REQUESTS_PER_DOMAIN": 1, "AUTOTHROTTLE_ENABLED": False}
        settings.setdict(polite | {"DOWNLOADER": PoliteDownloader}, priority)
        if not issubclass(load_object(settings["DOWNLOADER"]), PoliteDownloader):
            logger.warning("The polite gap is NOT in force: DOWNLOADER is set to %s", settings["DOWNLOADER"])
            return
        settings.set("SCHEDULER_PRIORITY_QUEUE", PolitePriorityQueue, priority)
        queue = settings["SCHEDULER_PRIORITY_QUEUE"]
        if not issubclass(load_object(queue), PolitePriorityQueue):
            logger.warning("One host can keep others waiting: SCHEDULER_PRIORITY_QUEUE is set to %s", queue)
        name = "DOWNLOADER_MIDDLEWARES"
        settings.setdefault_in_component_priority_dict(name, RobotsTxtMiddleware, 100)
        with suppress(KeyError):  # the project has switched it off
            settings.replace_in_component_priority_dict(name, RobotsTxtMiddleware, PoliteRobotsTxtMiddleware)
        settings.set_in_component_priority_dict(name, RobotsTxtMiddleware, None)


def parse_retry_after(value: str) -> float | None:
    """Return the seconds of a Retry-After header (a number or an HTTP date), None if it is unreadable."""
    with suppress(ValueError):
        return max(0.0, float(value))  # 0 for not a number, too
    with suppress(TypeError, ValueError, OverflowError):
        return max(0.0, parsedate_to_datetime(value).timestamp() - time.time())
    return None
