"""Converts trees to bytes and back: versioned, compressed, data only."""

from __future__ import annotations

import zlib
from array import array
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import msgspec
import numpy as np

from denoise_crawler.errors import TreeFormatError
from denoise_crawler.methods.style_tree.digest import PageDigest
from denoise_crawler.methods.style_tree.features import MAX_TREE_PAGES
from denoise_crawler.methods.versioned_format import VersionedFormat, pack_numbers, unpack_numbers
from denoise_crawler.page import MAX_DEPTH, MAX_ELEMENTS, TEXT

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from numpy.typing import NDArray


_FORMAT = VersionedFormat(b"SST\x01", "site style tree", TreeFormatError)


_MAX_NODES = 4 * MAX_ELEMENTS  # per page: the parser adds omitted elements, and each has a text


@dataclass(frozen=True, slots=True)
class Header:
    """The limits of a stored tree."""

    max_pages: int
    features_per_leaf: int


class PageRecord(msgspec.Struct, array_like=True):
    """The columns of one page as bytes, with a number for each label."""

    key: int
    labels: bytes
    ends: bytes
    starts: bytes
    hashes: bytes
    counts: bytes


class _TreeRecord(msgspec.Struct, array_like=True):
    max_pages: int
    features_per_leaf: int
    labels: list[str]
    pages: list[PageRecord]


def encode(header: Header, labels: Sequence[str], records: Iterable[PageRecord]) -> bytes:
    """Convert a tree to bytes.

    Args:
        header: The limits of the tree.
        labels: The labels by number.
        records: The pages, in the order of their keys.

    """
    records = list(records)
    numbers = [unpack_numbers(record.labels) for record in records]
    used = np.unique(np.concatenate([*numbers, np.empty(0, np.uint32)]))
    order = sorted(used.tolist(), key=labels.__getitem__)
    places = np.zeros(len(labels), np.uint32)
    places[order] = np.arange(len(order))
    pages = [
        msgspec.structs.replace(record, labels=pack_numbers(places[own]))
        for record, own in zip(records, numbers, strict=True)
    ]
    return _FORMAT.write(
        _TreeRecord(header.max_pages, header.features_per_leaf, [labels[number] for number in order], pages)
    )


def decode(data: bytes) -> tuple[Header, list[PageDigest]]:
    """Read what :func:`encode` returned; raise :class:`TreeFormatError` for anything else."""
    return _FORMAT.read(data, _TreeRecord, _digests)


def record_of(page: PageDigest, numbers: Mapping[str, int]) -> PageRecord:
    """Convert ``page`` to a record; ``numbers`` are the numbers of labels."""
    return PageRecord(
        page.key,
        pack_numbers([numbers[label] for label in page.labels]),
        pack_numbers(_differences(page.ends)),
        pack_numbers(_differences(page.starts)),
        pack_numbers(page.hashes),
        pack_numbers(page.counts),
    )


def page_of(record: PageRecord, labels: Sequence[str]) -> PageDigest:
    """Convert a record to its page; ``labels`` are the labels by number."""
    return PageDigest(
        record.key,
        [labels[number] for number in unpack_numbers(record.labels).tolist()],
        np.cumsum(unpack_numbers(record.ends), dtype=np.uint32).tolist(),
        _array_of(np.cumsum(unpack_numbers(record.starts))),
        _array_of(unpack_numbers(record.hashes)),
        _array_of(unpack_numbers(record.counts)),
    )


def pack_page(record: PageRecord) -> bytes:
    """Compress ``record`` to keep it in memory."""
    return zlib.compress(msgspec.msgpack.encode(record))


def unpack_page(data: bytes) -> PageRecord:
    """Decompress what :func:`pack_page` returned."""
    return msgspec.msgpack.decode(zlib.decompress(data), type=PageRecord)


def _digests(record: _TreeRecord) -> tuple[Header, list[PageDigest]]:
    if not 1 <= record.max_pages <= MAX_TREE_PAGES or record.features_per_leaf < 1:
        raise ValueError(f"limits below 1, or more than {MAX_TREE_PAGES:,} pages")
    labels = [TEXT if label == TEXT else label for label in record.labels]
    if any(len(page.labels) > 4 * _MAX_NODES for page in record.pages):
        raise ValueError("a page larger than any that is learned")
    return Header(record.max_pages, record.features_per_leaf), [
        _check_page(page_of(page, labels)) for page in record.pages
    ]


def _check_page(page: PageDigest) -> PageDigest:
    size = len(page.labels)
    whole = size > 0 and len(page.ends) == size == len(page.starts) - 1 and page.ends[0] == size
    features = len(page.hashes)
    if not whole or page.starts[-1] != features or len(page.counts) != features or 0 in page.counts:
        raise ValueError("a page that does not fit together")
    if any(one > next_one for one, next_one in pairwise(page.starts)):
        raise ValueError("a page whose features are out of order")
    open_ends = [size]
    for index, end in enumerate(page.ends):
        while open_ends[-1] <= index:
            open_ends.pop()
        if not index < end <= open_ends[-1] or len(open_ends) > MAX_DEPTH + 2:
            raise ValueError("a page whose nodes are not nested, or too deep")
        open_ends.append(end)
    return page


def _array_of(numbers: NDArray[np.integer[Any]]) -> array[int]:
    return array("I", numbers.astype(np.uint32).tobytes())


def _differences(numbers: Sequence[int]) -> NDArray[np.uint32]:
    """Return the differences between neighbours (modulo 2³²), which compress well."""
    return np.array(numbers, np.uint32) - np.array([0, *numbers[:-1]], np.uint32)
