"""Polite gaps between the requests to a host; usable without the rest of the package.

For one spider: ``custom_settings = {**POLITE_SETTINGS}``. For every spider of a project:
``ADDONS = {"denoise_crawler.crawl.politeness.Politeness": 310}``.

- The gap between the starts of two requests to a host is drawn once per request, uniformly from
  DENOISE_DELAY_MIN..DENOISE_DELAY_MAX seconds (5.0, 20.0). robots.txt is a request like any other. A host
  never has two requests at a time, so a response slower than the gap prolongs it.
- A ``Crawl-delay`` c in robots.txt above the minimum moves the range to c..c + max - min; so does the
  ``delay`` of a host in DOWNLOAD_SLOTS. DOWNLOAD_DELAY, its jitter and AutoThrottle are not used.
- ``Retry-After`` of a 429 or 503 response holds its host back, for DENOISE_RETRY_AFTER_MAX seconds (600) at
  most. It is forgotten between the runs of a JOBDIR.
- DENOISE_DELAY_SEED (None: system randomness) makes the draws repeatable.

The slot of a request is the host of its URL. ``request.meta["download_slot"]`` is not obeyed: redirects and
spiders copy it along with the meta, and then one host would be asked from two slots. Requests without a host
(``data:``, ``file:``) have no gap.

Requests wait in the scheduler until just before their turn: they do not use up CONCURRENT_REQUESTS, are on
disk with JOBDIR, and Ctrl-C does not wait for them. Only what Scrapy sends past the scheduler waits in the
downloader (robots.txt, ``engine.download_async``), and the first page of a host, for the gap after its
robots.txt; raise CONCURRENT_REQUESTS for crawls of many hosts. The ``scheduler_empty`` signal means "nothing
to send now".

Stats under ``denoise/polite/``: ``gaps``, ``gap_seconds_total``, ``gap_seconds_min`` (gaps as they happened),
``crawl_delay_hosts`` (hosts slowed down by robots.txt), ``retry_after`` (Retry-After headers obeyed).
"""

from __future__ import annotations

import logging
import math
import random
from datetime import datetime, timezone
from email.utils import parsedate_to_datetime
from time import monotonic
from typing import TYPE_CHECKING, Any

from scrapy import signals
from scrapy.core.downloader import Downloader, Slot
from scrapy.pqueues import DownloaderAwarePriorityQueue, DownloaderInterface
from scrapy.utils.asyncio import call_later
from scrapy.utils.httpobj import urlparse_cached
from scrapy.utils.misc import load_object

from denoise_crawler.crawl.scrapy_versions import require
from denoise_crawler.crawl.starting import in_one_line

if TYPE_CHECKING:
    from collections.abc import Iterable

    from scrapy import Request, Spider
    from scrapy.crawler import Crawler
    from scrapy.http import Response
    from scrapy.robotstxt import RobotParser
    from scrapy.settings import BaseSettings
    from scrapy.statscollectors import StatsCollector
    from scrapy.utils.asyncio import CallLaterResult

logger = logging.getLogger(__name__)

POLITE_SETTINGS: dict[str, Any] = {
    "DOWNLOADER": "denoise_crawler.crawl.politeness.PoliteDownloader",
    "SCHEDULER_PRIORITY_QUEUE": "denoise_crawler.crawl.politeness.PolitePriorityQueue",
    "ROBOTSTXT_OBEY": True,
    "CONCURRENT_REQUESTS_PER_DOMAIN": 1,
    "AUTOTHROTTLE_ENABLED": False,
}

# A delay of 0 makes Scrapy send a whole slot queue at once, whatever the concurrency of the slot is.
_LEAST_GAP = 0.001
# A request leaves the scheduler this long before its turn, so that the way through the middlewares does not
# add to the gap; the slot keeps the exact time. It is also what Ctrl-C may wait for.
_LEAD = 0.1


def _seconds(name: str, value: object) -> float:
    """Return ``value`` as seconds; raise ValueError naming the setting unless it is a number from 0 up."""
    try:
        number = float(value)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        number = math.nan
    if not (math.isfinite(number) and number >= 0):
        raise ValueError(f"{name} is {value!r}: set it to a number of seconds, 0 or more")
    return number


