"""An evaluation as one HTML page without scripts or other files."""

from __future__ import annotations

from typing import TYPE_CHECKING

from denoise_crawler.errors import needs
from denoise_crawler.evaluation.results import groups_of
from denoise_crawler.evaluation.tables import (
    LEGEND,
    contender_table,
    cost_table,
    f1_table,
    notes,
    quality_table,
    site_table,
    worst_table,
)

with needs("commands"):
    from jinja2 import Environment, PackageLoader, StrictUndefined

if TYPE_CHECKING:
    from denoise_crawler.evaluation.results import Evaluation

_TEXT_HEADS = {"site", "failure", "call", "versions"}
_FOLDED_PARTS = {"Sites", "Worst pages"}


def html_report(evaluation: Evaluation, *, halves: bool = False) -> str:
    """Return the page: quality of all groups, cost, sites, and the worst pages of each contender."""
    groups, sets = groups_of(evaluation, halves=halves), evaluation.sets
    parts = {
        "Overview": [f1_table(evaluation, [group for group in groups if group.set == name]) for name in sets],
        "Quality": [quality_table(evaluation, group) for group in groups],
        "Cost": [cost_table(evaluation, name) for name in sets],
        "Sites": [site_table(evaluation, name) for name in sets],
        "Worst pages": [worst_table(evaluation, result, name) for result in evaluation.results for name in sets],
        "Contenders": [contender_table(evaluation)],
    }
    environment = Environment(
        loader=PackageLoader("denoise_crawler", "evaluation"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
    )
    return environment.get_template("report.html").render(
        about=f"{len(evaluation.pages):,} pages, Python {evaluation.python}, {evaluation.platform}",
        legend=LEGEND,
        notes=notes(evaluation),
        parts=parts,
        text_heads=_TEXT_HEADS,
        folded_parts=_FOLDED_PARTS,
    )
