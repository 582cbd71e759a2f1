"""Pipe tables (GitHub Flavored Markdown, 4.10): which tables fit, and how they are written."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from denoise_crawler.page import TEXT
from denoise_crawler.page.markup import INLINE

if TYPE_CHECKING:
    from collections.abc import Callable

    from denoise_crawler.page import Nodes

MOST_COLUMNS = 50
LONGEST_CELL = 400  # characters
_PARTS = frozenset({"thead", "tbody", "tfoot", "colgroup", "col"})
_IN_CELLS = INLINE | {"br", "p", "div", "center"}


@dataclass(slots=True)
class Grid:
    """The cells of a table by row, as node indices; ``captions`` are the nodes of its captions."""

    rows: list[list[int]]
    captions: list[int]


def grid_of(nodes: Nodes, table: int, noise: list[bool] | None) -> Grid | None:
    """Return the cells of a table that holds data; None if one of them holds more than a short text.

    Data is two rows and two columns at least with text that is kept.
    """
    grid = Grid([], [])
    inside, size = 0, 0  # where the open cell or caption ends, and its characters
    filled = 0  # rows with two cells that have text
    in_row = 0
    for index in range(table + 1, nodes.ends[table]):
        tag = nodes.tags[index]
        if index < inside:
            kept = len(nodes.texts[index]) if tag is TEXT and not (noise and noise[index]) else 0
            in_row, size = in_row + (kept > 0 and size == 0), size + kept
            if tag not in _IN_CELLS or size > LONGEST_CELL:
                return None
        elif tag == "tr":
            filled, in_row = filled + (in_row > 1), 0
            grid.rows.append([])
        elif tag in ("td", "th") and grid.rows and len(grid.rows[-1]) < MOST_COLUMNS:
            grid.rows[-1].append(index)
            inside, size = nodes.ends[index], 0
        elif tag == "caption":
            grid.captions.append(index)
            inside, size = nodes.ends[index], 1
        elif tag not in _PARTS:
            return None
    return grid if filled + (in_row > 1) > 1 else None


def pipe_table(nodes: Nodes, rows: list[list[int]], text_of_cell: Callable[[int], str]) -> list[str]:
    """Return the lines of a table; cells that span others are followed by empty ones, empty rows are left out."""
    hanging: dict[int, int] = {}  # by column: rows that a cell from above still takes
    table: list[list[str]] = []
    header: list[str] | None = None
    for row in rows:
        cells: list[str] = []
        for index in row:
            _below_others(cells, hanging)
            columns, below = _span(nodes, index, "colspan"), _span(nodes, index, "rowspan")
            hanging.update(dict.fromkeys(range(len(cells), len(cells) + columns), below - 1))
            cells.extend([text_of_cell(index), *[""] * (columns - 1)])
        _below_others(cells, hanging)
        if header is None and not table and any(cells) and any(nodes.tags[index] == "th" for index in row):
            header = cells
        elif any(cells):
            table.append(cells)
    return _lines(header, table)


def _below_others(cells: list[str], hanging: dict[int, int]) -> None:
    while hanging.get(len(cells), 0) > 0:
        hanging[len(cells)] -= 1
        cells.append("")


def _span(nodes: Nodes, index: int, name: str) -> int:
    value = nodes.elements[index].get(name, "1").strip()
    return min(max(int(value), 1), MOST_COLUMNS) if value.isdecimal() and len(value) < 5 else 1


def _lines(header: list[str] | None, table: list[list[str]]) -> list[str]:
    columns = max(map(len, [header or [], *table]), default=0)
    rows = [[*cells, *[""] * (columns - len(cells))] for cells in (header or [], *table)]
    rows.insert(1, ["---"] * columns)
    return ["| " + " | ".join(cells) + " |" for cells in rows]
