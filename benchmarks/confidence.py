"""How well a confidence tells good pages from bad ones, and whether it means what it says."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import fmean

BAD_F1 = 0.8
SURE = 0.9
_PARTS = 10


@dataclass(frozen=True, slots=True)
class Reliability:
    """``area`` under the curve for "F1 below .8": 1 where bad pages have the least confidence, .5 by chance.

    ``sure`` is the share of pages with a confidence above .9, ``sure_f1`` their mean F1, ``off`` the mean distance
    of confidence and F1 over tenths of the pages.
    """

    area: float
    sure: float
    sure_f1: float
    off: float


def reliability(confidences: Sequence[float], f1s: Sequence[float]) -> Reliability:
    """Compare the confidence of pages with the F1 that they have."""
    pairs = sorted(zip(confidences, f1s, strict=True))
    sure = [f1 for confidence, f1 in pairs if confidence > SURE]
    bounds = [round(part * len(pairs) / _PARTS) for part in range(_PARTS + 1)]
    parts = [pairs[low:high] for low, high in pairwise(bounds) if low < high]
    off = [abs(fmean(confidence for confidence, _ in part) - fmean(f1 for _, f1 in part)) for part in parts]
    return Reliability(
        area=_area(
            [confidence for confidence, f1 in pairs if f1 < BAD_F1],
            [confidence for confidence, f1 in pairs if f1 >= BAD_F1],
        ),
        sure=len(sure) / len(pairs) if pairs else 0.0,
        sure_f1=fmean(sure) if sure else 0.0,
        off=fmean(off) if off else 0.0,
    )


def _area(bad: Sequence[float], good: Sequence[float]) -> float:
    """Return how often a bad page has less confidence than a good one; ties count half."""
    if not bad or not good:
        return 0.5
    wins = sum((one > other) + (one == other) / 2 for one in good for other in bad)
    return wins / (len(bad) * len(good))
