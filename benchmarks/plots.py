"""Plots for the docs from the figures of a benchmark: ``python -m benchmarks.plots FILE.json -o FILE.svg``.

What is drawn follows from what the file holds: the learning curve (F1 against pages of the site that are known,
a line a set and method), one large site (seconds per 1,000 pages, or what is known in KiB, against its pages, a
line a method) or speed (a bar a stage, as a multiple of lxml's parse). With ``--beside``, figures of quality add
a level line for each contender on the same sets to the learning curve.
"""

import json
import sys
from argparse import ArgumentParser
from itertools import accumulate
from math import ceil
from pathlib import Path
from typing import Any

import pygal
from lxml import etree
from pygal.style import Style

# pygal hooks into every later import, for maps we do not draw, in a way that Python 3.10 and 3.11 warn of.
sys.meta_path[:] = [finder for finder in sys.meta_path if type(finder).__name__ != "PluginImportFixer"]

_STYLE = Style(
    background="#ffffff",
    plot_background="#ffffff",
    guide_stroke_color="#d8dee4",
    major_guide_stroke_color="#d8dee4",
    font_family="system-ui, sans-serif",
    label_font_size=12,
    major_label_font_size=12,
    legend_font_size=12,
    title_font_size=15,
    colors=("#1f6feb", "#d1570c", "#2f8f4e", "#8250df", "#6e7781", "#bf3989", "#0a7d8c"),
    opacity=".9",
    transition="0s",
)
NOT_DRAWN = 2
KIB = 1024


class NoPlotError(ValueError):
    """The file holds nothing that can be drawn; the message says what it should hold."""


LEGEND_COLUMNS = 3


def plot(figures: Any, beside: Any = None, *, size: bool = False) -> Any:
    """Return the chart of what ``figures`` hold; raise :class:`NoPlotError` if there is none.

    ``beside`` are figures of ``benchmarks.quality``; with ``size`` a large site's plot shows bytes, not seconds.
    """
    if not isinstance(figures, dict) or not figures:
        raise NoPlotError("it holds no figures of a benchmark")
    if isinstance(figures.get("one site"), dict) and figures["one site"]:
        return large_site(figures["one site"], size=size)
    if (stages := figures.get("all")) and all("ratio" in stage for stage in stages.values()):
        return speed(stages)
    if all(counted and isinstance(counted, dict) and _by_number(counted) for counted in figures.values()):
        return learning_curve(figures, level_lines(beside, list(figures)) if beside else {})
    raise NoPlotError("it holds figures of neither learning, scale (one site) nor speed")


def _by_number(figures: dict[str, Any]) -> bool:
    return all(map(str.isdigit, figures))


def learning_curve(figures: dict[str, dict[str, list[float]]], levels: dict[str, float]) -> Any:
    """Return F1 against the known pages of the site, with level lines of extractors that learn nothing."""
    known = sorted({int(number) for counted in figures.values() for number in counted})
    chart = _lines("What each page of the site adds", "pages of the site known", "F1")
    chart.x_labels = [str(number) for number in known]
    for name, counted in figures.items():
        chart.add(name, [counted[str(number)][0] if str(number) in counted else None for number in known])
    for name, f1 in levels.items():
        chart.add(name, [f1] * len(known), show_dots=False, stroke_style={"width": 1.5, "dasharray": "5,4"})
    # pygal leaves room for one row of the legend, whose others would be cut off
    chart.margin_bottom = 20 * ceil(len(figures | levels) / LEGEND_COLUMNS)
    return chart


def level_lines(quality: Any, sets: list[str]) -> dict[str, float]:
    """Return the F1 of each contender that does not learn, by its name and set, from the figures of quality."""
    found: dict[str, float] = {}
    for group in quality.get("groups", []) if isinstance(quality, dict) else []:
        if (
            any(group.get("set") == name.partition(",")[0] for name in sets)
            and group.get("label") == "reporting half"
        ):
            for name, contender in group["contenders"].items():
                found[f"{name}, {group['set']}"] = contender["words"]["f1"]
    return found


