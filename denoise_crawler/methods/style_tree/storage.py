"""A site's sample of pages as bytes: versioned, compressed, data only."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from sys import intern

import msgspec
import numpy as np
from numpy.typing import NDArray

from denoise_crawler.errors import TreeFormatError
from denoise_crawler.methods.stored_bytes import VersionedFormat, pack_numbers
from denoise_crawler.methods.style_tree.page_nodes import MAX_OCCURRENCES, PageDigest, narrow
from denoise_crawler.methods.style_tree.tree import MAX_TREE_PAGES
from denoise_crawler.page import MAX_DEPTH, MAX_ELEMENTS

_FORMAT = VersionedFormat(b"SST\x02", "site style tree", TreeFormatError, level=1)
_MAX_NODES = 4 * MAX_ELEMENTS  # per page: the parser adds omitted elements, and each has a text


@dataclass(frozen=True, slots=True)
class Header:
    """The limits of a stored tree."""

    max_pages: int
    features_per_leaf: int


class _PageRecord(msgspec.Struct, array_like=True):
    """The columns of one page as bytes, with a number for each label."""

    key: int
    labels: bytes
    sizes: bytes
    features: bytes
    hashes: bytes
    counts: bytes


class _TreeRecord(msgspec.Struct, array_like=True):
    max_pages: int
    features_per_leaf: int
    labels: list[str]
    pages: list[_PageRecord]


def encode(header: Header, pages: Iterable[PageDigest]) -> bytes:
    """Convert a tree to bytes: its limits, its labels, its pages in the order of their keys."""
    pages = list(pages)
    labels = sorted({name for page in pages for name in page.names})
    numbers = {label: number for number, label in enumerate(labels)}
    records = [_record_of(page, np.array([numbers[name] for name in page.names])) for page in pages]
    return _FORMAT.write(_TreeRecord(header.max_pages, header.features_per_leaf, labels, records))


def decode(data: bytes) -> tuple[Header, list[PageDigest]]:
    """Read what :func:`encode` returned; raise :class:`TreeFormatError` for anything else."""
    return _FORMAT.read(data, _TreeRecord, _digests)


def _record_of(page: PageDigest, numbers: NDArray[np.int64]) -> _PageRecord:
    columns = numbers[page.labels], page.sizes, page.features, page.hashes, page.counts
    return _PageRecord(page.key, *map(pack_numbers, columns))


def _digests(record: _TreeRecord) -> tuple[Header, list[PageDigest]]:
    if not 1 <= record.max_pages <= MAX_TREE_PAGES or record.features_per_leaf < 1:
        raise ValueError(f"limits below 1, or more than {MAX_TREE_PAGES:,} pages")
    if any(len(page.labels) > 4 * _MAX_NODES for page in record.pages):
        raise ValueError("a page larger than any that is learned")
    header = Header(record.max_pages, record.features_per_leaf)
    return header, [_page_of(page, record.labels) for page in record.pages]


def _page_of(record: _PageRecord, labels: Sequence[str]) -> PageDigest:
    columns = record.labels, record.sizes, record.features, record.hashes, record.counts
    numbers, sizes, features, hashes, counts = (np.frombuffer(column, "<u4") for column in columns)
    if not 0 < len(numbers) == len(sizes) == len(features) or len(hashes) != len(counts):
        raise ValueError("a page that does not fit together")
    if features.sum(dtype=np.uint64) != len(hashes) or not (counts > 0).all() or (counts > MAX_OCCURRENCES).any():
        raise ValueError("a page whose features do not fit together")
    if (np.diff(hashes.astype(np.int64))[_inside(features)] <= 0).any():
        raise ValueError("a page whose features are out of order")
    _check_nesting(sizes.tolist())
    used, own = np.unique(numbers, return_inverse=True)
    names = tuple(intern(labels[number]) for number in used.tolist())
    shape = narrow(own), narrow(sizes), narrow(features)
    return PageDigest(record.key, names, *shape, hashes.copy(), narrow(counts))


def _inside(features: NDArray[np.uint32]) -> NDArray[np.bool_]:
    """Return for each two neighbours among the features of a page whether they are of the same node."""
    of = np.repeat(np.arange(len(features)), features)
    inside: NDArray[np.bool_] = of[1:] == of[:-1]
    return inside


def _check_nesting(sizes: Sequence[int]) -> None:
    """Raise ValueError unless the first subtree holds all nodes, and each other one is inside those around it."""
    ends_around = [len(sizes)]
    for node, size in enumerate(sizes):
        while node >= ends_around[-1]:
            ends_around.pop()
        if not 0 < size <= ends_around[-1] - node or (node == 0 and size < len(sizes)):
            raise ValueError("a page whose nodes are not nested")
        ends_around.append(node + size)
        if len(ends_around) > MAX_DEPTH + 3:
            raise ValueError("a page whose nodes are too deep")
