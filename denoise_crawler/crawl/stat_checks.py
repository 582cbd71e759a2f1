"""What the stats of a crawl say of its cleaning: for monitors, and for asserting on."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from denoise_crawler.output.characters import noise_ratio

if TYPE_CHECKING:
    from collections.abc import Mapping

# Items that came out without what they should have, or did not come out.
LOST = ("failed", "unfilled", "parts_missing", "unreadable", "store_errors")


def lost(stats: Mapping[str, Any]) -> dict[str, int]:
    """Return how often something went wrong, by the name of the stat; empty for a sound crawl."""
    return {name: count for name in LOST if (count := _count(stats, name))}


def noise_share(stats: Mapping[str, Any]) -> float | None:
    """Return the share of the visible characters that was removed (0-1), None if no page was judged."""
    before = _count(stats, "characters_before")
    return noise_ratio(before, _count(stats, "characters_after")) if before else None


def unread_share(stats: Mapping[str, Any]) -> float | None:
    """Return the share of pages that gave no text: skipped, or built by scripts. None without pages."""
    skipped = sum(int(count) for name, count in stats.items() if name.startswith("denoise/skipped/"))
    unread = skipped + _count(stats, "script_pages")
    pages = _count(stats, "pages") + skipped
    return min(1.0, unread / pages) if pages else None


def _count(stats: Mapping[str, Any], name: str) -> int:
    return int(stats.get(f"denoise/{name}", 0))
