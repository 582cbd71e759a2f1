"""Polite gaps between the requests to a host, by Scrapy's own downloader; usable without the rest of the package.

``ADDONS = {"denoise_crawler.Politeness": 310}``

Requests wait in the scheduler until just before their turn: so they do not use up CONCURRENT_REQUESTS, and a job
keeps them on disk. Only those that Scrapy sends past it wait in the downloader (robots.txt, media pipelines).
"""

from __future__ import annotations

import logging
import math
import random
import time
from collections.abc import Iterable
from contextlib import suppress
from email.utils import parsedate_to_datetime
from typing import Any
from weakref import WeakKeyDictionary

from scrapy import Request, Spider, signals
from scrapy.core.downloader import Downloader, Slot
from scrapy.crawler import Crawler
from scrapy.downloadermiddlewares.robotstxt import RobotsTxtMiddleware
from scrapy.exceptions import IgnoreRequest
from scrapy.http import Response
from scrapy.pqueues import DownloaderAwarePriorityQueue
from scrapy.settings import BaseSettings
from scrapy.statscollectors import StatsCollector
from scrapy.utils.asyncio import create_looping_call
from scrapy.utils.httpobj import urlparse_cached
from scrapy.utils.misc import load_object

from denoise_crawler.crawl.robots_txt import PoliteRobotsTxtMiddleware, authority_of
from denoise_crawler.crawl.scrapy_internals import is_closing, slot_clock, wake
from denoise_crawler.crawl.settings import abort_on_setup_error
from denoise_crawler.crawl.settings_table import PolitenessSettings
from denoise_crawler.errors import DenoiseError
from denoise_crawler.output.options import SECONDS
from denoise_crawler.page.site import canonical_host, without_port

logger = logging.getLogger(__name__)

# A delay of 0 makes Scrapy send a whole slot queue at once, whatever the concurrency of the slot is.
_MIN_GAP_SECONDS = 0.001
# A request leaves the scheduler early, so that the time it takes to pass the middlewares does not add to the gap.
# The slot keeps the exact time.
_LEAD_SECONDS = 0.1
_TICK_SECONDS = 0.05


class CrawlEndsError(DenoiseError, IgnoreRequest):
    """The request was not sent, because the crawl ended before its turn."""


class PoliteSlot(Slot):
    """The downloader slot of a host, with one random draw per request.

    Scrapy's own draws anew at every wake-up, which favours long gaps: of 5 to 20 s the mean is 15.8 s. The draw is
    kept and not the gap, so that a Crawl-delay that is learned while a request waits still counts.
    """

    def __init__(self, shortest: float, spread: float, stats: StatsCollector | None = None) -> None:
        self.shortest, self._spread, self._stats = shortest, spread, stats
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
                self._stats.inc_value("denoise/polite/gap_seconds_total", gap)  # type: ignore[arg-type]
                self._stats.min_value("denoise/polite/gap_seconds_min", gap)
            self._draw, self._drawn_after = random.random(), self.lastseen
        # Scrapy forgets a slot `delay` + 60 s after its last request, so this is the longest gap possible.
        self.delay = self._gap(1.0)
        return self._gap(self._draw)

    def _gap(self, draw: float) -> float:
        gap = self.shortest + draw * self._spread
        return max(gap, _MIN_GAP_SECONDS, self.not_before - self.lastseen)


