"""Boosted regression trees in numpy: scores, and what each feature adds to one of them."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, TypeAlias

import msgspec
import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from denoise_crawler.fusion.blocks import Indices, Numbers

    Table: TypeAlias = NDArray[np.float32]

MAX_LEAVES = 32
_ALL = np.uint32(0xFFFFFFFF)


class Tree(msgspec.Struct, frozen=True):
    """One tree by columns over its splits; split 0 is the root.

    A value at most ``thresholds[i]`` goes to ``left[i]``, else to ``right[i]``: a split, or below 0 the leaf
    ``-1 - that``. ``expected`` is the mean score of the training blocks that came to a split, ``leaves`` are
    scores.
    """

    features: list[int]
    thresholds: list[float]
    left: list[int]
    right: list[int]
    expected: list[float]
    leaves: list[float]


class BoostedTrees:
    """The sum of ``trees``, evaluated for all rows at once.

    Every split is tested on every row; the leaf a row ends in is the first that no failed test rules out
    (QuickScorer: Lucchese et al., SIGIR 2015).
    """

    def __init__(self, trees: Sequence[Tree]) -> None:
        self._trees = trees
        orders = [_leaves_from_left(tree) for tree in trees]
        self._features = np.concatenate([np.array(tree.features, np.int64) for tree in trees])
        self._thresholds = np.concatenate([np.array(tree.thresholds, np.float32) for tree in trees])[:, None]
        self._masks = np.concatenate([_masks(tree, order) for tree, order in zip(trees, orders, strict=True)])[
            :, None
        ]
        self._starts = np.cumsum([0, *(len(tree.features) for tree in trees)])[:-1]
        self._scores = np.zeros((len(trees), MAX_LEAVES))
        for row, (tree, order) in enumerate(zip(trees, orders, strict=True)):
            self._scores[row, : len(order)] = [tree.leaves[leaf] for leaf in order]

    def scores(self, table: Table) -> Numbers:
        """Return the score (log odds) of each row of ``table``."""
        if not len(table):
            return np.zeros(0)
        failed = np.ascontiguousarray(table.T)[self._features] > self._thresholds
        masks = np.where(failed, self._masks, _ALL)
        left = np.bitwise_and.reduceat(masks, self._starts, axis=0)
        lowest = left & (~left + np.uint32(1))
        leaf = np.log2(lowest.astype(np.float64)).astype(np.int64)
        total: Numbers = np.take_along_axis(self._scores, leaf, axis=1).sum(axis=0)
        return total

    def contributions(self, row: Sequence[float]) -> dict[int, float]:
        """Return by feature what it adds to the score of one row, along the ways that the row takes."""
        added: dict[int, float] = {}
        for tree in self._trees:
            split = 0
            while split >= 0:
                below = row[tree.features[split]] <= tree.thresholds[split]
                following = tree.left[split] if below else tree.right[split]
                score = tree.expected[following] if following >= 0 else tree.leaves[-1 - following]
                feature = tree.features[split]
                added[feature] = added.get(feature, 0.0) + score - tree.expected[split]
                split = following
        return added

    @cached_property
    def expected(self) -> float:
        """The mean score of the training blocks."""
        return sum(tree.expected[0] for tree in self._trees)


def _leaves_from_left(tree: Tree) -> list[int]:
    """Return the leaves of ``tree`` from left to right."""
    order: list[int] = []
    waiting = [0]
    while waiting:
        node = waiting.pop()
        if node < 0:
            order.append(-1 - node)
        else:
            waiting += (tree.right[node], tree.left[node])
    if len(order) > MAX_LEAVES:
        raise ValueError(f"a tree has {len(order)} leaves, more than {MAX_LEAVES}")
    return order


def _masks(tree: Tree, order: Sequence[int]) -> Indices:
    """Return for each split the leaves that are left when its test fails: all but those on its left."""
    place = {leaf: bit for bit, leaf in enumerate(order)}
    below: dict[int, int] = {-1 - leaf: 1 << bit for leaf, bit in place.items()}
    waiting = [0]
    while waiting:
        node = waiting[-1]
        missing = [child for child in (tree.left[node], tree.right[node]) if child not in below]
        if missing:
            waiting += missing
        else:
            below[node] = below[tree.left[node]] | below[tree.right[node]]
            waiting.pop()
    return np.array([~below[child] & int(_ALL) for child in tree.left], np.uint32)
