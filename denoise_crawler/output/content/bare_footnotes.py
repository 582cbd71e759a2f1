"""Footnotes without links: a raised number in the text, and a note behind it that begins with the same."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from denoise_crawler.output.content.nested import first_number
from denoise_crawler.page.markup import INLINE

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from denoise_crawler.page import Nodes

MAX_RAISED = 3_000
_LABEL = re.compile(r"\s*[\[(]?(\d{1,3}|[*†‡§¶]{1,3})[\])]?\s*")
_BEFORE_A_MARK = re.compile(r"(?:[^\W\d_]{3,}|[.,;:!?…\"'”’»)\]。，！？])\s?\Z")  # and not before an exponent
_NOTE_HOLDERS = frozenset({"p", "div", "li", "dd"})


def bare_notes(nodes: Nodes, until: list[int]) -> tuple[dict[int, str], dict[int, str], set[int]]:
    """Return the labels of marks and of notes by their nodes, and the nodes of the labels in the notes.

    Args:
        nodes: The nodes of the page.
        until: How many characters the page has before each node.

    Example:
        >>> from denoise_crawler import Page
        >>> nodes = Page.parse("", "<p>It sails.<sup>1</sup><p><sup>1</sup> Since May.").nodes
        >>> bare_notes(nodes, [0, 0, 0, 9, 9, 10, 10, 10, 11, 22])
        ({3: '1'}, {5: '1'}, {6})

    """
    raised = [(index, label) for index, label in _raised(nodes) if nodes.links[index] < 0]
    if not raised or len(raised) > MAX_RAISED:
        return {}, {}, set()
    marks: dict[str, list[int]] = {}
    notes: list[tuple[int, str, int]] = list(_beside(nodes))
    for index, label in raised:
        block = _block_around(nodes, index)
        if until[block] < until[index]:
            if _BEFORE_A_MARK.search(_text_before(nodes, index)):
                marks.setdefault(label, []).append(index)
        elif nodes.tags[block] in _NOTE_HOLDERS and until[nodes.ends[block]] > until[nodes.ends[index]]:
            notes.append((block, label, index))
    return _paired(marks, sorted(notes), lambda block: nodes.ends[block])


def _raised(nodes: Nodes) -> Iterator[tuple[int, str]]:
    """Yield the elements with a raised number or sign and no link, with their labels."""
    for index, tag in enumerate(nodes.tags):
        if tag == "sup":
            end = nodes.ends[index]
            found = _LABEL.fullmatch("".join(nodes.texts[index:end])) if end - index < 5 else None
            if found is not None and "a" not in nodes.tags[index:end]:
                yield index, found.group(1)


def _beside(nodes: Nodes) -> Iterator[tuple[int, str, int]]:
    """Yield the items of numbered lists beside the text, with their numbers and themselves."""
    for index, tag in enumerate(nodes.tags):
        above = nodes.parents[index]
        if tag == "ol" and nodes.tags[above] == "aside":
            number, item = first_number(nodes.elements[index]), index + 1
            while item < nodes.ends[index]:
                if nodes.tags[item] == "li":
                    yield item, str(number), item
                    number += 1
                item = nodes.ends[item]


def _block_around(nodes: Nodes, index: int) -> int:
    while index > 0 and nodes.tags[index] in INLINE:
        index = nodes.parents[index]
    return index


def _text_before(nodes: Nodes, index: int) -> str:
    """Return the end of the text before a node."""
    before = index - 1
    while before > 0 and not nodes.texts[before]:
        before -= 1
    return nodes.texts[before][-20:]


def _paired(
    marks: dict[str, list[int]], notes: list[tuple[int, str, int]], end_of: Callable[[int], int]
) -> tuple[dict[int, str], dict[int, str], set[int]]:
    """Return marks and notes of the labels that have both, a mark first; no note holds another."""
    marked, noted, labels = dict[int, str](), dict[int, str](), set[int]()
    end = 0
    for note, label, sign in notes:
        before = [mark for mark in marks.get(label, []) if mark < note]
        if before and note >= end and label not in noted.values():
            marked.update(dict.fromkeys(before, label))
            noted[note] = label
            labels |= {sign} - {note}
            end = end_of(note)
    return marked, noted, labels
