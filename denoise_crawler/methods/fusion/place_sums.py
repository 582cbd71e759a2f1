"""What stands at each place of a site's pages: whether the same, or on each page something else."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from denoise_crawler.core import loops
from denoise_crawler.methods.fusion.blocks import SPREAD
from denoise_crawler.methods.fusion.groups import distinct
from denoise_crawler.methods.fusion.numbered import PageCounts, grown

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from denoise_crawler.methods.fusion.blocks import Blocks, Hashes, Indices, Numbers
    from denoise_crawler.methods.fusion.sketch import Sketch

_NONE: NDArray[np.int32] = np.empty(0, np.int32)
OFTEN = 3  # pages that have the same at one place


class AtPlace(NamedTuple):
    """By block, what other pages have at its place, which is the path of its element.

    ``shapes`` is the number of pages that have a text of its shape there. Of all shapes there, each counted by the
    pages that have it, ``held`` is the sum, ``repeated`` that of those on ``OFTEN`` pages and more, and
    ``sameness`` what is missing of their entropy to that of as many different ones, from 0 to 1 (node importance
    in Yi, Liu and Li 2003).
    """

    shapes: Numbers
    held: Numbers
    repeated: Numbers
    sameness: Numbers


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

    def of(self, blocks: Blocks, paths: Indices, left_out: Sequence[NDArray[np.int32]]) -> AtPlace:
        """Return what the pages have, but those with the numbers ``left_out``, at the place of each block."""
        own, homes = paths[blocks.elements], blocks.around.paths[blocks.elements]
        (sums, values), counts = self._by_path(int(paths.max(initial=0))), self._counts.counts
        found = np.empty((3, len(own)))
        gone = np.sort(np.concatenate(left_out)) if left_out else _NONE
        loops("site").shapes_at(counts, self._path_of[: len(counts)], gone, values, sums, own, found)
        held, repeated, again = found
        most = held * np.log(np.maximum(held, 1.0))
        shapes = self._counts.of(_keys(homes, blocks.shapes), left_out)
        return AtPlace(shapes, held, repeated, again / np.maximum(most, 1e-9))

    def _by_path(self, most: int) -> tuple[Numbers, Numbers]:
        """Return three sums by path, of ``most`` paths and more, and what a shape on so many pages adds."""
        if self._sums is None or self._sums[0].shape[1] <= most:
            counts = self._counts.counts[: len(self._counts.numbered) + 1]
            at, values = self._path_of[: len(counts)], _summed(np.arange(counts.max() + 1.0))
            sums = np.array([np.bincount(at, column, minlength=most + 1) for column in _summed(counts)])
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
