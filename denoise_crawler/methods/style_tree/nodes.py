"""The nodes of a style tree in the order in which a view with limited room shows them, and their names."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from heapq import heappop, heappush
from itertools import count, groupby
from typing import Generic, TypeVar

from denoise_crawler.methods.style_tree.tree import ElementNode, Labels, StyleNode
from denoise_crawler.page import TEXT

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
