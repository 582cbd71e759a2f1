"""Hashes of a site by number, and in how many of its pages each stands."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol, TypeVar

import numpy as np

from denoise_crawler.core import compiled

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from denoise_crawler.methods.fusion.blocks import Hashes, Indices, Numbers

T = TypeVar("T", bound=np.generic)


class Numbered(Protocol):
    """Distinct hashes, numbered from 1 on in the order of their coming; 0 stands for all others."""

    def __len__(self) -> int:
        """Return how many hashes have a number."""

    def find(self, wanted: Hashes) -> Indices:
        """Return the numbers of ``wanted``."""

    def add(self, distinct: Hashes) -> Indices:
        """Return the numbers of ``distinct`` hashes, given to those that have none."""


def numbered() -> Numbered:
    """Return a table without hashes."""
    core = compiled("known")
    return _Sorted() if core is None else _Hashed(core)


class _Sorted:
    """The table in ascending order, which is searched."""

    def __init__(self) -> None:
        self._hashes = np.zeros(0, np.uint32)  # ascending
        self._numbers = np.zeros(0, np.int64)

    def __len__(self) -> int:
        return len(self._hashes)

    def find(self, wanted: Hashes) -> Indices:
        if not len(self._hashes):
            return np.zeros(len(wanted), np.int64)
        places = np.minimum(self._hashes.searchsorted(wanted), len(self._hashes) - 1)
        return np.where(self._hashes[places] == wanted, self._numbers[places], 0)

    def add(self, distinct: Hashes) -> Indices:
        numbers = self.find(distinct)
        new = np.flatnonzero(numbers == 0)
        if len(new):
            numbers[new] = len(self) + 1 + np.arange(len(new))
            ascending = new[np.argsort(distinct[new])]
            places = self._hashes.searchsorted(distinct[ascending])
            self._hashes = np.insert(self._hashes, places, distinct[ascending])
            self._numbers = np.insert(self._numbers, places, numbers[ascending])
        return numbers


class _Hashed:
    """The table by open addressing, in the compiled core."""

    def __init__(self, core: Any) -> None:
        self._table = core.Table()

    def __len__(self) -> int:
        return len(self._table)

    def find(self, wanted: Hashes) -> Indices:
        found = np.empty(len(wanted), np.int64)
        self._table.find(np.ascontiguousarray(wanted), found)
        return found

    def add(self, distinct: Hashes) -> Indices:
        numbers = np.empty(len(distinct), np.int64)
        self._table.add(np.ascontiguousarray(distinct), numbers)
        return numbers


class PageCounts:
    """In how many pages each hash stands."""

    def __init__(self) -> None:
        self.numbered = numbered()
        self.counts = np.zeros(1)

    def add(self, distinct: Hashes) -> Indices:
        """Count one more page for each of ``distinct`` hashes and return their numbers."""
        numbers = self.numbered.add(distinct)
        self.counts = grown(self.counts, len(self.numbered) + 1)
        self.counts[numbers] += 1.0
        return numbers

    def of(self, wanted: Hashes, left_out: NDArray[np.int32] | None) -> Numbers:
        """Return the counts of ``wanted`` without the page that has the numbers ``left_out``."""
        numbers = self.numbered.find(wanted)
        counts: Numbers = self.counts[numbers]
        if left_out is not None:
            its = np.zeros(len(self.counts), np.bool_)
            its[left_out] = True
            counts -= its[numbers]
        return counts


def grown(numbers: NDArray[T], length: int) -> NDArray[T]:
    """Return ``numbers`` with zeros behind it, ``length`` or more in all."""
    if len(numbers) >= length:
        return numbers
    longer = np.zeros((max(length, 2 * len(numbers)), *numbers.shape[1:]), numbers.dtype)
    longer[: len(numbers)] = numbers
    return longer
