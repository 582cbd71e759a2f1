"""The chart of a feed: how much noise each item's page had, and whether its site was known by then."""

from __future__ import annotations

from statistics import fmean
from typing import TYPE_CHECKING

import msgspec

from denoise_crawler.errors import FeedError
from denoise_crawler.report.charts import Chart

if TYPE_CHECKING:
    from pathlib import Path

_MAX_ROWS = 24
_MAX_ITEMS = 1_000_000


class _Item(msgspec.Struct):
    noise_ratio: float | None = None
    warm: bool | None = None


def feed_chart(path: Path) -> Chart:
    """Chart a feed of clean items: JSON Lines with ``noise_ratio``.

    Raises:
        FeedError: The file cannot be read or holds no clean items.

    """
    items, broken = _read_items(path)
    each = -(-len(items) // _MAX_ROWS)
    rows = []
    for start in range(0, len(items), each):
        some = items[start : start + each]
        removed = fmean(item.noise_ratio or 0.0 for item in some)
        warm = fmean(bool(item.warm) for item in some)
        rows.append((f"{start + len(some):,}", (removed, warm)))
    note = f"{len(items):,} items of {path.name}, {each:,} a row."
    return Chart(
        "Noise removed, item by item as the crawl went",
        ("items", "noise removed (mean)", "of a known site"),
        rows,
        note + (f" {broken:,} lines are no clean items." if broken else ""),
    )


def _read_items(path: Path) -> tuple[list[_Item], int]:
    decoder, broken = msgspec.json.Decoder(_Item), 0
    items: list[_Item] = []
    try:
        with path.open("rb") as lines:
            for line in lines:
                try:
                    item = decoder.decode(line)
                except (msgspec.DecodeError, UnicodeDecodeError):
                    item = _Item()
                if item.noise_ratio is None or not 0.0 <= item.noise_ratio <= 1.0:
                    broken += bool(line.strip())
                elif len(items) < _MAX_ITEMS:
                    items.append(item)
    except OSError as error:
        raise FeedError(f"{path} cannot be read: {error.strerror or error}") from None
    if not items:
        raise FeedError(
            f"{path} holds no clean items: JSON Lines with noise_ratio are wanted, as our spiders write them"
        )
    return items, broken
