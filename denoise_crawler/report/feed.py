"""The items of a crawl, in order: how much of each page was noise, and whether its site was known by then."""

from __future__ import annotations

from dataclasses import dataclass
from statistics import fmean
from typing import TYPE_CHECKING

import msgspec

from denoise_crawler.report import charts
from denoise_crawler.report.rendering import percent

if TYPE_CHECKING:
    from pathlib import Path

    from markupsafe import Markup

_POINTS = 24
_ITEMS = 1_000_000


class FeedError(ValueError):
    """A file holds no clean items; the message names it and says what is wanted."""


class _Item(msgspec.Struct):
    noise_ratio: float | None = None
    warm: bool | None = None


@dataclass(frozen=True, slots=True)
class FeedCurve:
    """A chart of a feed, its rows and what is to be said of it."""

    chart: Markup
    rows: list[tuple[str, str, str]]
    note: str


def feed_curve(path: Path) -> FeedCurve:
    """Read a feed of clean items (JSON Lines with ``noise_ratio``); raise :class:`FeedError` for others."""
    items, broken = _items(path)
    each = -(-len(items) // _POINTS) or 1
    groups = [items[start : start + each] for start in range(0, len(items), each)]
    removed = [fmean(item.noise_ratio or 0.0 for item in some) for some in groups]
    warm = [fmean(bool(item.warm) for item in some) for some in groups]
    ends = [min((place + 1) * each, len(items)) for place in range(len(groups))]
    chart = charts.curve(
        "Share of characters removed, and share of items of a known site, as the crawl went",
        ends,
        {"noise removed": removed, "of a known site": warm},
        x_title="items",
    )
    rows = [
        (f"{end:,}", percent(one), percent(other)) for end, one, other in zip(ends, removed, warm, strict=True)
    ]
    note = f"{len(items):,} items of {path.name}, {each:,} a point."
    return FeedCurve(chart, rows, note + (f" {broken:,} lines are no clean items." if broken else ""))


def _items(path: Path) -> tuple[list[_Item], int]:
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
                elif len(items) < _ITEMS:
                    items.append(item)
    except OSError as error:
        raise FeedError(f"{path} cannot be read: {error.strerror or error}") from None
    if not items:
        raise FeedError(
            f"{path} holds no clean items: JSON Lines with noise_ratio are wanted, as our spiders write them"
        )
    return items, broken
