"""Judges together what belongs together: a unit has one verdict, a heading goes with its section."""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass
from math import exp, log
from typing import TYPE_CHECKING

import numpy as np

from denoise_crawler.methods.fusion.introduced import introduced_lists
from denoise_crawler.methods.fusion.sections import headings_of, with_sections
from denoise_crawler.methods.fusion.selection import REPEATED_CHARACTERS, first_of_each
from denoise_crawler.methods.fusion.units import CODE, FIGURE, FORMULA, TABLE, units_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from denoise_crawler.methods.fusion.blocks import Blocks, Indices, Numbers
    from denoise_crawler.methods.fusion.introduced import Introduced
    from denoise_crawler.methods.fusion.sections import Heading
    from denoise_crawler.methods.fusion.units import Unit
    from denoise_crawler.page import Page

    Flags = NDArray[np.bool_]

# The log odds of a unit of data: what its own blocks say, what those around it say, and what is so of its kind.
# Cells and lines of code are short, and short blocks say little: data in the middle of content is content.
# Logistic regression over the tables of half of the sites of all gold sets, see docs/how-it-decides.md; gold texts
# that
# leave all code out, and those that write formulas in another way, say nothing of the other kinds.
_OWN, _BEFORE, _AFTER = 0.55, 0.43, 0.25
_OF_KIND = {TABLE: -0.33, CODE: 0.5, FORMULA: 0.5, FIGURE: 0.5}
_AROUND = 3  # blocks on either side
_MOST_TOKENS = 30.0  # that one of them counts
_SUREST = 0.995


@dataclass(frozen=True, slots=True, eq=False)
class Together:
    """What of a page's ``blocks`` belongs together: its units, lists with their paragraph, its headings."""

    blocks: Blocks
    units: Sequence[Unit]
    lists: Sequence[Introduced]
    headings: Sequence[Heading]

    @classmethod
    def of(cls, page: Page, blocks: Blocks) -> Together:
        """Find what belongs together on ``page``."""
        return cls(blocks, page.once(units_of), page.once(introduced_lists), page.once(headings_of))

    def chances(self, own: Numbers) -> Numbers:
        """Return the chances of blocks, their ``own`` if they are in no unit, else that of the unit.

        That is the mean over its tokens; for tables, code and formulas what stands around the unit counts as well.
        """
        if not self.units:
            return own
        joint, silent = own.copy(), frozenset[int]().union(*(unit.silent for unit in self.units))
        at = [block for block in range(len(own)) if block not in silent] if silent else range(len(own))
        blocks = _Heard(at, own.tolist(), self.blocks.tokens.tolist())
        for unit in self.units:
            joint[unit.blocks] = _chance(unit, blocks)
        return joint

    def best(self, likely: Flags, wanted: Flags) -> Flags:
        """Take the ``likely`` and the ``wanted`` blocks, and a unit as a whole or not at all.

        A unit is taken if half of its tokens are likely or any of its blocks is wanted, a list with the paragraph
        that introduces it.
        """
        listed, tokens = likely.copy(), self.blocks.tokens
        for one in self.lists:
            listed[one.first : one.last] |= listed[one.first - 1]
        result = listed | wanted
        for unit in self.units:
            counts = tokens[unit.blocks]
            half = 2.0 * counts[listed[unit.blocks]].sum() >= counts.sum()
            result[unit.blocks] = half or wanted[unit.blocks].any()
        return result

    def once(self, best: Flags) -> Flags:
        """Leave out of the ``best`` what is taken already: units with the same texts, long texts elsewhere."""
        blocks = self.blocks
        result = first_of_each(best, blocks.text_hashes, blocks.characters, _series(blocks))
        seen = set[bytes]()
        for unit in self.units:
            kept = bool(best[unit.first])
            if kept and blocks.characters[unit.blocks].sum() >= REPEATED_CHARACTERS:
                texts = blocks.text_hashes[unit.blocks].tobytes()
                kept = texts not in seen
                seen.add(texts)
            result[unit.blocks] = kept
        return result

    def with_sections(self, taken: Flags, chances: Numbers, fixed: Flags) -> Flags:
        """Let headings go with their sections, but for those in units and the ``fixed`` ones."""
        if not self.headings:
            return taken
        fixed = fixed.copy()
        for unit in self.units:
            fixed[unit.blocks] |= unit.kind is not FORMULA
        return with_sections(taken, self.headings, chances, fixed)

    def whole_of(self, block: int, chances: Numbers) -> tuple[str, float | None]:
        """Return the name of what a block is judged with, empty if nothing, and the chance of a unit."""
        unit = next((unit for unit in self.units if unit.first <= block < unit.last), None)
        if unit is not None:
            return unit.kind, float(chances[block])
        return ("introduction" if any(one.first <= block < one.last for one in self.lists) else ""), None


def _series(blocks: Blocks) -> tuple[Indices, ...]:
    """Return what is the same of blocks in one series: what they stand in, and what they are and look like."""
    around, own = blocks.around, blocks.elements
    return around.parents[own], around.paths[own].astype(np.int64), around.places[own]


@dataclass(frozen=True, slots=True, eq=False)
class _Heard:
    """The blocks that say something (``at``), and of all blocks their own chances and tokens."""

    at: Sequence[int]
    chances: list[float]
    tokens: list[float]

    def inside(self, unit: Unit) -> float | None:
        """Return what the blocks of a unit say; None if they say nothing."""
        blocks = self.at[bisect_left(self.at, unit.first) : bisect_left(self.at, unit.last)]
        tokens = sum(self.tokens[block] for block in blocks)
        return sum(self.chances[block] * self.tokens[block] for block in blocks) / tokens if tokens else None

    def around(self, unit: Unit) -> tuple[float, float]:
        """Return the log odds of what the blocks before and after a unit say."""
        first, last = bisect_left(self.at, unit.first), bisect_left(self.at, unit.last)
        return self._beside(self.at[max(first - _AROUND, 0) : first]), self._beside(self.at[last : last + _AROUND])

    def _beside(self, blocks: Sequence[int]) -> float:
        counts = [min(self.tokens[block], _MOST_TOKENS) + 1.0 for block in blocks]
        said = sum(self.chances[block] * count for block, count in zip(blocks, counts, strict=True))
        return _log_odds(said / sum(counts)) if counts else 0.0


def _chance(unit: Unit, heard: _Heard) -> float:
    said = heard.inside(unit)
    if unit.kind not in _OF_KIND:
        return sum(heard.chances[unit.blocks]) / (unit.last - unit.first) if said is None else said
    before, after = heard.around(unit)
    own = 0.0 if said is None else _OWN * _log_odds(said)
    return 1.0 / (1.0 + exp(-(_OF_KIND[unit.kind] + own + _BEFORE * before + _AFTER * after)))


def _log_odds(chance: float) -> float:
    bounded = min(max(chance, 1.0 - _SUREST), _SUREST)
    return log(bounded / (1.0 - bounded))
