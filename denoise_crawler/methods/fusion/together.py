"""Judges together what belongs together: a unit has one verdict, a heading goes with its section."""

from __future__ import annotations

from dataclasses import dataclass
from math import exp, log
from typing import TYPE_CHECKING

import numpy as np

from denoise_crawler.methods.fusion.sections import headings_of, with_sections
from denoise_crawler.methods.fusion.selection import REPEATED_CHARACTERS, first_of_each
from denoise_crawler.methods.fusion.units import CODE, FIGURE, FORMULA, TABLE, units_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from denoise_crawler.methods.fusion.blocks import Blocks, Indices, Numbers
    from denoise_crawler.methods.fusion.sections import Heading
    from denoise_crawler.methods.fusion.units import Unit
    from denoise_crawler.page import Page

    Flags = NDArray[np.bool_]

# The log odds of a unit of data: what its own blocks say, what those around it say, and what is so of its kind.
# Cells and lines of code are short, and short blocks say little: data in the middle of content is content.
# Logistic regression over the tables of half of the sites of all gold sets, see docs/fusion.md; gold texts that
# leave all code out, and those that write formulas in another way, say nothing of the other kinds.
_OWN, _BEFORE, _AFTER = 0.55, 0.43, 0.25
_OF_KIND = {TABLE: -0.33, CODE: 0.5, FORMULA: 0.5, FIGURE: 0.5}
_AROUND = 3  # blocks on either side
_MOST_TOKENS = 30.0  # that one of them counts
_SUREST = 0.995


@dataclass(frozen=True, slots=True, eq=False)
class Together:
    """What of a page's ``blocks`` belongs together: its units, its headings."""

    blocks: Blocks
    units: Sequence[Unit]
    headings: Sequence[Heading]

    @classmethod
    def of(cls, page: Page, blocks: Blocks) -> Together:
        """Find what belongs together on ``page``."""
        return cls(blocks, page.once(units_of), page.once(headings_of))

    def chances(self, own: Numbers) -> Numbers:
        """Return the chances of blocks, their ``own`` if they are in no unit, else that of the unit.

        That is the mean over its tokens; for tables, code and formulas what stands around the unit counts as well.
        """
        if not self.units:
            return own
        joint, heard = own.copy(), np.ones(len(own))
        for unit in self.units:
            heard[list(unit.silent)] = 0.0
        for unit in self.units:
            joint[unit.blocks] = _chance(unit, own, self.blocks.tokens, heard)
        return joint

    def best(self, likely: Flags, wanted: Flags) -> Flags:
        """Take the ``likely`` and the ``wanted`` blocks, and a unit as a whole or not at all.

        A unit is taken if half of its tokens are likely or any of its blocks is wanted.
        """
        result, tokens = likely | wanted, self.blocks.tokens
        for unit in self.units:
            counts = tokens[unit.blocks]
            half = 2.0 * counts[likely[unit.blocks]].sum() >= counts.sum()
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

    def unit_of(self, block: int) -> Unit | None:
        """Return the unit that a block is in, None if it is in none."""
        return next((unit for unit in self.units if unit.first <= block < unit.last), None)


def _series(blocks: Blocks) -> tuple[Indices, ...]:
    """Return what is the same of blocks in one series: what they stand in, and what they are and look like."""
    around, own = blocks.around, blocks.elements
    return around.parents[own], around.paths[own].astype(np.int64), around.places[own]


def _chance(unit: Unit, chances: Numbers, tokens: Numbers, heard: Numbers) -> float:
    """Return the chance of a unit; ``heard`` is 0 for the blocks whose own chances say nothing."""
    own, counts = chances[unit.blocks], tokens[unit.blocks] * heard[unit.blocks]
    said = float(own @ counts / counts.sum()) if counts.any() else None
    if unit.kind not in _OF_KIND or (unit.kind is FORMULA and said is not None):
        return float(own.mean()) if said is None else said
    log_odds = (
        _OF_KIND[unit.kind]
        + (0.0 if said is None else _OWN * _log_odds(said))
        + _BEFORE * _around(chances, tokens, heard, slice(max(unit.first - _AROUND, 0), unit.first))
        + _AFTER * _around(chances, tokens, heard, slice(unit.last, unit.last + _AROUND))
    )
    return 1.0 / (1.0 + exp(-log_odds))


def _around(chances: Numbers, tokens: Numbers, heard: Numbers, beside: slice) -> float:
    """Return what the blocks beside a unit say."""
    counts = (np.minimum(tokens[beside], _MOST_TOKENS) + 1.0) * heard[beside]
    return _log_odds(float(chances[beside] @ counts / counts.sum())) if counts.any() else 0.0


def _log_odds(chance: float) -> float:
    bounded = min(max(chance, 1.0 - _SUREST), _SUREST)
    return log(bounded / (1.0 - bounded))
