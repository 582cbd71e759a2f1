"""Which pictures, formulas and embedded posts belong to the content that is kept.

They hold no text that could be judged, so the text around them decides: that of the nearest element with any. The
credit of a figure does not: where all text of a figure is noise, the text around the figure decides.
"""

from __future__ import annotations

from itertools import accumulate

from denoise_crawler.methods.base import inherit
from denoise_crawler.page import Page

MIN_KEPT_SHARE = 0.5  # of the text around, before and behind the content
MIN_KEPT_SHARE_INSIDE = 0.1  # the same, between two kept texts
_MOST_LEVELS = 8  # between a picture and its figure


class Belonging:
    """Tells of nodes without text whether they belong to the kept content of a page.

    Example:
        >>> page = Page.parse("", "<div><img>Menu</div><p><img>A story.</p>")
        >>> belonging = Belonging(page, [False, True, True, True, False, False, False])
        >>> belonging(2), belonging(5)
        (False, True)
    """

    def __init__(self, page: Page, noise: list[bool] | None) -> None:
        self._nodes, self._noise = page.nodes, noise
        self._gone: list[bool] = []  # noise and what stands in it
        self._until: list[int] = []  # before each node, the characters of the page
        self._kept: list[int] = []  # the same of those kept

    def __call__(self, index: int) -> bool:
        """Tell whether node ``index`` belongs to the kept content."""
        if self._noise is None:
            return True
        if not self.stays(index):
            return False
        if not self._until:
            self._count(self._noise)
        around = self._nearest_text(index)
        figure = self._figure(index)
        if 0 <= figure <= around:
            if self._kept[self._nodes.ends[figure]] > self._kept[figure]:
                return True
            around = self._nearest_text(self._nodes.parents[figure], without=figure)
        end = self._nodes.ends[around]
        kept = self._kept[end] - self._kept[around]
        inside = 0 < self._kept[index] < self._kept[-1]
        least = MIN_KEPT_SHARE_INSIDE if inside else MIN_KEPT_SHARE
        return kept > 0 and kept >= least * (self._until[end] - self._until[around])

    def stays(self, index: int) -> bool:
        """Tell whether node ``index`` neither is noise nor stands in it."""
        if self._noise is not None and not self._gone:
            self._gone = inherit(self._noise, self._nodes.ends)
        return self._noise is None or not self._gone[index]

    def _count(self, noise: list[bool]) -> None:
        sizes = [len(text) for text in self._nodes.texts]
        self._until = list(accumulate(sizes, initial=0))
        kept = (0 if gone else size for size, gone in zip(sizes, noise, strict=True))
        self._kept = list(accumulate(kept, initial=0))

    def _figure(self, index: int) -> int:
        """Return the figure around a node; -1 if there is none."""
        for _ in range(_MOST_LEVELS + 1):
            if index <= 0 or self._nodes.tags[index] == "figure":
                return index if index > 0 else -1
            index = self._nodes.parents[index]
        return -1

    def _nearest_text(self, index: int, without: int = 0) -> int:
        """Return the nearest node at or above ``index`` with text in it, and not only below ``without``."""
        nodes, until = self._nodes, self._until
        inside = until[nodes.ends[without]] - until[without] if without else 0
        while index > 0 and until[nodes.ends[index]] - until[index] == inside:
            index = nodes.parents[index]
        return index
