"""The charts of a run and of a site, with their figures as tables and what is to be said of them."""

from __future__ import annotations

from statistics import fmean
from typing import TYPE_CHECKING, Any

from denoise_crawler.report import charts
from denoise_crawler.report.rendering import number, percent

if TYPE_CHECKING:
    from denoise_crawler.report.figures import RunFigures, SiteFigures

_CHARTED_SITES, _CHARTED_PAGES = 20, 60


def run_charts(run: RunFigures) -> dict[str, Any]:
    """Return the chart of all sites, for the template."""
    charted = [site for site in run.sites if site.sizes.noise_share is not None]
    some = charted[:_CHARTED_SITES]
    if len(some) < 2:
        return {"chart": None, "chart_rows": [], "chart_note": ""}
    values = [site.sizes.noise_share for site in some]
    return {
        "chart": charts.bars(
            "Share of the visible characters removed, by site", [site.title for site in some], values
        ),
        "chart_rows": [(site.title, percent(site.sizes.noise_share)) for site in some],
        "chart_note": f"The {len(some)} sites with the most pages." if len(charted) > len(some) else "",
    }


def site_charts(site: SiteFigures) -> dict[str, Any]:
    """Return the charts of one site, for the template."""
    values: dict[str, Any] = dict.fromkeys(("curve_chart", "curve_rows", "curve_note", "shares_chart"))
    if (curve := site.curve) is not None:
        series = {"verdict as in the end": curve.settled, "removed": curve.removed}
        values["curve_chart"] = charts.curve(
            "Learning curve: share of characters removed, and share with the verdict of the end, by pages learned",
            curve.pages,
            series,
            x_title="pages learned",
        )
        values["curve_rows"] = [
            (number(pages), percent(removed), percent(settled))
            for pages, removed, settled in zip(curve.pages, curve.removed, curve.settled, strict=True)
        ]
        values["curve_note"] = (
            f"The same {curve.judged} pages, judged after so many other pages of the site were learned. "
            "There is no gold text here: the curve shows how soon verdicts settle, not whether they are right."
        )
    rows, note = _by_page(site.shares)
    if len(rows) > 1:
        values["shares_chart"] = charts.columns(
            "Share of characters removed, page by page", [share for _, share in rows], x_title="page"
        )
    values["shares_rows"] = [(pages, percent(share)) for pages, share in rows]
    values["shares_note"] = note
    return values


def _by_page(shares: list[float]) -> tuple[list[tuple[str, float]], str]:
    """Return at most 60 (pages, share): means of several pages where there are more."""
    each = -(-len(shares) // _CHARTED_PAGES) or 1
    groups = [(start, shares[start : start + each]) for start in range(0, len(shares), each)]
    rows = [
        (str(start + 1) if each == 1 else f"{start + 1}–{start + len(some)}", fmean(some))
        for start, some in groups
    ]
    return rows, "" if each == 1 else f"Each column is the mean of {each} pages."
