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
