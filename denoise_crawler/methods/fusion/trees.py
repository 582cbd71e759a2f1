"""Boosted regression trees: their scores, and what each feature adds to one of them."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from math import fsum
from typing import Any

import msgspec
import numpy as np

from denoise_crawler import kernel
from denoise_crawler.kernel.columns import MAX_LEAVES


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
    """The sum of ``trees``, as the kernel evaluates them."""

    def __init__(self, trees: Sequence[Tree]) -> None:
        self._trees = trees
        # a split that a tree has not never fails
        size = len(trees), max((len(tree.features) for tree in trees), default=0)
        features, thresholds = np.zeros(size, np.int32), np.full(size, np.inf, np.float32)
        ruled_out, leaves = np.zeros(size, np.uint32), np.zeros((len(trees), MAX_LEAVES))
        for number, tree in enumerate(trees):
            order, splits = _leaves_from_left(tree), len(tree.features)
            features[number, :splits], thresholds[number, :splits] = tree.features, tree.thresholds
            ruled_out[number, :splits] = _ruled_out(tree, order)
            leaves[number, : len(order)] = [tree.leaves[leaf] for leaf in order]
        self._columns = features, thresholds, ruled_out, leaves
        self._made: tuple[Any, Any] = None, None

    @property
    def in_kernel(self) -> Any:
        """The same trees for the functions of the kernel."""
        if self._made[0] is not kernel.active:  # else another one was chosen since
            self._made = kernel.active, kernel.active.Trees(*self._columns)
        return self._made[1]

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
