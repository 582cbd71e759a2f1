"""The clean text of a page, and the rules of its style sheets that may hide something, in plain Python."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any, TypeAlias

import numpy as np

from denoise_crawler.kernel.columns import (
    BLOCK,
    BREAK,
    BULLET,
    CELL,
    HIDES,
    ITEM,
    LIST,
    MOST_INDENTS,
    MOST_OF_A_SIGN,
    NODE_KINDS,
    PICTURE,
    PREFORMATTED,
    ROW,
    SHOWS,
    SUPERSCRIPT,
    TEXT_NODE,
)

Shown: TypeAlias = "tuple[dict[int, str], dict[int, tuple[str, bool] | None], dict[int, list[tuple[int, str]]]]"
_SPACED = "\u2e80"  # the letters before are of scripts with spaces between their words
_HIDING = ("y:none", "y: none", "hidden", "-9", "000px", "clip", "collapse")
_SHOWING = ("display", "visible", "max-height")


def kind_of(tag: str, inline: frozenset[str]) -> int:
    """Return what a node with a ``tag`` is; ``inline`` tags stand inside a line."""
    return NODE_KINDS.get(tag, 0 if tag in inline else BLOCK)


def joint(end: str, begin: str, *, parted: bool, raised: bool, was_raised: bool) -> str:
    """Return what to write between two texts of a line: mostly nothing.

    A space separates words with something left out, a picture or the border of two links between them. ``^``
    separates a number from its superscript number.

    Args:
        end: The last letter of the first text.
        begin: The first letter of the second one.
        parted: Whether something stands between them.
        raised: Whether the second text is a superscript.
        was_raised: Whether the first one is.

    """
    if not (begin.isalnum() and end.isalnum()):
        return ""
    if raised and not was_raised and end.isdecimal() and begin.isdecimal():
        return "^"
    return " " if parted and (end < _SPACED or begin < _SPACED) else ""


def texts_of(
    texts: list[str],
    columns: tuple[Any, ...],
    noise: list[bool],
    formulas: Shown,
    preformatted: Callable[[int], str],
    is_permalink: Callable[[int], bool],
    parts: Iterable[tuple[int, int]],
) -> list[str]:
    """Return the clean texts of parts of a page: lines for block-level elements, tabs between the cells of a row.

    Args:
        texts: The text of each node.
        columns: By node what it is, its parent, the end of its subtree and the link that it stands in.
        noise: Whether each node is noise; nothing if all is kept.
        formulas: By text what is written in its place; by element the formula in its place, with whether it has a
            line of its own, None for nothing; by node formulas before it, each with the element that it stands in.
        preformatted: Returns the lines of an element that is written as it is.
        is_permalink: Whether a link under a sign leads to itself; the sign is left out then.
        parts: Subtrees, as pairs of a node and the end.

    Raises:
        ValueError: The columns do not fit each other, or the page has no such part.

    """
    count, (kinds, parents, ends, _) = len(texts), columns
    if len(noise) not in (0, count):
        raise ValueError("the judgement does not fit the nodes")
    if any(len(column) != count for column in columns) or not count or kinds[0] & TEXT_NODE:
        raise ValueError("the columns of the page do not fit each other")
    order = np.arange(count)
    if (parents >= order).any() or (parents[1:] < 0).any() or (ends <= order).any() or (ends > count).any():
        raise ValueError("a node stands in one that is not there")
    lists = tuple(np.asarray(column).tolist() for column in columns)
    found = []
    for start, stop in parts:
        if not 0 <= start <= stop <= len(texts):
            raise ValueError("the page has no such part")
        found.append(_Lines(texts, lists, noise, formulas, preformatted, is_permalink).text_of(start, stop))
    return found


class _Lines:
    """Writes the lines of a part while walking through its nodes."""

    def __init__(
        self,
        texts: list[str],
        columns: tuple[list[int], ...],
        noise: list[bool],
        formulas: Shown,
        preformatted: Callable[[int], str],
        is_permalink: Callable[[int], bool],
    ) -> None:
        self._texts, self._noise = texts, noise
        self._kinds, self._parents, self._ends, self._links = columns
        self._shown, self._formulas, self._placed = formulas
        self._preformatted, self._is_permalink = preformatted, is_permalink
        self._written: list[str] = []
        self._line: list[str] = []
        self._row: list[str] = []  # the cells before, of a row that is one line
        self._bullet = ""
        self._open: list[int] = []  # the ends of the block-level elements that are open
        self._lists: list[int] = []  # those of lists
        self._row_end = self._item_end = 0
        self._last, self._gap = -1, False  # the last text of the line; something was left out since then

    def text_of(self, start: int, stop: int) -> str:
        """Return the text of the part. An item of a list has no bullet if it is the whole part."""
        index = start
        while index < stop:
            kind = self._kinds[index]
            if not kind & TEXT_NODE:
                self._add_placed(index, start, stop)
            while self._open and self._open[-1] <= index:
                self._end_block(self._open.pop())
            is_whole = False
            if kind & TEXT_NODE:
                self._add_text(index)
            elif index in self._formulas:
                self._add_formula(self._formulas[index])
                is_whole = True
            elif kind & BLOCK:
                self._open.append(self._ends[index])
                is_whole = (index > start or not kind & ITEM) and self._begin_block(index, kind)
                is_whole = is_whole or self._is_noise(index)
            elif kind & PICTURE:
                self._gap = True
            index = self._ends[index] if is_whole else index + 1
        self._add_placed(stop, start, stop)
        self._end_line()
        return "\n".join(self._written)

    def _is_noise(self, index: int) -> bool:
        return bool(self._noise) and self._noise[index]

    def _add_placed(self, index: int, start: int, stop: int) -> None:
        """Write the formulas that stand before a node and in the part, each on a line."""
        for parent, line in self._placed.get(index, ()):
            if start <= parent < stop:
                self._end_line()
                self._write(line)

    def _add_formula(self, formula: tuple[str, bool] | None) -> None:
        if formula is not None:
            self._gap = True
            shown, is_line = formula
            if is_line:
                self._end_line()
                self._write(shown)
            else:
                self._line.append(shown)

    def _add_text(self, index: int) -> None:
        text, link = self._texts[index], self._links[index]
        if self._is_noise(index):
            self._gap = True
            return
        if not text:
            return
        is_sign = link >= 0 and len(text) <= MOST_OF_A_SIGN and not text[0].isalnum()
        if is_sign and self._is_permalink(link):
            self._gap = True
            return
        if (last := self._last) >= 0:
            parted = self._gap or (link >= 0 and 0 <= self._links[last] != link)
            raised, was_raised = self._is_raised(index), self._is_raised(last)
            self._line.append(
                joint(self._texts[last][-1], text[0], parted=parted, raised=raised, was_raised=was_raised)
            )
        self._last, self._gap = index, False
        self._line.append(self._shown.get(index, text))

    def _is_raised(self, text: int) -> bool:
        return self._kinds[self._parents[text]] & SUPERSCRIPT != 0

    def _begin_block(self, index: int, kind: int) -> bool:
        """Open a block-level element; return whether all of it is written."""
        end = self._ends[index]
        if kind & CELL and index < self._row_end:
            self._end_cell()
            return False
        self._end_line()
        while self._lists and self._lists[-1] <= index:
            self._lists.pop()
        below = range(index + 1, end)
        if kind & ROW and not any(self._kinds[one] & (BLOCK | CELL) == BLOCK for one in below):
            self._row_end = end
        elif kind & LIST:
            self._lists.append(end)
        elif kind & ITEM:
            self._bullet = "  " * min(max(len(self._lists) - 1, 0), MOST_INDENTS) + BULLET
            self._item_end = end
        elif kind & PREFORMATTED and all(map(self._is_plain, below)):
            self._write(self._preformatted(index))
            return True
        return False

    def _is_plain(self, index: int) -> bool:
        """Return True if a node can be written as it is: it is no noise and no block."""
        kind = self._kinds[index]
        return kind & (BLOCK | BREAK) != BLOCK and not (kind & TEXT_NODE and self._is_noise(index))

    def _end_block(self, end: int) -> None:
        if end < self._row_end:
            self._end_cell()
        else:
            self._end_line()
        if end >= self._item_end:
            self._bullet = ""  # of an item without text

    def _end_cell(self) -> None:
        self._last, self._gap = -1, False
        if cell := " ".join("".join(self._line).split()):
            self._row.append(cell)
        self._line = []

    def _end_line(self) -> None:
        self._end_cell()
        self._write("\t".join(self._row))
        self._row = []

    def _write(self, text: str) -> None:
        if text:
            self._written.append(self._bullet + text)
            self._bullet = ""


def rules_of(sheet: str) -> list[tuple[int, int, int, bool, int]]:
    """Return the rules of a style sheet that may hide or show something.

    Of each where its selectors begin, its brace, its end, whether it stands inside another (as in ``@media``), and
    what it may do: ``HIDES``, ``SHOWS`` or both.
    """
    return list(_rules(sheet))


def _rules(sheet: str) -> Iterator[tuple[int, int, int, bool, int]]:
    begin = depth = 0
    hiding, showing = ([word for word in words if word in sheet] for words in (_HIDING, _SHOWING))
    while (end := sheet.find("}", begin)) >= 0:
        opened = sheet.count("{", begin, end)
        depth += opened
        if opened:
            brace = sheet.rindex("{", begin, end)
            start = max(sheet.rfind("{", begin, brace) + 1, begin)
            style = sheet[brace + 1 : end]
            signs = HIDES * any(one in style for one in hiding) | SHOWS * any(one in style for one in showing)
            if signs:
                yield start, brace, end, depth > 1, signs
        depth -= 1
        begin = end + 1
