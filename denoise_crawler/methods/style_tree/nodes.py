"""Element nodes and style nodes of a site's tree, as those who draw it see them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from denoise_crawler.methods.style_tree.columns import COUNT, EMPTY, LABEL, PAGES, TreeColumns

Labels: TypeAlias = "tuple[str, ...]"


@dataclass(frozen=True, slots=True)
class TreeView:
    """A tree in columns, the key of the page if it is that of one, the labels by number.

    ``unfold`` returns the children of a style node that is folded.
    """

    columns: TreeColumns
    key: int | None
    labels: Sequence[str]
    unfold: Callable[[int], Sequence[ElementNode]]


@dataclass(frozen=True, slots=True)
class ElementNode:
    """(TAG, Attr, Ss): a label, the style nodes below it, and the number of pages that have it."""

    view: TreeView
    row: int

    @property
    def place(self) -> tuple[int | None, int]:
        """Where it is: the key of the page in whose own tree, and its row there."""
        return self.view.key, self.row

    @property
    def label(self) -> str:
        """The label."""
        return self.view.labels[self._column(LABEL)]

    @property
    def pages(self) -> int:
        """The number of pages that have it."""
        return self._column(PAGES)

    @property
    def features(self) -> int:
        """The number of its own words and URLs, counted apart by occurrences on a page."""
        return self._column(COUNT)

    @property
    def importance(self) -> float:
        """Its CompImp."""
        return float(self.view.columns.scores[self.row, 0])

    @property
    def peak(self) -> float:
        """The highest CompImp in its subtree."""
        return float(self.view.columns.scores[self.row, 1])

    @property
    def is_leaf(self) -> bool:
        """Tell whether no page has anything below this element."""
        return not self.view.columns.styles_of(self.row)

    @property
    def styles(self) -> Mapping[Labels, StyleNode]:
        """The style nodes by their sequence of children's labels."""
        found: dict[Labels, StyleNode] = {}
        if empty := self._column(EMPTY):
            found[()] = StyleNode(self.view, -1, empty)
        for row in reversed(self.view.columns.styles_of(self.row)):
            style = StyleNode(self.view, row, int(self.view.columns.styles[row, PAGES]))
            found[tuple(child.label for child in style.unfolded)] = style
        return found

    def _column(self, number: int) -> int:
        return int(self.view.columns.elements[self.row, number])


@dataclass(frozen=True, slots=True)
class StyleNode:
    """(Es, n): one sequence of children, and the number of pages that have it here."""

    view: TreeView
    row: int  # -1: that of the empty sequence
    pages: int

    @property
    def importance(self) -> float:
        """Its CompImp."""
        return 0.0 if self.row < 0 else float(self.view.columns.style_scores[self.row, 0])

    @property
    def peak(self) -> float:
        """The highest CompImp in its subtree."""
        return 0.0 if self.row < 0 else float(self.view.columns.style_scores[self.row, 1])

    @property
    def children(self) -> Sequence[ElementNode]:
        """Its children, none while only one page has it: that page's own tree has them."""
        if self.row < 0:
            return ()
        rows = self.view.columns.children(np.array([self.row], np.int32))
        return [ElementNode(self.view, row) for row in rows.tolist()]

    @property
    def unfolded(self) -> Sequence[ElementNode]:
        """Its children, whatever tree has them."""
        return self.children or (self.view.unfold(self.row) if self.row >= 0 else ())
