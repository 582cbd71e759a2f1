"""Sums over the sketches of a site's pages, kept up to date page by page, and what they say of one page."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import numpy as np

from denoise_crawler.core import loops
from denoise_crawler.methods.fusion.blocks import SPREAD
from denoise_crawler.methods.fusion.kinds import KINDS
from denoise_crawler.methods.fusion.sketch import Numbered, PageCounts, Sketch, distinct, groups_of, grown

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from denoise_crawler.methods.fusion.blocks import Blocks, Hashes, Indices, Numbers

    Kept: TypeAlias = NDArray[np.int32]  # numbers of a page, in half of their bytes


class AtPlace(NamedTuple):
    """By block, what other pages have at its place, which is the path of its element.

    ``shapes`` is the number of pages that have a text of its shape there. Of all shapes there, each counted by the
    pages that have it, ``held`` is the sum, ``repeated`` that of those on ``OFTEN`` pages and more, and
    ``sameness`` what is missing of their entropy to that of as many different ones, from 0 to 1 (node importance
    in Yi, Liu and Li 2003).
    """

    shapes: Numbers
    held: Numbers
    repeated: Numbers
    sameness: Numbers


@dataclass(slots=True, eq=False)
class Standing:
    """What ``pages`` other pages of the site say of one page.

    By block, the number of those pages that have its text, its text with every number alike, and the link it
    begins with; the tokens on those pages that are in its style, and the mean score of these without its site
    (``style_tokens``, ``style_scores``). By block-level element, what stands on its path, summed over those
    pages: ``path_pages`` that have it, ``path_elements``, ``path_characters``, ``path_linked`` and
    ``path_repeated`` (characters of texts that come back). ``places`` is what they have at the place of each
    block. ``alike`` is how many pages are built as this one is,
    ``kinds`` the mean of what each of these says of its own kind.
    """

    pages: int
    alike: float
    kinds: Numbers
    places: AtPlace
    texts: Numbers
    masked: Numbers
    links: Numbers
    style_tokens: Numbers
    style_scores: Numbers
    path_pages: Numbers
    path_elements: Numbers
    path_characters: Numbers
    path_linked: Numbers
    path_repeated: Numbers

    @property
    def columns(self) -> tuple[tuple[Numbers, ...], ...]:
        """What is said of blocks, of elements and of places, as the loops take it."""
        of_paths = self.path_pages, self.path_elements, self.path_characters, self.path_linked, self.path_repeated
        return (self.texts, self.masked, self.links), of_paths, tuple(self.places)


OFTEN = 3  # pages that have the same at one place


class PlaceSums:
    """In how many pages each shape stands at each place."""

    def __init__(self) -> None:
        self._counts = PageCounts()
        self._path_of: NDArray[np.int32] = np.zeros(1, np.int32)
        self._sums: tuple[Numbers, Numbers] | None = None

    def add(self, page: Sketch, paths: Indices) -> Indices:
        """Count a page and return the numbers of what stands on it; ``paths`` are the numbers of its paths."""
        known = len(self._counts.numbered)
        keys = _keys(page.paths[page.homes], np.where(page.shapes, page.shapes, page.texts))
        ascending = distinct(keys)
        numbers = self._counts.add(ascending)
        self._path_of = grown(self._path_of, len(self._counts.numbered) + 1)
        new = numbers > known
        home = np.zeros(len(ascending), np.int64)
        home[ascending.searchsorted(keys)] = paths[page.homes]
        self._path_of[numbers[new]] = home[new]
        self._sums = None
        return numbers

    def remove(self, numbers: NDArray[np.int32]) -> None:
        """Take the page out that has these ``numbers``."""
        self._counts.counts[numbers] -= 1.0
        self._sums = None

    @property
    def table(self) -> tuple[Hashes, NDArray[np.int32], int, Numbers]:
        """The table of what stands at places with the pages that have it, as the loops take it."""
        return self._counts.table

    def at_places(self, paths: int) -> tuple[NDArray[np.int32], Numbers, Numbers]:
        """Return by shape its path, what one on so many pages adds to three sums, and these by ``paths``."""
        sums, values = self._by_path(paths)
        return self._path_of, values, sums

    def _by_path(self, paths: int) -> tuple[Numbers, Numbers]:
        """Return three sums by path, of ``paths`` and more, and what a shape on so many pages adds."""
        if self._sums is None or self._sums[0].shape[1] < paths:
            counts = self._counts.counts[: len(self._counts.numbered) + 1]
            at, values = self._path_of[: len(counts)], _summed(np.arange(counts.max() + 1.0))
            sums = np.array([np.bincount(at, column, minlength=paths) for column in _summed(counts)])
            sums[:, 0] = 0.0  # what stands nowhere
            self._sums = sums, values
        return self._sums


def _summed(counts: Numbers) -> Numbers:
    """Return what shapes on so many pages add to each of the three sums."""
    return np.array([counts, np.where(counts >= OFTEN, counts, 0.0), counts * np.log(np.maximum(counts, 1.0))])


def _keys(paths: Hashes, shapes: Hashes) -> Hashes:
    """Return hashes of shapes at their places."""
    both = (paths.astype(np.uint64) << np.uint64(32)) | shapes
    return ((both * np.uint64(SPREAD)) >> np.uint64(32)).astype(np.uint32)


REPEATED_SHARE = 0.2
REPEATED_PAGES = 2
MIN_ALIKE = 0.5
MOST_COPIES = 0.25  # of the pages: what more of them have is no article
# What is summed by path: pages, elements, characters, characters inside links.
_SUMS = 4
_NO_ROWS, _NO_PARENTS = np.empty(0, np.int32), np.empty(0, np.int64)
# What a page that is not known adds.
_NOTHING = (
    _NO_ROWS, np.empty((0, _SUMS)), _NO_ROWS, np.empty((0, 2)), _NO_ROWS, _NO_ROWS, _NO_ROWS, _NO_PARENTS,
)  # fmt: skip
_NOWHERE = np.uint32(0xFFFFFFFF)  # the hash of no path


@dataclass(frozen=True, slots=True, eq=False)
class _Counted:
    """A page as it was counted: its numbers, what it adds to the sums by path of its own, and its rows."""

    row: int
    blocks: slice
    sums: Numbers
    style_sums: Numbers
    texts: Kept
    masked: Kept
    links: Kept
    paths: Kept
    styles: Kept
    placed: Kept


class _Column:
    """Numbers of one page after the other, as 32-bit numbers."""

    def __init__(self) -> None:
        self._numbers: Kept = np.zeros(0, np.int32)
        self._length = 0

    def add(self, numbers: Indices) -> slice:
        """Append the ``numbers`` of a page and return where they stand."""
        place = slice(self._length, self._length + len(numbers))
        self._numbers, self._length = grown(self._numbers, place.stop), place.stop
        self._numbers[place] = numbers
        return place

    @property
    def numbers(self) -> Kept:
        """All numbers."""
        return self._numbers[: self._length]


class SiteSums:
    """Pages by text, masked text and link; by path the sums of what stands on or below it.

    Rows of a page that was removed stay, as the numbers of its texts and paths do; its blocks have no characters.
    """

    def __init__(self) -> None:
        self._pages: dict[int, tuple[Sketch, _Counted]] = {}
        self._texts, self._masked, self._links = PageCounts(), PageCounts(), PageCounts()
        self._places = PlaceSums()
        self._paths = Numbered()
        self._parents: NDArray[np.int64] = np.zeros(1, np.int64)  # by number of a path; parents have lower numbers
        self._sums = np.zeros((1, _SUMS))
        self._styles = Numbered()
        self._style_sums = np.zeros((1, 2))  # tokens, scores
        # by block of all pages
        self._homes, self._block_texts, self._characters = _Column(), _Column(), _Column()
        # by row of a page
        self._page_paths, self._ends = _Column(), _Column()
        self._kinds = np.zeros((1, len(KINDS)))
        self._for_loops: tuple[tuple[Any, ...], ...] | None = None

    def __len__(self) -> int:
        return len(self._pages)

    def __contains__(self, key: int) -> bool:
        return key in self._pages

    def number(self, pages: Sequence[Sketch]) -> None:
        """Give numbers to what stands on ``pages``, which are to be added: one by one that takes much longer."""
        self._for_loops = None
        for counts, column in ((self._texts, "texts"), (self._masked, "masked"), (self._links, "links")):
            counts.numbered.add(distinct(np.concatenate([getattr(page, column) for page in pages])))
        self._styles.add(distinct(np.concatenate([page.styles for page in pages])))
        self._number_paths(pages)

    def _number_paths(self, pages: Sequence[Sketch]) -> None:
        paths = np.concatenate([page.paths for page in pages])
        above = np.concatenate([np.where(page.parents < 0, _NOWHERE, page.paths[page.parents]) for page in pages])
        first, _ = groups_of(paths.astype(np.int64))  # as they come: parents before children
        known = len(self._paths)
        new = first[self._paths.add(paths[first]) > known]
        self._parents = grown(self._parents, len(self._paths) + 1)
        self._parents[known + 1 : len(self._paths) + 1] = self._paths.find(above[new])
        self._sums = grown(self._sums, len(self._paths) + 1)

    def add(self, page: Sketch) -> None:
        """Count ``page``, which is not counted yet."""
        first, text_of = groups_of(page.texts.astype(np.int64))
        texts = self._texts.add(page.texts[first])
        paths = self._paths.find(page.paths)
        if not paths.all():  # else they were numbered with those of other pages
            self._number_paths([page])
            paths = self._paths.find(page.paths)
        sums = np.empty((len(paths), _SUMS))
        sums[:, 0], sums[:, 1] = 1.0, page.elements
        sums[:, 2] = _subtree_sums(page.homes, page.characters, page.parents)
        sums[:, 3] = _subtree_sums(page.homes, page.linked, page.parents)
        self._sums[paths] += sums
        masked, links = self._masked.add(page.masked), self._links.add(page.links)
        styles, placed = self._styles.add(page.styles), self._places.add(page, paths)
        self._style_sums = grown(self._style_sums, len(self._styles) + 1)
        self._style_sums[styles] += (style_sums := _of_styles(page))
        blocks, row = self._characters.add(page.characters), len(self._ends.numbers)
        self._homes.add(paths[page.homes])
        self._block_texts.add(texts[text_of])
        self._ends.add(np.array([self._page_paths.add(paths).stop]))
        self._kinds = grown(self._kinds, row + 1)
        self._kinds[row] = page.kinds
        kept = [numbers.astype(np.int32) for numbers in (texts, masked, links, paths, styles, placed)]
        self._pages[page.key] = page, _Counted(row, blocks, sums, style_sums, *kept)
        self._for_loops = None

    def remove(self, key: int) -> None:
        """Take the page with this key out."""
        _, counted = self._pages.pop(key)
        self._texts.counts[counted.texts] -= 1.0
        self._masked.counts[counted.masked] -= 1.0
        self._links.counts[counted.links] -= 1.0
        self._sums[counted.paths] -= counted.sums
        self._style_sums[counted.styles] -= counted.style_sums
        self._places.remove(counted.placed)
        self._characters.numbers[counted.blocks] = 0
        self._for_loops = None

    def _copies_of(self, blocks: Blocks, left_out: int | None) -> list[_Counted]:
        """Return the pages, few of all, that hold half of the running text of a page and more.

        Theirs is the same article, not the same template.
        """
        own = () if left_out is None else (self._pages[left_out][1].texts,)
        running = blocks.characters - blocks.linked
        long = running >= loops.site.PARAGRAPH
        running, half = running[long], running[long].sum() / 2
        known = self._texts.of(hashes := blocks.text_hashes[long], own) > 0
        sizes = np.zeros(len(self._texts.counts))
        sizes[self._texts.numbered.find(hashes[known])] = running[known]
        others = (counted for key, (_, counted) in self._pages.items() if key != left_out)
        found = [counted for counted in others if sizes[counted.texts].sum() >= half]
        return found if len(found) <= max(1.0, MOST_COPIES * len(self)) else []

    def standing(self, blocks: Blocks, left_out: int | None) -> Standing:
        """Return what the pages but ``left_out`` (a key) say of a page with these ``blocks``.

        The texts and links of copies say nothing of it.
        """
        known = None if left_out is None else self._pages[left_out][1]
        silent = () if known is None else (known,)
        standing, knows_half = self._said(blocks, known, silent)
        if knows_half and (copies := self._copies_of(blocks, left_out)):
            standing, _ = self._said(blocks, known, (*silent, *copies))
        return standing

    def _said(self, blocks: Blocks, known: _Counted | None, silent: tuple[_Counted, ...]) -> tuple[Standing, bool]:
        """Return what the pages say of a page, and whether they know half of its running text."""
        around = blocks.around
        by_block, by_element = np.empty((9, len(blocks))), np.empty((5, len(around)))
        paths, kinds = np.empty(len(around), np.int64), np.empty(len(KINDS))
        hashes = blocks.text_hashes, blocks.masked_hashes, blocks.link_hashes, blocks.styles, blocks.shapes
        counted, summed, at_places, pages = self._columns
        alike, knows_half = loops.site.said_of_page(
            (*hashes, blocks.elements, blocks.characters, blocks.linked),
            (around.paths, around.first, around.last),
            counted,
            summed,
            at_places,
            (*pages, -1 if known is None else known.row, MIN_ALIKE),
            tuple([(one.texts, one.masked, one.links, one.placed) for one in silent]),
            _NOTHING if known is None else self._own(known),
            SPREAD,
            (tuple(by_block[:4]), by_block[4:6], by_block[6:]),
            (paths, by_element[:4], by_element[4]),
            kinds,
        )
        texts, masked, links, shapes, style_tokens, style_scores, *places = by_block
        pages_known = len(self) - (known is not None)
        words = texts, masked, links, style_tokens, style_scores
        return Standing(pages_known, alike, kinds, AtPlace(shapes, *places), *words, *by_element), knows_half

    def _own(self, known: _Counted) -> tuple[NDArray[Any], ...]:
        """Return what a page itself adds to the sums, as the loops take it."""
        columns = self._homes, self._block_texts, self._characters
        of_blocks = [column.numbers[known.blocks] for column in columns]
        parents = self._parents[: len(self._paths) + 1]
        return known.paths, known.sums, known.styles, known.style_sums, *of_blocks, parents

    @property
    def _columns(self) -> tuple[tuple[Any, ...], ...]:
        """All that is counted, as the loops take it."""
        if self._for_loops is None:
            repeated, below = self._repeated_texts()
            self._for_loops = (
                (self._texts.table, self._masked.table, self._links.table, self._places.table),
                (
                    *(self._paths.table, self._sums, below),
                    *(self._styles.table, self._style_sums, repeated.view(np.uint8)),
                ),
                self._places.at_places(len(self._paths) + 1),
                (self._page_paths.numbers, self._ends.numbers, self._rows(), self._kinds),
            )
        return self._for_loops

    def _rows(self) -> Indices:
        """Return the row of each page."""
        return np.array([counted.row for _, counted in self._pages.values()], np.int64)

    def novelty(self, blocks: Blocks) -> float:
        """Return the share of the characters of ``blocks`` on paths that none of the pages has; 0 without any."""
        pages_on_path = self._sums[self._paths.find(blocks.around.paths[blocks.elements]), 0]
        characters = float(blocks.characters.sum())
        return float(blocks.characters[pages_on_path == 0].sum()) / characters if characters else 0.0

    @property
    def repeated(self) -> int:
        """How many texts come back."""
        return int(np.count_nonzero(self._come_back()))

    def _come_back(self) -> NDArray[np.bool_]:
        return self._texts.counts >= max(REPEATED_PAGES, REPEATED_SHARE * len(self))

    def _repeated_texts(self) -> tuple[NDArray[np.bool_], Numbers]:
        """Return by text whether it comes back, by path the characters of those on or below it."""
        repeated = self._come_back()
        homes, texts = self._homes.numbers, self._block_texts.numbers
        characters = self._characters.numbers
        below, site = np.zeros(len(self._paths) + 1), loops.site
        site.add_repeated(repeated.view(np.uint8), homes, texts, characters, below)
        site.add_below(below, self._parents[: len(below)])
        below[0] = 0.0  # what stands nowhere on these pages
        return repeated, below


def _of_styles(page: Sketch) -> Numbers:
    """Return by style the tokens of ``page`` and their scores."""
    return np.column_stack([page.style_tokens, page.style_scores]).astype(np.float64)


def _subtree_sums(places: Indices, numbers: Indices, parents: Indices) -> Numbers:
    """Return by place the sum of the ``numbers`` at it and below it; parents come before children."""
    sums: Numbers = np.bincount(places, weights=numbers, minlength=len(parents)).astype(np.float64, copy=False)
    loops.site.add_below(sums, parents)
    return sums
