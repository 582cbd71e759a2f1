"""Reference pages: a bounded number of a site's pages to compare with; as bytes, versioned, data only."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec
import numpy as np

from denoise_crawler.errors import ReferencesFormatError
from denoise_crawler.methods.bottom_k_sample import BottomKSample
from denoise_crawler.methods.feature_tree.nodes import (
    DEPTH,
    MAX_NODES,
    Features,
    FeatureTree,
    Numbers,
    build_target,
    depths_of,
)
from denoise_crawler.methods.stored_bytes import VersionedFormat, pack_numbers, unpack_numbers
from denoise_crawler.page import Page


class References(BottomKSample[FeatureTree]):
    """At most ``limit`` pages: those with the lowest hash of their URL, in whatever order they are learned.

    ``merge`` is associative, commutative and idempotent. Of a page with more than ``MAX_NODES`` elements the first
    in level order are kept.

    Raises:
        ValueError: ``limit`` is below 1.
    """

    def __init__(self, limit: int) -> None:
        if limit < 1:
            raise ValueError(f"references must be at least 1, not {limit}")
        super().__init__(limit, lambda tree: encode([tree]))

    def learn(self, page: Page) -> None:
        """Learn ``page`` if it is wanted."""
        if self.wants(page.key):
            self.add(build_target(page).tree.first(MAX_NODES))

    def merge_bytes(self, data: bytes) -> None:
        """Learn stored pages; raise :class:`ReferencesFormatError` for other bytes."""
        self.merge(decode(data))

    def to_bytes(self) -> bytes:
        """Return the pages as bytes; equal sets give equal bytes."""
        return encode(list(self))

    def most_similar(self, tree: FeatureTree) -> FeatureTree | None:
        """Return the page that shares most nodes by depth, tag, id and class; None if there is no other page.

        The measure is 2·|A ∩ B| / (|A| + |B|) over the two pages' multisets of nodes. A page with the same URL or
        text is left out. Of equally similar pages the one with the lowest hash is taken.
        """
        others = [other for other in self if other.key != tree.key and other.text != tree.text]
        shares = [_share(tree, other) for other in others]
        return others[shares.index(max(shares))] if shares else None


def _share(tree: FeatureTree, other: FeatureTree) -> float:
    (names, counts), (other_names, other_counts) = tree.shape, other.shape
    _, here, there = np.intersect1d(names, other_names, assume_unique=True, return_indices=True)
    return 2 * float(np.minimum(counts[here], other_counts[there]).sum()) / (len(tree) + len(other))


_COLUMNS = 9


_FORMAT = VersionedFormat(b"FTR\x01", "reference pages", ReferencesFormatError)


class _PageRecord(msgspec.Struct, array_like=True):
    key: int
    text: int
    drawn: bool
    parents: bytes  # differences between neighbours
    kinds: bytes
    kind_parents: bytes
    features: bytes  # column by column, indices into the values; without the depth, which follows from the parents


class _ReferencesRecord(msgspec.Struct, array_like=True):
    values: bytes  # the distinct features of all pages, ascending
    trees: list[_PageRecord]


def encode(trees: Sequence[FeatureTree]) -> bytes:
    """Convert ``trees``, in the order of their keys, to bytes."""
    stored = [np.delete(tree.features, DEPTH, axis=1).T for tree in trees]
    values = np.unique(np.concatenate([np.zeros(0, np.uint64), *(features.ravel() for features in stored)]))
    records = []
    for tree, features in zip(trees, stored, strict=True):
        parents, places = np.diff(tree.parents[1:], prepend=0), np.searchsorted(values, features)
        columns = map(pack_numbers, (parents, tree.kinds, tree.kind_parents, places))
        records.append(_PageRecord(tree.key, tree.text, tree.drawn, *columns))
    return _FORMAT.write(_ReferencesRecord(values.astype("<u8").tobytes(), records))


def decode(data: bytes) -> list[FeatureTree]:
    """Read what :func:`encode` returned; raise :class:`ReferencesFormatError` for anything else."""
    return _FORMAT.read(data, _ReferencesRecord, _read_trees)


def _read_trees(record: _ReferencesRecord) -> list[FeatureTree]:
    values = np.frombuffer(record.values, "<u8").astype(np.uint64)
    return [_read_tree(tree, values) for tree in record.trees]


def _read_tree(record: _PageRecord, values: Features) -> FeatureTree:
    kinds, kind_parents = unpack_numbers(record.kinds), unpack_numbers(record.kind_parents)
    parents = np.concatenate(([-1], np.cumsum(unpack_numbers(record.parents))))
    _check_tree(parents, kinds, kind_parents)
    stored = values[unpack_numbers(record.features).reshape(_COLUMNS - 1, len(kind_parents)).T]
    features = np.insert(stored, DEPTH, depths_of(kind_parents).astype(np.uint64), axis=1)
    return FeatureTree(record.key, record.text, record.drawn, parents, kinds, kind_parents, features)


def _check_tree(parents: Numbers, kinds: Numbers, kind_parents: Numbers) -> None:
    """Raise ValueError unless nodes are in level order and kinds in the order of their first nodes."""
    size = len(kinds)
    if size > MAX_NODES:
        raise ValueError(f"a page of more than {MAX_NODES:,} nodes")
    if not size or len(parents) != size or kinds[0] or not kinds[1:].all() or kind_parents[0]:
        raise ValueError("a page that does not fit together")
    later, highest = np.arange(1, size), np.maximum.accumulate(kinds)
    ordered = (parents[1:] < later).all() and (np.diff(parents) >= 0).all() and (np.diff(highest) <= 1).all()
    if not ordered or highest[-1] != len(kind_parents) - 1:
        raise ValueError("a page whose nodes are not in level order")
    if (kind_parents[kinds[1:]] != kinds[parents[1:]]).any():
        raise ValueError("a page whose kinds do not fit its nodes")
