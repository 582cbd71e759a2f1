"""Polite gaps between the requests to a host; usable without the rest of the package.

For one spider: ``custom_settings = {**POLITE_SETTINGS}``. For every spider of a project:
``ADDONS = {"denoise_crawler.crawl.politeness.Politeness": 310}``.

- The gap between the starts of two requests to a host is drawn at random for each request, uniformly from
  DENOISE_DELAY_MIN..DENOISE_DELAY_MAX seconds (5.0, 20.0). A request for robots.txt counts too. A host never has
  two requests at a time, so a response that takes longer than the gap prolongs it.
- A ``Crawl-delay`` c in robots.txt above the minimum moves the range to c..c + max - min. So does the ``delay`` of
  a host in DOWNLOAD_SLOTS. DOWNLOAD_DELAY, its jitter and AutoThrottle are not used.
- :mod:`denoise_crawler.crawl.robots_guard` handles a ``Crawl-delay`` above DENOISE_CRAWL_DELAY_MAX, and a
  robots.txt that cannot be read.
- ``Retry-After`` of a 429 or 503 response holds its host back, for at most DENOISE_RETRY_AFTER_MAX seconds (600).
  It is forgotten between the runs of a JOBDIR.
- DENOISE_DELAY_SEED makes the draws repeatable (None: system randomness).

The slot of a request is the host of its URL in canonical form: ``127.1`` and ``user@127.0.0.1.`` are one host.
``request.meta["download_slot"]`` is ignored. Redirects and spiders copy it along with the meta, and then one host
would get requests from two slots. Requests without a host (``data:``, ``file:``) have no gap.

Requests wait in the scheduler until just before their turn. So they do not use up CONCURRENT_REQUESTS, and JOBDIR
keeps them on disk. Only requests that Scrapy sends past the scheduler wait in the downloader (robots.txt,
``engine.download_async``). No waiting request delays the end of a crawl: on Ctrl-C, SIGTERM and CloseSpider,
requests from the scheduler go back to it, and the others fail with :class:`CrawlEndsError`. The
``scheduler_empty`` signal means "nothing to send now".

Stats under ``denoise/polite/``: ``gaps``, ``gap_seconds_total``, ``gap_seconds_min`` (measured gaps),
``crawl_delay_hosts`` (hosts slowed down by robots.txt), ``retry_after`` (Retry-After headers obeyed),
``robots_unreachable`` (hosts whose robots.txt could not be read), ``hosts_given_up`` (for that, or for their
Crawl-delay), ``dropped`` (requests to them).
"""

from __future__ import annotations

import logging
import math
from collections.abc import Iterable
from time import monotonic
from typing import Any
from weakref import WeakSet

from scrapy import Request, Spider, signals
from scrapy.core.downloader import Slot
from scrapy.crawler import Crawler
from scrapy.exceptions import IgnoreRequest
from scrapy.http import Response
from scrapy.settings import BaseSettings
from scrapy.utils.asyncio import CallLaterResult, call_later
from scrapy.utils.httpobj import urlparse_cached
from scrapy.utils.misc import load_object
from twisted.internet.defer import Deferred

from denoise_crawler.crawl.host_gaps import MIN_GAP_SECONDS, HostGaps, PoliteSlot, parse_retry_after
from denoise_crawler.crawl.robots_guard import RobotsGuard, authority_of
from denoise_crawler.crawl.scrapy_internals import (
    DownloaderOfSlots,
    QueueOfSlots,
    SlotChoice,
    is_closing,
    require_scrapy,
    wake,
)
from denoise_crawler.crawl.settings import abort_on_setup_error
from denoise_crawler.crawl.settings_table import PolitenessSettings
from denoise_crawler.errors import DenoiseError
from denoise_crawler.page.site import canonical_host, without_port

logger = logging.getLogger(__name__)

POLITE_SETTINGS: dict[str, Any] = {
    "DOWNLOADER": "denoise_crawler.crawl.politeness.PoliteDownloader",
    "SCHEDULER_PRIORITY_QUEUE": "denoise_crawler.crawl.politeness.PolitePriorityQueue",
    "ROBOTSTXT_OBEY": True,
    "CONCURRENT_REQUESTS_PER_DOMAIN": 1,
    "AUTOTHROTTLE_ENABLED": False,
}

# A request leaves the scheduler early, so that the time it takes to pass the middlewares does not add to the gap.
# The slot keeps the exact time.
_LEAD_SECONDS = 0.1
# How often to check whether the crawl is ending while a request waits in the downloader.
_CLOSING_POLL_SECONDS = 0.25


class CrawlEndsError(DenoiseError, IgnoreRequest):
    """The request was not sent, because the crawl ended before its turn."""


