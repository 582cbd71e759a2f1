"""Element nodes and style nodes of a site's tree, as those who draw it see them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from heapq import heappop, heappush
from itertools import count, groupby
from typing import Generic, TypeAlias, TypeVar

import numpy as np

from denoise_crawler.methods.style_tree.columns import COUNT, EMPTY, LABEL, PAGES, TreeColumns
from denoise_crawler.page import TEXT

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


# --- the nodes of a style tree in the order in which a view with limited room shows them, and their names

Parent = TypeVar("Parent")


@dataclass(order=True, slots=True)
class QueuedNode(Generic[Parent]):
    """An element or style node that may be shown, in the order of its worth.

    ``parent`` is what the view shows above it, ``labels`` the sequence of children of a style node. An element
    node may stand for a ``run`` of equal siblings.
    """

    in_noise: bool
    negative_pages: int  # so that nodes on many pages come first
    level: int
    number: int
    node: ElementNode | StyleNode = field(compare=False)
    parent: Parent = field(compare=False)
    labels: Labels = field(compare=False)
    run: int = field(compare=False)


class TreeQueue(Generic[Parent]):
    """What a view with room for ``max_nodes`` may show next: noise last, then by pages, then by level."""

    def __init__(self, max_nodes: int) -> None:
        self._max_nodes = max_nodes
        self._numbers = count()
        self._heap: list[QueuedNode[Parent]] = []

    def add(
        self,
        node: ElementNode | StyleNode,
        level: int,
        parent: Parent,
        *,
        labels: Labels = (),
        run: int = 1,
        in_noise: bool = False,
    ) -> None:
        """Queue a node."""
        queued = QueuedNode(in_noise, -node.pages, level, next(self._numbers), node, parent, labels, run)
        heappush(self._heap, queued)

    def __iter__(self) -> Iterator[QueuedNode[Parent]]:
        """Yield nodes while there is room; the caller adds the nodes below each of them."""
        for _ in range(self._max_nodes):
            if not self._heap:
                return
            yield heappop(self._heap)

    def parents_of_rest(self) -> list[Parent]:
        """Return the parents of the nodes without room."""
        return [queued.parent for queued in self._heap]


def styles_by_pages(element: ElementNode) -> list[tuple[Labels, StyleNode]]:
    """Return the style nodes below ``element`` with their labels, those on most pages first."""
    return sorted(element.styles.items(), key=lambda item: (-item[1].pages, item[0]))


def selector(label: str) -> str:
    """Return a label as a CSS selector.

    Example:
        >>> selector("div|class=wide|id=main|width=50%")
        'div.wide#main[width="50%"]'
    """
    if label == TEXT:
        return "text"
    tag, *attributes = label.split("|")
    parts = [tag]
    for attribute in attributes:
        name, _, value = attribute.partition("=")
        if name in ("class", "id"):
            parts += [f"{'#' if name == 'id' else '.'}{part}" for part in value.split()]
        else:
            parts.append(f'[{name}="{value}"]')
    return "".join(parts)


def sequence_names(labels: Labels, most: int, longest: int | None = None) -> list[str]:
    """Return the selectors of a sequence of children, at most ``most`` of them; runs of equal ones as ``li+``."""
    runs = [run_name(label, len(list(run)), longest) for label, run in groupby(labels)]
    return [*runs[:most], f"… {len(runs) - most} more"] if len(runs) > most else runs


def run_name(label: str, run: int, longest: int | None = None) -> str:
    """Return the selector of ``run`` equal siblings, cut behind ``longest`` characters."""
    name = selector(label)
    shown = name if longest is None or len(name) <= longest else f"{name[:longest]}…"
    return f"{shown}+" if run > 1 else shown
