"""Sidenotes: notes that stand beside the text on the page, and in its middle in the markup."""

from __future__ import annotations

import re
from functools import lru_cache
from itertools import count
from typing import TYPE_CHECKING, Any

from denoise_crawler.core import compiled
from denoise_crawler.output.content.blocks import Text
from denoise_crawler.page import TEXT

if TYPE_CHECKING:
    from collections.abc import Iterable

    from denoise_crawler.output.content.blocks import Inline
    from denoise_crawler.page import Nodes, Page

_LABEL = re.compile(r"[\s\[(]*(?:\d{1,3}|[*†‡§¶⊕]{1,3})[\])}:.]*\s*")  # that a note begins with
_HINTS = ("sidenote", "side-note", "marginnote", "margin-note")
_NAME = re.compile(rf"(?:^|\s)(?:{'|'.join(_HINTS)})(?:\s|$)", re.IGNORECASE)
_MOST_CHARACTERS = 5_000


def sidenotes_of(page: Page, marks: dict[int, str], notes: dict[int, str]) -> tuple[dict[int, str], set[int]]:
    """Return the labels of the sidenotes of a page by their nodes, and those that a footnote says again.

    Args:
        page: The page.
        marks: The labels of its references by their nodes.
        notes: The labels of its footnotes by their nodes.

    Example:
        >>> from denoise_crawler import Page
        >>> page = Page.parse("", "<p>It sails.<span class=sidenote>Since May.</span>")
        >>> sidenotes_of(page, {}, {})
        ({3: '1'}, set())

    """
    nodes = page.nodes
    taken = {*marks.values(), *notes.values()}
    labels = (str(number) for number in count(1) if str(number) not in taken)
    found, again, end = dict[int, str](), set[int](), 0
    ends_of_marks = {nodes.ends[mark] for mark in marks}
    for index in _named(nodes):
        if index < end or not 0 < sum(page.characters[index : nodes.ends[index]]) <= _MOST_CHARACTERS:
            continue
        end = nodes.ends[index]
        if index in ends_of_marks:
            again.add(index)
        elif index not in notes:
            found[index] = next(labels)
    return found, again


def without_label(note: list[Inline]) -> list[Inline]:
    """Return the pieces of a note without the number or sign that they begin with."""
    first = next((number for number, one in enumerate(note) if isinstance(one, Text) and one.text.strip()), -1)
    piece = note[first] if first >= 0 else None
    return note[first + 1 :] if isinstance(piece, Text) and _LABEL.fullmatch(piece.text) else note


def without_number(line: list[Inline]) -> list[Inline]:
    """Return the pieces of a line without the raised number at its end, which says what a mark will say."""
    last = line[-1]
    is_number = isinstance(last, Text) and last.style == "sup" and _LABEL.fullmatch(last.text)
    return line[:-1] if is_number else line


def _named(nodes: Nodes) -> list[int]:
    indices: Iterable[int] = range(len(nodes))
    if nodes.compiled is not None and (core := compiled("attributes")) is not None:
        indices = _hints(core).find(nodes.compiled)
    return [
        index
        for index in indices
        if nodes.tags[index] != TEXT and _NAME.search(nodes.elements[index].get("class", ""))
    ]


@lru_cache(maxsize=1)
def _hints(core: Any) -> Any:
    return core.Hints({}, {"class": _HINTS})
