"""Tells tables of data from tables that lay out a page."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from denoise_crawler.page.nodes import TEXT, Nodes

_CELLS = frozenset({"td", "th"})
TABLE_PARTS = _CELLS | {"table", "tr", "thead", "tbody", "tfoot", "caption", "colgroup", "col"}
_OF_LAYOUT = frozenset({"table", "article", "main", "nav", "header", "footer", "aside", "form", "h1", "h2", "h3"})
_OF_DATA = frozenset({"th", "thead", "caption"})
_LAYOUT_ROLES = frozenset({"presentation", "none"})
_LAYOUT_CLASS = "ltx_eqn_table"  # numbered equations, one a table
# Cells without a header have at most so many characters and blocks; those of a table with headers may have more.
LONGEST_CELL, LONGEST_CELL_WITH_HEADERS = 400, 1_500
MOST_PARAGRAPHS, MOST_PARAGRAPHS_WITH_HEADERS = 4, 20
_PARAGRAPHS = frozenset({"p", "div", "li", "br", "dd", "dt"})
_PICTURES = frozenset({"img"})
_NOT_IN_ONE_ROW = frozenset({"pre", "ul", "ol", "dl", "blockquote"})  # numbers of lines and the lines; two columns


class _Cell(NamedTuple):
    """A cell: its row (the node around it), the characters of its text, its paragraphs and pictures."""

    row: int
    characters: int
    paragraphs: int
    pictures: int


def is_data_table(nodes: Nodes, table: int) -> bool:
    """Tell whether a table holds data: two cells with content in one of its rows, and none that is long.

    A table of one row shows no columns: its cells hold lines only. A table around another table, around headings
    or parts of the page is layout, and so is one that says so.

    Example:
        >>> from denoise_crawler import Page
        >>> is_data_table(Page.parse("", "<table><tr><th>Day<th>Ships<tr><td>Monday<td>3</table>").nodes, 1)
        True
    """
    element = nodes.elements[table]
    if (
        nodes.holds(table + 1, nodes.end_of(table), _OF_LAYOUT)
        or element.get("role", "").lower() in _LAYOUT_ROLES
        or _LAYOUT_CLASS in element.get("class", "")
    ):
        return False
    below = nodes.tags_between(table + 1, nodes.end_of(table))
    with_headers = not _OF_DATA.isdisjoint(below)
    longest = LONGEST_CELL_WITH_HEADERS if with_headers else LONGEST_CELL
    most = MOST_PARAGRAPHS_WITH_HEADERS if with_headers else MOST_PARAGRAPHS
    rows: dict[int, int] = {}  # by row, its cells with content
    for cell in _cells(nodes, table):
        if cell.characters > longest or cell.paragraphs > most:
            return False
        if cell.characters or cell.pictures:
            rows[cell.row] = rows.get(cell.row, 0) + 1
    return max(rows.values(), default=0) > 1 and (len(rows) > 1 or _NOT_IN_ONE_ROW.isdisjoint(below))


def _cells(nodes: Nodes, table: int) -> Iterator[_Cell]:
    """Yield the cells of a table that holds no other."""
    if nodes.compiled is not None:
        yield from map(_Cell._make, nodes.compiled.cells(table, _CELLS, _PARAGRAPHS, _PICTURES))
        return
    row, end, characters, paragraphs, pictures = -1, 0, 0, 0, 0
    for index in range(table + 1, nodes.ends[table]):
        tag = nodes.tags[index]
        if tag in _CELLS:
            if end:
                yield _Cell(row, characters, paragraphs, pictures)
            row, end, characters, paragraphs, pictures = nodes.parents[index], nodes.ends[index], 0, 0, 0
        elif index < end:
            if tag is TEXT:
                characters += len(nodes.texts[index])
            paragraphs += tag in _PARAGRAPHS
            pictures += tag in _PICTURES
    if end:
        yield _Cell(row, characters, paragraphs, pictures)
