"""What the stats of a crawl say about its cleaning: for monitors and for assertions."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from denoise_crawler.output.clean_text import noise_ratio

# Items that lack something they should have, or that are missing.
_LOSS_STATS = ("failed", "unfilled", "unreadable", "store_errors")


def count_losses(stats: Mapping[str, Any]) -> dict[str, int]:
    """Count what went wrong in a crawl.

    Args:
        stats: Scrapy's stats, as ``crawler.stats.get_stats()`` returns them.

    Returns:
        The stats that count a loss, without ``denoise/``; empty for a crawl without losses.

    Example:
        >>> count_losses({"denoise/items": 9, "denoise/failed": 2})
        {'failed': 2}
    """
    return {name: count for name in _LOSS_STATS if (count := _read_stat(stats, name))}


def noise_share(stats: Mapping[str, Any]) -> float | None:
    """Return the share (0 to 1) of the visible characters that was removed, None if no page was judged.

    Example:
        >>> noise_share({"denoise/characters_before": 1_000, "denoise/characters_after": 400})
        0.6
    """
    before = _read_stat(stats, "characters_before")
    return noise_ratio(before, _read_stat(stats, "characters_after")) if before else None


def unread_share(stats: Mapping[str, Any]) -> float | None:
    """Return the share (0 to 1) of the pages that have no readable text, None if there was no page.

    Those are skipped pages, and pages built by scripts.

    Example:
        >>> unread_share({"denoise/pages": 8, "denoise/skipped/empty": 2})
        0.2
    """
    skipped = sum(int(count) for name, count in stats.items() if name.startswith("denoise/skipped/"))
    unread = skipped + _read_stat(stats, "script_pages")
    pages = _read_stat(stats, "pages") + skipped
    return min(1.0, unread / pages) if pages else None


def _read_stat(stats: Mapping[str, Any], name: str) -> int:
    return int(stats.get(f"denoise/{name}", 0))
