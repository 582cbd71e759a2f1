"""What stands at each place of a site's pages: whether the same, or on each page something else."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from denoise_crawler.methods.fusion.blocks import SPREAD
from denoise_crawler.methods.fusion.groups import distinct
from denoise_crawler.methods.fusion.numbered import PageCounts, grown

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from denoise_crawler.methods.fusion.blocks import Hashes, Indices, Numbers
    from denoise_crawler.methods.fusion.sketch import Sketch

OFTEN = 3  # pages that have the same at one place


class PlaceSums:
    """In how many pages each shape stands at each place."""

    def __init__(self) -> None:
        self._counts = PageCounts()
        self._path_of: NDArray[np.int32] = np.zeros(1, np.int32)
        self._sums: tuple[Numbers, Numbers] | None = None

    def add(self, page: Sketch, paths: Indices) -> Indices:
        """Count a page and return the numbers of what stands on it; ``paths`` are the numbers of its paths."""
        known = len(self._counts.numbered)
        keys = _keys(page.paths[page.homes], np.where(page.shapes, page.shapes, page.texts))
        ascending = distinct(keys)
        numbers = self._counts.add(ascending)
        self._path_of = grown(self._path_of, len(self._counts.numbered) + 1)
        new = numbers > known
        home = np.zeros(len(ascending), np.int64)
        home[ascending.searchsorted(keys)] = paths[page.homes]
        self._path_of[numbers[new]] = home[new]
        self._sums = None
        return numbers

    def remove(self, numbers: NDArray[np.int32]) -> None:
        """Take the page out that has these ``numbers``."""
        self._counts.counts[numbers] -= 1.0
        self._sums = None

    @property
    def table(self) -> tuple[Hashes, NDArray[np.int32], int, Numbers]:
        """The table of what stands at places with the pages that have it, as the loops take it."""
        return self._counts.table

    def at_places(self, paths: int) -> tuple[NDArray[np.int32], Numbers, Numbers]:
        """Return by shape its path, what one on so many pages adds to three sums, and these by ``paths``."""
        sums, values = self._by_path(paths)
        return self._path_of, values, sums

    def _by_path(self, paths: int) -> tuple[Numbers, Numbers]:
        """Return three sums by path, of ``paths`` and more, and what a shape on so many pages adds."""
        if self._sums is None or self._sums[0].shape[1] < paths:
            counts = self._counts.counts[: len(self._counts.numbered) + 1]
            at, values = self._path_of[: len(counts)], _summed(np.arange(counts.max() + 1.0))
            sums = np.array([np.bincount(at, column, minlength=paths) for column in _summed(counts)])
            sums[:, 0] = 0.0  # what stands nowhere
            self._sums = sums, values
        return self._sums


def _summed(counts: Numbers) -> Numbers:
    """Return what shapes on so many pages add to each of the three sums."""
    return np.array([counts, np.where(counts >= OFTEN, counts, 0.0), counts * np.log(np.maximum(counts, 1.0))])


def _keys(paths: Hashes, shapes: Hashes) -> Hashes:
    """Return hashes of shapes at their places."""
    both = (paths.astype(np.uint64) << np.uint64(32)) | shapes
    return ((both * np.uint64(SPREAD)) >> np.uint64(32)).astype(np.uint32)
