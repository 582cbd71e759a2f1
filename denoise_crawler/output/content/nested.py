"""Lists, tables, figures and boxes while their content is being gathered."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from denoise_crawler.output.content.blocks import (
    Callout,
    Cell,
    Details,
    Heading,
    List,
    Paragraph,
    Picture,
    Table,
    Text,
)

if TYPE_CHECKING:
    from lxml.etree import _Element

    from denoise_crawler.output.content.blocks import Block, Inline
    from denoise_crawler.page import Nodes

LISTS = frozenset({"ul", "ol", "menu", "dir"})
_MAX_FIRST_NUMBER = 900_000_000
_MAX_COLUMNS = 50


class Lists:
    """The lists of a page that are open.

    Args:
        nodes: The nodes of the page.

    """

    def __init__(self, nodes: Nodes) -> None:
        self._nodes = nodes
        self._open: list[int] = []
        self._written: dict[int, List] = {}  # by node, the list that the next item goes into
        self._numbers: dict[int, int] = {}  # by node, the number of the next item

    def open(self, index: int) -> None:
        """Begin the list at node ``index``."""
        self._open.append(index)

    def innermost(self, index: int) -> int:
        """Return the node of the list around node ``index``; -1 if there is none."""
        while self._open and self._nodes.ends[self._open[-1]] <= index:
            self._open.pop()
        return self._open[-1] if self._open else -1

    def add(self, of_list: int, item: list[Block], to: list[Block]) -> None:
        """Add an item to its list at the end of ``to``; a new list if something else stands there."""
        number = self._numbers.get(of_list) or (first_number(self._nodes.elements[of_list]) if of_list >= 0 else 1)
        self._numbers[of_list] = number + 1
        written = self._written.get(of_list)
        if written is not None and to and to[-1] is written:
            written.items.append(item)
            return
        ordered = of_list >= 0 and self._nodes.tags[of_list] == "ol"
        self._written[of_list] = List([item], ordered, number if ordered else 1)
        to.append(self._written[of_list])


def first_number(of_list: _Element) -> int:
    """Return the number of a list's first item."""
    value = of_list.get("start", "1").strip()
    valid = value.isascii() and value.isdecimal() and int(value[:10]) < _MAX_FIRST_NUMBER
    return int(value) if valid else 1


@dataclass(slots=True)
class OpenTable:
    """A data table that ends before node ``end``."""

    end: int
    rows: list[list[Cell]] = field(default_factory=list)
    row: int = -1  # what holds the cells of the last row
    caption: list[Inline] = field(default_factory=list)

    def add_cell(self, nodes: Nodes, index: int, content: list[Block]) -> None:
        """Add the cell at node ``index`` to its row: cells with the same parent, mostly a ``tr``."""
        element = nodes.elements[index]
        if nodes.parents[index] != self.row:
            self.row = nodes.parents[index]
            self.rows.append([])
        if len(self.rows[-1]) < _MAX_COLUMNS:
            header = nodes.tags[index] == "th"
            self.rows[-1].append(Cell(content, header, _span(element, "colspan"), _span(element, "rowspan")))

    def finish(self) -> list[Block]:
        """Return the table without empty rows; what is left in it, if no two cells of a row are."""
        rows = [row for row in self.rows if any(cell.content for cell in row)]
        if any(sum(bool(cell.content) for cell in row) > 1 for row in rows):
            return [Table(rows, self.caption)]
        caption: list[Block] = [Paragraph(self.caption)] if self.caption else []
        return [*caption, *(block for row in rows for cell in row for block in cell.content)]


def _span(element: _Element, name: str) -> int:
    """Return how many rows or columns a cell spans."""
    value = element.get(name, "1").strip()
    return min(max(int(value), 1), _MAX_COLUMNS) if value.isascii() and value.isdecimal() and len(value) < 5 else 1


@dataclass(slots=True)
class OpenBox:
    """A callout, an element to open by its summary (kind ``details``) or a figure (``figure``)."""

    end: int
    kind: str
    title: list[Inline] = field(default_factory=list)

    def finish(self, content: list[Block]) -> list[Block]:
        """Return what the box is with its ``content``."""
        if self.kind == "figure":
            return add_caption(content, self.title)
        if self.kind == "details":
            return [Details(self.title, content)] if self.title else content
        return [Callout(self.kind, content, self.title)] if content or self.title else []


def add_caption(content: list[Block], caption: list[Inline]) -> list[Block]:
    """Return the blocks of a figure with its caption at the last picture or table, else as a paragraph."""
    if caption:
        for block in reversed(content):
            if isinstance(block, (Picture, Table)) and not block.caption:
                block.caption = caption
                return content
        content.append(Paragraph(caption))
    return content


def inline_content(blocks: list[Block]) -> list[Inline]:
    """Return the pieces of the paragraphs and headings among ``blocks`` as one line."""
    line: list[Inline] = []
    for block in blocks:
        if isinstance(block, (Heading, Paragraph)):
            line += [Text(" "), *block.content] if line else block.content
    return line
