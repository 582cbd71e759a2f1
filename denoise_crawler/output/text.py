"""Clean text: the kept runs of a page, one block a line."""

from __future__ import annotations

from typing import TYPE_CHECKING

from denoise_crawler.output.inline import Joints, is_verbatim, text_of, verbatim
from denoise_crawler.page import TEXT
from denoise_crawler.page.markup import INLINE
from denoise_crawler.page.text import normalised

if TYPE_CHECKING:
    from denoise_crawler.page import Nodes, Page

BULLET = "- "
DEEPEST_LIST = 8
_CELLS = frozenset({"td", "th"})
_LISTS = frozenset({"ul", "ol", "menu", "dir"})


def clean_text(page: Page, noise: list[bool] | None = None) -> str:
    """Return the text of ``page`` without its ``noise`` nodes, each block-level element on lines of its own.

    Items of lists begin with ``- ``, two spaces further in for each list around theirs. The cells of a table's
    row that hold nothing but text stand on one line with tabs between them, as in ``innerText`` (HTML standard,
    3.2.7); ``pre`` keeps its lines. All other white space is one space. No words are added.
    """
    lines = _Lines(page.nodes, noise)
    lines.walk()
    return "\n".join(lines.written)


class _Lines:
    """Writes lines while it walks through the nodes."""

    def __init__(self, nodes: Nodes, noise: list[bool] | None) -> None:
        self.written: list[str] = []
        self._nodes, self._noise = nodes, noise
        self._joints = Joints(nodes)
        self._line: list[str] = []
        self._row: list[str] = []  # the cells before, in a row that is one line
        self._row_end = 0
        self._bullet, self._item_end = "", 0
        self._lists: list[int] = []  # ends of the lists that are open

    def walk(self) -> None:
        nodes, noise = self._nodes, self._noise
        blocks: list[int] = []  # ends of the block-level elements that are open
        copied_to = 0  # up to where nothing is left to write
        for index, tag in enumerate(nodes.tags):
            if index < copied_to:
                continue
            while blocks and blocks[-1] <= index:
                self._end_block(blocks.pop())
            if tag is TEXT:
                if noise is None or not noise[index]:
                    self._line.append(self._joints.between(index) + text_of(nodes, index))
                else:
                    self._joints.gap()
            elif tag not in INLINE:
                blocks.append(nodes.ends[index])
                copied_to = self._begin_block(index, tag)
                if noise is not None and noise[index]:
                    copied_to = nodes.ends[index]
            elif tag == "img":
                self._joints.gap()
        self._end_line()

    def _begin_block(self, index: int, tag: str) -> int:
        """Open a block-level element; return up to where it is written already."""
        end = self._nodes.ends[index]
        if tag in _CELLS and index < self._row_end:
            self._end_cell()
            return 0
        self._end_line()
        while self._lists and self._lists[-1] <= index:
            self._lists.pop()
        if tag == "tr" and is_line(self._nodes, index):
            self._row_end = end
        elif tag in _LISTS:
            self._lists.append(end)
        elif tag == "li":
            self._bullet, self._item_end = self._indent() + BULLET, end
        elif tag == "pre" and is_verbatim(self._nodes, index, self._noise):
            self._write(verbatim(self._nodes, index))
            return end
        return 0

    def _end_block(self, end: int) -> None:
        if end < self._row_end:
            self._end_cell()
        else:
            self._end_line()
        if end >= self._item_end:
            self._bullet = ""  # of an item without text

    def _end_cell(self) -> None:
        self._joints.new_line()
        if cell := normalised("".join(self._line)):
            self._row.append(cell)
        self._line = []

    def _end_line(self) -> None:
        self._end_cell()
        if self._row:
            self._write("\t".join(self._row))
            self._row = []

    def _write(self, text: str) -> None:
        if text:
            self.written.append(self._bullet + text)
            self._bullet = ""

    def _indent(self) -> str:
        return "  " * min(len(self._lists) - 1, DEEPEST_LIST)


def is_line(nodes: Nodes, row: int) -> bool:
    """Tell whether nothing stands in the cells of a table's row but what stands inside a line."""
    tags = nodes.tags
    return all(tags[index] in INLINE or tags[index] in _CELLS for index in range(row + 1, nodes.ends[row]))
