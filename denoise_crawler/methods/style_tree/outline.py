"""The outline of a page: a label for each element, equal on all pages that share a template, and its addresses."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from denoise_crawler.core import compiled
from denoise_crawler.page import TEXT

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from denoise_crawler.page import Page

# The attributes that decide how an element looks. Inline ``style`` is left out: scripts and editors put positions,
# colours and images there, which would give each page a template of its own.
STYLE_ATTRIBUTES = ("class", "id", "width", "height", "align", "valign", "bgcolor", "border", "color", "size")
_NAMES = frozenset({"class", "id"})
_LONGEST_VALUE = 200
# Digits and hashes number instances (post-1234, css-1q2w3e) rather than name a style.
_NUMBERED = re.compile(r"(?<![a-z])[0-9a-f]*\d[0-9a-f]{3,}(?![a-z])|\d+", re.IGNORECASE)

Attributes: TypeAlias = "tuple[tuple[str, str], ...]"


@dataclass(frozen=True, slots=True, eq=False)
class Outline:
    """The labels and the shape of a page, as columns over its nodes.

    ``labels[numbers[i]]`` is the label of node i, ``ends[i]`` is where its subtree ends, ``linked[i]`` is the link
    that it stands in, -1 for none. ``links`` are the ``href`` of links, ``sources`` the ``src`` of elements
    without children, both by node.
    """

    labels: list[str]
    numbers: NDArray[np.int32]
    ends: NDArray[np.int32]
    linked: NDArray[np.int32]
    links: dict[int, str]
    sources: dict[int, str]


def outline_of(page: Page) -> Outline:
    """Return the outline of ``page``; call it by ``page.once``."""
    nodes, core = page.nodes, compiled("looks")
    links, sources = dict[int, str](), dict[int, str]()
    if core is not None and nodes.compiled is not None:
        numbers, ends, linked = np.empty((3, len(nodes)), np.int32)
        looks = core.outline(
            nodes.compiled, STYLE_ATTRIBUTES, _LONGEST_VALUE, numbers, ends, linked, links, sources
        )
    else:
        looks, found = _read_looks(page, links, sources)
        numbers, ends, linked = np.array([found, nodes.ends, nodes.links], np.int32)
    by_label: dict[str, int] = {}
    of_looks = [by_label.setdefault(_label(tag, own), len(by_label)) for tag, own in looks]
    numbers = np.array(of_looks, np.int32)[numbers]
    numbers[0] = by_label.setdefault("body", len(by_label))
    return Outline(list(by_label), numbers, ends, linked, links, sources)


def labels_of(page: Page) -> list[str]:
    """Return the label of each node of ``page``, in document order."""
    outline = page.once(outline_of)
    return [outline.labels[number] for number in outline.numbers.tolist()]


def _read_looks(
    page: Page, links: dict[int, str], sources: dict[int, str]
) -> tuple[Sequence[tuple[str, Attributes]], list[int]]:
    """Return the looks of a page, and by node the number of its look; fill ``links`` and ``sources``."""
    nodes, numbers = page.nodes, dict[tuple[str, Attributes], int]()
    found = []
    for index, (tag, element) in enumerate(zip(nodes.tags, nodes.elements, strict=True)):
        own: Attributes = ()
        if tag is not TEXT:
            own = tuple(
                (str(name), str(value)[:_LONGEST_VALUE])
                for name, value in element.items()
                if name in STYLE_ATTRIBUTES
            )
            if nodes.links[index] == index:
                links[index] = element.get("href", "")
            if nodes.ends[index] == index + 1 and (source := element.get("src")) is not None:
                sources[index] = source
        found.append(numbers.setdefault((tag, own), len(numbers)))
    return list(numbers), found


@lru_cache(maxsize=16_384)
def _label(tag: str, attributes: Attributes) -> str:
    if not attributes:
        return tag
    parts = [tag]
    for name, value in sorted(attributes):
        shown = " ".join(_NUMBERED.sub("", value).split()) if name in _NAMES else value.strip()
        if shown:
            parts.append(f"{name}={shown}")
    return "|".join(parts)