class PoliteDownloader(Downloader):
    """Scrapy's downloader with a PoliteSlot per host. A wrong setting ends the program."""

    def __init__(self, crawler: Crawler) -> None:
        # Checked before Scrapy opens anything, so that a wrong setting leaves nothing to close.
        with abort_on_setup_error(crawler):
            self.polite = PolitenessSettings.read(crawler.settings)
            self._floors = read_slot_delays(crawler.settings)
        super().__init__(crawler)
        self.from_queue: WeakKeyDictionary[Request, bool] = WeakKeyDictionary()  # with their dont_filter
        self.next_turn = math.inf
        self._ticks = create_looping_call(self._tick)
        middlewares = self.middleware.middlewares
        self.robots = next((one for one in middlewares if isinstance(one, PoliteRobotsTxtMiddleware)), None)
        if not self.robots:
            logger.warning(
                "robots.txt and its Crawl-delay are not obeyed: ROBOTSTXT_OBEY or its middleware is off"
            )
        crawler.signals.connect(self._on_response, signal=signals.response_downloaded)

    def get_slot_key(self, request: Request) -> str:
        """Return the host of the request's URL in canonical form, an empty string without one.

        The meta key ``download_slot`` is ignored: redirects copy it, and one host would have two slots.
        """
        return canonical_host(urlparse_cached(request).hostname or "")

    def shortest_gap(self, host: str) -> float:
        """Return the shortest gap in seconds that a host may have now."""
        return max(self.polite.delay_min, self._floors.get(host, 0.0))

    def raise_gap(self, host: str, seconds: float) -> None:
        """Let the gaps of a host begin at ``seconds``, also after Scrapy has forgotten its slot."""
        self._floors[host] = seconds
        if host in self.slots:
            self.slots[host].shortest = seconds  # type: ignore[attr-defined]

    def _get_slot(self, request: Request, spider: Spider | None = None) -> tuple[str, Slot]:  # noqa: ARG002
        host = self.get_slot_key(request)
        if host not in self.slots:
            spread = self.polite.delay_max - self.polite.delay_min
            slot = PoliteSlot(self.shortest_gap(host), spread, self.crawler.stats)
            self.slots[host] = slot if host else Slot(16, 0.0, 0.0)  # data: and file: have no host and no gap
            self._start_slot_gc()
            if not self._ticks.running:
                self._ticks.start(_TICK_SECONDS, now=False)
        return host, self.slots[host]

    def _on_response(self, response: Response, request: Request) -> None:
        self.from_queue.pop(request, None)
        header = response.headers.get("Retry-After") if response.status in (429, 503) else None
        if header and (seconds := parse_retry_after(header.decode("latin-1"))) is not None:
            slot: Any = self._get_slot(request)[1]  # Scrapy ignores the header (scrapy#3849)
            slot.not_before = max(slot.not_before, slot_clock() + min(seconds, self.polite.retry_after_max))
            self.crawler.stats.inc_value("denoise/polite/retry_after")

    def seconds_until_turn(self, host: str) -> float:
        """Return the seconds until the turn of a host; 0 or less if it has come."""
        slot = self.slots.get(host)
        return slot.lastseen + slot.download_delay() - slot_clock() if slot else 0.0

    def _tick(self) -> None:
        # A crawl that ends waits for all requests in slots, and no signal tells that it ends (scrapy#2969).
        if is_closing(self.crawler):
            for host in list(self.slots):
                self.empty_slot(host, CrawlEndsError("the crawl ended before the turn of this request"))
        elif time.monotonic() >= self.next_turn:
            self.next_turn = math.inf
            wake(self.crawler)

    def empty_slot(self, host: str, error: IgnoreRequest) -> int:
        """Put the waiting requests of a slot back into the scheduler, fail the others; return how many failed."""
        queue, failed = self.slots[host].queue, 0
        while queue:
            request, answer = queue.popleft()
            if (back := self.put_back(request)) is not None:
                answer.callback(back)  # type: ignore[arg-type] # Scrapy accepts a Request here
            else:
                answer.errback(error)
                failed += 1
        return failed

    def put_back(self, request: Request) -> Request | None:
        """Return the request for the scheduler, which will return it first; None if it did not come from there."""
        if request not in self.from_queue:
            return None
        request.dont_filter = True  # the duplicate filter has seen it, but must not drop it
        request.priority += 1
        return request

    def close(self) -> None:
        """Stop the timers."""
        if self._ticks.running:
            self._ticks.stop()
        super().close()


def read_slot_delays(settings: BaseSettings) -> dict[str, float]:
    """Return the ``delay`` of each host in DOWNLOAD_SLOTS; raise SettingError for a wrong one."""
    return {
        canonical_host(host): SECONDS.check(f"DOWNLOAD_SLOTS[{host!r}]['delay']", options.get("delay", 0))
        for host, options in settings.getdict("DOWNLOAD_SLOTS").items()
    }


