"""Which tables hold data, and which only lay out a page."""

from __future__ import annotations

from typing import TYPE_CHECKING

from denoise_crawler.page import TEXT
from denoise_crawler.page.markup import INLINE

if TYPE_CHECKING:
    from collections.abc import Container

    from lxml.etree import _Element

    from denoise_crawler.page import Nodes

MAX_COLUMNS = 50
MAX_CELL_CHARACTERS = 400  # of most cells, where nothing says that the table holds data
MAX_LONG_CELLS = 0.25  # the share of cells that may be longer
MAX_MARKED_CELL_CHARACTERS = 5_000
_PARTS = frozenset({"thead", "tbody", "tfoot", "colgroup", "col", "tr"})
_CELLS = frozenset({"td", "th"})
_IN_CELLS = INLINE | {"br", "p", "div", "center"}
_IN_MARKED_CELLS = _IN_CELLS | frozenset(
    {"ul", "ol", "li", "pre", "blockquote", "dl", "dt", "dd", "hr", "h4", "h5", "h6"}
)
_NO_DATA = frozenset({"presentation", "none"})


def is_data_table(nodes: Nodes, table: int, noise: list[bool] | None, replaced: Container[int]) -> bool:
    """Tell whether a table holds data: kept text in at least two rows of at least two cells.

    Without header cells or a caption its cells may hold only short texts. A table with others in it is layout.

    Args:
        nodes: The nodes of the page.
        table: The node of the table.
        noise: Whether each node is noise; None if all is kept.
        replaced: Nodes of formulas, which count as text.

    """
    element = nodes.elements[table]
    if element.get("role", "").lower() in _NO_DATA or "ltx_eqn_table" in element.get("class", ""):
        return False
    scan = _Scan(nodes, noise, replaced)
    return scan.walk(table) and scan.says_data()


class _Scan:
    """What stands in a table."""

    def __init__(self, nodes: Nodes, noise: list[bool] | None, replaced: Container[int]) -> None:
        self._nodes, self._noise, self._replaced = nodes, noise, replaced
        self._sizes: list[int] = []  # of the cells, in kept characters
        self._rows: list[int] = []  # of each row, the cells with kept text
        self._row = -1  # what holds the cells of the last row
        self._marked = self._holds_blocks = False

    def walk(self, table: int) -> bool:
        """Read a table; return whether it can hold data."""
        nodes = self._nodes
        index, end = table + 1, nodes.ends[table]
        while index < end:
            tag = nodes.tags[index]
            if tag == "caption":
                self._marked = self._marked or self._size(index) > 0
                index = nodes.ends[index]
            elif tag in _CELLS:
                if nodes.parents[index] != self._row:
                    self._row = nodes.parents[index]
                    self._rows.append(0)
                if not self._read_cell(index, tag):
                    return False
                index = nodes.ends[index]
            elif tag in _PARTS:
                index += 1
            else:
                return False
        return True

    def says_data(self) -> bool:
        """Tell whether what was read is data."""
        if sum(cells > 1 for cells in self._rows) < 2:
            return False
        if self._marked:
            return max(self._sizes) <= MAX_MARKED_CELL_CHARACTERS
        long = sum(size > MAX_CELL_CHARACTERS for size in self._sizes)
        return not self._holds_blocks and long <= MAX_LONG_CELLS * len(self._sizes)

    def _read_cell(self, cell: int, tag: str) -> bool:
        index, end = cell + 1, self._nodes.ends[cell]
        while index < end:
            inner = self._nodes.tags[index]
            if index in self._replaced:
                index = self._nodes.ends[index]
                continue
            if inner not in _IN_CELLS:
                if inner not in _IN_MARKED_CELLS:
                    return False
                self._holds_blocks = True
            index += 1
        size = self._size(cell)
        self._sizes.append(size)
        self._rows[-1] += size > 0
        self._marked = self._marked or (tag == "th" and size > 0)
        return True

    def _size(self, index: int) -> int:
        """Return the kept characters below a node; a formula counts as one."""
        nodes, noise = self._nodes, self._noise
        below = range(index, nodes.ends[index])
        return sum(
            len(nodes.texts[one]) if nodes.tags[one] is TEXT else one in self._replaced
            for one in below
            if not (noise and noise[one])
        )


def span(element: _Element, name: str) -> int:
    """Return how many rows or columns a cell spans."""
    value = element.get(name, "1").strip()
    return min(max(int(value), 1), MAX_COLUMNS) if value.isascii() and value.isdecimal() and len(value) < 5 else 1
