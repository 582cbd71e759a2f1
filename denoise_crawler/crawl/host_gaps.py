"""How long a host is left alone between two requests: a range, what the host asks for, a draw for each request."""

from __future__ import annotations

import math
import random
from datetime import datetime, timezone
from email.utils import parsedate_to_datetime
from time import monotonic
from typing import TYPE_CHECKING

from scrapy.core.downloader import Slot

from denoise_crawler.page.host_names import canonical_host

if TYPE_CHECKING:
    from scrapy.settings import BaseSettings
    from scrapy.statscollectors import StatsCollector

# A delay of 0 makes Scrapy send a whole slot queue at once, whatever the concurrency of the slot is.
MIN_GAP_SECONDS = 0.001


def read_seconds(name: str, value: object) -> float:
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
            read_seconds("DENOISE_DELAY_MIN", settings.get("DENOISE_DELAY_MIN", 5.0)),
            read_seconds("DENOISE_DELAY_MAX", settings.get("DENOISE_DELAY_MAX", 20.0)),
            seed,
        )
        for host, options in settings.getdict("DOWNLOAD_SLOTS").items():
            delay = read_seconds(f"DOWNLOAD_SLOTS[{host!r}]['delay']", options.get("delay", 0))
            gaps.raise_floor(canonical_host(host), delay)
        return gaps

    def least(self, host: str) -> float:
        """Return the shortest gap in seconds that a host may have now."""
        return max(self.low, self.floors.get(host, 0.0))

    def gap(self, host: str, unit: float) -> float:
        """Return the gap in seconds for the draw ``unit`` (0..1) with what is known of the host now."""
        return max(self.least(host) + unit * (self.high - self.low), MIN_GAP_SECONDS)

    def raise_floor(self, host: str, seconds: float) -> bool:
        """Move the range of a host up to begin at ``seconds``; return False if it begins there or above."""
        if seconds <= self.least(host):
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
        if not self.lastseen:  # no request yet; this clock may be younger than the gap
            return self._at_least(MIN_GAP_SECONDS)
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
