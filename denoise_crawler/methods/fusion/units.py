"""What of a page belongs together: data tables, code blocks, formulas, definition lists, figures with text."""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from denoise_crawler.methods.fusion.blocks import blocks_of
from denoise_crawler.page.data_table import TABLE_PARTS, is_data_table
from denoise_crawler.page.markup import INLINE

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from denoise_crawler.methods.fusion.blocks import Blocks
    from denoise_crawler.page import Nodes, Page

UNITS = TABLE, CODE, FORMULA, FIGURE, DEFINITIONS = (
    "table", "code block", "formula", "figure", "definition list",
)  # fmt: skip
_KINDS = {
    "table": TABLE, "pre": CODE, "code": CODE, "dl": DEFINITIONS, "figure": FIGURE,
    "math": FORMULA, "mjx-container": FORMULA,
}  # fmt: skip
_UNITS = frozenset(_KINDS)
_FORMULAS = frozenset(tag for tag, kind in _KINDS.items() if kind is FORMULA)
_IN_DEFINITIONS = INLINE | {"dt", "dd", "p", "div", "br"}
# A caption and a credit below a picture are no unit: the picture has no text, and most readers want no credit.
_TEXT_OF_FIGURES = frozenset({"table", "pre", "math"})
_IN_FIGURES = INLINE | TABLE_PARTS | _TEXT_OF_FIGURES | {"figcaption", "p", "div", "br", "picture", "source"}


@dataclass(frozen=True, slots=True)
class Unit:
    """The blocks from ``first`` up to ``last`` (without it), which are content or noise as a whole.

    ``silent`` are those of them whose own chances say nothing: the signs of a formula.
    """

    kind: str
    first: int
    last: int
    silent: frozenset[int] = field(default=frozenset())

    @property
    def blocks(self) -> slice:
        """The blocks as a slice."""
        return slice(self.first, self.last)


def units_of(page: Page) -> list[Unit]:
    """Return the units of ``page`` in document order; none overlaps another, and of two in one the outer counts.

    Example:
        >>> from denoise_crawler import Page
        >>> units_of(Page.parse("https://a.example/", "<p>So:<pre>one<br>two</pre>"))
        [Unit(kind='code block', first=1, last=3, silent=frozenset())]

    """
    nodes = page.nodes
    if not (maybe := nodes.tagged(_UNITS)):
        return []
    blocks = page.once(blocks_of)
    starts = blocks.starts
    found: list[Unit] = []
    for index in _outermost(nodes, maybe):
        first, last = bisect_left(starts, index), bisect_left(starts, nodes.end_of(index))
        tag = nodes.tag_of(index)
        kind = _KINDS[tag]
        if kind is FORMULA:
            _add_formula(found, _with_line(blocks, index, first, last))
        elif last - first > (tag == "code"):  # code in a line is part of its line
            found.append(
                Unit(kind, first, last, frozenset(_signs(nodes, index, starts)) if kind is TABLE else frozenset())
            )
    return found


def _signs(nodes: Nodes, table: int, starts: Sequence[int]) -> Iterator[int]:
    """Yield the blocks of the formulas in a table."""
    end = nodes.end_of(table)
    if not nodes.holds(table, end, _FORMULAS):
        return
    for index in range(table, end):
        if nodes.tag_of(index) in _FORMULAS:
            yield from range(bisect_left(starts, index), bisect_left(starts, nodes.end_of(index)))


def _outermost(nodes: Nodes, maybe: list[int]) -> Iterator[int]:
    """Yield of the elements that are ``maybe`` units those that are, and stand in no other unit."""
    until = 0
    for index in maybe:
        if index >= until and _is_unit(nodes, index):
            until = nodes.end_of(index)
            yield index


def _is_unit(nodes: Nodes, index: int) -> bool:
    tag = nodes.tag_of(index)
    if tag == "table":
        return is_data_table(nodes, index)
    if tag not in ("dl", "figure"):
        return True
    below = index + 1, nodes.end_of(index)
    if tag == "dl":
        return not nodes.holds(*below, _IN_DEFINITIONS, other=True)
    return not nodes.holds(*below, _IN_FIGURES, other=True) and nodes.holds(*below, _TEXT_OF_FIGURES)


def _with_line(blocks: Blocks, index: int, first: int, last: int) -> Unit:
    """Return the formula at node ``index`` with the text before and after it in the same paragraph."""
    around, silent = blocks.around, frozenset(range(first, last))
    home = int(around.parents[around.nodes.searchsorted(index)])
    if first and blocks.elements[first - 1] == home:
        first -= 1
    if last < len(blocks) and blocks.elements[last] == home:
        last += 1
    return Unit(FORMULA, first, last, silent)


def _add_formula(found: list[Unit], unit: Unit) -> None:
    """Add a formula to the units ``found``; two of one paragraph are one."""
    if found and found[-1].last > unit.first:
        other = found.pop()
        unit = Unit(other.kind, other.first, max(other.last, unit.last), other.silent | unit.silent)
    if unit.last > unit.first:
        found.append(unit)
