"""How a leaf's features are spread over the pages, in integers only."""

from __future__ import annotations

from heapq import nsmallest
from math import log


def entropy(histogram: dict[int, int], pages: int, *, presence: bool = False) -> float:
    """Return H(a), how undecided it is which of ``pages`` pages a feature comes from (0 to 1).

    ``histogram`` maps c to the number of pages with c occurrences. By default p_j is page j's share of the
    occurrences, ``H(a) = (ln N − (Σ c ln c)/N) / ln m``; with ``presence`` each page that has the feature
    weighs the same, ``H(a) = ln df / ln m``. One page: 0.
    """
    if pages < 2:
        return 0.0
    if presence:
        return log(sum(histogram.values())) / log(pages)
    total = sum(count * having for count, having in histogram.items())
    spread = sum(count * log(count) * having for count, having in histogram.items())
    return (log(total) - spread / total) / log(pages)


class FeatureCounts:
    """For each feature, on how many pages it occurs once, twice and so on."""

    __slots__ = ("_histograms",)

    def __init__(self) -> None:
        # a number stands for {1: number}, by far the most frequent histogram
        self._histograms: dict[int, int | dict[int, int]] = {}

    def __bool__(self) -> bool:
        return bool(self._histograms)

    def add(self, feature: int, count: int, pages: int = 1) -> None:
        """Count ``feature`` as occurring ``count`` times on ``pages`` more pages (fewer, if negative)."""
        known = self._histograms.get(feature, 0)
        if count == 1 and isinstance(known, int):
            if known + pages:
                self._histograms[feature] = known + pages
            else:
                del self._histograms[feature]
            return
        histogram = known if isinstance(known, dict) else ({1: known} if known else {})
        histogram[count] = histogram.get(count, 0) + pages
        if not histogram[count]:
            del histogram[count]
        if not histogram:
            del self._histograms[feature]
        elif len(histogram) == 1 and 1 in histogram:
            self._histograms[feature] = histogram[1]
        else:
            self._histograms[feature] = histogram

    def importance(self, pages: int, at_most: int, *, presence: bool = False) -> float:
        """Return ``1 − Σ H(a_i)/l`` over the ``at_most`` features with the lowest hash; 0 without features.

        The lowest hashes are a random sample of the features (bottom-k sketch), the same whatever the order
        of the pages; with k of them the standard error of the mean is at most 0.5/√k.
        """
        if not self._histograms:
            return 0.0
        sample = list(self._histograms)
        if len(sample) > at_most:
            sample = nsmallest(at_most, sample)
        known: dict[int, float] = {}
        total = 0.0
        for feature in sample:
            histogram = self._histograms[feature]
            if isinstance(histogram, int):
                if histogram not in known:
                    known[histogram] = entropy({1: histogram}, pages, presence=presence)
                total += known[histogram]
            else:
                total += entropy(histogram, pages, presence=presence)
        return 1.0 - total / len(sample)