class HostGaps:
    """The range of gaps (seconds) and what single hosts asked for.

    Scrapy drops a slot after a minute without requests; this outlives the slots. ``not_before`` is in
    ``time.monotonic()`` seconds. Raises ValueError if ``low`` is above ``high``.
    """

    def __init__(self, low: float = 5.0, high: float = 20.0, seed: int | None = None) -> None:
        if low > high:
            raise ValueError(
                f"DENOISE_DELAY_MIN ({low:g}) is greater than DENOISE_DELAY_MAX ({high:g}): "
                "set the minimum to at most the maximum"
            )
        self.low = low
        self.high = high
        self.random = random.Random(seed)
        self.floors: dict[str, float] = {}
        self.not_before: dict[str, float] = {}

    @classmethod
    def from_settings(cls, settings: BaseSettings) -> HostGaps:
        """Read DENOISE_DELAY_* and DOWNLOAD_SLOTS; raise ValueError naming a wrong setting."""
        seed = settings.get("DENOISE_DELAY_SEED")
        try:
            seed = None if seed is None else int(seed)
        except (TypeError, ValueError):
            raise ValueError(
                f"DENOISE_DELAY_SEED is {seed!r}: set it to a whole number, or to None for random gaps"
            ) from None
        gaps = cls(
            _seconds("DENOISE_DELAY_MIN", settings.get("DENOISE_DELAY_MIN", 5.0)),
            _seconds("DENOISE_DELAY_MAX", settings.get("DENOISE_DELAY_MAX", 20.0)),
            seed,
        )
        for host, options in settings.getdict("DOWNLOAD_SLOTS").items():
            gaps.raise_floor(host, _seconds(f"DOWNLOAD_SLOTS[{host!r}]['delay']", options.get("delay", 0)))
        return gaps

    def gap(self, host: str, unit: float) -> float:
        """Return the gap in seconds for the draw ``unit`` (0..1) with what is known of the host now."""
        low = max(self.low, self.floors.get(host, 0.0))
        return max(low + unit * (self.high - self.low), _LEAST_GAP)

    def raise_floor(self, host: str, seconds: float) -> bool:
        """Move the range of a host up to begin at ``seconds``; return False if it begins there or above."""
        if seconds <= max(self.low, self.floors.get(host, 0.0)):
            return False
        self.floors[host] = seconds
        return True

    def hold(self, host: str, seconds: float) -> None:
        """Let no request to the host start for ``seconds`` from now."""
        self.not_before[host] = max(monotonic() + seconds, self.not_before.get(host, 0.0))


class PoliteSlot(Slot):
    """A downloader slot with one draw per request.

    Scrapy asks for the delay at every wake-up. A new draw each time would favour long gaps, so a draw is kept
    until a request has started (``lastseen`` changes). The draw is kept, not the gap: a Crawl-delay learned
    while a request waits still counts.
    """

    def __init__(self, host: str, gaps: HostGaps, stats: StatsCollector | None = None) -> None:
        self._host = host
        self._gaps = gaps
        self._stats = stats
        self._unit = gaps.random.random()
        self._drawn_for = 0.0
        super().__init__(1, 0.0, 0.0)  # by place: before 2.19 the third was called otherwise

    def download_delay(self) -> float:
        """Return the seconds between the last start (``lastseen``) and the next one."""
        if self.lastseen != self._drawn_for:
            if self._stats and self._drawn_for:
                gap = self.lastseen - self._drawn_for
                self._stats.inc_value("denoise/polite/gaps")
                self._stats.inc_value("denoise/polite/gap_seconds_total", gap)  # type: ignore[arg-type]
                self._stats.min_value("denoise/polite/gap_seconds_min", gap)
            self._drawn_for = self.lastseen
            self._unit = self._gaps.random.random()
        return self._at_least(self._gaps.gap(self._host, self._unit))

    # Scrapy forgets a slot `delay` + 60 s after its last request, and AutoThrottle writes to `delay`:
    # it has to be the longest gap possible, or a slot could be forgotten within a gap.
    @property
    def delay(self) -> float:
        """The longest gap possible now, in seconds; assignments are ignored."""
        return self._at_least(self._gaps.gap(self._host, 1.0))

    @delay.setter
    def delay(self, value: float) -> None:
        pass

    def _at_least(self, gap: float) -> float:
        return max(gap, self._gaps.not_before.get(self._host, 0.0) - self.lastseen)


