"""The charts of a report: a site over time, the noise of each item of a feed."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
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
from denoise_crawler.report.rendering import number, percent
from denoise_crawler.store import SiteRun

# --- a site over time: what each run of its crawls saw of it, as small line charts and as a table

WIDTH, HEIGHT = 1_000, 100  # of a drawing, in its own units; a browser stretches it
_MARGIN = 12
_MAX_POINTS = 60  # more of them would cover the line
_HEADS = ("run", "pages", "noise removed", "template lines", "drift", "new layouts")


@dataclass(frozen=True, slots=True)
class Line:
    """One figure over time: the last value, the range, and the paths of an SVG for the line and for its points."""

    name: str
    last: str
    span: str
    line: str
    points: str


@dataclass(frozen=True, slots=True)
class OverTime:
    """A site over time; ``sentence`` alone where there is one run."""

    sentence: str
    lines: Sequence[Line] = ()
    heads: Sequence[str] = _HEADS
    rows: Sequence[tuple[str, Sequence[str]]] = ()
    first: str = ""
    last: str = ""


def over_time(runs: Sequence[SiteRun]) -> OverTime | None:
    """Return the picture of a site over its runs, in the order of time; None if no run is known.

    Example:
        >>> from denoise_crawler.store import SiteRun
        >>> over_time([SiteRun(1_700_000_000_000, pages=9, visible=200, kept=50)]).sentence
        'One crawl so far, on 2023-11-14: 9 pages, 75.0% removed. Lines are drawn from the second crawl on.'

    """
    if not runs:
        return None
    days = [_time(run).strftime("%Y-%m-%d") for run in runs]
    if len(runs) == 1:
        removed = "" if (share := _removed(runs[0])) is None else f", {percent(share)} removed"
        said = f"One crawl so far, on {days[0]}: {counted(runs[0].pages, 'page')}{removed}."
        return OverTime(f"{said} Lines are drawn from the second crawl on.")
    figures: list[tuple[str, Sequence[float | None], Callable[[float], str]]] = [
        ("Pages", [run.pages for run in runs], _whole),
        ("Noise removed", [_removed(run) for run in runs], percent),
        ("Template lines", [run.template or None for run in runs], _whole),
        ("Drift", [run.drift for run in runs], percent),
    ]
    begun = [run.begun for run in runs]
    lines = [_line(name, begun, values, shown) for name, values, shown in figures if any(_known(values))]
    return OverTime(f"{len(runs):,} crawls.", lines, _HEADS, [_row(run) for run in runs], days[0], days[-1])


def _row(run: SiteRun) -> tuple[str, Sequence[str]]:
    template = number(run.template or None)
    figures = number(run.pages), percent(_removed(run)), template, percent(run.drift), number(run.layouts)
    return _time(run).strftime("%Y-%m-%d %H:%M"), figures


def _line(name: str, begun: list[int], values: Sequence[float | None], shown: Callable[[float], str]) -> Line:
    """Draw one figure; where a run has no value, the line is broken."""
    known = _known(values)
    lowest, highest = min(known), max(known)
    across = max(begun[-1] - begun[0], 1)
    line, points, drawn = [], [], False
    for at, value in zip(begun, values, strict=True):
        if value is None:
            drawn = False
            continue
        height = (value - lowest) / (highest - lowest) if highest > lowest else 0.5
        x = _MARGIN + (WIDTH - 2 * _MARGIN) * (at - begun[0]) / across
        y = HEIGHT - _MARGIN - (HEIGHT - 2 * _MARGIN) * height
        line.append(f"L{x:.1f} {y:.1f}" if drawn else f"M{x:.1f} {y:.1f}h0")
        points.append(f"M{x:.1f} {y:.1f}h0")
        drawn = True
    span = "unchanged" if lowest == highest else f"{shown(lowest)} to {shown(highest)}"
    dots = "".join(points) if len(points) <= _MAX_POINTS else ""
    return Line(name, shown(known[-1]), span, "".join(line), dots)


def _known(values: Sequence[float | None]) -> list[float]:
    return [value for value in values if value is not None]


def _removed(run: SiteRun) -> float | None:
    return noise_ratio(run.visible, run.kept) if run.visible else None


def _whole(value: float) -> str:
    return number(int(value))


def _time(run: SiteRun) -> datetime:
    return datetime.fromtimestamp(min(run.begun, 4_000_000_000_000) / 1_000, timezone.utc)


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
