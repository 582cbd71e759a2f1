"""Boosted regression trees in numpy: scores, and what each feature adds to one of them."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from math import fsum
from typing import TYPE_CHECKING, Any, TypeAlias

import msgspec
import numpy as np

from denoise_crawler.core import compiled

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from denoise_crawler.methods.fusion.blocks import Numbers

    Table: TypeAlias = NDArray[np.float32]

MAX_LEAVES = 32
_AT_ONCE = 512  # rows: each takes some 12 kB for a moment


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
        # by split and tree, so that a step goes over all trees; a split that a tree has not never fails
        size = max((len(tree.features) for tree in trees), default=0), len(trees)
        features, thresholds = np.zeros(size, np.int64), np.full(size, np.inf, np.float32)
        ruled_out, self._leaves = np.zeros(size, np.uint32), np.zeros((len(trees), MAX_LEAVES))
        for number, (tree, order) in enumerate(zip(trees, orders, strict=True)):
            splits = slice(len(tree.features)), number
            features[splits], thresholds[splits] = tree.features, tree.thresholds
            ruled_out[splits] = _ruled_out(tree, order)
            self._leaves[number, : len(order)] = [tree.leaves[leaf] for leaf in order]
        self._splits = [
            np.ascontiguousarray(column.T) for column in (features.astype(np.int32), thresholds, ruled_out)
        ]
        self._features, self._thresholds = features.ravel(), thresholds.ravel()[:, None]
        self._ruled_out = ruled_out.ravel()[:, None]
        self._in_core: Any = None

    def scores(self, table: Table) -> Numbers:
        """Return the score (log odds) of each row of ``table``."""
        if not len(table):
            return np.zeros(0)
        if len(table) > 1 and (trees := self._compiled()) is not None:
            total = np.zeros(len(table))
            trees.add_scores(np.ascontiguousarray(table.T), total)
            return total
        parts = np.array_split(table, -(-len(table) // _AT_ONCE))
        return np.concatenate([self.by_tree(part).sum(axis=0) for part in parts])

    def leaves(self, table: Table) -> Numbers:
        """Return by tree what it gives each row of a short ``table``."""
        if (trees := self._compiled()) is None:
            return self.by_tree(table)
        found = np.empty((len(self._trees), len(table)))
        trees.fill(np.ascontiguousarray(table.T), found)
        return found

    def _compiled(self) -> Any | None:
        """Return the trees of the compiled core; None if it is not used."""
        if (core := compiled.trees) is None:
            return None
        if self._in_core is None:
            self._in_core = core.Trees(*self._splits, self._leaves)
        return self._in_core

    def by_tree(self, table: Table) -> Numbers:
        """Do the same in numpy."""
        rows, trees = len(table), len(self._trees)
        failed = np.ascontiguousarray(table.T)[self._features] > self._thresholds
        ruled_out = np.multiply(failed, self._ruled_out, dtype=np.uint32).reshape(-1, trees * rows)
        left = ~np.bitwise_or.reduce(ruled_out, axis=0)
        lowest = left & (~left + np.uint32(1))
        leaf = np.frexp(lowest.astype(np.float32))[1].reshape(trees, rows) - 1
        by_tree: Numbers = self._leaves[np.arange(trees)[:, None], leaf]
        return by_tree

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
        return fsum(tree.expected[0] for tree in self._trees)


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


def _ruled_out(tree: Tree, order: Sequence[int]) -> list[int]:
    """Return for each split the leaves that its failing rules out, one bit each: those on its left."""
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
    return [below[child] for child in tree.left]
