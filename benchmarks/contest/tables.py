"""The tables of an evaluation: as cells, in Markdown, by page and group of pages in JSON."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import NamedTuple

import msgspec

from benchmarks.contest.contenders import VISIBLE_TEXT
from benchmarks.contest.contest import (
    Evaluation,
    Group,
    Result,
    Summary,
    groups_of,
    sites_of,
    summarize,
    whole,
)
from denoise_crawler.evaluation import GRADES, GRADES_IN_ENGLISH, MIN_F1, Score
from denoise_crawler.page.text import counted, printable

_MIB, _MB = 1 << 20, 1_000_000
_NONE = "–"
_MAX_NAMED = 3
_GRADES = ", ".join(f"{name} {english}" for name, english in zip(GRADES, GRADES_IN_ENGLISH, strict=True))
LEGEND = (
    "Precision (P), recall (R) and F1 against the gold text: bags of words (Chinese and Japanese by character), "
    "and bags of all characters but white space. Means over pages, each page counting the same. Grades by a "
    f"page's F1 by words: {_GRADES}. Bytes in UTF-8. CPU time, without loading the contender; the peak is that of "
    "its own process, Python and this package in it."
)


class Table(NamedTuple):
    """A table whose first column names the rows."""

    title: str
    heads: list[str]
    rows: list[list[str]]


def main_tables(evaluation: Evaluation, *, halves: bool = False) -> list[Table]:
    """Return quality and cost on each set, and F1 on its groups of pages; ``halves`` adds groups by half."""
    groups = groups_of(evaluation, halves=halves)
    tables = []
    for name in evaluation.sets:
        own = [group for group in groups if group.set == name]
        tables += [quality_table(evaluation, own[0]), cost_table(evaluation, name)]
        tables += [f1_table(evaluation, own)] if len(own) > 1 else []
    return tables


def quality_table(evaluation: Evaluation, group: Group) -> Table:
    """Return P, R and F1 by words and by characters, and the grades of the pages in %."""
    grades = [
        f"{name} ≥ {least:g} %" if least else f"{name} %" for name, least in zip(GRADES, MIN_F1, strict=True)
    ]
    heads = ["", "words P", "R", "F1", "characters P", "R", "F1", *grades]
    rows = []
    for result in evaluation.results:
        summary = summarize(evaluation, result, group)
        shares = [f"{share:.1%}".rstrip("%") if summary.scored else _NONE for share in summary.grades]
        both = (*_score(summary.words, summary.scored), *_score(summary.characters, summary.scored))
        rows.append([result.contender, *both, *shares])
    return Table(f"{_group_title(group)}: quality, {_page_and_site_counts(evaluation, group)}", heads, rows)


def _score(score: Score, pages: int) -> list[str]:
    return [_unit(value, pages) for value in (score.precision, score.recall, score.f1)]


def _unit(value: float, pages: int) -> str:
    return f"{value:.3f}" if pages else _NONE


def cost_table(evaluation: Evaluation, name: str) -> Table:
    """Return bytes before and after, time and memory on a set."""
    group = whole(evaluation, name)
    everything = [result for result in evaluation.results if result.contender == VISIBLE_TEXT]
    visible = summarize(evaluation, everything[0], group).text_bytes if everything else 0
    sizes = ["HTML MB", "text MB", "text / HTML %", "/ visible text %"]
    heads = ["", *sizes, "pages/s", "x lxml parse", "peak MiB", "failed"]
    parse, nothing = evaluation.parse, ""
    rows = [[parse.contender, *[nothing] * 4, *_cost(evaluation, parse, group), nothing]]
    for result in evaluation.results:
        summary = summarize(evaluation, result, group)
        size = [f"{summary.html_bytes / _MB:.2f}", f"{summary.text_bytes / _MB:.2f}"]
        shares = [_percent(summary.text_bytes, summary.html_bytes), _percent(summary.text_bytes, visible)]
        cost = _cost(evaluation, result, group)
        rows.append([result.contender, *size, *shares, *cost, str(summary.failed or "")])
    return Table(f"{_group_title(group)}: cost (CPU time)", heads, rows)


def _cost(evaluation: Evaluation, result: Result, group: Group) -> list[str]:
    seconds, parsing = result.seconds.get(group.set), evaluation.parse.seconds.get(group.set)
    peak = result.peak_bytes
    return [
        f"{len(group.pages) / seconds:,.0f}" if seconds else _NONE,
        f"{seconds / parsing:.1f}" if seconds and parsing else _NONE,
        f"{peak / _MIB:.0f}" if peak else _NONE,
    ]


def _percent(part: int, whole_: int) -> str:
    return f"{part / whole_:.1%}".rstrip("%") if whole_ else _NONE


def f1_table(evaluation: Evaluation, groups: Sequence[Group]) -> Table:
    """Return the mean F1 by words, with a column for each group of pages."""
    heads = ["", *(f"{printable(group.label)} ({len(group.pages)})" for group in groups)]
    rows = []
    for result in evaluation.results:
        rows.append([result.contender, *(_f1(evaluation, result, group) for group in groups)])
    return Table(f"{printable(groups[0].set)}: F1 by words on groups of pages (number of pages)", heads, rows)


def _f1(evaluation: Evaluation, result: Result, group: Group) -> str:
    summary = summarize(evaluation, result, group)
    return _unit(summary.words.f1, summary.scored)


def site_table(evaluation: Evaluation, name: str) -> Table:
    """Return the mean F1 by words, with a row for each site, those with the most pages first."""
    rows = []
    for site in sites_of(evaluation, name):
        scores = [_f1(evaluation, result, site) for result in evaluation.results]
        rows.append([printable(site.label), str(len(site.pages)), *scores])
    heads = ["site", "pages", *(result.contender for result in evaluation.results)]
    return Table(f"{printable(name)}: F1 by words by site", heads, rows)


def contender_table(evaluation: Evaluation) -> Table:
    """Return the calls and versions of the contenders."""
    rows = []
    for result in (evaluation.parse, *evaluation.results):
        versions = ", ".join(f"{package} {version}" for package, version in result.versions.items())
        rows.append([result.contender, result.call, versions])
    return Table(f"Contenders (Python {evaluation.python})", ["", "call", "versions"], rows)


def notes(evaluation: Evaluation) -> list[str]:
    """Return notes: missing contenders, failed pages, broken lines."""
    said = [f"{name} is left out: {printable(why)}" for name, why in evaluation.missing.items()]
    for result in evaluation.results:
        outcomes = zip(evaluation.pages, result.pages, strict=True)
        failed = [f"{page.set} {page.id}: {one.failure}" for page, one in outcomes if one.failure is not None]
        if failed:
            said.append(f"{result.contender} failed on {_first_few(failed, 'page')}")
    if evaluation.broken:
        lines = [f"{line.file}, line {line.line}: {line.why}" for line in evaluation.broken]
        said.append(f"Left out: {_first_few(lines, 'broken line')}")
    if unscored := sum(not page.has_gold for page in evaluation.pages):
        has = "page has no gold text and is" if unscored == 1 else "pages have no gold text and are"
        said.append(f"{unscored:,} {has} not scored")
    return said


def _first_few(names: Sequence[str], what: str) -> str:
    shown = "; ".join(map(printable, names[:_MAX_NAMED]))
    more = f"; and {len(names) - _MAX_NAMED} more" if len(names) > _MAX_NAMED else ""
    return f"{counted(len(names), what)} ({shown}{more})"


def _group_title(group: Group) -> str:
    return printable(group.set) if group.label == "all" else f"{printable(group.set)}, {printable(group.label)}"


def _page_and_site_counts(evaluation: Evaluation, group: Group) -> str:
    sites = len({evaluation.pages[number].site for number in group.pages})
    return f"{counted(len(group.pages), 'page')} of {counted(sites, 'site')}"


# --- an evaluation as Markdown tables, and as JSON by page and by group of pages

_MARKS = re.compile(r"[\\`*|<>\[\]&]")


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
    rows = [[escape_cell(text) for text in row] for row in shown.rows]
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
