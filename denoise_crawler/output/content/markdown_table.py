"""Tables in Markdown: pipe tables (GitHub Flavored Markdown, 4.10), HTML where a cell holds more than lines."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from denoise_crawler.output.content.blocks import Formula, Heading, Paragraph, Picture, Text
from denoise_crawler.output.content.markdown_inline import has_dollars, render_line
from denoise_crawler.output.content.nested import inline_content

if TYPE_CHECKING:
    from denoise_crawler.output.content.blocks import Cell, Inline, Table

_IN_PIPES = (Paragraph, Heading, Formula, Picture)
_NORM, _BAR = re.compile(r"\\\|"), re.compile(r"(?<!\\)\|")


def fits_pipes(table: Table) -> bool:
    """Tell whether each cell of a table holds only lines, which a pipe table can hold."""
    return all(isinstance(block, _IN_PIPES) for row in table.rows for cell in row for block in cell.content)


def pipe_table(table: Table) -> list[str]:
    """Return the lines of a table; empty cells follow those that span others.

    The first row is the header if all its cells with content are header cells; else the header is empty.
    """
    rows = [_written(row) for row in _grid(table)]
    columns = max(map(len, rows), default=0)
    rows = [[*cells, *[""] * (columns - len(cells))] for cells in rows]
    if not all(cell.header or not cell.content for cell in table.rows[0]):
        rows.insert(0, [""] * columns)
    rows.insert(1, ["---"] * columns)
    return ["| " + " | ".join(cells) + " |" for cells in rows]


def _grid(table: Table) -> list[list[list[Inline]]]:
    """Return the lines of all cells by row and column."""
    hanging: dict[int, int] = {}  # by column: rows that a cell from above still takes
    grid = []
    for row in table.rows:
        cells: list[list[Inline]] = []
        for cell in row:
            _skip_spanned_columns(cells, hanging)
            columns = range(len(cells), len(cells) + cell.columns)
            hanging.update(dict.fromkeys(columns, cell.rows - 1))
            cells += [_line_of(cell), *([] for _ in columns[1:])]
        _skip_spanned_columns(cells, hanging)
        grid.append(cells)
    return grid


def _skip_spanned_columns(cells: list[list[Inline]], hanging: dict[int, int]) -> None:
    while hanging.get(len(cells), 0) > 0:
        hanging[len(cells)] -= 1
        cells.append([])


def _line_of(cell: Cell) -> list[Inline]:
    line: list[Inline] = []
    for block in cell.content:
        pieces: list[Inline] = [block] if isinstance(block, (Formula, Picture)) else inline_content([block])
        line += [Text(" "), *pieces] if line else pieces
    return [Formula(_without_bars(piece.latex)) if isinstance(piece, Formula) else piece for piece in line]


def _without_bars(latex: str) -> str:
    return _BAR.sub(r"\\vert ", _NORM.sub(r"\\Vert ", latex))


def _written(row: list[list[Inline]]) -> list[str]:
    dollars = has_dollars(row)
    return [render_line(line, dollars=dollars).replace("|", "\\|").strip() for line in row]
