"""Style trees in columns: that of one page, that of a site, which pages are added to and taken from."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import astuple, dataclass
from functools import lru_cache
from math import log
from typing import Any

import numpy as np
from numpy.typing import NDArray

from denoise_crawler.core import loops
from denoise_crawler.methods.style_tree.digest import PageDigest


@dataclass(frozen=True, slots=True)
class ImportanceRules:
    """The choices that the sources leave open.

    Args:
        gamma: The damping γ.
        single_page: The NodeImp of an inner node on one page (m = 1): 0 in the blog, 1 in the KDD paper.
        presence: Whether p_j is a share of pages rather than of occurrences.
        data_node: Whether every element also has the importance of its own text (pySST).
        features_per_leaf: The most features of a leaf that count.

    """

    gamma: float = 0.9
    single_page: float = 0.0
    presence: bool = False
    data_node: bool = False
    features_per_leaf: int = 64


MAX_TREE_PAGES = (1 << 20) - 1
LABEL, STYLES, EMPTY, PAGES, _STALE, ROWS, COUNT, _ROOM = range(8)  # of element nodes, as loops/style_tree.py says
ELEMENT, NEXT, SIZE, _, _, FIRST, OWN = range(7)  # of style nodes
_MAX_OCCURRENCES = (1 << 12) - 1
_LEAST_ROOM = 16


class TreeColumns:
    """A style tree: element nodes, style nodes and features in columns; ``loops/style_tree.py`` describes them."""

    def __init__(self, room: int) -> None:
        self.elements = np.empty((room, 8), np.int32)
        self.styles = np.empty((room, 7), np.int32)
        self.keys = np.empty(room, np.uint64)
        self.scores = np.zeros((room, 2))
        self.style_scores = np.zeros((room, 2))
        self.rows = np.empty(0, np.uint64)
        self.used = self.made = self.rows_used = 0
        self._slots_for(room)

    def _slots_for(self, styles: int) -> None:
        self.bits = max(4, (2 * styles).bit_length())
        self.slots = np.zeros(1 << self.bits, np.int32)

    def _table(self) -> tuple[Any, ...]:
        return self.styles, self.keys, self.slots, self.bits

    def rate(self, rules: ImportanceRules) -> None:
        """Compute the importances that are out of date."""
        elements, styles = self.elements[: self.used], self.styles[: self.made]
        logarithms = _logarithms(max(int(self.elements[0, PAGES]), _MAX_OCCURRENCES).bit_length())
        columns = elements, styles, self.scores, self.style_scores, self.rows
        loops.style_tree.rate(*columns, *astuple(rules), logarithms)

    def find(self, page: PageTree, found: NDArray[np.int32]) -> NDArray[np.int32]:
        """Find the nodes of a page's tree in this one.

        Args:
            page: The tree of one page.
            found: By element node of the page its row here, -1 for none: filled below those that are filled.

        Returns:
            Pairs of style nodes: one of the page, and the folded one that it is here.

        """
        folded = np.empty((page.made, 2), np.int32)
        count = loops.style_tree.match(page.elements, page.styles, page.keys, *self._table(), found, folded)
        return folded[:count]

    def styles_of(self, element: int) -> list[int]:
        """Return the style nodes below an element node that have pages."""
        found, style = [], int(self.elements[element, STYLES])
        while style >= 0:
            if self.styles[style, PAGES]:
                found.append(style)
            style = int(self.styles[style, NEXT])
        return found

    def children(self, styles: NDArray[np.int32]) -> NDArray[np.int64]:
        """Return the element nodes below some style nodes, in their order; a folded one has none."""
        sizes = np.where(self.styles[styles, FIRST] >= 0, self.styles[styles, SIZE], 0).astype(np.int64)
        before = np.cumsum(sizes) - sizes
        return np.repeat(self.styles[styles, FIRST] - before, sizes) + np.arange(sizes.sum())


class PageTree(TreeColumns):
    """The style tree of one page.

    Args:
        numbers: By node the number of its label.
        hashes: By number the hash of a label.
        ends: By node where its subtree ends.
        collapse: Whether a run of equal siblings counts as one.

    """

    def __init__(
        self, numbers: NDArray[np.int32], hashes: NDArray[np.uint64], ends: NDArray[np.int32], *, collapse: bool
    ) -> None:
        count = len(ends)
        super().__init__(count)
        self.places, self.parents = np.empty(count, np.int32), np.empty(count, np.int32)
        self.used, self.made = loops.style_tree.lay(
            numbers, hashes, ends, collapse, self.elements, *self._table(), self.places, self.parents
        )
        self.elements = self.elements[: self.used].copy()
        self.styles = self.styles[: self.made].copy()
        self.keys = self.keys[: self.made].copy()
        self.scores, self.style_scores = self.scores[: self.used].copy(), self.style_scores[: self.made].copy()

    def learn(self, page: PageDigest, rules: ImportanceRules, texts: int) -> None:
        """Add the features of the tree's ``page`` and compute importances; ``texts`` is the label of texts."""
        self._add_features(page, texts if rules.data_node else None)  # which say it of what they stand in, too
        self.rate(rules)

    def _add_features(self, page: PageDigest, texts: int | None) -> None:
        elements = np.repeat(self.places, page.features).astype(np.uint64)
        hashes, counts = page.hashes.astype(np.uint64), page.counts.astype(np.int64)
        if texts is not None:
            above = np.repeat(np.where(page.labels == texts, self.parents, -1), page.features)
            said = above >= 0
            elements = np.concatenate([elements, self.places[above[said]].astype(np.uint64)])
            hashes, counts = np.concatenate([hashes, hashes[said]]), np.concatenate([counts, counts[said]])
        keys = elements << np.uint64(32) | hashes
        order = np.argsort(keys, kind="stable")
        keys = keys[order]
        starts = np.flatnonzero(np.concatenate([[True], keys[1:] != keys[:-1]])[: len(keys)])
        keys = keys[starts]
        sums = np.add.reduceat(counts[order], starts) if len(starts) else counts
        occurrences = np.minimum(sums, _MAX_OCCURRENCES).astype(np.uint64)
        self.rows = ((keys & np.uint64(0xFFFFFFFF)) << np.uint64(12) | occurrences) << np.uint64(20) | np.uint64(1)
        self.rows_used = len(self.rows)
        found = np.bincount((keys >> np.uint64(32)).astype(np.int64), minlength=self.used)
        self.elements[:, COUNT] = found
        self.elements[:, ROWS] = np.cumsum(found) - found


