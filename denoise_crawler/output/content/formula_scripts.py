"""Formulas in scripts (``math/tex``): scripts are no nodes, so their places among the nodes are found here."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from denoise_crawler.output.content.blocks import Formula
from denoise_crawler.page import TEXT

if TYPE_CHECKING:
    from lxml.etree import _Element

    from denoise_crawler.page import Nodes

FORMULA_SCRIPT = re.compile(r"math/(?:la)?tex\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Place:
    """A formula below node ``parent``: in text node ``node`` behind ``offset`` characters, or before that node."""

    node: int
    offset: int
    parent: int
    formula: Formula


def places_of_scripts(nodes: Nodes, scripts: list[_Element]) -> list[Place]:
    """Return the places of formula scripts in document order."""
    if not scripts:
        return []
    by_element = {nodes.elements[index]: index for index, tag in enumerate(nodes.tags) if tag is not TEXT}
    places = []
    for script in scripts:
        latex, parent = (script.text or "").strip(), script.getparent()
        if latex and parent is not None and parent in by_element:
            node, offset = _place(nodes, script, by_element[parent], by_element)
            formula = Formula(latex, "mode=display" in script.get("type", ""))
            places.append(Place(node, offset, by_element[parent], formula))
    return sorted(places, key=lambda place: (place.node, place.offset))


def _place(nodes: Nodes, script: _Element, parent: int, by_element: dict[_Element, int]) -> tuple[int, int]:
    """Return the text node that runs on behind a script with the offset in it, or the next node with 0."""
    texts: list[str] = []  # before the script, the last first
    before = script.getprevious()
    while before is not None and before not in by_element:
        texts.append(before.tail or "")
        before = before.getprevious()
    if before is None:
        texts.append(nodes.elements[parent].text or "")
        start = parent + 1
    else:
        texts.append(before.tail or "")
        start = nodes.ends[by_element[before]]
    if start < len(nodes) and nodes.tags[start] is TEXT and nodes.parents[start] == parent:
        return start, min(_length(texts[::-1]), len(nodes.texts[start]))
    return start, 0


def _length(texts: list[str]) -> int:
    """Return how long the run of these texts is: blank ones add a space where none is (see ``nodes_of``)."""
    run, gap = "", False
    for text in texts:
        if text.isspace():
            gap = True
        elif text:
            run += (" " if gap and run and not run[-1].isspace() else "") + text
            gap = False
    return len(run) + (gap and bool(run) and not run[-1].isspace())