def large_site(figures: dict[str, Any], *, size: bool) -> Any:
    """Return seconds per 1,000 pages, or KiB, against the pages of one site."""
    title = "What is known of one site" if size else "The cost of a page as its site grows"
    chart = _lines(title, "pages of the site", "KiB" if size else "CPU seconds per 1,000 pages")
    for name, found in figures.items():
        steps = found["steps"]
        chart.x_labels = [f"{pages:,}" for pages in accumulate(step["pages"] for step in steps)]
        if size:
            chart.add(f"{name}, stored", [step["stored_bytes"] / KIB for step in steps])
            chart.add(f"{name}, in memory", [step["memory_bytes"] / KIB for step in steps])
        else:
            chart.add(name, [_seconds(step) for step in steps])
            parsing = [1_000 * step["parse_seconds"] / step["pages"] for step in steps]
            chart.add(f"lxml parse alone ({name})", parsing)
    chart.include_x_axis = True
    chart.x_labels_major_every = max(1, len(chart.x_labels) // 6)
    chart.show_minor_x_labels = False
    return chart


def _seconds(step: dict[str, float]) -> float:
    return 1_000 * (step["learn_seconds"] + step["clean_seconds"]) / step["pages"]


def speed(stages: dict[str, dict[str, float]]) -> Any:
    """Return a bar for each stage: its cost as a multiple of lxml's parse of the same page."""
    chart = pygal.HorizontalBar(
        **_common("CPU time of a page, as a multiple of lxml's parse"),
        height=90 + 30 * len(stages),
        show_legend=False,
        value_formatter=lambda ratio: f"{ratio:.2f}",
        truncate_label=-1,
    )
    # beside the name: on a short bar a number could not be read
    chart.x_labels = [f"{name}   {stages[name]['ratio']:.2f}" for name in reversed(stages)]
    chart.add("x lxml parse", [stages[name]["ratio"] for name in reversed(stages)])
    return chart


def _lines(title: str, x_title: str, y_title: str) -> Any:
    return pygal.Line(
        **_common(title),
        height=420,
        x_title=x_title,
        y_title=y_title,
        legend_at_bottom=True,
        legend_at_bottom_columns=LEGEND_COLUMNS,
        truncate_legend=-1,
        dots_size=3,
        stroke_style={"width": 2.5},
        value_formatter=_written,
    )


def _written(value: float | None) -> str:
    if value is None:
        return ""
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:,.3g}"


def _common(title: str) -> dict[str, Any]:
    return {"title": title, "style": _STYLE, "js": [], "width": 760, "explicit_size": True, "show_y_guides": True}


def to_svg(chart: Any) -> bytes:
    """Return the SVG of a chart, without script; the same figures give the same bytes."""
    chart.uuid = "plot"
    root = etree.fromstring(chart.render())
    etree.strip_tags(root, etree.Comment)
    for script in list(root.iter("{*}script")):
        if (parent := script.getparent()) is not None:
            parent.remove(script)
    return etree.tostring(root) + b"\n"


def main(argv: list[str] | None = None) -> None:
    """Write the plot."""
    parser = ArgumentParser(description=__doc__)
    parser.add_argument("figures", type=Path, metavar="FILE.json", help="what a benchmark wrote with --json")
    parser.add_argument("-o", "--output", type=Path, required=True, metavar="FILE.svg")
    parser.add_argument("--beside", type=Path, metavar="FILE.json", help="figures of quality as level lines")
    parser.add_argument("--size", action="store_true", help="of a large site draw bytes instead of seconds")
    arguments = parser.parse_args(argv)
    file = arguments.figures
    try:
        figures = json.loads(file.read_text("utf-8"))
        file = arguments.beside or file
        beside = json.loads(file.read_text("utf-8")) if arguments.beside else None
        chart = plot(figures, beside, size=arguments.size)
    except (OSError, NoPlotError, ValueError) as error:
        print(f"{file} cannot be drawn: {error}", file=sys.stderr)
        sys.exit(NOT_DRAWN)
    arguments.output.write_bytes(to_svg(chart))


if __name__ == "__main__":
    main()
