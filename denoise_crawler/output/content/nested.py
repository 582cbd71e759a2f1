"""Lists, tables, figures and boxes with notes and warnings, while their content is being gathered."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from lxml.etree import _Element

from denoise_crawler.output.content.blocks import (
    Block,
    Callout,
    Cell,
    Details,
    Heading,
    Inline,
    List,
    Paragraph,
    Picture,
    Table,
    Text,
)
from denoise_crawler.page import Nodes

BOXES = frozenset({"div", "aside", "section", "blockquote", "p", "article", "dl"})
_KINDS = (
    frozenset({"note", "info", "information", "abstract", "summary", "seealso", "todo", "example", "quote"})
    | {"remark", "tip", "hint", "success", "check", "done", "question", "faq", "help", "important", "warning"}
    | {"attention", "caution", "danger", "error", "failure", "bug", "critical", "secondary", "primary", "light"}
)
_BOX = re.compile(
    r"(?:^|\s)(?P<box>admonition|callout|markdown-alert|alert|theme-admonition|custom-block|hint-box|notecard)(?:\s|$)"
)
_TITLE = re.compile(
    r"(?:^|\s)(?:admonition-?title|callout-?title|callout-heading|callout-header|markdown-alert-title|alert-heading|alert-title"
    r"|custom-block-title|admonition-?heading\w*|details-summary)(?:\s|$)",
    re.IGNORECASE,
)
_PART = re.compile(r"[\s_-]+")


def callout_kind(element: _Element) -> str:
    """Return the kind of a callout in lower case; an empty string if the element is none.

    Example:
        >>> from lxml import html
        >>> callout_kind(html.fromstring("<div class='alert alert-warning'>Look out</div>"))
        'warning'
    """
    if kind := element.get("data-callout", "").strip().lower():
        return kind if kind.isalpha() and len(kind) < 20 else "note"
    classes = element.get("class")
    if not classes or (box := _BOX.search(classes)) is None:
        return ""
    named = [part for part in _PART.split(classes.lower()) if part in _KINDS]
    if box["box"] == "alert" and not named:
        return ""  # a message of the site
    return named[0] if named else "note"


def is_title(element: _Element) -> bool:
    """Return True if an element inside a callout is its title."""
    classes = element.get("class")
    return classes is not None and _TITLE.search(classes) is not None


LISTS = frozenset({"ul", "ol", "menu", "dir"})
_MAX_FIRST_NUMBER = 900_000_000
_MAX_COLUMNS = 50
_LINES = (Heading, Paragraph)


class Lists:
    """The lists of a page that are open."""

    def __init__(self, nodes: Nodes) -> None:
        self._nodes = nodes
        self._open: list[int] = []
        self._written: dict[int, List] = {}  # by node, the list that the next item goes into
        self._numbers: dict[int, int] = {}  # by node, the number of the next item

    def open(self, index: int) -> None:
        """Begin the list at node ``index``."""
        self.innermost(index)
        self._open.append(index)

    def innermost(self, index: int) -> int:
        """Return the node of the list around node ``index``; -1 if there is none."""
        while self._open and self._nodes.ends[self._open[-1]] <= index:
            self._open.pop()
        return self._open[-1] if self._open else -1

    def add(self, of_list: int, index: int, item: list[Block], to: list[Block]) -> None:
        """Add the item at node ``index``, unless it is empty, to its list at the end of ``to`` or a new one."""
        if not item:
            return
        number, step = self._number_of(of_list, index)
        self._numbers[of_list] = number + step
        ordered = of_list >= 0 and self._nodes.tags[of_list] == "ol"
        written = self._written.get(of_list)
        follows = written is not None and (not ordered or number == written.start + len(written.items))
        if written is not None and follows and to and to[-1] is written:
            written.items.append(item)
            return
        self._written[of_list] = List([item], ordered, number if ordered else 1)
        to.append(self._written[of_list])

    def add_inner(self, of_list: int, inner: list[Block], to: list[Block]) -> None:
        """Add what stands in the list ``of_list`` but in no item of it, as a list does, to the item before it."""
        written = self._written.get(of_list)
        (written.items[-1] if written is not None and to and to[-1] is written else to).extend(inner)

    def _number_of(self, of_list: int, index: int) -> tuple[int, int]:
        """Return the number of an item, and what the next has more."""
        element = self._nodes.elements[of_list] if of_list >= 0 else None
        is_reversed = element is not None and element.get("reversed") is not None
        number = self._numbers.get(of_list)
        if number is None:
            items = 0 if element is None or not is_reversed else sum(1 for _ in element.iterchildren("li"))
            number = 1 if element is None else whole_number(element, "start", max(items, 1))
        return whole_number(self._nodes.elements[index], "value", number), -1 if is_reversed else 1


def whole_number(element: _Element, name: str, otherwise: int) -> int:
    """Return the number that an attribute holds, which numbers an item of a list."""
    value = element.get(name, "").strip()
    valid = value.isascii() and value.isdecimal() and int(value[:10]) < _MAX_FIRST_NUMBER
    return int(value) if valid else otherwise


@dataclass(slots=True)
class OpenTable:
    """A data table at node ``start``. Text in none of its cells goes above the table, or to the cell before it."""

    start: int
    above: list[Block] = field(default_factory=list)
    rows: list[list[Cell]] = field(default_factory=list)
    row: int = -1  # what holds the cells of the last row
    caption: list[Inline] = field(default_factory=list)

    def add_cell(self, nodes: Nodes, index: int, loose: list[Block], content: list[Block]) -> None:
        """Add the cell at node ``index`` to its row: cells with the same parent, mostly a ``tr``."""
        element = nodes.elements[index]
        self._place(loose)
        if nodes.parents[index] != self.row:
            self.row = nodes.parents[index]
            self.rows.append([])
        if len(self.rows[-1]) < _MAX_COLUMNS:
            header = nodes.tags[index] == "th"
            self.rows[-1].append(Cell(content, header, _span(element, "colspan"), _span(element, "rowspan")))
        else:
            self.rows[-1][-1].content.extend(content)

    def add_caption(self, loose: list[Block], content: list[Block]) -> None:
        """Add a caption. Wherever it stands in the table, readers see it above the rows."""
        self._place(loose)
        self.caption.extend(inline_content(content))
        loose.extend(block for block in content if not isinstance(block, _LINES))

    def _place(self, loose: list[Block]) -> None:
        (self.rows[-1][-1].content if self.rows else self.above).extend(loose)
        loose.clear()

    def finish(self, loose: list[Block]) -> list[Block]:
        """Return the table without empty rows, or what is in it if no row has two cells; ``loose`` goes behind."""
        rows = [row for row in self.rows if any(cell.content for cell in row)]
        if any(sum(bool(cell.content) for cell in row) > 1 for row in rows):
            return [*self.above, Table(rows, self.caption), *loose]
        caption: list[Block] = [Paragraph(self.caption)] if self.caption else []
        return [*self.above, *caption, *(block for row in rows for cell in row for block in cell.content), *loose]


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
        if isinstance(block, _LINES):
            line += [Text(" "), *block.content] if line else block.content
    return line
