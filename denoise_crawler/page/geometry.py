"""Positions and sizes of elements: as a browser drew them, else as attributes and styles declare them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from lxml import etree

from denoise_crawler.page.nodes import TEXT, Nodes

if TYPE_CHECKING:
    from denoise_crawler.page import Element, Page


BOX_ATTRIBUTE = "data-box"
MAX_PIXELS = 1e8  # browsers draw nothing beyond 2 ** 25 pixels; the limit keeps sums of areas finite
_PIXELS = {"": 1.0, "px": 1.0, "pt": 4 / 3, "em": 16.0, "rem": 16.0, "in": 96.0, "cm": 96 / 2.54, "mm": 96 / 25.4}
_LENGTH = re.compile(r"\s*(-?(?:\d+(?:\.\d*)?|\.\d+))\s*(%|[a-z]*)", re.IGNORECASE)
_DECLARATION = re.compile(r"(?:^|;)\s*(width|height|left|top)\s*:([^;]*)", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Length:
    """A declared length: CSS pixels, or per cent of the parent's length if ``percent``."""

    value: float
    percent: bool = False


@dataclass(frozen=True, slots=True)
class Box:
    """The rectangle of a drawn element, in CSS pixels from the page's upper left corner."""

    left: float
    top: float
    width: float
    height: float

    @property
    def area(self) -> float:
        """The area in square pixels."""
        return self.width * self.height

    def overlap(self, other: Box) -> float:
        """Return the common area in square pixels."""
        across = min(self.left + self.width, other.left + other.width) - max(self.left, other.left)
        down = min(self.top + self.height, other.top + other.height) - max(self.top, other.top)
        return max(0.0, across) * max(0.0, down)


def parse_length(text: str | None) -> Length | None:
    """Parse a length of HTML or CSS; return None for anything else (``auto``, ``*``).

    Example:
        >>> parse_length("98%"), parse_length("2em"), parse_length("auto")
        (Length(value=98.0, percent=True), Length(value=32.0, percent=False), None)
    """
    match = _LENGTH.match(text or "")
    if match is None:
        return None
    value, unit = float(match[1]), match[2].lower()
    if unit == "%":
        return Length(value, percent=True)
    return Length(value * _PIXELS[unit]) if unit in _PIXELS else None


def declared_length(element: Element, name: str) -> Length | None:
    """Return the ``width``, ``height``, ``left`` or ``top`` that ``element`` declares; None without one.

    An inline style wins over the attribute, as in a browser.
    """
    style = element.get("style")
    if style:
        for declared, value in reversed(_DECLARATION.findall(style)):
            if declared.lower() == name and (styled := parse_length(value)) is not None:
                return styled
    return parse_length(element.get(name))


def drawn_boxes(page: Page) -> list[Box | None]:
    """Return the box of each node of a rendered page.

    Boxes come from ``page.boxes``, else from ``data-box`` attributes: ``left top width height``, separated by
    spaces or commas. Text and elements without a readable box have None.
    """
    given = _boxes_by_element(page)
    return [
        None if text else given.get(element) or _box_from_attribute(element)
        for element, text in zip(page.nodes.elements, page.nodes.texts, strict=True)
    ]


def _boxes_by_element(page: Page) -> Mapping[Element, Box]:
    if not page.boxes or page.tree is None:
        return {}
    tree = page.tree.getroottree()
    boxes: dict[Element, Box] = {}
    for path, numbers in page.boxes.items():
        try:
            matches = tree.xpath(path)
        except etree.XPathError:
            continue
        element = matches[0] if isinstance(matches, list) and matches else None
        if isinstance(element, etree._Element) and (box := _parse_box(numbers)) is not None:
            boxes[element] = box
    return boxes


def _box_from_attribute(element: Element) -> Box | None:
    text = element.get(BOX_ATTRIBUTE)
    return None if text is None else _parse_box(text.replace(",", " ").split())


def _parse_box(numbers: Sequence[float | str]) -> Box | None:
    try:
        left, top, width, height = map(float, numbers)
    except ValueError:
        return None
    drawn = all(abs(number) <= MAX_PIXELS for number in (left, top, width, height))
    return Box(left, top, width, height) if drawn and width >= 0 and height >= 0 else None


# --- tells tables of data from tables that lay out a page

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


def is_data_table(nodes: Nodes, table: int) -> bool:
    """Return True if a table holds data: two cells with content in one of its rows, and none that is long.

    A table of one row shows no columns: its cells hold lines only. A table around another table, around headings
    or parts of the page is layout, and so is one that says so.

    Example:
        >>> from denoise_crawler import Page
        >>> is_data_table(Page.parse("", "<table><tr><th>Day<th>Ships<tr><td>Monday<td>3</table>").nodes, 1)
        True
    """
    element, below = nodes.elements[table], (table + 1, nodes.end_of(table))
    if (
        nodes.holds(*below, _OF_LAYOUT)
        or element.get("role", "").lower() in _LAYOUT_ROLES
        or _LAYOUT_CLASS in element.get("class", "")
    ):
        return False
    with_headers = nodes.holds(*below, _OF_DATA)
    longest = LONGEST_CELL_WITH_HEADERS if with_headers else LONGEST_CELL
    most = MOST_PARAGRAPHS_WITH_HEADERS if with_headers else MOST_PARAGRAPHS
    rows: dict[int, int] = {}  # by row, its cells with content
    for row, characters, paragraphs, pictures in _cells(nodes, table):
        if characters > longest or paragraphs > most:
            return False
        if characters or pictures:
            rows[row] = rows.get(row, 0) + 1
    return max(rows.values(), default=0) > 1 and (len(rows) > 1 or not nodes.holds(*below, _NOT_IN_ONE_ROW))


def _cells(nodes: Nodes, table: int) -> Iterable[tuple[int, int, int, int]]:
    """Return of each cell of a table that holds no other its row (the node around it) and what is in it.

    That are the characters of its text, its paragraphs and its pictures.
    """
    if nodes.compiled is not None:
        cells: list[tuple[int, int, int, int]] = nodes.compiled.cells(table, _CELLS, _PARAGRAPHS, _PICTURES)
        return cells
    return _cells_in_python(nodes, table)


def _cells_in_python(nodes: Nodes, table: int) -> Iterator[tuple[int, int, int, int]]:
    row, end, characters, paragraphs, pictures = -1, 0, 0, 0, 0
    for index in range(table + 1, nodes.ends[table]):
        tag = nodes.tags[index]
        if tag in _CELLS:
            if end:
                yield row, characters, paragraphs, pictures
            row, end, characters, paragraphs, pictures = nodes.parents[index], nodes.ends[index], 0, 0, 0
        elif index < end:
            if tag is TEXT:
                characters += len(nodes.texts[index])
            paragraphs += tag in _PARAGRAPHS
            pictures += tag in _PICTURES
    if end:
        yield row, characters, paragraphs, pictures
