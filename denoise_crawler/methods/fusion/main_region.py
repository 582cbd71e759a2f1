"""The element that holds most of the running text, found as Readability-type extractors find it.

A block of some length gives a score to the element around it, and ever less to those further up; what repeats
across the site gives nothing. Scores shrink with the share of link text.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from denoise_crawler.core import loops

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from denoise_crawler.methods.fusion.blocks import Numbers
    from denoise_crawler.methods.fusion.evidence import Evidence


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

    def distance(self, block: int) -> int:
        """Return how many blocks before (below 0) or behind the region a ``block`` stands; 0 inside."""
        return min(block - self.first, 0) + max(block - self.last + 1, 0)


def main_region(evidence: Evidence) -> MainRegion:
    """Score all elements and find the best."""
    around, (blocks, elements, _) = evidence.blocks.around, evidence.columns
    scores: NDArray[np.float64] = np.empty(len(around))
    given = evidence.repeated.view(np.uint8), evidence.link_shares, evidence.named
    top, top_score = loops("features").main_region(blocks, elements, *given, scores)
    return MainRegion(scores, top, top_score, int(around.first[top]), int(around.last[top]))