class SiteColumns(TreeColumns):
    """The style tree of a site: those of its pages, laid over one another.

    Args:
        root: The label of the root.

    """

    def __init__(self, root: int) -> None:
        super().__init__(_LEAST_ROOM)
        self.owners = np.zeros(_LEAST_ROOM, np.uint64)
        self.left = 0  # element nodes without pages
        self.used = 1
        self.elements[0] = 0
        self.elements[0, LABEL], self.elements[0, STYLES] = root, -1

    def owners_of(self, page: PageTree) -> list[int]:
        """Return the keys of the pages that have folded what ``page`` has, too."""
        found = np.full(page.used, -1, np.int32)
        found[0] = 0
        folded = self.find(page, found)
        return sorted(set(self.owners[folded[:, 1]].tolist()))

    @property
    def is_sparse(self) -> bool:
        """Whether many element nodes have no pages any more."""
        return 4 * self.left > self.used

    def add(self, pages: Sequence[tuple[int, PageTree]]) -> None:
        """Add a page; behind it stand the pages that have folded what it has, too. All with their keys."""
        page, (elements, styles, keys, style_scores, rows), tops, bases = pages[0][1], *_laid_end_to_end(pages)
        self._make_room(page.used, len(styles))
        joined = np.empty((len(elements), 2), np.int32)
        own = self.elements, *self._table(), self.owners, self.style_scores, self.used, self.made
        theirs = elements, styles, keys, style_scores, tops, bases, np.array([key for key, _ in pages], np.uint64)
        self.used, self.made, count = loops.style_tree.merge(*own, *theirs, joined)
        self._add_features(elements, rows, joined[:count])

    def take_out(self, page: PageTree) -> None:
        """Subtract a page that was added."""
        joined = np.empty((page.used, 2), np.int32)
        loop = loops.style_tree
        count, left = loop.take_out(self.elements, *self._table(), page.elements, page.styles, page.keys, joined)
        loop.remove_features(self.elements, self.rows, page.elements, page.rows, joined, count)
        self.left += left

    def compact(self) -> None:
        """Drop the rows of nodes without pages; the others keep their order."""
        elements, styles = self.elements[: self.used], self.styles[: self.made]
        kept, kept_styles = elements[:, PAGES] > 0, styles[:, PAGES] > 0
        numbers = (np.cumsum(kept) - 1).astype(np.int32)
        self.elements, self.scores = elements[kept], self.scores[: self.used][kept]
        for name in ("styles", "keys", "owners", "style_scores"):
            setattr(self, name, getattr(self, name)[: self.made][kept_styles])
        self.used, self.made, self.left = len(self.elements), len(self.styles), 0
        styles = self.styles
        styles[:, ELEMENT] = numbers[styles[:, ELEMENT]]
        styles[:, FIRST] = np.where(styles[:, FIRST] >= 0, numbers[styles[:, FIRST]], -1)
        order = np.argsort(styles[:, ELEMENT], kind="stable").astype(np.int32)
        of = styles[order, ELEMENT]
        begins = np.flatnonzero(np.diff(of, prepend=-1))
        styles[order, NEXT] = np.append(order[1:], np.int32(-1))
        styles[order[begins[1:] - 1], NEXT] = -1
        self.elements[:, STYLES] = -1
        self.elements[of[begins], STYLES] = order[begins]
        self._slots_for(self.made)
        loops.style_tree.fill_slots(*self._table(), self.made)
        self._move_features(0)

    def _make_room(self, elements: int, styles: int) -> None:
        if (least := self.used + elements) > len(self.elements):
            self.elements, self.scores = _grown(self.elements, least), _grown(self.scores, least)
        if (least := self.made + styles) > len(self.styles):
            for name in ("styles", "keys", "owners", "style_scores"):
                setattr(self, name, _grown(getattr(self, name), least))
            self._slots_for(len(self.styles))
            loops.style_tree.fill_slots(*self._table(), self.made)

    def _add_features(
        self, elements: NDArray[np.int32], rows: NDArray[np.uint64], joined: NDArray[np.int32]
    ) -> None:
        done = 0
        while True:
            done, self.rows_used = loops.style_tree.add_features(
                self.elements, self.rows, self.rows_used, elements, rows, joined, done, len(joined)
            )
            if done == len(joined):
                return
            largest = int(elements[:, COUNT].max()) + int(self.elements[: self.used, COUNT].max())
            self._move_features(2 * largest + len(rows))

    def _move_features(self, room: int) -> None:
        held = int(self.elements[: self.used, COUNT].sum())
        moved = np.empty(held + held // 16 + room, np.uint64)
        self.rows_used = loops.style_tree.move_features(self.elements, self.used, self.rows, moved)
        self.rows = moved


def _laid_end_to_end(
    pages: Sequence[tuple[int, PageTree]],
) -> tuple[list[NDArray[Any]], NDArray[np.int64], NDArray[np.int64]]:
    """Return the columns of trees as one, and by tree its first element node and its first style node."""
    trees = [tree for _, tree in pages]
    sizes = [(0, 0, 0), *((tree.used, tree.made, tree.rows_used) for tree in trees)]
    tops, bases, first_rows = np.cumsum(sizes, 0).T
    names = "elements", "styles", "keys", "style_scores", "rows"
    if len(trees) == 1:
        return [getattr(trees[0], name) for name in names], tops[:1].copy(), bases[:1].copy()
    columns = [np.concatenate([getattr(tree, name) for tree in trees]) for name in names]
    for number in range(1, len(trees)):
        own = columns[0][tops[number] : tops[number + 1]]
        below = columns[1][bases[number] : bases[number + 1]]
        own[own[:, STYLES] >= 0, STYLES] += bases[number].astype(np.int32)
        own[:, ROWS] += first_rows[number].astype(np.int32)
        below[below[:, NEXT] >= 0, NEXT] += bases[number].astype(np.int32)
        below[:, FIRST] += tops[number].astype(np.int32)
    return columns, tops[:-1].copy(), bases[:-1].copy()


def _grown(array: NDArray[Any], least: int) -> NDArray[Any]:
    """Return an array that begins as ``array`` does and has room for ``least`` rows or more."""
    grown = np.zeros((max(least, len(array) + len(array) // 8), *array.shape[1:]), array.dtype)
    grown[: len(array)] = array
    return grown


@lru_cache(maxsize=4)
def _logarithms(bits: int) -> NDArray[np.float64]:
    """Return the logarithm of each number with so many bits; of 0 it is 0."""
    return np.array([0.0, *map(log, range(1, 1 << bits))])
