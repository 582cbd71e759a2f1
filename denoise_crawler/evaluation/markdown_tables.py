"""An evaluation as Markdown tables."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from denoise_crawler.evaluation.tables import LEGEND, contender_table, main_tables, notes, quality_table, texts

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from denoise_crawler.evaluation.results import Evaluation, Group
    from denoise_crawler.evaluation.tables import Table

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
    rows = [[escape_cell(text) for text in row] for row in texts(shown.rows)]
    return f"{escape_cell(shown.title)}\n\n{table([escape_cell(head) for head in shown.heads], rows)}"


def markdown(evaluation: Evaluation, *, halves: bool = False, more: Sequence[Group] = ()) -> str:
    """Return all tables except those of sites.

    Args:
        evaluation: The evaluation.
        halves: Whether to show F1 on each half of the sites.
        more: Further groups of pages whose quality to show.

    """
    tables = [
        *main_tables(evaluation, halves=halves),
        *(quality_table(evaluation, group) for group in more),
        contender_table(evaluation),
    ]
    said = "\n".join(f"- {escape_cell(note)}" for note in notes(evaluation))
    return "\n\n".join([LEGEND, *map(markdown_table, tables), *([said] if said else [])]) + "\n"
