"""Where elements stand and how large they are: as a browser drew them, else as attributes and styles say."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from lxml import etree

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from denoise_crawler.page import Element, Page

BOX_ATTRIBUTE = "data-box"
FARTHEST = 1e8  # pixels: browsers draw nothing beyond 2 ** 25; so sums of areas stay finite
_PIXELS = {"": 1.0, "px": 1.0, "pt": 4 / 3, "em": 16.0, "rem": 16.0, "in": 96.0, "cm": 96 / 2.54, "mm": 96 / 25.4}
_LENGTH = re.compile(r"\s*(-?(?:\d+(?:\.\d*)?|\.\d+))\s*(%|[a-z]*)", re.IGNORECASE)
_DECLARATION = re.compile(r"(?:^|;)\s*(width|height|left|top)\s*:([^;]*)", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Length:
    """A length as declared: CSS pixels, or a share of what it stands in (``percent``, 0–100 and more)."""

    value: float
    percent: bool = False


@dataclass(frozen=True, slots=True)
class Box:
    """The rectangle of an element on the drawn page, in CSS pixels from the page's upper left corner."""

    left: float
    top: float
    width: float
    height: float

    @property
    def area(self) -> float:
        """The area in square pixels."""
        return self.width * self.height

    def overlap(self, other: Box) -> float:
        """Return the area that both have in common."""
        across = min(self.left + self.width, other.left + other.width) - max(self.left, other.left)
        down = min(self.top + self.height, other.top + other.height) - max(self.top, other.top)
        return max(0.0, across) * max(0.0, down)


def length(text: str | None) -> Length | None:
    """Read ``"98%"``, ``"600"``, ``"600px"``, ``"40em"``; None for anything else (``auto``, ``*``)."""
    match = _LENGTH.match(text or "")
    if match is None:
        return None
    value, unit = float(match[1]), match[2].lower()
    if unit == "%":
        return Length(value, percent=True)
    return Length(value * _PIXELS[unit]) if unit in _PIXELS else None


def declared(element: Element, name: str) -> Length | None:
    """Return what ``element`` declares as its ``width``, ``height``, ``left`` or ``top``.

    An inline style counts before the attribute, as in a browser.
    """
    style = element.get("style")
    if style:
        for found, value in reversed(_DECLARATION.findall(style)):
            if found.lower() == name and (styled := length(value)) is not None:
                return styled
    return length(element.get(name))


def drawn_boxes(page: Page) -> list[Box | None]:
    """Return each node's box where the page was rendered: from ``page.boxes``, else from ``data-box`` attributes.

    ``data-box`` is ``left top width height``, parted by spaces or commas. Text has no box of its own, nor has an
    element with one that cannot be read.
    """
    given = _boxes_by_element(page)
    result: list[Box | None] = []
    for element, text in zip(page.nodes.elements, page.nodes.texts, strict=True):
        drawn = None if text else given.get(element) or _attribute(element)
        result.append(drawn)
    return result


def _boxes_by_element(page: Page) -> Mapping[Element, Box]:
    if not page.boxes or page.root is None:
        return {}
    tree = page.root.getroottree()
    found: dict[Element, Box] = {}
    for path, numbers in page.boxes.items():
        try:
            matches = tree.xpath(path)
        except etree.XPathError:
            continue
        element = matches[0] if isinstance(matches, list) and matches else None
        if isinstance(element, etree._Element) and (box := _box(numbers)) is not None:
            found[element] = box
    return found


def _attribute(element: Element) -> Box | None:
    text = element.get(BOX_ATTRIBUTE)
    return None if text is None else _box(text.replace(",", " ").split())


def _box(numbers: Sequence[float | str]) -> Box | None:
    try:
        left, top, width, height = map(float, numbers)
    except ValueError:
        return None
    drawn = all(abs(number) <= FARTHEST for number in (left, top, width, height))
    return Box(left, top, width, height) if drawn and width >= 0 and height >= 0 else None
