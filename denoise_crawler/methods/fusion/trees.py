"""Boosted regression trees: their scores, and what each feature adds to one of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import msgspec
import numpy as np

from denoise_crawler import kernel
from denoise_crawler.kernel.columns import MAX_LEAVES

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from denoise_crawler.kernel.columns import Numbers, Table


class Tree(msgspec.Struct, frozen=True):
    """One tree by columns over its splits; split 0 is the root, and each comes behind the one above it.

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
    """The sum of ``trees``, as the kernel evaluates them."""

    def __init__(self, trees: Sequence[Tree]) -> None:
        # a split that a tree has not never fails
        size = len(trees), max((len(tree.features) for tree in trees), default=0)
        features, thresholds = np.zeros(size, np.int32), np.full(size, np.inf, np.float32)
        ruled_out, leaves = np.zeros(size, np.uint32), np.zeros((len(trees), MAX_LEAVES))
        below, gains = np.full((*size, 2), -1, np.int32), np.zeros((*size, 2))
        for number, tree in enumerate(trees):
            order, splits = _leaves_from_left(tree), len(tree.features)
            features[number, :splits], thresholds[number, :splits] = tree.features, tree.thresholds
            ruled_out[number, :splits] = _ruled_out(tree, order)
            leaves[number, : len(order)] = [tree.leaves[leaf] for leaf in order]
            below[number, :splits] = list(zip(tree.left, tree.right, strict=True))
            gains[number, :splits] = _gains(tree)
        self._columns = features, thresholds, ruled_out, leaves
        self._ways = features, thresholds, below, gains
        self._made: tuple[Any, Any] = None, None

    @property
    def in_kernel(self) -> Any:
        """The same trees for the functions of the kernel."""
        if self._made[0] is not kernel.active:  # else another one was chosen since
            self._made = kernel.active, kernel.active.Trees(*self._columns)
        return self._made[1]

    def contributions(self, row: Table) -> Numbers:
        """Return by feature what it adds to the score of a row, along the way that it takes down each tree."""
        features, thresholds, below, gains = self._ways
        added, trees = np.zeros(len(row)), np.arange(features.size and len(features), dtype=np.int32)
        splits = np.zeros(len(trees), np.int32)
        while len(trees):
            feature = features[trees, splits]
            sides = (row[feature] > thresholds[trees, splits]).astype(np.int64)
            np.add.at(added, feature, gains[trees, splits, sides])
            splits = below[trees, splits, sides]
            trees, splits = trees[splits >= 0], splits[splits >= 0]
        return added


def _gains(tree: Tree) -> NDArray[np.float64]:
    """Return by split how much the mean score on either side of it is above its own."""
    scores = [*tree.expected, *tree.leaves[::-1]]  # a leaf, -1 - its number, is counted from the end
    below = [[scores[following] for following in side] for side in (tree.left, tree.right)]
    gains: NDArray[np.float64] = np.array(below).T - np.array(tree.expected)[:, None]
    return gains


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
    below = {-1 - leaf: 1 << bit for bit, leaf in enumerate(order)}
    for split in reversed(range(len(tree.features))):
        below[split] = below[tree.left[split]] | below[tree.right[split]]
    return [below[child] for child in tree.left]
