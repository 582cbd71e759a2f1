"""Joins runs of text inside a line, so that words are not glued together."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lxml import etree

from denoise_crawler.page import TEXT
from denoise_crawler.page.markup import INLINE

if TYPE_CHECKING:
    from denoise_crawler.page import Element, Nodes

LINE_BREAKS = frozenset({"br", "div"})
FIRST_UNSPACED = "\u2e80"  # from here on, scripts have no spaces between words


class WordJoiner:
    """Returns what to write between two texts of a line: mostly nothing.

    A space separates words with something left out, a picture or the border of two links between them. ``^``
    separates a number from its superscript number.
    """

    def __init__(self, nodes: Nodes) -> None:
        self._nodes = nodes
        self._last, self._end = -1, ""
        self._gap = False

    def new_line(self) -> None:
        """Forget what came before."""
        self._last, self._end, self._gap = -1, "", False

    def gap(self) -> None:
        """Note that something is left out here."""
        self._gap = True

    def between(self, index: int) -> str:
        """Return what to write between the previous text of the line and text node ``index``."""
        nodes, text = self._nodes, self._nodes.texts[index]
        begin, last, end = text[:1], self._last, self._end
        gap, self._gap = self._gap, False
        self._last, self._end = index, text[-1:]
        if last < 0 or not (begin.isalnum() and end.isalnum()):
            return ""
        if (
            end.isdecimal()
            and begin.isdecimal()
            and _is_superscript(nodes, index)
            and not _is_superscript(nodes, last)
        ):
            return "^"
        link = nodes.links[index]
        other_link = link >= 0 and 0 <= nodes.links[last] != link
        return " " if (gap or other_link) and (end < FIRST_UNSPACED or begin < FIRST_UNSPACED) else ""


def _is_superscript(nodes: Nodes, index: int) -> bool:
    return nodes.tags[nodes.parents[index]] == "sup"


def text_of(nodes: Nodes, index: int) -> str:
    """Return the text of node ``index``, with parentheses around a ruby annotation that has none."""
    text, parent = nodes.texts[index], nodes.parents[index]
    if nodes.tags[parent] != "rt" or nodes.tags[nodes.parents[parent - 1]] == "rp":
        return text
    return f"({text.strip()})"


def is_preformatted(nodes: Nodes, index: int, noise: list[bool] | None) -> bool:
    """Tell whether a ``pre`` can be written as it is: it holds no noise and no block."""
    below = range(index + 1, nodes.ends[index])
    tags = nodes.tags
    return all(tags[one] in INLINE or tags[one] in LINE_BREAKS for one in below) and not (
        noise and any(noise[one] for one in below if tags[one] is TEXT)
    )


def preformatted_text(element: Element) -> str:
    """Return the lines of a ``pre`` without blank ones at its ends; only line breaks count of its markup."""
    parts = [element.text or ""]
    walk = etree.iterwalk(element, events=("start", "end", "comment", "pi"))
    for event, child in walk:
        if child is element:
            continue
        if event == "start":
            if child.tag in ("script", "style", "template", "noscript"):
                walk.skip_subtree()
                continue
            breaks = child.tag == "br" or (child.tag == "div" and not "".join(parts[-1:]).endswith("\n"))
            parts.append(("\n" if breaks else "") + (child.text or ""))
        else:
            parts.append(("\n" if event == "end" and child.tag == "div" else "") + (child.tail or ""))
    lines = [line.rstrip() for line in "".join(parts).splitlines()]
    filled = [number for number, line in enumerate(lines) if line]
    return "\n".join(lines[filled[0] : filled[-1] + 1]) if filled else ""
