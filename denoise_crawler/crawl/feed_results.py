"""Whether what came out of a crawl is known to be safe."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scrapy.extensions.feedexport import FeedExporter

if TYPE_CHECKING:
    from scrapy.crawler import Crawler


def feeds_are_safe(crawler: Crawler) -> bool:
    """Tell whether all feeds of a crawl that has ended are known to be written.

    A feed that got no item is not written, and says nothing: that is no failure.
    """
    stats = crawler.stats.get_stats()
    stored, failed = (
        sum(value for name, value in stats.items() if name.startswith(f"feedexport/{how}_count/"))
        for how in ("success", "failed")
    )
    exporter = crawler.get_extension(FeedExporter)
    got_items = exporter is not None and any(slot.itemcount for slot in exporter.slots)
    return not failed and (stored > 0 or not got_items)
