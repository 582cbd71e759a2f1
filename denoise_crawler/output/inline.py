"""Joins runs of text inside a line, so that words are not glued together."""

from __future__ import annotations

from lxml import etree

from denoise_crawler.kernel.reference_text import joint
from denoise_crawler.page import Element, Nodes

_NO_TEXT = ("script", "style", "template", "noscript")
_NO_PLAIN_TEXT = (*_NO_TEXT, "br", "div", etree.Comment, etree.ProcessingInstruction)  # in a ``pre``


class WordJoiner:
    """Returns what to write between two texts of a line, as ``joint`` says it."""

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
        last, end, gap, link = self._last, self._end, self._gap, nodes.links[index]
        self._last, self._end, self._gap = index, text[-1], False
        if last < 0:
            return ""
        parted = gap or (link >= 0 and 0 <= nodes.links[last] != link)
        raised, was_raised = _is_superscript(nodes, index), _is_superscript(nodes, last)
        return joint(end, text[0], parted=parted, raised=raised, was_raised=was_raised)


def _is_superscript(nodes: Nodes, index: int) -> bool:
    return nodes.tags[nodes.parents[index]] == "sup"


def text_of(nodes: Nodes, index: int) -> str:
    """Return the text of node ``index``, with parentheses around a ruby annotation that has none."""
    text, parent = nodes.texts[index], nodes.parents[index]
    if nodes.tags[parent] != "rt" or nodes.tags[nodes.parents[parent - 1]] == "rp":
        return text
    return f"({text.strip()})"


def preformatted_text(element: Element) -> str:
    """Return the lines of a ``pre`` without blank ones at its ends; only line breaks count of its markup."""
    is_plain = next(element.iter(*_NO_PLAIN_TEXT), None) is None
    whole = "".join(map(str, element.itertext())) if is_plain else _walked_text(element)
    lines = [line.rstrip() for line in whole.splitlines()]
    filled = [number for number, line in enumerate(lines) if line]
    return "\n".join(lines[filled[0] : filled[-1] + 1]) if filled else ""


def _walked_text(element: Element) -> str:
    """Return the text of a ``pre`` with line breaks for elements that break lines, and without what is no text."""
    parts = [element.text or ""]
    walk = etree.iterwalk(element, events=("start", "end", "comment", "pi"))
    for event, child in walk:
        if child is element:
            continue
        if event == "start":
            if child.tag in _NO_TEXT:
                walk.skip_subtree()
                continue
            breaks = child.tag == "br" or (child.tag == "div" and not "".join(parts[-1:]).endswith("\n"))
            parts.append(("\n" if breaks else "") + (child.text or ""))
        else:
            parts.append(("\n" if event == "end" and child.tag == "div" else "") + (child.tail or ""))
    return "".join(parts)
