"""An extension that writes the stats of a crawl to a file."""

from __future__ import annotations

import json
from pathlib import Path

from scrapy import signals
from scrapy.crawler import Crawler
from scrapy.exceptions import NotConfigured

SETTING = "DENOISE_STATS_FILE"


class StatsFile:
    """An extension that writes all stats as JSON to the file that ``DENOISE_STATS_FILE`` names."""

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
