"""The settings of the demo crawl: a project with the add-on and a short delay."""

from __future__ import annotations

import json
from pathlib import Path

from scrapy import signals
from scrapy.crawler import Crawler
from scrapy.exceptions import NotConfigured

SETTING = "STATS_FILE"


class StatsFile:
    """An extension that writes all stats as JSON to the file that ``STATS_FILE`` names."""

    def __init__(self, crawler: Crawler, path: Path) -> None:
        self._crawler, self._path = crawler, path
        crawler.signals.connect(self._write, signals.engine_stopped)

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> StatsFile:
        """Set up, if the setting names a file."""
        path = crawler.settings.get(SETTING)
        if not path:
            raise NotConfigured
        return cls(crawler, Path(path))

    def _write(self) -> None:
        self._path.write_text(json.dumps(self._crawler.stats.get_stats(), default=str), encoding="utf-8")


BOT_NAME = "denoise_demo"
SPIDER_MODULES = ["denoise_crawler.spiders"]
ADDONS = {"denoise_crawler.Addon": 300}
EXTENSIONS = {StatsFile: 0}
REMOTE_CONTROL_ENABLED = False
TELNETCONSOLE_ENABLED = False
LOG_LEVEL = "INFO"
CONCURRENT_ITEMS = 4  # a page has one item

DENOISE_DELAY_MIN = 0.05
DENOISE_DELAY_MAX = 0.2
