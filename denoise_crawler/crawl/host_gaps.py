"""How long to wait between two requests to a host."""

from __future__ import annotations

import math
import random
from datetime import datetime, timezone
from email.utils import parsedate_to_datetime
from time import monotonic

from scrapy.core.downloader import Slot
from scrapy.settings import BaseSettings
from scrapy.statscollectors import StatsCollector

from denoise_crawler.crawl.settings_table import PolitenessSettings
from denoise_crawler.output.options import SECONDS
from denoise_crawler.page.site import canonical_host

# A delay of 0 makes Scrapy send a whole slot queue at once, whatever the concurrency of the slot is.
MIN_GAP_SECONDS = 0.001


class HostGaps:
    """The range of gaps in seconds, and what single hosts ask for.

    Scrapy drops a slot after a minute without requests; this object lasts for the whole crawl. ``not_before`` is
    in seconds of ``time.monotonic()``.

    Raises:
        ValueError: ``low`` is above ``high``.

    Example:
        >>> gaps = HostGaps(low=5.0, high=20.0)
        >>> gaps.raise_floor("example.com", 30.0)
        True
        >>> gaps.gap("example.com", 0.5), gaps.gap("example.org", 0.5)
        (37.5, 12.5)
    """

    def __init__(self, low: float, high: float, seed: int | None = None) -> None:
        if low > high:
            raise ValueError(
                f"DENOISE_DELAY_MIN ({low:g}) is greater than DENOISE_DELAY_MAX ({high:g}): "
                "set the minimum to at most the maximum"
            )
        self.low, self.high = low, high
        self.random = random.Random(seed)
        self.floors: dict[str, float] = {}
        self.not_before: dict[str, float] = {}

    @classmethod
    def from_settings(cls, settings: BaseSettings) -> HostGaps:
        """Read DENOISE_DELAY_* and DOWNLOAD_SLOTS; raise ValueError for a wrong setting."""
        polite = PolitenessSettings.read(settings)
        gaps = cls(polite.delay_min, polite.delay_max, polite.delay_seed)
        for host, options in settings.getdict("DOWNLOAD_SLOTS").items():
            delay = SECONDS.check(f"DOWNLOAD_SLOTS[{host!r}]['delay']", options.get("delay", 0))
            gaps.raise_floor(canonical_host(host), delay)
        return gaps

    def min_gap(self, host: str) -> float:
        """Return the shortest gap in seconds that a host may have now."""
        return max(self.low, self.floors.get(host, 0.0))

    def gap(self, host: str, draw: float) -> float:
        """Return the gap in seconds of a host for a random number ``draw`` (0 to 1)."""
        return max(self.min_gap(host) + draw * (self.high - self.low), MIN_GAP_SECONDS)

    def raise_floor(self, host: str, seconds: float) -> bool:
        """Let the range of a host begin at ``seconds``; return False if it already begins there or above."""
        if seconds <= self.min_gap(host):
            return False
        self.floors[host] = seconds
        return True

    def hold(self, host: str, seconds: float) -> None:
        """Let no request to the host start for ``seconds`` from now."""
        self.not_before[host] = max(monotonic() + seconds, self.not_before.get(host, 0.0))


class PoliteSlot(Slot):
    """A downloader slot with one random draw per request.

    Scrapy asks for the delay at every wake-up. A new draw each time would favour long gaps, so a draw is kept
    until a request has started (``lastseen`` changes). The draw is kept and not the gap, so that a Crawl-delay
    that is learned while a request waits still counts.
    """

    def __init__(self, host: str, gaps: HostGaps, stats: StatsCollector | None = None) -> None:
        self._host, self._gaps, self._stats = host, gaps, stats
        self._draw = gaps.random.random()
        self._drawn_after = 0.0
        super().__init__(1, 0.0, 0.0)  # positional, because 2.19 renamed the third parameter

    def download_delay(self) -> float:
        """Return the seconds between the last start (``lastseen``) and the next one."""
        if not self.lastseen:  # no request yet, and the clock may have started less than a gap ago
            return self._extend_to_hold(MIN_GAP_SECONDS)
        if self.lastseen != self._drawn_after:
            if self._stats and self._drawn_after:
                gap = self.lastseen - self._drawn_after
                self._stats.inc_value("denoise/polite/gaps")
                self._stats.inc_value("denoise/polite/gap_seconds_total", gap)  # type: ignore[arg-type]
                self._stats.min_value("denoise/polite/gap_seconds_min", gap)
            self._drawn_after = self.lastseen
            self._draw = self._gaps.random.random()
        return self._extend_to_hold(self._gaps.gap(self._host, self._draw))

    # Scrapy forgets a slot `delay` + 60 s after its last request, and AutoThrottle writes to `delay`:
    # it has to be the longest gap possible, or a slot could be forgotten within a gap.
    @property
    def delay(self) -> float:
        """The longest gap possible now, in seconds; assignments are ignored."""
        return self._extend_to_hold(self._gaps.gap(self._host, 1.0))

    @delay.setter
    def delay(self, value: float) -> None:
        pass

    def _extend_to_hold(self, gap: float) -> float:
        return max(gap, self._gaps.not_before.get(self._host, 0.0) - self.lastseen)


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
            when = parsedate_to_datetime(value)
        except (TypeError, ValueError):
            return None
        if when.tzinfo is None:
            when = when.replace(tzinfo=timezone.utc)
        seconds = (when - datetime.now(timezone.utc)).total_seconds()
    return None if math.isnan(seconds) else max(seconds, 0.0)
