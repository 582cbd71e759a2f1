"""Reference pages: a bounded number of a site's pages, for comparison."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from denoise_crawler.methods.bottom_k import BottomK
from denoise_crawler.methods.feature_tree import codec
from denoise_crawler.methods.feature_tree.nodes import CLASS, DEPTH, ID, MAX_NODES, TAG, build_target

if TYPE_CHECKING:
    from collections.abc import Iterable

    from denoise_crawler.methods.feature_tree.nodes import Features, FeatureTree, Numbers
    from denoise_crawler.page import Page

_PRIMES = np.array([0x9E3779B185EBCA87, 0xC2B2AE3D27D4EB4F, 0x165667B19E3779F9, 0x27D4EB2F165667C5], np.uint64)


class References:
    """At most ``limit`` pages: those with the lowest hash of their URL, in whatever order they are learned.

    ``merge`` is associative, commutative and idempotent. Of a page with more than ``MAX_NODES`` elements the first
    in level order are kept.

    Raises:
        ValueError: ``limit`` is below 1.

    """

    def __init__(self, limit: int) -> None:
        if limit < 1:
            raise ValueError(f"references must be at least 1, not {limit}")
        self._trees: BottomK[FeatureTree] = BottomK(limit, lambda tree: codec.encode([tree]))
        self._shapes: dict[int, tuple[Features, Numbers]] = {}

    @property
    def limit(self) -> int:
        """The most pages to keep."""
        return self._trees.limit

    def __len__(self) -> int:
        return len(self._trees)

    def __contains__(self, page: Page) -> bool:
        return page.key in self._trees

    def wants(self, page: Page) -> bool:
        """Tell whether ``page`` is new and its key low enough."""
        return self._trees.wants(page.key)

    def add(self, page: Page) -> None:
        """Learn ``page`` if it is wanted."""
        if self.wants(page):
            self._add_trees([build_target(page).tree.first(MAX_NODES)])

    def merge(self, other: References) -> None:
        """Learn the pages of ``other``."""
        self._add_trees(other._trees)

    def merge_bytes(self, data: bytes) -> None:
        """Learn stored pages; raise :class:`ReferencesFormatError` for other bytes."""
        self._add_trees(codec.decode(data))

    def to_bytes(self) -> bytes:
        """Return the pages as bytes; equal sets give equal bytes."""
        return codec.encode(list(self._trees))

    def most_similar(self, tree: FeatureTree) -> FeatureTree | None:
        """Return the page that shares most nodes by depth, tag, id and class; None if there is no other page.

        The measure is 2·|A ∩ B| / (|A| + |B|) over the two pages' multisets of nodes. A page with the same URL or
        text is left out. Of equally similar pages the one with the lowest hash is taken.
        """
        own = _shape(tree)
        others = [other for other in self._trees if other.key != tree.key and other.text != tree.text]
        shares = [self._share(own, len(tree), other) for other in others]
        return others[shares.index(max(shares))] if shares else None

    def _share(self, own: tuple[Features, Numbers], size: int, other: FeatureTree) -> float:
        if other.key not in self._shapes:
            self._shapes[other.key] = _shape(other)
        names, counts = self._shapes[other.key]
        _, here, there = np.intersect1d(own[0], names, assume_unique=True, return_indices=True)
        return 2 * float(np.minimum(own[1][here], counts[there]).sum()) / (size + len(other))

    def _add_trees(self, trees: Iterable[FeatureTree]) -> None:
        for displaced in self._trees.merge(trees):
            self._shapes.pop(displaced.key, None)


def _shape(tree: FeatureTree) -> tuple[Features, Numbers]:
    """Return sorted hashes of the distinct (depth, tag, id, class) of a tree, and the number of nodes of each."""
    columns = tree.features[:, [DEPTH, TAG, ID, CLASS]]
    mixed = columns * _PRIMES
    mixed ^= mixed >> np.uint64(29)
    of_kinds = (mixed * _PRIMES[::-1]).sum(axis=1, dtype=np.uint64)
    names, inverse = np.unique(of_kinds, return_inverse=True)
    return names, np.bincount(inverse[tree.kinds], minlength=len(names))
