"""How long the sites of a crawl have been in their warm-up, by a clock that only goes forward."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from math import inf
from typing import NamedTuple

LONGEST_PAUSES = 10  # the warm-up of a site ends after so many times the longest pause between new pages


class OverdueSite(NamedTuple):
    """A site whose warm-up has taken too long, and how long, in words."""

    site: str
    after: str


@dataclass(slots=True)
class _Clock:
    """When the first page and the last new page of a site came."""

    first: float
    last: float


class WarmupClocks:
    """Finds the sites that have waited too long for a new page, or for all of their pages.

    Args:
        pause: The longest time without a new page, in seconds; 0 for no limit.
        now: The clock.

    Example:
        >>> time = 0.0
        >>> clocks = WarmupClocks(30, now=lambda: time)
        >>> clocks.note("example.com")
        >>> time = 20.0
        >>> clocks.note("example.com")
        >>> time = 45.0
        >>> clocks.take_overdue()
        []
        >>> time = 51.0
        >>> clocks.take_overdue()
        [OverdueSite(site='example.com', after='30 seconds without a new page')]
    """

    def __init__(self, pause: float, *, now: Callable[[], float] = time.monotonic) -> None:
        self._pause, self._longest, self._now = pause or inf, LONGEST_PAUSES * (pause or inf), now
        self._clocks: dict[str, _Clock] = {}

    def note(self, site: str, *, new: bool = True) -> None:
        """Record that a page of a site has come; ``new`` is True if it was another one than those before."""
        now = self._now()
        clock = self._clocks.setdefault(site, _Clock(now, now))
        if new:
            clock.last = now

    def stop(self, site: str) -> None:
        """Forget a site: its warm-up is over."""
        self._clocks.pop(site, None)

    def take_overdue(self) -> list[OverdueSite]:
        """Return the sites whose time is over, those that were due first at the front, and forget them."""
        now, overdue = self._now(), []
        for site, clock in self._clocks.items():
            deadline = min(clock.last + self._pause, clock.first + self._longest)
            if deadline < now:
                overdue.append((deadline, OverdueSite(site, self._after(clock, now))))
        sites = [site for _, site in sorted(overdue)]
        for name, _ in sites:
            del self._clocks[name]
        return sites

    def _after(self, clock: _Clock, now: float) -> str:
        if now - clock.last > self._pause:
            return f"{self._pause:g} seconds without a new page"
        return f"{self._longest:g} seconds"
