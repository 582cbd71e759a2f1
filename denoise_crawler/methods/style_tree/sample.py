"""The pages that a tree is made of, and the tree as bytes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from denoise_crawler.core import loops
from denoise_crawler.errors import TreeFormatError
from denoise_crawler.methods.keeping import BottomK, VersionedFormat, pack_numbers
from denoise_crawler.methods.style_tree.columns import MAX_TREE_PAGES
from denoise_crawler.methods.style_tree.digest import PageDigest, narrow
from denoise_crawler.page import MAX_DEPTH, MAX_ELEMENTS, TEXT
from denoise_crawler.page.text import hash64

TEXTS, ROOT = 0, 1  # the numbers of two labels
_MAX_LABELS = 100_000
label_hash = lru_cache(maxsize=16_384)(hash64)


class PageSample(BottomK[PageDigest]):
    """At most ``limit`` pages of a site, those with the lowest hash of their URL, and their ``labels`` by number.

    A page takes some 10 kB.
    """

    _hashes: NDArray[np.uint64]

    def __init__(self, limit: int) -> None:
        super().__init__(limit)
        self._start_labels()

    @property
    def hashes(self) -> NDArray[np.uint64]:
        """The hashes of the labels, by number."""
        if len(self._hashes) < len(self.labels):
            more = np.array([label_hash(label) for label in self.labels[len(self._hashes) :]], np.uint64)
            self._hashes = np.concatenate([self._hashes, more])
        return self._hashes

    def numbers(self, labels: Sequence[str]) -> NDArray[np.uint32]:
        """Return the numbers of ``labels``, which get one if they have none."""
        known, found = self._numbers, []
        for label in labels:
            if (number := known.get(label)) is None:
                number = known[label] = len(self.labels)
                self.labels.append(label)
            found.append(number)
        return np.array(found, np.uint32)

    @property
    def has_many_labels(self) -> bool:
        """Whether there are more labels than the pages are likely to have."""
        return len(self.labels) > _MAX_LABELS

    def forget_labels(self) -> None:
        """Forget the labels of pages that are gone; the others get new numbers."""
        labels, kept = self.labels, list(self)
        self._start_labels()
        self._values = {page.key: page for page in self.renumbered(kept, labels)}

    def renumbered(self, pages: Iterable[PageDigest], labels: Sequence[str]) -> Iterator[PageDigest]:
        """Yield ``pages`` whose numbers are those of other ``labels`` with the numbers of this sample."""
        numbers = np.full(len(labels), -1)
        for page in pages:
            new = np.flatnonzero(np.bincount(page.labels[numbers[page.labels] < 0]))
            numbers[new] = self.numbers([labels[number] for number in new.tolist()])
            own = narrow(numbers[page.labels])
            yield PageDigest(page.key, own, page.sizes, page.features, page.hashes, page.counts)

    def _start_labels(self) -> None:
        self._numbers: dict[str, int] = {TEXT: TEXTS, "body": ROOT}
        self.labels = list(self._numbers)
        self._hashes = np.empty(0, np.uint64)


# --- converts trees to bytes and back: versioned, compressed, data only

_FORMAT = VersionedFormat(b"SST\x01", "site style tree", TreeFormatError, level=1)


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
    ends: bytes
    starts: bytes
    hashes: bytes
    counts: bytes


class _TreeRecord(msgspec.Struct, array_like=True):
    max_pages: int
    features_per_leaf: int
    labels: list[str]
    pages: list[_PageRecord]


def encode(header: Header, labels: Sequence[str], pages: Iterable[PageDigest]) -> bytes:
    """Convert a tree to bytes: its limits, its labels by number, its pages in the order of their keys."""
    pages = list(pages)
    used = np.unique(np.concatenate([np.empty(0, np.uint8), *(np.unique(page.labels) for page in pages)]))
    order = sorted(used.tolist(), key=labels.__getitem__)
    places = np.zeros(len(labels), np.uint32)
    places[order] = np.arange(len(order))
    records = [_record_of(page, places) for page in pages]
    names = [labels[number] for number in order]
    return _FORMAT.write(_TreeRecord(header.max_pages, header.features_per_leaf, names, records))


def decode(data: bytes) -> tuple[Header, list[str], list[PageDigest]]:
    """Read what :func:`encode` returned, part by part; raise :class:`TreeFormatError` for anything else."""
    return _FORMAT.read(data, _TreeRecord, _digests)


def _record_of(page: PageDigest, numbers: NDArray[np.uint32]) -> _PageRecord:
    starts = np.concatenate([[0], np.cumsum(page.features, dtype=np.int64)])
    columns = numbers[page.labels], _differences(page.ends), _differences(starts), page.hashes, page.counts
    return _PageRecord(page.key, *map(pack_numbers, columns))


def _digests(record: _TreeRecord) -> tuple[Header, list[str], list[PageDigest]]:
    if not 1 <= record.max_pages <= MAX_TREE_PAGES or record.features_per_leaf < 1:
        raise ValueError(f"limits below 1, or more than {MAX_TREE_PAGES:,} pages")
    if any(len(page.labels) > 4 * _MAX_NODES for page in record.pages):
        raise ValueError("a page larger than any that is learned")
    header = Header(record.max_pages, record.features_per_leaf)
    return header, record.labels, [_page_of(page, len(record.labels)) for page in record.pages]


def _page_of(record: _PageRecord, labels: int) -> PageDigest:
    numbers, hashes, counts = _numbers(record.labels), _numbers(record.hashes), _numbers(record.counts)
    ends = np.cumsum(_numbers(record.ends), dtype=np.uint32)
    starts = np.cumsum(_numbers(record.starts), dtype=np.uint32)
    size, features = len(numbers), np.diff(starts.astype(np.int64))
    whole = 0 < size == len(ends) == len(features) and ends.max() <= size and numbers.max() < labels
    if not whole or starts[0] or starts[-1] != len(hashes) or len(counts) != len(hashes) or not counts.all():
        raise ValueError("a page that does not fit together")
    if (features < 0).any():
        raise ValueError("a page whose features are out of order")
    if loops.style_tree.depth_of(ends.astype(np.int32)) > MAX_DEPTH + 1:
        raise ValueError("a page whose nodes are too deep")
    sizes = narrow(ends - np.arange(size, dtype=np.uint32))
    return PageDigest(record.key, narrow(numbers), sizes, narrow(features), hashes.copy(), narrow(counts))


def _numbers(data: bytes) -> NDArray[np.uint32]:
    return np.frombuffer(data, "<u4")


def _differences(numbers: NDArray[Any]) -> NDArray[np.uint32]:
    """Return the differences between neighbours (modulo 2³²), which compress well."""
    plain = numbers.astype(np.uint32)
    return plain - np.concatenate([[0], plain[:-1]]).astype(np.uint32)
