"""Whether what came out of a crawl is known to be safe."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from scrapy.crawler import Crawler


def feeds_are_safe(crawler: Crawler) -> bool:
    """Tell whether all feeds of a crawl that has ended are known to be written."""
    stats = crawler.stats.get_stats()
    stored, failed = (
        sum(value for name, value in stats.items() if name.startswith(f"feedexport/{how}_count/"))
        for how in ("success", "failed")
    )
    wanted = bool(crawler.settings.getdict("FEEDS")) and bool(stats.get("item_scraped_count"))
    return not failed and (stored > 0 or not wanted)
