"""The blocks of a page, and what of them belongs together: units of data, introduced lists, headings."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from denoise_crawler import kernel
from denoise_crawler.kernel.columns import CODE, DEFINITIONS, FIGURE, FORMULA, H1, H3, TABLE, UNITS, P, Parts
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
    tag: UNITS.index(kind)
    for tag, kind in {
        "table": TABLE, "pre": CODE, "code": CODE, "dl": DEFINITIONS, "figure": FIGURE,
        "math": FORMULA, "mjx-container": FORMULA,
    }.items()
}  # fmt: skip
_UNITS, _DOUBTFUL = frozenset(_KINDS), ("table", "dl", "figure")
_FORMULAS = frozenset({"math", "mjx-container"})
_IN_DEFINITIONS = INLINE | {"dt", "dd", "p", "div", "br"}
# A caption and a credit below a picture are no unit: the picture has no text, and most readers want no credit.
_TEXT_OF_FIGURES = frozenset({"table", "pre", "math"})
_IN_FIGURES = INLINE | TABLE_PARTS | _TEXT_OF_FIGURES | {"figcaption", "p", "div", "br", "picture", "source"}


class Units(NamedTuple):
    """The units of a page, whose blocks are content or noise as a whole, in document order.

    ``rows`` are the kind (a number of ``UNITS``), the first block and that behind the last. The chances of the
    blocks ``silent`` say nothing: they are the signs of a formula.
    """

    rows: list[tuple[int, int, int]]
    silent: set[int]


def units_of(page: Page) -> Units:
    """Return the units of ``page``; none overlaps another, and of two in one the outer counts.

    Example:
        >>> from denoise_crawler import Page
        >>> units_of(Page.parse("https://a.example/", "<p>So:<pre>one<br>two</pre>")).rows
        [(1, 1, 3)]
    """
    nodes, blocks, units = page.nodes, page.once(blocks_of), Units([], set())
    until = 0
    for index in nodes.tagged(_UNITS):
        tag = nodes.tag_of(index)
        if index < until or (tag in _DOUBTFUL and not _is_unit(nodes, index, tag)):
            continue
        until = nodes.end_of(index)
        first, last = blocks.starts.searchsorted((index, until)).tolist()
        if tag in _FORMULAS:
            _add_formula(units, blocks, index, range(first, last))
        elif last - first > (tag == "code"):  # code in a line is part of its line
            units.rows.append((_KINDS[tag], first, last))
            if tag == "table" and nodes.holds(index, until, _FORMULAS):
                units.silent.update(_signs(nodes, range(index, until), blocks.starts.tolist()))
    return units


def unit_kinds(page: Page) -> Numbers:
    """Return by block the number of the kind of its unit in ``UNITS``, from 1; 0 outside."""
    kinds = np.zeros(len(page.once(blocks_of)))
    for kind, first, last in page.once(units_of).rows:
        kinds[first:last] = kind + 1
    return kinds


def _signs(nodes: Nodes, inside: range, starts: Sequence[int]) -> Iterator[int]:
    """Yield the blocks of the formulas in a table."""
    for index in inside:
        if nodes.tag_of(index) in _FORMULAS:
            yield from range(bisect_left(starts, index), bisect_left(starts, nodes.end_of(index)))


def _is_unit(nodes: Nodes, index: int, tag: str) -> bool:
    below = index + 1, nodes.end_of(index)
    if tag == "table":
        return is_data_table(nodes, index)
    if tag == "dl":
        return not nodes.holds(*below, _IN_DEFINITIONS, other=True)
    return not nodes.holds(*below, _IN_FIGURES, other=True) and nodes.holds(*below, _TEXT_OF_FIGURES)


def _add_formula(units: Units, blocks: Blocks, index: int, inside: range) -> None:
    """Add the formula at node ``index`` with the text around it in its paragraph; two of one paragraph are one."""
    around, kind, first, last = blocks.around, UNITS.index(FORMULA), inside.start, inside.stop
    home = int(around.parents[around.nodes.searchsorted(index)])
    if first and blocks.elements[first - 1] == home:
        first -= 1
    if last < len(blocks) and blocks.elements[last] == home:
        last += 1
    if units.rows and units.rows[-1][2] > first:
        kind, first, before = units.rows.pop()
        last = max(before, last)
    if last > first:
        units.rows.append((kind, first, last))
        units.silent.update(inside)


# --- all that belongs together

ENTRIES = 3
NO_PARTS = Parts(
    np.empty((0, 3), np.int64), np.empty((0, 2), np.int64), np.empty((0, 3), np.int64), np.empty(0, np.int64)
)


def parts_of(page: Page) -> Parts:
    """Find what belongs together on ``page``; ask for it by ``page.once``."""
    units = page.once(units_of)
    return Parts(
        np.array(units.rows, np.int64).reshape(-1, 3),
        introduced_lists(page),
        headings_of(page),
        np.array(sorted(units.silent), np.int64),
    )


_LISTS, _COLONS = frozenset({"ul", "ol"}), (":", "：")
_PARTS_OF_PAGES = frozenset({"h1", "h2", "h3", "article", "main", "nav", "header", "footer", "aside", "form"})
_MOST_LINKED = 0.5  # of the characters of the paragraph and the list: "See also:" introduces links


def introduced_lists(page: Page) -> Indices:
    """Return the lists behind a paragraph with a colon at its end: their first blocks, those behind their last."""
    nodes, blocks, found, tried = page.nodes, page.once(blocks_of), list[tuple[int, int]](), 0
    lists = nodes.tagged(_LISTS)
    for node, first in zip(lists, blocks.starts.searchsorted(lists).tolist(), strict=True):
        if first <= tried or not blocks.texts[first - 1].endswith(_COLONS):
            continue
        end = nodes.end_of(node)
        tried, last = first, int(blocks.starts.searchsorted(end))  # of lists in each other the outermost decides
        is_paragraph = blocks.around.tags[blocks.elements[first - 1]] == P
        if last == first or not is_paragraph or nodes.holds(node, end, _PARTS_OF_PAGES):
            continue
        both = slice(first - 1, last)
        if blocks.linked[both].sum() <= _MOST_LINKED * blocks.characters[both].sum():
            found.append((first, last))
            tried = last
    return np.array(found, np.int64).reshape(-1, 2)


_LEVELS = 6


def headings_of(page: Page) -> Indices:
    """Return the headings of ``page`` in document order, without those of no text.

    Each is its first block, that behind its last, and that behind its section, which ends before the next heading
    of the same level or a higher one. Where ``ENTRIES`` and more are links to other pages of the site, these are
    left out too: they are entries of a list, and have no section here. A heading that names a source links to
    another site.
    """
    blocks, nodes = page.once(blocks_of), page.nodes
    around, ends = blocks.around, [len(blocks)] * (_LEVELS + 1)
    headings, entries = list[tuple[int, int, int]](), list[tuple[int, int, int]]()
    linked, characters = blocks.linked.tolist(), blocks.characters.tolist()
    elements = ((around.tags >= H1) & (around.tags <= H3)).nonzero()[0][::-1]
    columns = [column[elements].tolist() for column in (around.nodes, around.first, around.last)]
    for node, first, last in zip(*columns, strict=True):
        if first < last:
            level = int(nodes.tag_of(node)[1])
            headings.append(heading := (first, last, max(ends[level], last)))
            ends[level:] = [first] * (len(ends) - level)
            if 2 * sum(linked[first:last]) >= sum(characters[first:last]):
                entries.append(heading)
    if len(entries) >= ENTRIES:
        away = {one for one in entries if _leads_away(page, blocks, one[0])}
        if len(away) >= ENTRIES:
            headings = [one for one in headings if one not in away]
    return np.array(headings[::-1], np.int64).reshape(-1, 3)


def _leads_away(page: Page, blocks: Blocks, block: int) -> bool:
    """Return True if the first link of a block leads to another page of the site."""
    nodes = page.nodes
    for node in range(blocks.starts[block], blocks.ends[block]):
        if nodes.texts[node] and (link := nodes.link_of(node)) >= 0:
            address = page.absolute(nodes.address_of(link) or "").partition("#")[0]
            return address != page.url and site_of(address) == page.site
    return False
