"""Hashes of a site by number, and in how many of its pages each stands."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

import numpy as np

from denoise_crawler.core import loops

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from denoise_crawler.methods.fusion.blocks import Hashes, Indices, Numbers

T = TypeVar("T", bound=np.generic)


_FEWEST = 4  # bits of a place among the slots of a table


class Numbered:
    """Distinct hashes, numbered from 1 on in the order of their coming; 0 stands for all others."""

    def __init__(self) -> None:
        self._count, self._hashes = 0, np.zeros(0, np.uint32)
        self._make_room(_FEWEST)

    def __len__(self) -> int:
        return self._count

    @property
    def nbytes(self) -> int:
        """The bytes held."""
        return self._hashes.nbytes + self._slots.nbytes

    @property
    def table(self) -> tuple[Hashes, NDArray[np.int32], int]:
        """The hashes, their slots and the bits of a slot, as the loops take them."""
        return self._hashes, self._slots, self._bits

    def find(self, wanted: Hashes) -> Indices:
        """Return the numbers of ``wanted``."""
        found = np.empty(len(wanted), np.int64)
        loops("keys").find(*self.table, np.ascontiguousarray(wanted), found)
        return found

    def add(self, distinct: Hashes) -> Indices:
        """Return the numbers of ``distinct`` hashes, given to those that have none."""
        wanted, numbers, filled = np.ascontiguousarray(distinct), np.empty(len(distinct), np.int64), 0
        while filled < len(wanted):
            self._count, filled = loops("keys").add(*self.table, self._count, wanted, numbers, filled)
            if filled < len(wanted):
                self._make_room(self._bits + 1)
        return numbers

    def _make_room(self, bits: int) -> None:
        """Take so many slots, three quarters of them for hashes."""
        hashes = np.zeros(3 << (bits - 2), np.uint32)
        hashes[: self._count] = self._hashes[: self._count]
        self._hashes, self._slots, self._bits = hashes, np.zeros(1 << bits, np.int32), bits
        loops("keys").fill_slots(hashes, self._slots, bits, self._count)


class PageCounts:
    """In how many pages each hash stands."""

    def __init__(self) -> None:
        self.numbered = Numbered()
        self.counts = np.zeros(1)

    @property
    def table(self) -> tuple[Hashes, NDArray[np.int32], int, Numbers]:
        """The table of the hashes with their counts, as the loops take them."""
        return *self.numbered.table, self.counts

    def add(self, distinct: Hashes) -> Indices:
        """Count one more page for each of ``distinct`` hashes and return their numbers."""
        numbers = self.numbered.add(distinct)
        self.counts = grown(self.counts, len(self.numbered) + 1)
        self.counts[numbers] += 1.0
        return numbers

    def of(self, wanted: Hashes, left_out: Sequence[NDArray[np.int32]]) -> Numbers:
        """Return the counts of ``wanted`` without the pages that have the numbers ``left_out``."""
        found: Numbers = np.empty(len(wanted))
        hashes, slots, bits, counts = self.table
        loops("keys").counts_of(hashes, slots, bits, np.ascontiguousarray(wanted), counts, tuple(left_out), found)
        return found


def grown(numbers: NDArray[T], length: int) -> NDArray[T]:
    """Return ``numbers`` with zeros behind it, ``length`` or more in all."""
    if len(numbers) >= length:
        return numbers
    longer = np.zeros((max(length, 2 * len(numbers)), *numbers.shape[1:]), numbers.dtype)
    longer[: len(numbers)] = numbers
    return longer
