"""Counts on how many pages a leaf's features occur, in integers only."""

from __future__ import annotations

from array import array
from bisect import bisect_left
from math import fsum, log
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

_COUNT_BITS, _PAGES_BITS = 12, 20
_FEATURE_SHIFT = _COUNT_BITS + _PAGES_BITS  # the lowest of the 32 bits of a feature
_MAX_OCCURRENCES = (1 << _COUNT_BITS) - 1
MAX_TREE_PAGES = (1 << _PAGES_BITS) - 1


def entropy(histogram: dict[int, int], pages: int, *, presence: bool = False) -> float:
    """Return the entropy H(a) of a feature over pages (0 to 1).

    Args:
        histogram: By number of occurrences c, the number of pages with c occurrences.
        pages: The number of pages m.
        presence: Whether each page that has the feature weighs the same, ``H(a) = ln df / ln m``; otherwise p_j is
            page j's share of the occurrences, ``H(a) = (ln N − (Σ c ln c)/N) / ln m``.

    Returns:
        The entropy; 0 for a single page.

    Example:
        >>> entropy({1: 10}, pages=10), entropy({1: 1}, pages=10)
        (1.0, 0.0)

    """
    if pages < 2:
        return 0.0
    if presence:
        return log(sum(histogram.values())) / log(pages)
    total = sum(count * having for count, having in histogram.items())
    spread = fsum(count * log(count) * having for count, having in histogram.items())
    return (log(total) - spread / total) / log(pages)


class FeatureCounts:
    """Counts for each feature on how many pages it occurs once, twice and so on.

    Each row is a 64-bit number: feature, occurrences (at most 4,095), pages with so many occurrences. Rows are
    sorted. A dictionary would take ten times the memory.
    """

    __slots__ = ("_rows",)

    def __init__(self) -> None:
        self._rows = array("Q")

    def __bool__(self) -> bool:
        return bool(self._rows)

    def add(self, counted: Mapping[int, int], pages: int = 1) -> None:
        """Add ``pages`` pages (negative: remove them) with these features and their occurrences."""
        rows = self._rows
        for feature, count in counted.items():
            row = (feature << _COUNT_BITS | min(count, _MAX_OCCURRENCES)) << _PAGES_BITS
            place = bisect_left(rows, row)
            if place == len(rows) or rows[place] ^ row > MAX_TREE_PAGES:
                rows.insert(place, row + pages)
            elif rows[place] + pages != row:
                rows[place] += pages
            else:
                del rows[place]

    def importance(self, pages: int, at_most: int, *, presence: bool = False) -> float:
        """Return ``1 − Σ H(a_i)/l`` over the ``at_most`` features with the lowest hashes; 0 without features.

        The lowest hashes are a random sample of the features (bottom-k sketch) that does not depend on the order
        of the pages. With k of them the standard error of the mean is at most 0.5/√k.
        """
        rows = self._rows
        known: dict[int, float] = {}  # the entropy of {1: number}, by far the most frequent histogram
        total, features, first = 0.0, 0, 0
        while first < len(rows) and features < at_most:
            last = bisect_left(rows, (rows[first] >> _FEATURE_SHIFT) + 1 << _FEATURE_SHIFT, first + 1)
            if last == first + 1 and rows[first] >> _PAGES_BITS & _MAX_OCCURRENCES == 1:
                once = rows[first] & MAX_TREE_PAGES
                if once not in known:
                    known[once] = entropy({1: once}, pages, presence=presence)
                total += known[once]
            else:
                histogram = {
                    row >> _PAGES_BITS & _MAX_OCCURRENCES: row & MAX_TREE_PAGES for row in rows[first:last]
                }
                total += entropy(histogram, pages, presence=presence)
            features, first = features + 1, last
        return 1.0 - total / features if features else 0.0
