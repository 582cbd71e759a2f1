"""A tree's bytes: versioned, compressed, data only."""

from __future__ import annotations

import zlib
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

import msgspec
import numpy as np

from denoise_crawler.errors import TreeFormatError
from denoise_crawler.methods.style_tree.digest import PageDigest
from denoise_crawler.methods.style_tree.features import MOST_PAGES
from denoise_crawler.methods.versioned_format import VersionedFormat
from denoise_crawler.page import DEEPEST, MAX_ELEMENTS, TEXT

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from numpy.typing import NDArray


_FORMAT = VersionedFormat(b"SST\x01", "site style tree", TreeFormatError)


_MOST_NODES = 4 * MAX_ELEMENTS  # of a page: the parser adds elements that it leaves out, and each has a text


@dataclass(frozen=True, slots=True)
class Header:
    """What a tree's bytes say of the whole tree."""

    max_pages: int
    features_per_leaf: int


class PageRecord(msgspec.Struct, array_like=True):
    """One page's columns as bytes; its labels are numbers."""

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
    """Write ``records``, which come in the order of their keys; ``labels`` are what their numbers stand for."""
    records = list(records)
    numbers = [_unpack(record.labels) for record in records]
    used = np.unique(np.concatenate([*numbers, np.empty(0, np.uint32)]))
    order = sorted(used.tolist(), key=labels.__getitem__)
    places = np.zeros(len(labels), np.uint32)
    places[order] = np.arange(len(order))
    pages = [
        msgspec.structs.replace(record, labels=_pack(places[own]))
        for record, own in zip(records, numbers, strict=True)
    ]
    return _FORMAT.write(
        _TreeRecord(header.max_pages, header.features_per_leaf, [labels[number] for number in order], pages)
    )


def decode(data: bytes) -> tuple[Header, list[PageDigest]]:
    """Read what :func:`encode` wrote; raise :class:`TreeFormatError` for anything else."""
    return _FORMAT.read(data, _TreeRecord, _digests)


def record_of(page: PageDigest, numbers: Mapping[str, int]) -> PageRecord:
    """Write ``page``; ``numbers`` are those of its labels."""
    return PageRecord(
        page.key,
        _pack([numbers[label] for label in page.labels]),
        _pack(_steps(page.ends)),
        _pack(_steps(page.starts)),
        _pack(page.hashes),
        _pack(page.counts),
    )


def page_of(record: PageRecord, labels: Sequence[str]) -> PageDigest:
    """Read what :func:`record_of` wrote; ``labels`` are what the numbers stand for."""
    return PageDigest(
        record.key,
        [labels[number] for number in _unpack(record.labels).tolist()],
        np.cumsum(_unpack(record.ends), dtype=np.uint32).tolist(),
        np.cumsum(_unpack(record.starts), dtype=np.uint32).tolist(),
        _unpack(record.hashes).tolist(),
        _unpack(record.counts).tolist(),
    )


def packed(record: PageRecord) -> bytes:
    """Make ``record`` small, to be kept in memory."""
    return zlib.compress(msgspec.msgpack.encode(record))


def unpacked(data: bytes) -> PageRecord:
    """Read what :func:`packed` wrote."""
    return msgspec.msgpack.decode(zlib.decompress(data), type=PageRecord)


def _digests(record: _TreeRecord) -> tuple[Header, list[PageDigest]]:
    if not 1 <= record.max_pages <= MOST_PAGES or record.features_per_leaf < 1:
        raise ValueError(f"limits below 1, or more than {MOST_PAGES:,} pages")
    labels = [TEXT if label == TEXT else label for label in record.labels]
    if any(len(page.labels) > 4 * _MOST_NODES for page in record.pages):
        raise ValueError("a page larger than any that is learned")
    return Header(record.max_pages, record.features_per_leaf), [
        _checked(page_of(page, labels)) for page in record.pages
    ]


def _checked(page: PageDigest) -> PageDigest:
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
        if not index < end <= open_ends[-1] or len(open_ends) > DEEPEST + 2:
            raise ValueError("a page whose nodes are not nested, or too deep")
        open_ends.append(end)
    return page


def _steps(numbers: Sequence[int]) -> NDArray[np.uint32]:
    """Return the differences between neighbours (modulo 2³²), which compress well."""
    return np.array(numbers, np.uint32) - np.array([0, *numbers[:-1]], np.uint32)


def _pack(numbers: NDArray[np.uint32] | Sequence[int]) -> bytes:
    return np.asarray(numbers, "<u4").tobytes()


def _unpack(data: bytes) -> NDArray[np.uint32]:
    return np.frombuffer(data, "<u4").astype(np.uint32)
