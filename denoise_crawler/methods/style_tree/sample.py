"""The pages that a tree is made of: a sample of the site's pages."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from denoise_crawler.methods.bottom_k import BottomK
from denoise_crawler.methods.style_tree.digest import PageDigest, narrow
from denoise_crawler.page import TEXT
from denoise_crawler.page.text import hash64

TEXTS, ROOT = 0, 1  # the numbers of two labels
_MAX_LABELS = 100_000
label_hash = lru_cache(maxsize=16_384)(hash64)


class PageSample:
    """At most ``limit`` pages of a site, those with the lowest hash of their URL, and the numbers of their labels.

    A page takes some 10 kB.
    """

    def __init__(self, limit: int) -> None:
        self._pages: BottomK[PageDigest] = BottomK(limit)
        self._labels: list[str] = []
        self._numbers: dict[str, int] = {}
        self._hashes: NDArray[np.uint64] = np.empty(0, np.uint64)
        self._start_labels()

    @property
    def limit(self) -> int:
        """The most pages to keep."""
        return self._pages.limit

    def __len__(self) -> int:
        return len(self._pages)

    def __contains__(self, key: int) -> bool:
        return key in self._pages

    def __iter__(self) -> Iterator[PageDigest]:
        """Yield the pages in the order of their keys."""
        return iter(self._pages)

    def __getitem__(self, key: int) -> PageDigest:
        page = self._pages.get(key)
        if page is None:
            raise KeyError(key)
        return page

    @property
    def labels(self) -> list[str]:
        """The labels by their number."""
        return self._labels

    @property
    def hashes(self) -> NDArray[np.uint64]:
        """The hashes of the labels, by number."""
        if len(self._hashes) < len(self._labels):
            more = np.array([label_hash(label) for label in self._labels[len(self._hashes) :]], np.uint64)
            self._hashes = np.concatenate([self._hashes, more])
        return self._hashes

    def numbers(self, labels: Sequence[str]) -> NDArray[np.uint32]:
        """Return the numbers of ``labels``, which get one if they have none."""
        known, found = self._numbers, []
        for label in labels:
            if (number := known.get(label)) is None:
                number = known[label] = len(self._labels)
                self._labels.append(label)
            found.append(number)
        return np.array(found, np.uint32)

    def wants(self, key: int) -> bool:
        """Tell whether the page with ``key`` is new and belongs here."""
        return self._pages.wants(key)

    def add(self, page: PageDigest) -> list[PageDigest]:
        """Add ``page``; return the pages it displaces."""
        return self._pages.add(page)

    def shrink(self, limit: int) -> list[PageDigest]:
        """Lower the limit; return the pages that are dropped."""
        return self._pages.shrink(limit)

    @property
    def has_many_labels(self) -> bool:
        """Whether there are more labels than the pages are likely to have."""
        return len(self._labels) > _MAX_LABELS

    def forget_labels(self) -> None:
        """Forget the labels of pages that are gone; the others get new numbers."""
        labels, kept = self._labels, list(self)
        self._start_labels()
        self._pages = BottomK(self.limit)
        for page in self.renumbered(kept, labels):
            self.add(page)

    def renumbered(self, pages: Iterable[PageDigest], labels: Sequence[str]) -> Iterator[PageDigest]:
        """Yield ``pages`` whose numbers are those of other ``labels`` with the numbers of this sample."""
        numbers = np.full(len(labels), -1)
        for page in pages:
            new = np.flatnonzero(np.bincount(page.labels[numbers[page.labels] < 0]))
            numbers[new] = self.numbers([labels[number] for number in new.tolist()])
            own = narrow(numbers[page.labels])
            yield PageDigest(page.key, own, page.sizes, page.features, page.hashes, page.counts)

    def _start_labels(self) -> None:
        self._numbers = {TEXT: TEXTS, "body": ROOT}
        self._labels = list(self._numbers)
        self._hashes = np.empty(0, np.uint64)
