"""Positions and sizes of elements: as a browser drew them, else as attributes and styles declare them."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from lxml import etree

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
        for found, value in reversed(_DECLARATION.findall(style)):
            if found.lower() == name and (styled := parse_length(value)) is not None:
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
    found: dict[Element, Box] = {}
    for path, numbers in page.boxes.items():
        try:
            matches = tree.xpath(path)
        except etree.XPathError:
            continue
        element = matches[0] if isinstance(matches, list) and matches else None
        if isinstance(element, etree._Element) and (box := _parse_box(numbers)) is not None:
            found[element] = box
    return found


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
