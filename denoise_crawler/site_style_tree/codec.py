"""A tree's bytes: versioned, compressed, data only."""

from __future__ import annotations

import sys
from array import array
from dataclasses import dataclass
from typing import TYPE_CHECKING

import msgspec

from denoise_crawler.page import TEXT
from denoise_crawler.site_style_tree.digest import PageDigest
from denoise_crawler.versioned_format import VersionedFormat

if TYPE_CHECKING:
    from collections.abc import Iterable


class TreeFormatError(ValueError):
    """The bytes are not a tree, are damaged, or come from a newer version."""


_FORMAT = VersionedFormat(b"SST\x01", "site style tree", TreeFormatError)


@dataclass(frozen=True, slots=True)
class Header:
    """What a tree's bytes say of the whole tree."""

    max_pages: int
    features_per_leaf: int


class _PageRecord(msgspec.Struct, array_like=True):
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
    pages: list[_PageRecord]


def encode(header: Header, digests: Iterable[PageDigest]) -> bytes:
    """Write ``digests``, which come in the order of their keys."""
    digests = list(digests)
    labels = sorted({label for page in digests for label in page.labels})
    numbers = {label: number for number, label in enumerate(labels)}
    pages = [
        _PageRecord(
            page.key,
            _pack(array("I", [numbers[label] for label in page.labels])),
            _pack(_steps(page.ends)),
            _pack(_steps(page.starts)),
            _pack(page.hashes),
            _pack(page.counts),
        )
        for page in digests
    ]
    return _FORMAT.write(_TreeRecord(header.max_pages, header.features_per_leaf, labels, pages))


def decode(data: bytes) -> tuple[Header, list[PageDigest]]:
    """Read what :func:`encode` wrote; raise :class:`TreeFormatError` for anything else."""
    return _FORMAT.read(data, _TreeRecord, _digests)


def _digests(record: _TreeRecord) -> tuple[Header, list[PageDigest]]:
    if record.max_pages < 1 or record.features_per_leaf < 1:
        raise ValueError("limits below 1")
    labels = [TEXT if label == TEXT else label for label in record.labels]
    return Header(record.max_pages, record.features_per_leaf), [_checked(page, labels) for page in record.pages]


def _checked(record: _PageRecord, labels: list[str]) -> PageDigest:
    ends, starts = _unsteps(_unpack(record.ends)), _unsteps(_unpack(record.starts))
    page = PageDigest(
        record.key,
        [labels[number] for number in _unpack(record.labels)],
        ends,
        starts,
        _unpack(record.hashes),
        _unpack(record.counts),
    )
    size = len(page.labels)
    whole = size > 0 and len(ends) == size == len(starts) - 1 and ends[0] == size
    if not whole or len(page.hashes) != starts[-1] or len(page.counts) != starts[-1] or 0 in page.counts:
        raise ValueError("a page that does not fit together")
    open_ends = [size]
    for index, end in enumerate(ends):
        while open_ends[-1] <= index:
            open_ends.pop()
        if not index < end <= open_ends[-1] or starts[index] > starts[index + 1]:
            raise ValueError("a page whose nodes are not nested")
        open_ends.append(end)
    return page


def _steps(numbers: array[int]) -> array[int]:
    """Return the differences between neighbours (modulo 2³²), which compress well."""
    return array("I", [(b - a) & 0xFFFFFFFF for a, b in zip([0, *numbers[:-1]], numbers, strict=True)])


def _unsteps(steps: array[int]) -> array[int]:
    total, numbers = 0, array("I")
    for step in steps:
        total = (total + step) & 0xFFFFFFFF
        numbers.append(total)
    return numbers


def _pack(numbers: array[int]) -> bytes:
    if sys.byteorder == "big":
        numbers = array("I", numbers)
        numbers.byteswap()
    return numbers.tobytes()


def _unpack(data: bytes) -> array[int]:
    numbers = array("I")
    numbers.frombytes(data)
    if sys.byteorder == "big":
        numbers.byteswap()
    return numbers
