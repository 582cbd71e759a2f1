"""The text blocks of a page and the elements around them, as columns; what of them belongs together."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from denoise_crawler.core import loops
from denoise_crawler.methods.fusion.names import (
    HEADINGS,
    LONGEST_HEADING,
    LONGEST_NAMES,
    NEAR,
    PLACE_OF_TAG,
    READ,
    WHOLE,
    said_by,
    spoken_names,
    words_of,
)
from denoise_crawler.page import TEXT, Nodes, Page
from denoise_crawler.page.geometry import TABLE_PARTS, is_data_table
from denoise_crawler.page.nodes import INLINE
from denoise_crawler.page.text import hash32

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Numbers: TypeAlias = NDArray[np.float64]

    Indices: TypeAlias = NDArray[np.int64]

    Hashes: TypeAlias = NDArray[np.uint32]

TAGS = ("", "p", "h1", "h2", "h3", "li", "td", "div", "body", "br", "pre", "section", "dd", "blockquote")
_TAG_CODES = {tag: code for code, tag in enumerate(TAGS)} | {
    "h4": 4, "h5": 4, "h6": 4, "th": 6, "dt": 12, "article": 11, "main": 11, "code": 10, "figcaption": 13,
}  # fmt: skip
_MASKED_CHARACTERS = 200
_FEW_TAGS = 100  # of a page, whose meanings are remembered
_LETTERS = ",，、。", '.!?。！？…:：;；"”»'  # the commas of all scripts; what a sentence may end with
IDEOGRAPH = re.compile("[぀-ヿ㐀-鿿]+")  # as the loops count them
_LENGTHS = (15, 40, 120)  # characters that part short blocks from longer ones
_LINKED = 0.9
_DIGITS = re.compile(r"\d+")
_H1 = TAGS.index("h1")
SPREAD = 0x9E3779B97F4A7C15  # 2**64 by the golden ratio: multiplied with it, the upper bits differ
_RULES = spoken_names, said_by, LONGEST_NAMES, LONGEST_HEADING, NEAR, READ


@dataclass(slots=True, eq=False)
class Elements:
    """The block-level elements of a page in document order; element 0 is the body.

    ``first`` and ``last`` bound the blocks below each (``range(first, last)``), ``places`` are the bits of
    ``PLACES`` it stands in, ``names`` its class and id as written, ``paths`` a hash of the labels from the body
    down to it.
    """

    nodes: Indices
    parents: Indices
    first: Indices
    last: Indices
    places: Indices
    tags: Indices
    names: list[str]
    paths: Hashes
    depths: Indices

    def __len__(self) -> int:
        return len(self.names)


@dataclass(eq=False)
class Blocks:
    """The blocks of a page in document order: a block is the text of one line, as ``clean_text`` parts lines.

    ``elements[i]`` is the block-level element that block i stands in, ``nodes[i]`` its text nodes. ``characters``
    and ``linked`` (those inside links) leave white space out; ``tokens`` counts words, in Chinese and Japanese
    characters. ``texts`` are normalised; ``text_hashes``, ``masked_hashes`` (every number alike) and
    ``link_hashes`` (of the first link, 0 without one) are what the site knows them by.
    """

    texts: list[str]
    nodes: list[list[int]]
    elements: Indices
    characters: Numbers
    linked: Numbers
    tokens: Numbers
    commas: Numbers
    closed: Numbers
    text_hashes: Hashes
    masked_hashes: Hashes
    link_hashes: Hashes
    around: Elements

    def __len__(self) -> int:
        return len(self.texts)

    @cached_property
    def starts(self) -> list[int]:
        """By block, its first text node."""
        return [line[0] for line in self.nodes]

    @cached_property
    def styles(self) -> Hashes:
        """By block, the hash of what it looks like; see :func:`styles_of`."""
        return styles_of(self)

    @cached_property
    def shapes(self) -> Hashes:
        """By block, the hash of what its text shares with its like on other pages; see :func:`shapes_of`."""
        return shapes_of(self)


def blocks_of(page: Page) -> Blocks:
    """Cut ``page`` into blocks."""
    return blocks_in(page.nodes, frozenset(words_of(page.title[:LONGEST_NAMES])))


def blocks_in(nodes: Nodes, title: frozenset[str]) -> Blocks:
    """Cut the ``nodes`` of a page, whose title has these words, into blocks."""
    core, columns, count = loops.blocks, nodes.columns, len(nodes)
    table, paths, homes = np.empty((6, count), np.int64), np.empty(count, np.uint32), np.empty(count, np.int64)
    reader = nodes if nodes.compiled is None else nodes.compiled
    lines, names = core.walk(
        columns.names, columns.tags, columns.parents, columns.ends, nodes.texts,
        (_meanings if len(columns.names) <= _FEW_TAGS else _meanings.__wrapped__)(tuple(columns.names)),
        reader.attributes_of, _RULES, title, table, paths, homes,
    )  # fmt: skip
    own, parents, places, tags, depths, ends = table[:, : len(names)].copy()
    numbers, hashes = np.empty((5, len(lines))), np.empty((3, len(lines)), np.uint32)
    first_nodes = np.empty(len(lines), np.int64)
    texts, with_text = core.measure_lines(
        lines, nodes.texts, columns.links, reader.address_of, _LETTERS, _MASKED_CHARACTERS,
        numbers, hashes, first_nodes,
    )  # fmt: skip
    homes, first_nodes = homes[: len(lines)], first_nodes[: len(texts)]
    if len(texts) < len(lines):
        lines, homes = [lines[number] for number in with_text], homes[with_text]
    characters, tokens, commas, closed, linked = numbers[:, : len(texts)]
    text_hashes, masked_hashes, link_hashes = (column[: len(texts)].copy() for column in hashes)
    return Blocks(
        texts=texts,
        nodes=lines,
        elements=homes.copy(),
        characters=characters,
        linked=linked,
        tokens=tokens,
        commas=commas,
        closed=closed,
        text_hashes=text_hashes,
        masked_hashes=masked_hashes,
        link_hashes=link_hashes,
        around=Elements(
            nodes=own,
            parents=parents,
            first=first_nodes.searchsorted(own),
            last=first_nodes.searchsorted(ends),
            places=places,
            tags=tags,
            names=names,
            paths=paths[: len(names)].copy(),
            depths=depths,
        ),
    )


@lru_cache(maxsize=256)  # pages of a template have the same tags
def _meanings(tags: tuple[str, ...]) -> Indices:
    """Return by tag its code, the places it makes, and whether it is in ``HEADINGS``, in ``WHOLE``."""
    return np.array([_meaning(tag) for tag in tags], np.int64).T.copy()


def _meaning(tag: str) -> tuple[int, int, bool, bool]:
    code = -2 if tag == TEXT else -1 if tag in INLINE else _TAG_CODES.get(tag, 0)
    return code, PLACE_OF_TAG.get(tag, 0), tag in HEADINGS, tag in WHOLE


def styles_of(blocks: Blocks) -> Hashes:
    """Return by block the hash of its style.

    That is its element's tag, the words of class and id there and one level up, whether it is all link, whether
    it is all capitals, and how long it is, roughly.
    """
    around, styles = blocks.around, np.empty(len(blocks), np.uint32)
    by_element, by_block = (around.parents, around.tags), (blocks.characters, blocks.linked)
    parts = _LENGTHS, _LINKED, SPREAD, _look
    loops.texts.styles_of(blocks.texts, around.names, blocks.elements, *by_element, *by_block, *parts, styles)
    return styles


@lru_cache(maxsize=16_384)
def _look(tag: int, names: str, above: str) -> int:
    return hash32(f"{tag} {' '.join(words_of(names))} / {' '.join(words_of(above))}")


def shapes_of(blocks: Blocks) -> Hashes:
    """Return by block the hash of what its text has in common with those of its like on other pages.

    That is the text with all numbers alike ("updated on 3 May" and "updated on 7 May"); of a text that ends with
    a link, what stands before it ("Read more: …"); of one that quotes the page's heading, what stands around it
    ("Read all reviews of …").
    """
    shapes = np.empty(len(blocks), np.uint32)
    columns = blocks.characters, blocks.linked, blocks.masked_hashes, blocks.elements, blocks.around.tags
    loops.texts.shapes_of(blocks.texts, *columns, _H1, _label_hash, shapes)
    return shapes


@lru_cache(maxsize=4_096)
def _label_hash(label: str) -> int:
    return hash32(f"{_DIGITS.sub('0', label)} …")


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


def _add_formula(found: list[Unit], unit: Unit) -> None:
    """Add a formula to the units ``found``; two of one paragraph are one."""
    if found and found[-1].last > unit.first:
        other = found.pop()
        unit = Unit(other.kind, other.first, max(other.last, unit.last), other.silent | unit.silent)
    if unit.last > unit.first:
        found.append(unit)
