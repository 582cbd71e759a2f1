"""The charts of a run and of a site: tables with bars."""

from __future__ import annotations

from dataclasses import dataclass
from statistics import fmean
from typing import TYPE_CHECKING

from denoise_crawler.report.rendering import number

if TYPE_CHECKING:
    from collections.abc import Sequence

    from denoise_crawler.report.figures import SiteFigures

MAX_CHARTED_PAGES = 60


@dataclass(frozen=True, slots=True)
class Chart:
    """A table with a title. Each row has a name and its shares (0-1)."""

    title: str
    heads: Sequence[str]
    rows: Sequence[tuple[str, Sequence[float]]]
    note: str = ""


def learning_chart(site: SiteFigures) -> Chart | None:
    """Return the learning curve of a site as a chart; None if it has no curve."""
    if (curve := site.curve) is None:
        return None
    shares = zip(curve.pages, curve.removed, curve.settled, strict=True)
    return Chart(
        "Learning curve",
        ("pages learned", "removed", "verdict as in the end"),
        [(number(pages), (removed, settled)) for pages, removed, settled in shares],
        f"The same {curve.judged} pages, judged after so many other pages of the site were learned. There is no "
        "gold text here: the curve shows how soon verdicts settle, not whether they are right.",
    )


def page_chart(site: SiteFigures) -> Chart | None:
    """Return the chart of a site's pages, several pages a row where there are many; None for one page."""
    shares = site.shares
    if len(shares) < 2:
        return None
    each = -(-len(shares) // MAX_CHARTED_PAGES)
    groups = [(start, shares[start : start + each]) for start in range(0, len(shares), each)]
    rows = [
        (str(start + 1) if each == 1 else f"{start + 1}–{start + len(some)}", (fmean(some),))
        for start, some in groups
    ]
    note = "" if each == 1 else f"Each row is the mean of {each} pages."
    return Chart("Noise removed, page by page", ("page", "removed"), rows, note)
