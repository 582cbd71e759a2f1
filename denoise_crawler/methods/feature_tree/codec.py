"""The bytes of reference pages: versioned, compressed, data only."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec
import numpy as np

from denoise_crawler.errors import ReferencesFormatError
from denoise_crawler.methods.feature_tree.nodes import DEPTH, MAX_NODES, FeatureTree, depths_of
from denoise_crawler.methods.versioned_format import VersionedFormat

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy.typing as npt

    from denoise_crawler.methods.feature_tree.nodes import Features, Numbers

_COLUMNS = 9


_FORMAT = VersionedFormat(b"FTR\x01", "reference pages", ReferencesFormatError)


class _TreeRecord(msgspec.Struct, array_like=True):
    key: int
    text: int
    drawn: bool
    parents: bytes  # differences between neighbours
    kinds: bytes
    kind_parents: bytes
    features: bytes  # column by column, numbers of values; without the depth, which the parents tell


class _Record(msgspec.Struct, array_like=True):
    values: bytes  # the distinct features of all pages, ascending
    trees: list[_TreeRecord]


def encode(trees: Sequence[FeatureTree]) -> bytes:
    """Write ``trees``, which come in the order of their keys."""
    stored = [np.delete(tree.features, DEPTH, axis=1).T for tree in trees]
    values = np.unique(np.concatenate([np.zeros(0, np.uint64), *(features.ravel() for features in stored)]))
    records = [
        _TreeRecord(
            tree.key,
            tree.text,
            tree.drawn,
            _pack(np.diff(tree.parents[1:], prepend=0)),
            _pack(tree.kinds),
            _pack(tree.kind_parents),
            _pack(np.searchsorted(values, features)),
        )
        for tree, features in zip(trees, stored, strict=True)
    ]
    return _FORMAT.write(_Record(values.astype("<u8").tobytes(), records))


def decode(data: bytes) -> list[FeatureTree]:
    """Read what :func:`encode` wrote; raise :class:`ReferencesFormatError` for anything else."""
    return _FORMAT.read(data, _Record, _trees)


def _trees(record: _Record) -> list[FeatureTree]:
    values = np.frombuffer(record.values, "<u8").astype(np.uint64)
    return [_tree(found, values) for found in record.trees]


def _tree(record: _TreeRecord, values: Features) -> FeatureTree:
    kinds, kind_parents = _unpack(record.kinds), _unpack(record.kind_parents)
    parents = np.concatenate(([-1], np.cumsum(_unpack(record.parents))))
    _check(parents, kinds, kind_parents)
    features = np.insert(
        values[_unpack(record.features).reshape(_COLUMNS - 1, len(kind_parents)).T],
        DEPTH,
        depths_of(kind_parents).astype(np.uint64),
        axis=1,
    )
    return FeatureTree(record.key, record.text, record.drawn, parents, kinds, kind_parents, features)


def _check(parents: Numbers, kinds: Numbers, kind_parents: Numbers) -> None:
    """Raise ValueError unless nodes come level by level and kinds in the order in which nodes have them."""
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


def _pack(numbers: npt.NDArray[Any]) -> bytes:
    return numbers.astype("<u4").tobytes()


def _unpack(data: bytes) -> Numbers:
    return np.frombuffer(data, "<u4").astype(np.int64)