class PoliteDownloader(DownloaderOfSlots):
    """Scrapy's downloader with a PoliteSlot per host. A wrong setting ends the program."""

    def __init__(self, crawler: Crawler) -> None:
        # Checked before Scrapy opens anything, so that a wrong setting leaves nothing to close.
        with abort_on_setup_error(crawler):
            require_scrapy("denoise_crawler.Politeness")
            self.gaps = HostGaps.from_settings(crawler.settings)
            polite = PolitenessSettings.read(crawler.settings)
        super().__init__(crawler)
        self._wake_timer: CallLaterResult | None = None
        self._wake_time = math.inf
        self._closing_timer: CallLaterResult | None = None
        self._from_queue: WeakSet[Request] = WeakSet()
        self._unfiltered: WeakSet[Request] = WeakSet()
        self.robots = RobotsGuard(self, polite)
        self._retry_after_max = polite.retry_after_max
        crawler.signals.connect(self._response_downloaded, signal=signals.response_downloaded)
        crawler.signals.connect(self._poll_closing_later, signal=signals.request_reached_downloader)
        if not self.robots.replace_middleware():
            is_on = self.settings.getbool("ROBOTSTXT_OBEY")
            why = "there is no RobotsTxtMiddleware" if is_on else "ROBOTSTXT_OBEY is off"
            logger.warning("%s: robots.txt and its Crawl-delay are not obeyed", why)
        if self.delay_of_settings > self.gaps.high:
            logger.warning(
                "DOWNLOAD_DELAY = %g is not used: set DENOISE_DELAY_MIN and DENOISE_DELAY_MAX instead",
                self.delay_of_settings,
            )

    def get_slot_key(self, request: Request) -> str:
        """Return the host of the request's URL in canonical form, an empty string without one."""
        return canonical_host(urlparse_cached(request).hostname or "")

    def make_slot(self, host: str) -> Slot:
        """Return a slot that keeps the gaps of a host."""
        return PoliteSlot(host, self.gaps, self.crawler.stats) if host else self.slot_without_gap()

    def fetch(self, request: Request, spider: Spider | None = None) -> Deferred[Response | Request]:  # noqa: ARG002
        """Send a request through the middlewares to its host."""
        return self.robots.watch(request, super().fetch(request))

    # --- turns

    def ready_authorities(self, authorities: Iterable[str]) -> list[str]:
        """Return the authorities (:func:`authority_of`) whose turn it is.

        If there are none, the engine is woken when the first turn comes.
        """
        # Not slot.active: it lacks requests that wait in a middleware, for example for robots.txt.
        busy = {self.get_slot_key(request) for request in self.active} - {""}
        now = monotonic()
        waits = {}
        for authority in authorities:
            if (host := canonical_host(without_port(authority))) not in busy:
                waits[authority] = max(
                    self.seconds_until_turn(host, now) - _LEAD_SECONDS,
                    self.robots.seconds_until_retry(authority, now),
                )
        ready = [authority for authority, wait in waits.items() if wait <= 0]
        if waits and not ready:
            self._wake_in(min(waits.values()), now)
        return ready

    def seconds_until_turn(self, host: str, now: float) -> float:
        """Return the seconds from ``now`` until the turn of a host; 0 or less if it has come."""
        slot = self.slots.get(host)
        if slot is None:
            return self.gaps.not_before.get(host, 0.0) - now
        return slot.lastseen + slot.download_delay() - now

    # --- putting requests back

    def note_dequeued(self, request: Request) -> None:
        """Note that this queue returned a request: only such a request can be put back."""
        self._from_queue.add(request)

    def put_back(self, request: Request) -> Request | None:
        """Return the request for the scheduler, which will return it first; None if it did not come from there."""
        if request not in self._from_queue:
            return None
        self._from_queue.discard(request)
        if not request.dont_filter:  # the duplicate filter has seen it, but must not drop it
            request.dont_filter = True
            self._unfiltered.add(request)
        request.priority += 1
        return request

    def restore_duplicate_filter(self, request: Request) -> None:
        """Let the duplicate filter apply again to a request that was put back."""
        if request in self._unfiltered:
            self._unfiltered.discard(request)
            request.dont_filter = False

    # --- the end of the crawl

    @property
    def closing(self) -> bool:
        """Whether the crawl is ending."""
        return is_closing(self.crawler)

    def _poll_closing_later(self) -> None:
        if self._closing_timer is None:
            self._closing_timer = call_later(_CLOSING_POLL_SECONDS, self._poll_closing)

    def _poll_closing(self) -> None:
        self._closing_timer = None
        if self.closing:
            for host in list(self.slots):
                self.empty_slot(host, CrawlEndsError("the crawl ended before the turn of this request"))
        if any(slot.queue for slot in self.slots.values()):
            self._poll_closing_later()

    def empty_slot(self, host: str, error: IgnoreRequest) -> int:
        """Put the waiting requests of a slot back into the scheduler, fail the others; return how many failed."""
        slot, failed = self.slots.get(host), 0
        while slot and slot.queue:
            request, answer = slot.queue.popleft()
            if (back := self.put_back(request)) is not None:
                # Scrapy accepts a Request in place of a Response.
                answer.callback(back)  # type: ignore[arg-type]
            else:
                answer.errback(error)
                failed += 1
        return failed

    # --- waking up

    def _wake_in(self, seconds: float, now: float) -> None:
        if now + seconds >= self._wake_time:
            return
        if self._wake_timer:
            self._wake_timer.cancel()
        self._wake_time = now + seconds
        self._wake_timer = call_later(max(seconds, MIN_GAP_SECONDS), self._wake)

    def _wake(self) -> None:
        self._wake_timer, self._wake_time = None, math.inf
        wake(self.crawler)

    def close(self) -> None:
        """Stop all timers."""
        for timer in (self._wake_timer, self._closing_timer):
            if timer:
                timer.cancel()
        self._wake_timer = self._closing_timer = None
        super().close()

    def _response_downloaded(self, response: Response, request: Request) -> None:
        header = response.headers.get("Retry-After") if response.status in (429, 503) else None
        seconds = parse_retry_after(header.decode("latin-1")) if header else None
        if seconds is not None:
            self.gaps.hold(self.get_slot_key(request), min(seconds, self._retry_after_max))
            self.crawler.stats.inc_value("denoise/polite/retry_after")


