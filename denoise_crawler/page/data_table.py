"""Tells tables of data from tables that lay out a page."""

from __future__ import annotations

from typing import TYPE_CHECKING

from denoise_crawler.page.nodes import TEXT

if TYPE_CHECKING:
    from denoise_crawler.page.nodes import Nodes

_CELLS = frozenset({"td", "th"})
TABLE_PARTS = _CELLS | {"table", "tr", "thead", "tbody", "tfoot", "caption", "colgroup", "col"}
_OF_LAYOUT = frozenset({"table", "article", "main", "nav", "header", "footer", "aside", "form", "h1", "h2", "h3"})
_OF_DATA = frozenset({"th", "thead", "caption"})
_LAYOUT_ROLES = frozenset({"presentation", "none"})
# Cells without a header have at most so many characters and blocks; those of a table with headers may have more.
LONGEST_CELL, LONGEST_CELL_WITH_HEADERS = 400, 1_500
MOST_PARAGRAPHS, MOST_PARAGRAPHS_WITH_HEADERS = 4, 20
_PARAGRAPHS = frozenset({"p", "div", "li", "br", "dd", "dt"})


def is_data_table(nodes: Nodes, table: int) -> bool:
    """Tell whether a table holds data: text in two rows and more, in two cells of one of them, none of them long.

    A table around another table, around headings or parts of the page is layout, and so is one that says so.
    """
    tags, ends = nodes.tags, nodes.ends
    # looked at one by one: what stands after a table inside is not looked at once a level
    if (
        not _OF_LAYOUT.isdisjoint(map(tags.__getitem__, range(table + 1, ends[table])))
        or nodes.elements[table].get("role") in _LAYOUT_ROLES
    ):
        return False
    below = tags[table + 1 : ends[table]]
    with_headers = not _OF_DATA.isdisjoint(below)
    longest = LONGEST_CELL_WITH_HEADERS if with_headers else LONGEST_CELL
    most = MOST_PARAGRAPHS_WITH_HEADERS if with_headers else MOST_PARAGRAPHS
    rows = widest = in_row = size = paragraphs = 0
    cell_end = 0
    for index, tag in enumerate(below, table + 1):
        if tag == "tr":
            rows, widest, in_row = rows + (in_row > 0), max(widest, in_row), 0
        elif tag in _CELLS:
            cell_end, size, paragraphs = ends[index], 0, 0
        elif index < cell_end:
            if tag is TEXT:
                in_row += size == 0
                size += len(nodes.texts[index])
            elif tag in _PARAGRAPHS:
                paragraphs += 1
            if size > longest or paragraphs > most:
                return False
    return rows + (in_row > 0) > 1 and max(widest, in_row) > 1
