"""The charts of a report: a site over time, the noise of each item of a feed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime, timezone
from pathlib import Path
from statistics import fmean
from types import MappingProxyType
from typing import Any

import msgspec

from denoise_crawler.errors import FeedError
from denoise_crawler.output.clean_text import noise_ratio
from denoise_crawler.page.text import counted
from denoise_crawler.report.figures import Chart
from denoise_crawler.store import SiteRun


def over_time(runs: Sequence[SiteRun]) -> Chart | None:
    """Return the chart of a site over its runs, in the order of time; None if no run is known.

    Example:
        >>> from denoise_crawler.store import SiteRun
        >>> over_time([SiteRun(1_700_000_000_000, pages=9, visible=200, kept=50)]).rows
        [('2023-11-14 22:13, 9 pages', (0.75, None))]
    """
    rows = []
    for run in runs:
        begun = datetime.fromtimestamp(min(run.begun, _LATEST) / 1_000, timezone.utc).strftime("%Y-%m-%d %H:%M")
        template = f", {counted(run.template, 'template line')}" if run.template else ""
        removed = noise_ratio(run.visible, run.kept) if run.visible else None
        rows.append((f"{begun}, {counted(run.pages, 'page')}{template}", (removed, run.drift)))
    note = (
        "Template lines come back on pages of the site. Drift is the mean share of a page's text where no page "
        "known before had any. Times are UTC; only crawls that came to their end are counted."
    )
    return Chart("Over time, crawl by crawl", ("crawl", "noise removed", "drift"), rows, note) if rows else None


_LATEST = 4_000_000_000_000  # milliseconds: a date that can be written


# --- the chart of a feed: how much noise each item's page had, and whether its site was known by then

_MAX_ROWS = 24
_MAX_ITEMS = 1_000_000
_AS_WE_NAME_THEM: Mapping[str, str] = MappingProxyType({})


class _Item(msgspec.Struct):
    noise_ratio: float | None = None
    warm: bool | None = None


def feed_chart(path: Path, names: Mapping[str, str] = _AS_WE_NAME_THEM) -> Chart:
    """Chart a feed of clean items: JSON Lines with ``noise_ratio``.

    Args:
        path: The feed.
        names: The fields of items by what they are filled with, where these differ (DENOISE_EXTRA_FIELDS).

    Raises:
        FeedError: The file cannot be read or holds no clean items.
    """
    items, broken = _read_items(path, names)
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


def _read_items(path: Path, names: Mapping[str, str]) -> tuple[list[_Item], int]:
    broken = 0
    items: list[_Item] = []
    try:
        with path.open("rb") as lines:
            for line in lines:
                item = _item(line, names)
                if item.noise_ratio is None or not 0.0 <= item.noise_ratio <= 1.0:
                    broken += bool(line.strip())
                elif len(items) < _MAX_ITEMS:
                    items.append(item)
    except OSError as error:
        raise FeedError(f"{path} cannot be read: {error.strerror or error}") from None
    if not items:
        wanted = " or ".join(dict.fromkeys((names.get("noise_ratio", "noise_ratio"), "noise_ratio")))
        raise FeedError(
            f"{path} holds no clean items: JSON Lines with {wanted} are wanted, as our spiders and "
            "DENOISE_EXTRA_FIELDS write them"
        )
    return items, broken


def _item(line: bytes, names: Mapping[str, str]) -> _Item:
    """Return the item of a line: its fields with the names of the settings, else with our own."""
    try:
        record = msgspec.json.decode(line, type=dict[str, Any])
        for known in (names, _AS_WE_NAME_THEM):
            values = {name: record.get(known.get(name, name)) for name in _Item.__struct_fields__}
            if values["noise_ratio"] is not None:
                return msgspec.convert(values, _Item)
    except (msgspec.DecodeError, UnicodeDecodeError):
        pass
    return _Item()
