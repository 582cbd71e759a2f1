"""An evaluation as Markdown tables, as JSON by page and by group of pages, and as one HTML page."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

import msgspec

from denoise_crawler.errors import needs
from denoise_crawler.evaluation.results import Evaluation, Group, Summary, groups_of, sites_of, summarize
from denoise_crawler.evaluation.tables import (
    LEGEND,
    Table,
    contender_table,
    cost_table,
    f1_table,
    main_tables,
    notes,
    quality_table,
    site_table,
    texts,
    worst_table,
)

_MARKS = re.compile(r"[\\`*|<>\[\]&]")
_TEXT_HEADS = {"site", "failure", "call", "versions"}
_FOLDED_PARTS = {"Sites", "Worst pages"}


def table(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a Markdown table; the first column is aligned left, the others right.

    Example:
        >>> print(table(["set", "F1"], [["news", "0.9"]]))
        | set  |  F1 |
        | ---- | --: |
        | news | 0.9 |

    """
    lines = [list(heads), *map(list, rows)]
    widths = [max(3, *map(len, column)) for column in zip(*lines, strict=True)]
    ruler = ["-" * widths[0], *("-" * (width - 1) + ":" for width in widths[1:])]
    return "\n".join(
        "| " + " | ".join([line[0].ljust(widths[0]), *map(str.rjust, line[1:], widths[1:])]) + " |"
        for line in (lines[0], ruler, *lines[1:])
    )


def escape_cell(text: str) -> str:
    """Escape ``text`` so that Markdown shows it unchanged."""
    return _MARKS.sub(r"\\\g<0>", text)


def markdown_table(shown: Table) -> str:
    """Return a table with its title above."""
    rows = [[escape_cell(text) for text in row] for row in texts(shown.rows)]
    return f"{escape_cell(shown.title)}\n\n{table([escape_cell(head) for head in shown.heads], rows)}"


def markdown(evaluation: Evaluation, *, halves: bool = False, more: Sequence[Group] = ()) -> str:
    """Return all tables except those of sites.

    With ``halves`` F1 is shown on each half of the sites, too, and the quality on ``more`` groups of pages.
    """
    tables = main_tables(evaluation, halves=halves) + [quality_table(evaluation, group) for group in more]
    tables.append(contender_table(evaluation))
    said = "\n".join(f"- {escape_cell(note)}" for note in notes(evaluation))
    return "\n\n".join([LEGEND, *map(markdown_table, tables), *([said] if said else [])]) + "\n"


class GroupFigures(msgspec.Struct):
    """The figures of all contenders on a group of pages."""

    set: str
    label: str
    pages: int
    contenders: dict[str, Summary]


class Figures(msgspec.Struct):
    """An evaluation, and its means over groups and over sites."""

    groups: list[GroupFigures]
    sites: list[GroupFigures]
    evaluation: Evaluation


def figures(evaluation: Evaluation, *, halves: bool = False) -> str:
    """Return :class:`Figures` as JSON; with ``halves`` also for each half of the sites."""
    groups = [_group_figures(evaluation, group) for group in groups_of(evaluation, halves=halves)]
    sites = [_group_figures(evaluation, site) for name in evaluation.sets for site in sites_of(evaluation, name)]
    return msgspec.json.encode(Figures(groups, sites, evaluation)).decode() + "\n"


def _group_figures(evaluation: Evaluation, group: Group) -> GroupFigures:
    summaries = {result.contender: summarize(evaluation, result, group) for result in evaluation.results}
    return GroupFigures(group.set, group.label, len(group.pages), summaries)


def html_report(evaluation: Evaluation, *, halves: bool = False) -> str:
    """Return the page: quality of all groups, cost, sites, and the worst pages of each contender."""
    with needs("commands"):
        from jinja2 import Environment, PackageLoader, StrictUndefined
    groups, sets = groups_of(evaluation, halves=halves), evaluation.sets
    parts = {
        "Overview": [f1_table(evaluation, [group for group in groups if group.set == name]) for name in sets],
        "Quality": [quality_table(evaluation, group) for group in groups],
        "Cost": [cost_table(evaluation, name) for name in sets],
        "Sites": [site_table(evaluation, name) for name in sets],
        "Worst pages": [worst_table(evaluation, result, name) for result in evaluation.results for name in sets],
        "Contenders": [contender_table(evaluation)],
    }
    loader = PackageLoader("denoise_crawler", "evaluation")
    environment = Environment(loader=loader, autoescape=True, undefined=StrictUndefined, trim_blocks=True)
    return environment.get_template("report.html").render(
        about=f"{len(evaluation.pages):,} pages, Python {evaluation.python}, {evaluation.platform}",
        legend=LEGEND,
        notes=notes(evaluation),
        parts=parts,
        text_heads=_TEXT_HEADS,
        folded_parts=_FOLDED_PARTS,
    )
