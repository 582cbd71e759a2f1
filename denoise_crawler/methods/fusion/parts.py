"""What of a page belongs together, as the loops take it: its units, lists with their paragraph, its headings."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from denoise_crawler.methods.fusion.introduced import introduced_lists
from denoise_crawler.methods.fusion.sections import headings_of
from denoise_crawler.methods.fusion.units import UNITS, units_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from denoise_crawler.methods.fusion.blocks import Indices
    from denoise_crawler.page import Page

INTRODUCTION = "introduction"


@dataclass(frozen=True, slots=True, eq=False)
class Parts:
    """The parts of a page.

    ``units`` are rows of kind, first block and that behind the last; ``lists`` of first and last, ``headings`` of
    these and the end of the section. The chances of the blocks ``silent`` say nothing.
    """

    units: Indices
    lists: Indices
    headings: Indices
    silent: Indices

    def whole_of(self, block: int) -> str:
        """Return the name of what a block is judged with, empty if nothing."""
        for kind, first, last in self.units.tolist():
            if first <= block < last:
                return UNITS[kind]
        return INTRODUCTION if any(first <= block < last for first, last in self.lists.tolist()) else ""


def _rows(rows: Sequence[tuple[int, ...]], columns: int) -> Indices:
    return np.array(rows, np.int64).reshape(-1, columns) if rows else _NONE[columns]


_NONE = {columns: np.empty((0, columns), np.int64) for columns in (2, 3)}
_NO_BLOCKS = np.empty(0, np.int64)
NO_PARTS = Parts(_NONE[3], _NONE[2], _NONE[3], _NO_BLOCKS)


def parts_of(page: Page) -> Parts:
    """Find what belongs together on ``page``; ask for it by ``page.once``."""
    units = units_of(page)
    silent = sorted({block for unit in units for block in unit.silent})
    return Parts(
        _rows([(UNITS.index(unit.kind), unit.first, unit.last) for unit in units], 3),
        _rows(introduced_lists(page), 2),
        _rows(headings_of(page), 3),
        np.array(silent, np.int64) if silent else _NO_BLOCKS,
    )