class PolitePriorityQueue(DownloaderAwarePriorityQueue):
    """Returns a request only when it is the turn of its host. Hosts take turns.

    ``pop`` and ``peek`` return None while all hosts have to wait; ``len`` counts the waiting requests.

    Raises:
        ValueError: The DOWNLOADER is not a PoliteDownloader.
    """

    def __init__(self, crawler: Crawler, *args: Any, **kwargs: Any) -> None:
        super().__init__(crawler, *args, **kwargs)
        self._downloader: Any = crawler.engine.downloader
        if not isinstance(self._downloader, PoliteDownloader):
            raise ValueError("SCHEDULER_PRIORITY_QUEUE is PolitePriorityQueue: set DOWNLOADER to PoliteDownloader")
        self._downloader_interface: Any = self  # Scrapy asks it the next two methods

    def get_slot_key(self, request: Request) -> str:
        """Return the authority of a request. Each authority has its own robots.txt and may have to wait for it."""
        return authority_of(request)

    def stats(self, possible_slots: Iterable[str]) -> list[tuple[int, str]]:
        """Return the authorities whose turn it is. If there are none, the engine is woken when the first comes."""
        downloader = self._downloader
        # Not slot.active: it lacks requests that wait in a middleware, for example for robots.txt.
        busy = {downloader.get_slot_key(request) for request in downloader.active} - {""}
        waits = {}
        for authority in possible_slots:
            if (host := canonical_host(without_port(authority))) not in busy:
                retry = downloader.robots.seconds_until_retry(authority) if downloader.robots else 0.0
                waits[authority] = max(downloader.seconds_until_turn(host) - _LEAD_SECONDS, retry)
        ready = [(0, authority) for authority, wait in waits.items() if wait <= 0]
        downloader.next_turn = math.inf if ready else time.monotonic() + min(waits.values(), default=math.inf)
        return ready

    def push(self, request: Request) -> None:
        """Queue a request; the duplicate filter applies again to one that was put back."""
        request.dont_filter = self._downloader.from_queue.pop(request, request.dont_filter)
        super().push(request)

    def pop(self) -> Request | None:
        """Return a request whose turn it is, or None."""
        if (request := super().pop()) is not None:
            self._downloader.from_queue[request] = request.dont_filter
        return request


class Politeness:
    """Scrapy add-on: polite gaps for every spider. Settings of the project or a spider win."""

    def update_settings(self, settings: BaseSettings, priority: str = "addon") -> None:
        """Apply the settings of a polite crawl; log a warning if other settings keep the gap from being kept."""
        polite = {"ROBOTSTXT_OBEY": True, "CONCURRENT_REQUESTS_PER_DOMAIN": 1, "AUTOTHROTTLE_ENABLED": False}
        settings.setdict(polite, priority)
        for name, cls, effect in (
            ("DOWNLOADER", PoliteDownloader, "The polite gap is NOT in force"),
            ("SCHEDULER_PRIORITY_QUEUE", PolitePriorityQueue, "One host can keep others waiting"),
        ):
            settings.set(name, cls, priority)
            if not issubclass(load_object(settings[name]), cls):
                advice = f"Remove that setting, or derive the class from {cls.__module__}.{cls.__name__}"
                logger.warning("%s: %s is set to %s. %s", effect, name, settings[name], advice)
                break
        if issubclass(load_object(settings["DOWNLOADER"]), PoliteDownloader):
            middlewares = "DOWNLOADER_MIDDLEWARES"
            settings.setdefault_in_component_priority_dict(middlewares, RobotsTxtMiddleware, 100)
            with suppress(KeyError):  # the project has switched it off
                settings.replace_in_component_priority_dict(
                    middlewares, RobotsTxtMiddleware, PoliteRobotsTxtMiddleware
                )
            settings.set_in_component_priority_dict(middlewares, RobotsTxtMiddleware, None)


def parse_retry_after(value: str) -> float | None:
    """Return the seconds that a Retry-After header (seconds or an HTTP date) asks for, None if it is unreadable.

    Example:
        >>> parse_retry_after("120"), parse_retry_after("soon")
        (120.0, None)
    """
    try:
        seconds = float(value)
    except ValueError:
        try:
            seconds = parsedate_to_datetime(value).timestamp() - time.time()
        except (TypeError, ValueError, OverflowError, OSError):
            return None
    return None if math.isnan(seconds) else max(seconds, 0.0)