class PoliteDownloader(Downloader):
    """Scrapy's downloader with a PoliteSlot per host. Wrong settings end the program, see :func:`in_one_line`."""

    def __init__(self, crawler: Crawler) -> None:
        # Before Scrapy opens anything: a wrong setting must leave nothing to close.
        with in_one_line(crawler):
            require("denoise_crawler.Politeness")
            self.gaps = HostGaps.from_settings(crawler.settings)
            self._retry_after_max = _seconds(
                "DENOISE_RETRY_AFTER_MAX", crawler.settings.get("DENOISE_RETRY_AFTER_MAX", 600.0)
            )
        if not hasattr(Downloader, "_get_slot"):
            raise RuntimeError("this version of Scrapy has no Downloader._get_slot: gaps cannot be kept")
        super().__init__(crawler)
        self._wake_timer: CallLaterResult | None = None
        self._wake_time = math.inf
        self._crawl_delay_hosts: set[str] = set()
        crawler.signals.connect(self._robots_parsed, signal=signals.robots_parsed)
        crawler.signals.connect(self._response_downloaded, signal=signals.response_downloaded)
        if not crawler.settings.getbool("ROBOTSTXT_OBEY"):
            logger.warning("ROBOTSTXT_OBEY is off: robots.txt and its Crawl-delay are not obeyed")
        if self._delay > self.gaps.high:
            logger.warning(
                "DOWNLOAD_DELAY = %g is not used: set DENOISE_DELAY_MIN and DENOISE_DELAY_MAX instead",
                self._delay,
            )

    def get_slot_key(self, request: Request) -> str:
        """Return the host of the URL, '' for URLs without one."""
        return urlparse_cached(request).hostname or ""

    # Private in Scrapy, but the only place where slots are made: a custom slot class has no setting.
    def _get_slot(self, request: Request, spider: Spider | None = None) -> tuple[str, Slot]:  # noqa: ARG002
        host = self.get_slot_key(request)
        if host not in self.slots:
            self.slots[host] = (
                PoliteSlot(host, self.gaps, self.crawler.stats)
                if host
                else Slot(self.total_concurrency or 16, 0.0, 0.0)
            )
            self._start_slot_gc()
        return host, self.slots[host]

    def ready(self, hosts: Iterable[str]) -> list[str]:
        """Return the hosts whose turn it is; if there is none, wake the engine when the first turn comes."""
        # Not from slot.active: requests that wait in a middleware, say for robots.txt, are not there yet.
        busy = {self.get_slot_key(request) for request in self.active} - {""}
        now = monotonic()
        waits = {host: self._wait(host, now) for host in hosts if host not in busy}
        ready = [host for host, wait in waits.items() if wait <= _LEAD]
        if waits and not ready:
            self._wake_in(min(waits.values()) - _LEAD, now)
        return ready

    def _wait(self, host: str, now: float) -> float:
        slot = self.slots.get(host)
        if slot is None:
            return self.gaps.not_before.get(host, 0.0) - now
        return slot.lastseen + slot.download_delay() - now

    def _wake_in(self, seconds: float, now: float) -> None:
        if now + seconds >= self._wake_time:
            return
        if self._wake_timer:
            self._wake_timer.cancel()
        self._wake_time = now + seconds
        self._wake_timer = call_later(max(seconds, _LEAST_GAP), self._wake)

    def _wake(self) -> None:
        self._wake_timer, self._wake_time = None, math.inf
        # Scrapy has no public call for this; without it the engine asks the scheduler every 5 s.
        nextcall = getattr(getattr(self.crawler.engine, "_slot", None), "nextcall", None)
        if nextcall is not None:
            nextcall.schedule()

    def close(self) -> None:
        """Stop all timers."""
        if self._wake_timer:
            self._wake_timer.cancel()
            self._wake_timer = None
        super().close()

    def _robots_parsed(self, robotparser: RobotParser, request: Request) -> None:
        # The user agent has to be the one that RobotsTxtMiddleware asks for.
        agent = self.settings["ROBOTSTXT_USER_AGENT"] or request.headers.get(
            b"User-Agent", self.settings["USER_AGENT"]
        )
        seconds = robotparser.crawl_delay(agent or "")
        host = self.get_slot_key(request)
        if seconds is not None and math.isfinite(seconds) and self.gaps.raise_floor(host, seconds):
            logger.info("Crawl-delay: gaps at %s are %g s or longer", host, seconds)
            self._crawl_delay_hosts.add(host)
            self.crawler.stats.set_value("denoise/polite/crawl_delay_hosts", len(self._crawl_delay_hosts))

    def _response_downloaded(self, response: Response, request: Request) -> None:
        header = response.headers.get("Retry-After") if response.status in (429, 503) else None
        seconds = parse_retry_after(header.decode("latin-1")) if header else None
        if seconds is not None:
            self.gaps.hold(self.get_slot_key(request), min(seconds, self._retry_after_max))
            self.crawler.stats.inc_value("denoise/polite/retry_after")


