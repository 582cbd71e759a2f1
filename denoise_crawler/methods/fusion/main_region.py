"""The element that holds most of the running text, found as Readability-type extractors find it.

A block of some length gives a score to the element around it, and ever less to those further up; what repeats
across the site gives nothing. Scores shrink with the share of link text.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from denoise_crawler.core import compiled

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from denoise_crawler.methods.fusion.blocks import Blocks, Indices, Numbers

MIN_CHARACTERS = 25
_WEIGHTS = (1.0, 1 / 2, 1 / 6, 1 / 9, 1 / 12)  # 1, a half, then 1/(3·level)
_NAME_WEIGHT = 0.25
_FAR = 25


@dataclass(frozen=True, slots=True, eq=False)
class CommonAncestors:
    """By block, the nearest element that holds it and the main region; it is ``levels`` up, at most ``_FAR``."""

    elements: Indices
    levels: Numbers


@dataclass(frozen=True, slots=True, eq=False)
class MainRegion:
    """``scores`` by element, relative to those of ``top``, which is the element with most (``top_score``).

    ``first`` and ``last`` bound its blocks.
    """

    scores: Numbers
    top: int
    top_score: float
    first: int
    last: int

    def holds(self, blocks: Blocks) -> NDArray[np.bool_]:
        """Tell which blocks stand in the region."""
        order = np.arange(len(blocks))
        return (order >= self.first) & (order < self.last)

    def distances(self, count: int) -> Numbers:
        """Return by block how many blocks before (below 0) or after the region it stands; 0 inside."""
        order = np.arange(count)
        before, after = np.minimum(order - self.first, 0), np.maximum(order - self.last + 1, 0)
        return (before + after).astype(np.float64)

    def best_above(self, blocks: Blocks) -> Numbers:
        """Return by block the best score of the elements around it."""
        best = np.append(self.scores, -np.inf)
        for above in blocks.around.ancestors():
            best = np.maximum(best, best[above])
        return best[blocks.elements]

    def common_ancestors(self, blocks: Blocks) -> CommonAncestors:
        """Find for each block where it and the region meet."""
        around, order = blocks.around, np.arange(len(blocks))
        chain = [self.top]
        while (above := int(around.parents[chain[-1]])) >= 0:
            chain.append(above)
        # each holds those before it, so as many do not hold a block as begin behind it or end before it
        behind = len(chain) - around.first[chain[::-1]].searchsorted(order, side="right")
        before = around.last[chain].searchsorted(order, side="right")
        meeting = np.array(chain)[np.maximum(behind, before)]
        levels = around.depths[blocks.elements] - around.depths[meeting]
        return CommonAncestors(meeting, np.minimum(levels, _FAR).astype(np.float64))


def main_region(blocks: Blocks, repeated: NDArray[np.bool_], link_shares: Numbers, named: Numbers) -> MainRegion:
    """Score all elements and find the best.

    ``repeated`` marks blocks that give nothing; ``link_shares`` and ``named`` (what names say) are by element.
    """
    around = blocks.around
    if (core := compiled("sites")) is not None:
        scores = np.empty(len(around))
        by_block = blocks.characters, blocks.commas, repeated.view(np.uint8), blocks.elements
        top, top_score = core.main_region(
            *by_block, around.parents, link_shares, named, _WEIGHTS, MIN_CHARACTERS, _NAME_WEIGHT, scores
        )
        return MainRegion(scores, top, top_score, int(around.first[top]), int(around.last[top]))
    parents = np.maximum(around.parents, 0)
    running = (blocks.characters >= MIN_CHARACTERS) & ~repeated
    points = np.where(running, 1.0 + blocks.commas + np.minimum(blocks.characters / 100.0, 3.0), 0.0)
    holds_blocks = np.zeros(len(around), bool)
    holds_blocks[parents[1:]] = True
    # a paragraph gives to what it stands in; text loose among other blocks to its own element
    current = np.where(holds_blocks[blocks.elements], blocks.elements, parents[blocks.elements])
    scores, alive = np.zeros(len(around)), np.ones(len(blocks), bool)
    for weight in _WEIGHTS:
        scores += np.bincount(current[alive], weights=points[alive] * weight, minlength=len(around))
        alive = alive & (around.parents[current] >= 0)
        current = parents[current]
    scores *= 1.0 - link_shares
    scores *= 1.0 + _NAME_WEIGHT * np.clip(named, -1.0, 1.0)
    top = int(scores.argmax())
    top_score = max(float(scores[top]), 1e-9)
    return MainRegion(scores / top_score, top, top_score, int(around.first[top]), int(around.last[top]))
