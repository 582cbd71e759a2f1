"""Charts as SVG that needs no script, drawn by pygal; colours are those of the page they stand in."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import pygal
from lxml import etree
from markupsafe import Markup
from pygal.style import Style

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

# pygal hooks into every later import, for maps we do not draw, in a way that Python 3.10 and 3.11 warn of.
sys.meta_path[:] = [finder for finder in sys.meta_path if type(finder).__name__ != "PluginImportFixer"]

_FONT = "system-ui, sans-serif"
_STYLE = Style(
    background="transparent",
    plot_background="transparent",
    foreground="var(--text)",
    foreground_strong="var(--text)",
    foreground_subtle="var(--line)",
    guide_stroke_color="var(--line)",
    major_guide_stroke_color="var(--line)",
    guide_stroke_dasharray="2,3",
    font_family=_FONT,
    label_font_size=12,
    major_label_font_size=12,
    legend_font_size=12,
    value_font_size=12,
    title_font_size=15,
    colors=("var(--series-1)", "var(--series-2)", "var(--series-3)"),
    value_colors=("var(--back)",) * 3,
    opacity=".9",
    opacity_hover="1",
    transition="0s",
)
_SVG = "{http://www.w3.org/2000/svg}"


def curve(name: str, x: Sequence[int], series: Mapping[str, Sequence[float]], *, x_title: str) -> Markup:
    """Return a line chart of shares (0-1) over whole numbers."""
    chart = pygal.Line(
        **_common(260),
        range=(0, 1),
        x_title=x_title,
        show_legend=len(series) > 1,
        legend_at_bottom=True,
        dots_size=4,
        stroke_style={"width": 2.5},
    )
    chart.x_labels = [f"{value:,}" for value in x]
    for label, values in series.items():
        chart.add(label, list(values))
    return _drawn(chart, name)


def bars(name: str, labels: Sequence[str], values: Sequence[float | None]) -> Markup:
    """Return horizontal bars of shares (0-1), one a label, the first on top."""
    chart = pygal.HorizontalBar(
        **_common(60 + 26 * len(labels)),
        range=(0, 1),
        show_legend=False,
        print_values=True,
        print_values_position="center",
        truncate_label=22,
        margin_right=22,  # half of "100%" stands behind the axis
    )
    chart.x_labels = list(reversed(labels))
    chart.add("removed", list(reversed(values)))
    return _drawn(chart, name)


def columns(name: str, values: Sequence[float], *, x_title: str) -> Markup:
    """Return columns of shares (0-1), one a value, in order."""
    chart = pygal.Bar(
        **_common(240),
        range=(0, 1),
        show_legend=False,
        x_title=x_title,
        truncate_label=-1,
        spacing=6,
        margin_top=14,
    )
    every = max(1, len(values) // 6)
    chart.x_labels = [str(number) for number in range(1, len(values) + 1)]
    chart.x_labels_major = [str(number) for number in range(1, len(values) + 1, every)]
    chart.show_minor_x_labels = False
    chart.add("removed", list(values))
    return _drawn(chart, name)


def _common(height: int) -> dict[str, Any]:
    return {
        "js": [],
        "style": _STYLE,
        "width": 460,
        "height": height,
        "explicit_size": False,
        "value_formatter": lambda share: "" if share is None else f"{share:.0%}",
        "show_y_guides": True,
        "margin": 6,
        "y_labels_major_count": 5,
        "no_data_text": "",
    }


def _drawn(chart: Any, name: str) -> Markup:
    """Return the chart for a page: one picture to who hears it, each value as a tooltip to who sees it."""
    root = etree.fromstring(chart.render())
    etree.strip_tags(root, etree.Comment)
    root.set("role", "img")
    root.set("aria-label", name)
    for described in root.iter(f"{_SVG}desc"):
        kind, parent = described.get("class"), described.getparent()
        if kind == "value" and parent is not None:
            title = etree.Element(f"{_SVG}title")
            label = parent.findtext(f"{_SVG}desc[@class='x_label']")
            title.text = f"{label}: {described.text}" if label else described.text
            parent.insert(0, title)
    for described in list(root.iter(f"{_SVG}desc")):
        parent = described.getparent()
        if parent is not None:
            parent.remove(described)
    etree.cleanup_namespaces(root)
    return Markup(etree.tostring(root, encoding="unicode"))  # noqa: S704 - labels are escaped by the serialiser