def parse_retry_after(value: str) -> float | None:
    """Return the seconds a Retry-After header (seconds or HTTP-date) asks for, None if it is unreadable."""
    try:
        seconds = float(value)
    except ValueError:
        try:
            when = parsedate_to_datetime(value)
        except (TypeError, ValueError):
            return None
        if when.tzinfo is None:
            when = when.replace(tzinfo=timezone.utc)
        seconds = (when - datetime.now(timezone.utc)).total_seconds()
    return None if math.isnan(seconds) else max(seconds, 0.0)


class _ReadyHosts(DownloaderInterface):
    downloader: PoliteDownloader

    def stats(self, possible_slots: Iterable[str]) -> list[tuple[int, str]]:
        """Return the hosts to choose from, none of which has an active request."""
        return [(0, host) for host in self.downloader.ready(possible_slots)]


class PolitePriorityQueue(DownloaderAwarePriorityQueue):
    """Hands out a request only when the turn of its host has come, hosts in rotation.

    ``pop`` and ``peek`` return None while all hosts have to wait; ``len`` counts the waiting requests. Raises
    ValueError if the DOWNLOADER is not a PoliteDownloader.
    """

    def __init__(self, crawler: Crawler, *args: Any, **kwargs: Any) -> None:
        super().__init__(crawler, *args, **kwargs)
        if not isinstance(crawler.engine.downloader, PoliteDownloader):
            raise ValueError("SCHEDULER_PRIORITY_QUEUE is PolitePriorityQueue: set DOWNLOADER to PoliteDownloader")
        self._downloader_interface = _ReadyHosts(crawler)


class Politeness:
    """Scrapy add-on: POLITE_SETTINGS for every spider. What the project or a spider sets itself stays."""

    def update_settings(self, settings: BaseSettings) -> None:
        """Apply POLITE_SETTINGS at add-on priority; log a warning if the gap cannot be kept."""
        values = dict(POLITE_SETTINGS)
        if _is_foreign(settings, "DOWNLOADER", PoliteDownloader):
            logger.warning(
                "The polite gap is NOT in force: DOWNLOADER is set to %s. Remove that setting, or derive the "
                "class from denoise_crawler.crawl.politeness.PoliteDownloader",
                settings["DOWNLOADER"],
            )
            del values["DOWNLOADER"], values["SCHEDULER_PRIORITY_QUEUE"]
        elif _is_foreign(settings, "SCHEDULER_PRIORITY_QUEUE", PolitePriorityQueue):
            logger.warning(
                "The polite gap is in force, but one host can keep others waiting: SCHEDULER_PRIORITY_QUEUE "
                "is set to %s. Remove that setting to let hosts take turns",
                settings["SCHEDULER_PRIORITY_QUEUE"],
            )
            del values["SCHEDULER_PRIORITY_QUEUE"]
        for name, value in values.items():
            settings.set(name, value, "addon")


def _is_foreign(settings: BaseSettings, name: str, ours: type) -> bool:
    # Scrapy's default has priority 0; anything above is somebody's choice.
    return bool(settings.getpriority(name)) and not issubclass(load_object(settings[name]), ours)
