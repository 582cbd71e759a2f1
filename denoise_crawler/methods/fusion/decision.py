"""Which blocks are taken, and how sure that is."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

import numpy as np

from denoise_crawler.core import loops
from denoise_crawler.methods.fusion.blocks import TAGS, UNITS, blocks_of, units_of
from denoise_crawler.methods.fusion.features import KEEP, Look, Wishes
from denoise_crawler.page import Page
from denoise_crawler.page.site import site_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from denoise_crawler.methods.fusion.blocks import Blocks, Numbers

    Flags = NDArray[np.bool_]
    from denoise_crawler.methods.fusion.blocks import Indices


_LISTS = frozenset({"ul", "ol"})
_PARTS_OF_PAGES = frozenset({"h1", "h2", "h3", "article", "main", "nav", "header", "footer", "aside", "form"})
_COLONS = (":", "：")
_PARAGRAPH = TAGS.index("p")
MOST_LINKED = 0.5  # of the characters of the paragraph and the list: "See also:" introduces links


class Introduced(NamedTuple):
    """The blocks from ``first`` up to ``last`` (without it) are a list, block ``first - 1`` introduces it."""

    first: int
    last: int


def introduced_lists(page: Page) -> list[Introduced]:
    """Return the lists of ``page`` behind a paragraph that ends with a colon, in document order.

    Example:
        >>> from denoise_crawler import Page
        >>> introduced_lists(Page.parse("https://a.example/", "<p>It has:<ul><li>one<li>two</ul><p>So."))
        [Introduced(first=1, last=3)]
    """
    nodes, blocks = page.nodes, page.once(blocks_of)
    starts, found = blocks.starts, list[Introduced]()
    tried = 0
    for index in nodes.tagged(_LISTS):
        first = bisect_left(starts, index)
        if first <= tried or not blocks.texts[first - 1].endswith(_COLONS):
            continue
        tried = first  # of lists in each other the outermost decides
        end = nodes.end_of(index)
        last = bisect_left(starts, end)
        is_paragraph = blocks.around.tags[blocks.elements[first - 1]] == _PARAGRAPH
        if last == first or not is_paragraph or nodes.holds(index, end, _PARTS_OF_PAGES):
            continue
        both = slice(first - 1, last)
        if blocks.linked[both].sum() <= MOST_LINKED * blocks.characters[both].sum():
            found.append(Introduced(first, last))
            tried = last
    return found


_TAGS = TAGS.index("h1"), TAGS.index("h3")  # by which h4 and h5 go as well
_LEVELS = {f"h{level}": level for level in range(1, 7)}
ENTRIES = 3


Heading: TypeAlias = "tuple[int, int, int]"


def headings_of(page: Page) -> list[Heading]:
    """Return the headings of ``page`` in document order, without those of no text.

    Each is its first block, that behind its last, and that behind its section, which ends before the next heading
    of the same level or a higher one. Where ``ENTRIES`` and more are links to other pages of the site, these are
    left out too: they are entries of a list, and have no section here. A heading that names a source links to
    another site.
    """
    blocks, nodes = page.once(blocks_of), page.nodes
    around, columns = blocks.around, nodes.columns
    levels = np.array([_LEVELS.get(name, 0) for name in columns.names], np.int64)
    elements = around.nodes, around.first, around.last, around.tags
    headings: list[Heading]
    own = blocks.characters, blocks.linked
    headings, linked = loops.deciding.headings(columns.tags, levels, elements, own, _TAGS)
    if len(linked) < ENTRIES:
        return headings
    entries = {number for number in linked if _leads_away(page, blocks.nodes[headings[number][0]])}
    if len(entries) < ENTRIES:
        return headings
    return [heading for number, heading in enumerate(headings) if number not in entries]


def _leads_away(page: Page, line: list[int]) -> bool:
    """Tell whether the first link of a line leads to another page of the site."""
    nodes = page.nodes
    link = next((link for link in map(nodes.link_of, line) if link >= 0), -1)
    if link < 0:
        return False
    address = page.absolute(nodes.address_of(link) or "").partition("#")[0]
    return address != page.url and site_of(address) == page.site


INTRODUCTION = "introduction"


@dataclass(frozen=True, slots=True, eq=False)
class Parts:
    """The parts of a page.

    ``units`` are rows of kind, first block and that behind the last; ``lists`` of first and last, ``headings`` of
    these and the end of the section. The chances of the blocks ``silent`` say nothing.
    """

    units: Indices
    lists: Indices
    headings: Indices
    silent: Indices

    def whole_of(self, block: int) -> str:
        """Return the name of what a block is judged with, empty if nothing."""
        for kind, first, last in self.units.tolist():
            if first <= block < last:
                return UNITS[kind]
        return INTRODUCTION if any(first <= block < last for first, last in self.lists.tolist()) else ""


def _rows(rows: Sequence[tuple[int, ...]], columns: int) -> Indices:
    return np.array(rows, np.int64).reshape(-1, columns) if rows else _NONE[columns]


_NONE = {columns: np.empty((0, columns), np.int64) for columns in (2, 3)}
_NO_BLOCKS = np.empty(0, np.int64)
NO_PARTS = Parts(_NONE[3], _NONE[2], _NONE[3], _NO_BLOCKS)


def parts_of(page: Page) -> Parts:
    """Find what belongs together on ``page``; ask for it by ``page.once``."""
    units = page.once(units_of)
    silent = sorted({block for unit in units for block in unit.silent})
    return Parts(
        _rows([(UNITS.index(unit.kind), unit.first, unit.last) for unit in units], 3),
        _rows(introduced_lists(page), 2),
        _rows(headings_of(page), 3),
        np.array(silent, np.int64) if silent else _NO_BLOCKS,
    )


# --- which blocks are taken, and how sure that is


@dataclass(eq=False)
class Decision:
    """What became of the blocks of a page, step by step.

    ``own`` is how likely each block is content, ``chances`` the same with its unit. ``likely`` are the blocks
    whose text promises the best F1, ``best`` those to take of the units, ``once`` without what stands there twice,
    ``taken`` with headings as their sections. ``because`` are blocks that are taken in any case, by the reason.
    ``bar`` is the lowest chance that was likely, ``expected`` the F1 to be expected.
    """

    look: Look
    parts: Parts
    because: dict[str, Flags]
    own: Numbers
    chances: Numbers
    likely: Flags
    best: Flags
    once: Flags
    taken: Flags
    bar: float
    expected: float


def content_chances(look: Look, wishes: Wishes) -> Numbers:
    """Return by block how likely it is content that is wished."""
    standing, found = look.evidence.standing, np.empty(len(look.scores))
    style = () if standing is None else (standing.style_tokens, standing.style_scores)
    title = look.evidence.headline.sure, wishes.title == KEEP
    loops.deciding.chances(look.scores, style, wishes.shift, *title, found)
    return found


def most_f1(chances: Numbers, tokens: Numbers, shift: float = 0.0) -> tuple[Flags, float, float]:
    """Take the likeliest blocks, as many as make the expected F1 of the text largest.

    Args:
        chances: By block, how likely it is content.
        tokens: By block, its words.
        shift: What is added to the log odds first.

    Returns:
        Whether each block is taken, the F1 to be expected, and the lowest chance that is taken.
    """
    taken = np.empty(len(chances), bool)
    expected, lowest = loops.deciding.most_f1(chances, tokens, shift, taken.view(np.uint8))
    return taken, expected, lowest


def joint_chances(own: Numbers, tokens: Numbers, parts: Parts) -> Numbers:
    """Return the chances of blocks, their ``own`` if they are in no unit, else that of the unit."""
    if not len(parts.units):
        return own
    joint = np.empty(len(own))
    loops.deciding.of_units(own, tokens, parts.units, parts.silent, joint)
    return joint


def take(
    blocks: Blocks,
    parts: Parts,
    likely: Flags,
    wanted: Flags,
    chances: Numbers,
    *,
    title: int = -1,
    repeating: bool = True,
) -> tuple[Flags, Flags, Flags]:
    """Take what belongs to the ``likely`` blocks, and those ``wanted`` in any case.

    Args:
        blocks: The blocks of the page.
        parts: What belongs together.
        likely: Whether each block is likely.
        wanted: Whether each block is taken in any case.
        chances: By block, how likely it is content.
        title: The block that surely is the title, below 0 if none is.
        repeating: Whether what stands there twice is taken twice.

    Returns:
        The blocks to take of the units, the same without what stands there twice, and with headings as their
        sections.
    """
    around, marks = blocks.around, np.empty((3, len(blocks)), bool)
    loops.deciding.take(
        (blocks.tokens, blocks.characters, blocks.text_hashes, blocks.elements),
        (around.parents, around.paths, around.places),
        (parts.units, parts.lists, parts.headings),
        chances, wanted.view(np.uint8), title, repeating,
        (likely.view(np.uint8), *marks.view(np.uint8)),
    )  # fmt: skip
    best, once, taken = marks
    return best, once, taken


def decide(
    look: Look,
    wishes: Wishes,
    parts: Parts = NO_PARTS,
    because: dict[str, Flags] | None = None,
    *,
    shift: float = 0.0,
    repeating: bool = True,
) -> Decision:
    """Decide what to take of a page.

    Args:
        look: What the trees see of it.
        wishes: What is wished of the text.
        parts: What belongs together.
        because: Blocks that are taken in any case, by the reason.
        shift: What is added to the log odds of all blocks before the cut, for pages of this type.
        repeating: Whether what stands there twice is taken twice.
    """
    blocks, because = look.evidence.blocks, because or {}
    own = content_chances(look, wishes)
    chances = joint_chances(own, blocks.tokens, parts)
    likely, expected, bar = most_f1(chances, blocks.tokens, shift)
    wanted = np.zeros(len(blocks), bool)
    for some in because.values():
        wanted |= some
    title = look.evidence.headline.sure
    steps = take(blocks, parts, likely, wanted, chances, title=title, repeating=repeating)
    return Decision(look, parts, because, own, chances, likely, *steps, bar, expected)
