"""The blocks of a page, and what of them belongs together: units of data, introduced lists, headings."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from denoise_crawler import kernel
from denoise_crawler.kernel.columns import CODE, DEFINITIONS, FIGURE, FORMULA, TABLE, UNITS, Parts
from denoise_crawler.kernel.names import LONGEST_NAMES, words_of
from denoise_crawler.page import Nodes, Page
from denoise_crawler.page.geometry import TABLE_PARTS, is_data_table
from denoise_crawler.page.nodes import INLINE
from denoise_crawler.page.site import site_of

if TYPE_CHECKING:
    from denoise_crawler.kernel.columns import Blocks, Indices, Numbers


def blocks_of(page: Page) -> Blocks:
    """Cut ``page`` into blocks."""
    blocks: Blocks = kernel.active.blocks_of(page.nodes, frozenset(words_of(page.title[:LONGEST_NAMES])))
    return blocks


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
    units: list[Unit] = []
    for index in _outermost(nodes, maybe):
        first, last = bisect_left(starts, index), bisect_left(starts, nodes.end_of(index))
        tag = nodes.tag_of(index)
        kind = _KINDS[tag]
        if kind is FORMULA:
            _add_formula(units, _with_line(blocks, index, first, last))
        elif last - first > (tag == "code"):  # code in a line is part of its line
            units.append(
                Unit(kind, first, last, frozenset(_signs(nodes, index, starts)) if kind is TABLE else frozenset())
            )
    return units


def unit_kinds(page: Page) -> Numbers:
    """Return by block the number of the kind of its unit in ``UNITS``, from 1; 0 outside."""
    kinds = np.zeros(len(page.once(blocks_of)))
    for unit in page.once(units_of):
        kinds[unit.blocks] = UNITS.index(unit.kind) + 1
    return kinds


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


def _add_formula(units: list[Unit], unit: Unit) -> None:
    """Add a formula to ``units``; two of one paragraph are one."""
    if units and units[-1].last > unit.first:
        other = units.pop()
        unit = Unit(other.kind, other.first, max(other.last, unit.last), other.silent | unit.silent)
    if unit.last > unit.first:
        units.append(unit)


# --- all that belongs together

ENTRIES = 3
NO_PARTS = Parts(
    np.empty((0, 3), np.int64), np.empty((0, 2), np.int64), np.empty((0, 3), np.int64), np.empty(0, np.int64)
)


def parts_of(page: Page) -> Parts:
    """Find what belongs together on ``page``; ask for it by ``page.once``."""
    nodes, blocks, units = page.nodes, page.once(blocks_of), page.once(units_of)
    rows = [(UNITS.index(unit.kind), unit.first, unit.last) for unit in units]
    silent = sorted({block for unit in units for block in unit.silent})
    return Parts(
        np.array(rows, np.int64).reshape(-1, 3) if rows else NO_PARTS.units,
        kernel.active.introduced_lists(nodes, blocks),
        headings_of(page),
        np.array(silent, np.int64),
    )


def headings_of(page: Page) -> Indices:
    """Return the headings of ``page`` in document order, without those of no text.

    Each is its first block, that behind its last, and that behind its section, which ends before the next heading
    of the same level or a higher one. Where ``ENTRIES`` and more are links to other pages of the site, these are
    left out too: they are entries of a list, and have no section here. A heading that names a source links to
    another site.
    """
    blocks = page.once(blocks_of)
    headings: Indices
    headings, linked = kernel.active.headings_of(page.nodes, blocks)
    if len(linked) < ENTRIES:
        return headings
    entries = [number for number in linked if _leads_away(page, blocks.nodes[headings[number, 0]])]
    return headings if len(entries) < ENTRIES else np.delete(headings, entries, axis=0)


def _leads_away(page: Page, line: list[int]) -> bool:
    """Return True if the first link of a line leads to another page of the site."""
    nodes = page.nodes
    link = next((link for link in map(nodes.link_of, line) if link >= 0), -1)
    if link < 0:
        return False
    address = page.absolute(nodes.address_of(link) or "").partition("#")[0]
    return address != page.url and site_of(address) == page.site
