"""Spidermon monitors that check the cleaning of a crawl.

Set ``SPIDERMON_SPIDER_CLOSE_MONITORS = ["denoise_crawler.contrib.monitors.CleaningMonitorSuite"]``. The limits are
attributes of the monitors: subclass one to change them.
"""

from __future__ import annotations

from typing import ClassVar

from denoise_crawler.contrib.stat_checks import count_losses, noise_share, unread_share
from denoise_crawler.crawl.settings import abort_on_missing_extra

with abort_on_missing_extra("monitors"):
    from spidermon import MonitorSuite
    from spidermon.contrib.scrapy.monitors import BaseScrapyMonitor


class NothingLostMonitor(BaseScrapyMonitor):  # type: ignore[misc]
    """Checks that every item got its text and that the store could be read and written."""

    def test_nothing_lost(self) -> None:
        """No stat counts a loss."""
        losses = count_losses(self.data.stats)
        if losses:
            self.fail(", ".join(f"denoise/{name} is {count}" for name, count in losses.items()))


class NoiseShareMonitor(BaseScrapyMonitor):  # type: ignore[misc]
    """Checks the share of the text that was removed."""

    noise_min: ClassVar[float] = 0.02
    noise_max: ClassVar[float] = 0.98

    def test_noise_share(self) -> None:
        """The share is within ``noise_min`` and ``noise_max``."""
        share = noise_share(self.data.stats)
        if share is None:
            self.skipTest("no page was judged")
        elif not self.noise_min <= share <= self.noise_max:
            self.fail(f"{share:.0%} was noise, not {self.noise_min:.0%} to {self.noise_max:.0%}")


class ReadablePagesMonitor(BaseScrapyMonitor):  # type: ignore[misc]
    """Checks that few pages are empty or built by scripts."""

    unread_max: ClassVar[float] = 0.1

    def test_readable_pages(self) -> None:
        """Their share is at most ``unread_max``."""
        share = unread_share(self.data.stats)
        if share is None:
            self.skipTest("there was no page")
        elif share > self.unread_max:
            self.fail(f"{share:.0%} of the pages gave no text, more than {self.unread_max:.0%}")


class CleaningMonitorSuite(MonitorSuite):  # type: ignore[misc]
    """All monitors, for the end of a crawl."""

    monitors: ClassVar[list[type]] = [NothingLostMonitor, NoiseShareMonitor, ReadablePagesMonitor]
