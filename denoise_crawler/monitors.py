"""Spidermon monitors that check the cleaning of a crawl.

Set ``SPIDERMON_SPIDER_CLOSE_MONITORS = ["denoise_crawler.monitors.CleaningMonitorSuite"]``. The limits are
settings: DENOISE_MONITOR_NOISE_MIN, DENOISE_MONITOR_NOISE_MAX, DENOISE_MONITOR_UNREAD_MAX.
"""

from __future__ import annotations

from typing import ClassVar

from denoise_crawler.crawl.settings import abort_on_missing_extra
from denoise_crawler.crawl.settings_table import MonitorSettings
from denoise_crawler.crawl.stat_checks import count_losses, noise_share, unread_share

with abort_on_missing_extra("monitors"):
    from spidermon import MonitorSuite
    from spidermon.contrib.scrapy.monitors import BaseScrapyMonitor


class NothingLostMonitor(BaseScrapyMonitor):  # type: ignore[misc]
    """Checks that every item got its text and that the store could be read and written."""

    def test_nothing_lost(self) -> None:
        """No stat counts a loss."""
        found = count_losses(self.data.stats)
        if found:
            self.fail(", ".join(f"denoise/{name} is {count}" for name, count in found.items()))


class NoiseShareMonitor(BaseScrapyMonitor):  # type: ignore[misc]
    """Checks the share of the text that was removed."""

    def test_noise_share(self) -> None:
        """The share is within DENOISE_MONITOR_NOISE_MIN and _MAX."""
        limits = MonitorSettings.read(self.data.crawler.settings)
        share = noise_share(self.data.stats)
        if share is None:
            self.skipTest("no page was judged")
        elif not limits.noise_min <= share <= limits.noise_max:
            self.fail(f"{share:.0%} was noise, not {limits.noise_min:.0%} to {limits.noise_max:.0%}")


class ReadablePagesMonitor(BaseScrapyMonitor):  # type: ignore[misc]
    """Checks that few pages are empty or built by scripts."""

    def test_readable_pages(self) -> None:
        """Their share is at most DENOISE_MONITOR_UNREAD_MAX."""
        maximum = MonitorSettings.read(self.data.crawler.settings).unread_max
        share = unread_share(self.data.stats)
        if share is None:
            self.skipTest("there was no page")
        elif share > maximum:
            self.fail(f"{share:.0%} of the pages gave no text, more than {maximum:.0%}")


class CleaningMonitorSuite(MonitorSuite):  # type: ignore[misc]
    """All monitors, for the end of a crawl."""

    monitors: ClassVar[list[type]] = [NothingLostMonitor, NoiseShareMonitor, ReadablePagesMonitor]