class _ReadyHosts(SlotChoice):
    downloader: PoliteDownloader

    def get_slot_key(self, request: Request) -> str:
        """Return the authority of a request. Each authority has its own robots.txt and may have to wait for it."""
        return authority_of(request)

    def stats(self, possible_slots: Iterable[str]) -> list[tuple[int, str]]:
        """Return the authorities to choose from; none of them has an active request."""
        return [(0, authority) for authority in self.downloader.ready_authorities(possible_slots)]


class PolitePriorityQueue(QueueOfSlots):
    """Returns a request only when it is the turn of its host. Hosts take turns.

    ``pop`` and ``peek`` return None while all hosts have to wait; ``len`` counts the waiting requests.

    Raises:
        ValueError: The DOWNLOADER is not a PoliteDownloader.
    """

    def __init__(self, crawler: Crawler, *args: Any, **kwargs: Any) -> None:
        super().__init__(crawler, *args, **kwargs)
        if not isinstance(crawler.engine.downloader, PoliteDownloader):
            raise ValueError("SCHEDULER_PRIORITY_QUEUE is PolitePriorityQueue: set DOWNLOADER to PoliteDownloader")
        self._downloader = crawler.engine.downloader
        self.choose_by(_ReadyHosts(crawler))

    def push(self, request: Request) -> None:
        """Queue a request until its turn."""
        self._downloader.restore_duplicate_filter(request)
        super().push(request)

    def pop(self) -> Request | None:
        """Return a request whose turn it is, or None."""
        request = super().pop()
        if request is not None:
            self._downloader.note_dequeued(request)
        return request


class Politeness:
    """Scrapy add-on: POLITE_SETTINGS for every spider. Settings of the project or a spider win."""

    def update_settings(self, settings: BaseSettings) -> None:
        """Apply POLITE_SETTINGS at add-on priority; log a warning if the gap cannot be kept."""
        values = dict(POLITE_SETTINGS)
        if _is_overridden(settings, "DOWNLOADER", PoliteDownloader):
            logger.warning(
                "The polite gap is NOT in force: DOWNLOADER is set to %s. Remove that setting, or derive the "
                "class from denoise_crawler.crawl.politeness.PoliteDownloader",
                settings["DOWNLOADER"],
            )
            del values["DOWNLOADER"], values["SCHEDULER_PRIORITY_QUEUE"]
        elif _is_overridden(settings, "SCHEDULER_PRIORITY_QUEUE", PolitePriorityQueue):
            logger.warning(
                "The polite gap is in force, but one host can keep others waiting: SCHEDULER_PRIORITY_QUEUE "
                "is set to %s. Remove that setting to let hosts take turns",
                settings["SCHEDULER_PRIORITY_QUEUE"],
            )
            del values["SCHEDULER_PRIORITY_QUEUE"]
        for name, value in values.items():
            settings.set(name, value, "addon")


def _is_overridden(settings: BaseSettings, name: str, wanted: type) -> bool:
    # Scrapy's defaults have priority 0.
    return bool(settings.getpriority(name)) and not issubclass(load_object(settings[name]), wanted)
