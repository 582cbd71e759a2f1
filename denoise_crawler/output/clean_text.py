"""Clean text: the kept text of a page, one line per block."""

from __future__ import annotations

from functools import lru_cache, partial
from typing import TYPE_CHECKING, Any

from denoise_crawler.core import compiled
from denoise_crawler.output.content.belonging import Belonging
from denoise_crawler.output.content.blocks import Formula
from denoise_crawler.output.content.formulas import formulas_of
from denoise_crawler.output.inline import (
    FIRST_UNSPACED,
    LINE_BREAKS,
    WordJoiner,
    is_preformatted,
    preformatted_text,
    text_of,
)
from denoise_crawler.page import TEXT
from denoise_crawler.page.markup import INLINE
from denoise_crawler.page.text import collapse_spaces

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from denoise_crawler.page import Nodes, Page

BULLET = "- "
MAX_LIST_INDENTS = 8
_CELLS = frozenset({"td", "th"})
_LISTS = frozenset({"ul", "ol", "menu", "dir"})


def clean_text(page: Page, noise: list[bool] | None = None) -> str:
    """Return the text of ``page`` without its ``noise`` nodes, each block-level element on lines of its own.

    List items start with ``- ``, indented by two spaces for each outer list. A table row of plain text is one line
    with tabs between its cells, as in ``innerText`` (HTML standard, 3.2.7). ``pre`` keeps its lines. All other
    white space becomes one space. A formula is its LaTeX where the page has it, once. No other words are added.

    Args:
        page: The page.
        noise: Whether each node is noise; None if all is kept.

    Example:
        >>> from denoise_crawler import Page
        >>> print(clean_text(Page.parse("", "<h1>News</h1><ul><li>One<li>Two</ul>")))
        News
        - One
        - Two

    """
    return _writer(page, noise)(range(len(page.nodes)))


def clean_texts(page: Page, noise: list[bool] | None, parts: Iterable[range]) -> list[str]:
    """Return the clean texts of parts of ``page``, in time that grows with the size of the parts.

    Args:
        page: The page.
        noise: Whether each node is noise; None if all is kept.
        parts: Subtrees of the page, in document order; none contains another.

    Example:
        >>> from denoise_crawler import Page
        >>> clean_texts(Page.parse("", "<p>One.<p>Two."), None, [range(1, 3), range(3, 5)])
        ['One.', 'Two.']

    """
    return list(map(_writer(page, noise), parts))


def _writer(page: Page, noise: list[bool] | None) -> Callable[[range], str]:
    """Return what writes a part of ``page``: the compiled core writes one without formulas."""
    found, columns = page.once(formulas_of), page.nodes.compiled
    if columns is None or found.elements or found.places or (core := compiled("plaintext")) is None:
        return _Lines(page, noise).text_of
    return partial(_compiled_form(core).text_of, columns, noise)


@lru_cache(maxsize=1)
def _compiled_form(core: Any) -> Any:
    words = INLINE, _CELLS, _LISTS, LINE_BREAKS
    return core.Form(*words, preformatted_text, FIRST_UNSPACED, BULLET, MAX_LIST_INDENTS)


class _Lines:
    """Writes lines while walking through the nodes."""

    def __init__(self, page: Page, noise: list[bool] | None) -> None:
        self._written: list[str] = []
        self._part = range(0)
        self._nodes, self._noise = page.nodes, noise
        found = page.once(formulas_of)
        self._formulas, self._places = found.elements, found.by_text
        self._belongs = Belonging(page, noise)
        self._joints = WordJoiner(page.nodes)
        self._line: list[str] = []
        self._row: list[str] = []  # the previous cells of a single-line row
        self._row_end = 0
        self._bullet, self._item_end = "", 0
        self._lists: list[int] = []  # ends of the lists that are open

    def text_of(self, part: range) -> str:
        """Return the text of a subtree. An item of a list has no bullet if it is the whole part."""
        nodes, noise = self._nodes, self._noise
        self._part, self._written, self._lists, self._bullet = part, [], [], ""
        blocks: list[int] = []  # ends of the open block-level elements
        copied_to = 0  # the end of what is written
        for index in part:
            if index < copied_to:
                continue
            tag = nodes.tags[index]
            if self._places and tag is not TEXT:
                self._add_places(index)
            while blocks and blocks[-1] <= index:
                self._end_block(blocks.pop())
            if tag is TEXT:
                self._add_text(index)
            elif index in self._formulas:
                copied_to = self._add_formula(index)
            elif tag not in INLINE:
                blocks.append(nodes.ends[index])
                copied_to = self._begin_block(index, tag) if tag != "li" or index > part.start else 0
                if noise is not None and noise[index]:
                    copied_to = nodes.ends[index]
            elif tag == "img":
                self._joints.gap()
        self._add_places(part.stop)
        self._end_line()
        return "\n".join(self._written)

    def _add_places(self, index: int) -> None:
        """Write the formulas of scripts that stand before node ``index``, each on a line."""
        for place in self._places.get(index, ()):
            if place.parent in self._part and self._belongs(place.parent):
                self._end_line()
                self._write(collapse_spaces(place.formula.latex))

    def _add_text(self, index: int) -> None:
        """Add a text with the formulas of the scripts in it."""
        if self._noise is not None and self._noise[index]:
            self._joints.gap()
            return
        text = text_of(self._nodes, index)
        for place in reversed(self._places.get(index, ()) if self._places else ()):
            text = f"{text[: place.offset]} {place.formula.latex} {text[place.offset :]}"
        self._line.append(self._joints.between(index) + text)

    def _add_formula(self, index: int) -> int:
        formula = self._formulas[index]
        if formula is not None and self._belongs(index):
            self._joints.gap()
            shown = formula.latex if isinstance(formula, Formula) else formula.text
            if isinstance(formula, Formula) and formula.display:
                self._end_line()
                self._write(collapse_spaces(shown))
            else:
                self._line.append(shown)
        return self._nodes.ends[index]

    def _begin_block(self, index: int, tag: str) -> int:
        """Open a block-level element; return the end of the nodes that are now written."""
        end = self._nodes.ends[index]
        if tag in _CELLS and index < self._row_end:
            self._end_cell()
            return 0
        self._end_line()
        while self._lists and self._lists[-1] <= index:
            self._lists.pop()
        if tag == "tr" and is_single_line_row(self._nodes, index):
            self._row_end = end
        elif tag in _LISTS:
            self._lists.append(end)
        elif tag == "li":
            self._bullet, self._item_end = self._indent() + BULLET, end
        elif tag == "pre" and is_preformatted(self._nodes, index, self._noise):
            self._write(preformatted_text(self._nodes.elements[index]))
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
        if cell := collapse_spaces("".join(self._line)):
            self._row.append(cell)
        self._line = []

    def _end_line(self) -> None:
        self._end_cell()
        if self._row:
            self._write("\t".join(self._row))
            self._row = []

    def _write(self, text: str) -> None:
        if text:
            self._written.append(self._bullet + text)
            self._bullet = ""

    def _indent(self) -> str:
        return "  " * min(len(self._lists) - 1, MAX_LIST_INDENTS)


def is_single_line_row(nodes: Nodes, row: int) -> bool:
    """Tell whether the cells of a table's row hold only inline nodes."""
    tags = nodes.tags
    return all(tags[index] in INLINE or tags[index] in _CELLS for index in range(row + 1, nodes.ends[row]))
