"""Whether the feeds of a crawl were written."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scrapy.extensions.feedexport import FeedExporter

if TYPE_CHECKING:
    from scrapy.crawler import Crawler


def feeds_are_safe(crawler: Crawler) -> bool:
    """Tell whether all feeds of a finished crawl were written.

    Scrapy writes no feed that got no item and reports nothing of it; that is no failure.
    """
    stats = crawler.stats.get_stats()
    stored, failed = (
        sum(value for name, value in stats.items() if name.startswith(f"feedexport/{how}_count/"))
        for how in ("success", "failed")
    )
    exporter = crawler.get_extension(FeedExporter)
    got_items = exporter is not None and any(slot.itemcount for slot in exporter.slots)
    return not failed and (stored > 0 or not got_items)
