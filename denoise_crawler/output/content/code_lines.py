"""The lines of a block of code, without line numbers, gutters and buttons."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field
from itertools import pairwise
from typing import TYPE_CHECKING

from lxml import etree

from denoise_crawler.page.line_numbers import LINE_NUMBER_NAMES

if TYPE_CHECKING:
    from lxml.etree import _Element

_ROWS = frozenset({"div", "li", "tr", "p"})
_LEFT_OUT = frozenset(
    {"script", "style", "template", "noscript", "button", "svg", "select", "input", "textarea", "figcaption"}
)
_GUTTER = re.compile(
    rf"(?:^|\s)(?:{LINE_NUMBER_NAMES}|margin-view-overlays|copy|copy-?\S*|\S+-copy|\S*copy-?(?:button|btn)|btn-(?:copy|clipboard)"
    r"|clipboard\S*|code-block-?header)(?:\s|$)",
    re.IGNORECASE,
)
_LINE = re.compile(
    r"(?:^|\s)(?:line|code-line|view-line|cl|cm-line|react-code-line|token-line|ec-line|hljs-line|CodeMirror-line)(?:\s|$)"
)
_SPACES = re.compile(r"[ \t\r\n\f]+")  # those that cannot break a line are kept
EDITOR_LINE = re.compile(r"(?:^|\s)(?:cm-line|view-line|CodeMirror-line)(?:\s|$)")
_TOP = re.compile(r"(?:^|[;\s])top:\s*(\d{1,7})px")
_NUMBERS = re.compile(r"[\s\d]*\d[\s\d]*[.:|]?\s*")
_UNSELECTABLE = re.compile(r"user-select:\s*none", re.IGNORECASE)
MIN_NUMBERED_SHARE = 0.9  # of the rows that begin with the number of their line


def code_text(block: _Element) -> str:
    """Return the lines of a block of code, without blank ones at its ends.

    A row (a ``div``, an item, a row of a table, or an element with the class of a line where no line ends stand
    between them) is a line.
    """
    if placed := _placed_lines(block):
        text = "\n".join(_Walk(line).text().strip("\n") for line in placed)
    else:
        text = _Walk(block).text()
    text = text.replace("\xa0", " ").replace("\u200b", "")
    lines = [line.rstrip() for line in text.splitlines()]
    filled = [number for number, line in enumerate(lines) if line]
    return "\n".join(lines[filled[0] : filled[-1] + 1]) if filled else ""


def _placed_lines(block: _Element) -> list[_Element]:
    """Return the lines of an editor from top to bottom, if each says where it stands: the tree has any order."""
    placed: list[tuple[int, _Element]] = []
    for line in block.iterchildren("*"):
        top = _TOP.search(line.get("style", "")) if EDITOR_LINE.search(line.get("class", "")) else None
        if top is None:
            return []
        placed.append((int(top.group(1)), line))
    return [line for _, line in sorted(placed, key=lambda pair: pair[0])]


@dataclass(slots=True)
class _Walk:
    """One block of code; ``_rows`` are its elements that are lines of their own."""

    block: _Element
    _rows: set[_Element] = field(default_factory=set)
    _holders: set[_Element] = field(default_factory=set)  # around rows
    _gutters: set[_Element] = field(default_factory=set)
    _parts: list[str] = field(default_factory=list)
    _row_start: int = 0
    _flows: bool = False  # line ends of the source are none

    def text(self) -> str:
        self._flows = self.block.tag == "code" and "white-space" not in self.block.get("style", "")
        self._flows = self._flows and self.block.find(".//br") is not None
        self._find_gutters()
        self._find_rows()
        self._find_row_numbers()
        walk = etree.iterwalk(self.block, events=("start", "end", "comment", "pi"))
        for event, element in walk:
            if event == "start":
                if element in self._gutters:
                    walk.skip_subtree()  # its end comes all the same, with what follows it
                    continue
                if element.tag == "br" or (element in self._rows and not self._at_line_start()):
                    self._parts.append("\n")
                if element in self._rows:
                    self._row_start = len(self._parts)
                self._add(element.text, element)
                continue
            if element in self._rows and (len(self._parts) == self._row_start or not self._at_line_start()):
                self._parts.append("\n")
            if element is not self.block:
                self._add(element.tail, element.getparent())
        return "".join(self._parts)

    def _add(self, text: str | None, holder: _Element | None) -> None:
        """Add a text; blank ones between rows are no lines."""
        if not text:
            return
        if text.isspace() and holder is not None and holder in self._holders:
            return
        if self._flows:
            text = _SPACES.sub(" ", text)
            text = text.lstrip(" ") if self._at_line_start() else text
        self._parts.append(text)

    def _at_line_start(self) -> bool:
        last = next((part for part in reversed(self._parts) if part), "\n")
        return last.endswith("\n")

    def _find_gutters(self) -> None:
        for element in self.block.iterdescendants("*"):
            if element.tag in _LEFT_OUT or _is_gutter(element):
                self._gutters.add(element)

    def _find_rows(self) -> None:
        """Find the rows: those that hold no other ones."""
        inner = [one for one in self.block.iterdescendants("*") if one not in self._gutters]
        containers = self._find_containers(inner)
        rows = {one for one in inner if one.tag in _ROWS and one not in containers}
        if "\n" not in "".join(map(str, self.block.itertext("*"))).strip("\n"):
            rows |= {one for one in inner if one.tag not in _ROWS and _LINE.search(one.get("class", ""))}
            codes = list(self.block.iterchildren("code"))
            rows |= set(codes if len(codes) > 1 else [])
        inside: set[_Element] = set()
        for element in inner:
            above = element.getparent()
            if above is not None and above in inside:
                inside.add(element)
            elif element in rows:
                inside.add(element)
                self._rows.add(element)
                if above is not None:
                    self._holders.add(above)

    def _find_containers(self, inner: list[_Element]) -> set[_Element]:
        """Return the elements that hold several rows, and those around them."""
        containers: set[_Element] = set()
        for element in reversed(inner):  # children before their parents
            if element not in containers:
                if _LINE.search(element.get("class", "")):
                    continue
                rows = (str(child.tag) for child in element.iterchildren(*_ROWS) if child not in self._gutters)
                if max(Counter(rows).values(), default=0) < 2:
                    continue
                containers.add(element)
            if (above := element.getparent()) is not None:
                containers.add(above)
        return containers

    def _find_row_numbers(self) -> None:
        """Find the elements that number rows without saying so in their class."""
        firsts = [(next(iter(row), None), row) for row in self.block.iterdescendants("*") if row in self._rows]
        numbered = [
            first
            for first, row in firsts
            if first is not None and not (row.text or "").strip() and len(row) > 1 and _holds_number(first)
        ]
        numbers = [int("".join(map(str, first.itertext("*"))).strip(" .:|\n\t")) for first in numbered]
        rising = all(after == before + 1 for before, after in pairwise(numbers))
        if len(numbers) > 1 and rising and len(numbers) >= MIN_NUMBERED_SHARE * len(firsts):
            self._gutters.update(numbered)


def _is_gutter(element: _Element) -> bool:
    classes = element.get("class")
    if classes and _GUTTER.search(classes):
        return True
    hidden = element.get("aria-hidden") == "true" or _UNSELECTABLE.search(element.get("style", "")) is not None
    if not (hidden or element.tag == "td"):
        return False
    text = "".join(map(str, element.itertext("*")))
    if _NUMBERS.fullmatch(text) is None:
        return False
    return hidden or (element.getnext() is not None and element.getprevious() is None)


def _holds_number(element: _Element) -> bool:
    text = "".join(map(str, element.itertext("*"))).strip(" .:|\n\t")
    return text.isascii() and text.isdecimal() and len(text) < 7
