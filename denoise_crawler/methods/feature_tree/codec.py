"""Converts reference pages to bytes and back: versioned, compressed, data only."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec
import numpy as np

from denoise_crawler.errors import ReferencesFormatError
from denoise_crawler.methods.feature_tree.nodes import DEPTH, MAX_NODES, FeatureTree, depths_of
from denoise_crawler.methods.versioned_format import VersionedFormat, pack_numbers, unpack_numbers

if TYPE_CHECKING:
    from collections.abc import Sequence

    from denoise_crawler.methods.feature_tree.nodes import Features, Numbers

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
    records = [
        _PageRecord(
            tree.key,
            tree.text,
            tree.drawn,
            pack_numbers(np.diff(tree.parents[1:], prepend=0)),
            pack_numbers(tree.kinds),
            pack_numbers(tree.kind_parents),
            pack_numbers(np.searchsorted(values, features)),
        )
        for tree, features in zip(trees, stored, strict=True)
    ]
    return _FORMAT.write(_ReferencesRecord(values.astype("<u8").tobytes(), records))


def decode(data: bytes) -> list[FeatureTree]:
    """Read what :func:`encode` returned; raise :class:`ReferencesFormatError` for anything else."""
    return _FORMAT.read(data, _ReferencesRecord, _read_trees)


def _read_trees(record: _ReferencesRecord) -> list[FeatureTree]:
    values = np.frombuffer(record.values, "<u8").astype(np.uint64)
    return [_read_tree(found, values) for found in record.trees]


def _read_tree(record: _PageRecord, values: Features) -> FeatureTree:
    kinds, kind_parents = unpack_numbers(record.kinds), unpack_numbers(record.kind_parents)
    parents = np.concatenate(([-1], np.cumsum(unpack_numbers(record.parents))))
    _check_tree(parents, kinds, kind_parents)
    features = np.insert(
        values[unpack_numbers(record.features).reshape(_COLUMNS - 1, len(kind_parents)).T],
        DEPTH,
        depths_of(kind_parents).astype(np.uint64),
        axis=1,
    )
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
