"""An evaluation as one HTML page without scripts or other files."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias

from lxml import etree
from lxml.builder import E  # type: ignore[import-not-found]

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

if TYPE_CHECKING:
    from denoise_crawler.evaluation.results import Evaluation
    from denoise_crawler.evaluation.tables import Cell, Table

    Element: TypeAlias = Any  # of lxml.builder, which has no types

_STYLE = """
body { font: 15px/1.45 system-ui, sans-serif; color: #1d2733 }
body { margin: 2rem auto; padding: 0 1rem; max-width: 76rem }
h1, h2 { font-weight: 600 } h2 { margin-top: 2.5rem }
.wide { overflow-x: auto } table { border-collapse: collapse; margin: 1rem 0 1.6rem }
caption { text-align: left; font-weight: 600; padding-bottom: .3rem }
th, td { padding: .2rem .6rem; border-bottom: 1px solid #d9e0e7; text-align: right; white-space: nowrap }
th:first-child, td:first-child { text-align: left } thead th { vertical-align: bottom; border-color: #8494a5 }
td.text { text-align: left }
td.bar { background: linear-gradient(#cfe2f3, #cfe2f3) 0 50% / var(--share) 70% no-repeat }
summary { cursor: pointer; margin: .4rem 0 }
"""
_TEXT_HEADS = {"site", "failure", "call", "versions"}


def html_report(evaluation: Evaluation, *, halves: bool = False) -> str:
    """Return the page: quality of all groups, cost, sites, and the worst pages of each contender."""
    groups = groups_of(evaluation, halves=halves)
    body = [
        E.h1("Evaluation"),
        E.p(f"{len(evaluation.pages):,} pages, Python {evaluation.python}, {evaluation.platform}"),
        E.p(LEGEND),
        E.ul(*(E.li(note) for note in notes(evaluation))),
        E.h2("Overview"),
        *(
            _table(f1_table(evaluation, [group for group in groups if group.set == name]))
            for name in evaluation.sets
        ),
        E.h2("Quality"),
        *(_table(quality_table(evaluation, group)) for group in groups),
        E.h2("Cost"),
        *(_table(cost_table(evaluation, name)) for name in evaluation.sets),
        E.h2("Sites"),
        *(_details(site_table(evaluation, name)) for name in evaluation.sets),
        E.h2("Worst pages"),
        *(
            _details(worst_table(evaluation, result, name))
            for result in evaluation.results
            for name in evaluation.sets
        ),
        E.h2("Contenders"),
        _table(contender_table(evaluation)),
    ]
    head = E.head(E.meta(charset="utf-8"), E.title("Evaluation"), E.style(_STYLE))
    page = E.html(head, E.body(*body), lang="en")
    return etree.tostring(page, method="html", encoding="unicode", doctype="<!DOCTYPE html>") + "\n"


def _details(shown: Table) -> Element:
    return E.details(E.summary(shown.title), _table(shown._replace(title="")))


def _table(shown: Table) -> Element:
    captions = [E.caption(shown.title)] if shown.title else []
    heads = E.thead(E.tr(*(E.th(head) for head in shown.heads)))
    rows = [
        E.tr(*(_table_cell(cell, head) for cell, head in zip(row, shown.heads, strict=True))) for row in shown.rows
    ]
    return E.div(E.table(*captions, heads, E.tbody(*rows)), {"class": "wide"})


def _table_cell(cell: Cell, head: str) -> Element:
    if cell.share is not None:
        return E.td(cell.text, {"class": "bar", "style": f"--share: {cell.share:.1%}"})
    return E.td(cell.text, {"class": "text"} if head in _TEXT_HEADS else {})
