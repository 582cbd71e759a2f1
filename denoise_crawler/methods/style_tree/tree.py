"""The style tree: element nodes (TAG, Attr, Ss), style nodes (Es, n), and pages that are laid over one another.

A style node that few pages have is *folded*: it holds the nodes of these pages instead of its children, since most
of what stands below it no other page will ever have. Its children are made when somebody asks for them.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import accumulate, chain, repeat
from typing import TypeAlias

import numpy as np

from denoise_crawler.methods.style_tree.page_nodes import MAX_OCCURRENCES, PageDigest
from denoise_crawler.page import TEXT

Labels: TypeAlias = "tuple[str, ...]"
Places: TypeAlias = "Sequence[Sequence[int]]"

PAGES_BITS, FEATURE_BITS = 20, 32  # of a feature: where the occurrences begin, and the hash
MAX_TREE_PAGES = (1 << PAGES_BITS) - 1


@dataclass(frozen=True, slots=True)
class Rules:
    """The choices that the sources leave open.

    Args:
        collapse: Whether a run of equal siblings counts as one.
        gamma: The damping γ.
        single_page: The NodeImp of an inner node on one page (m = 1): 0 in the blog, 1 in the KDD paper.
        presence: Whether p_j is a share of pages rather than of occurrences.
        data_node: Whether every element also has the importance of its own text (pySST, 3.2).
        features_per_leaf: The most features of a leaf that count.

    """

    collapse: bool = False
    gamma: float = 0.9
    single_page: float = 0.0
    presence: bool = False
    data_node: bool = False
    features_per_leaf: int = 64


class Shape:
    """The children of each node of a page: the sequence of their labels, and by place in it the nodes.

    Args:
        labels: By node the number of its label.
        names: The labels by number.
        ends: By node where its subtree ends.
        collapse: Whether a run of equal siblings counts as one.

    """

    __slots__ = ("_below", "_collapse", "_ends", "_labels", "_names")

    def __init__(
        self, labels: Sequence[int], names: Sequence[str], ends: Sequence[int], *, collapse: bool
    ) -> None:
        self._labels, self._names, self._ends, self._collapse = labels, names, ends, collapse
        self._below: dict[int, tuple[Labels, Places]] = {}

    def __len__(self) -> int:
        return len(self._ends)

    def below(self, node: int) -> tuple[Labels, Places]:
        """Return the sequence of the labels of a node's children, and the children at each place of it."""
        if (below := self._below.get(node)) is None:
            below = self._read(node)
            if len(below[0]) > 1:  # others are read as fast as found again
                self._below[node] = below
        return below

    def styles(self, nodes: Sequence[int]) -> Iterable[tuple[Labels, Places, Sequence[int]]]:
        """Return the different sequences below some nodes, the children at each place, the nodes that have it."""
        if len(nodes) == 1:
            sequence, places = self.below(nodes[0])
            return ((sequence, places, nodes),)
        styles: dict[Labels, list[int]] = {}
        for node in nodes:
            styles.setdefault(self.below(node)[0], []).append(node)
        return ((sequence, self.children(own), own) for sequence, own in styles.items())

    def children(self, nodes: Sequence[int]) -> Places:
        """Return, place by place, the children of nodes that have the same sequence."""
        if len(nodes) == 1:
            return self.below(nodes[0])[1]
        every = (self.below(node)[1] for node in nodes)
        return [list(chain.from_iterable(places)) for places in zip(*every, strict=True)]

    def _read(self, node: int) -> tuple[Labels, Places]:
        ends, child, last = self._ends, node + 1, -1
        if ends[node] == child:
            return _NOTHING
        if ends[child] == ends[node]:  # one child, of which a page may have very many
            return _sequence_of_one(self._names[self._labels[child]]), ((child,),)
        sequence, places = list[str](), list[list[int]]()
        while child < ends[node]:
            label = self._labels[child]
            if label == last and self._collapse:
                places[-1].append(child)
            else:
                sequence.append(self._names[label])
                places.append([child])
            last, child = label, ends[child]
        return tuple(sequence), places


_NOTHING: tuple[Labels, Places] = ((), ())


@lru_cache(maxsize=4_096)
def _sequence_of_one(label: str) -> Labels:
    return (label,)


class PageNodes:
    """The nodes of a page that was learned: their shape and their features."""

    __slots__ = ("_features", "_rules", "_starts", "key", "shape")

    def __init__(self, digest: PageDigest, rules: Rules, shape: Shape | None = None) -> None:
        if shape is None:
            labels, ends = array("I", digest.labels.tolist()), array("I", digest.ends.tolist())
            shape = Shape(labels, digest.names, ends, collapse=rules.collapse)
        self.shape = shape
        self.key, self._rules = digest.key, rules
        self._starts = array("I", accumulate(digest.features.tolist(), initial=0))
        rows = (digest.hashes.astype(np.uint64) << FEATURE_BITS - PAGES_BITS | digest.counts) << PAGES_BITS
        self._features = array("Q", rows.tolist())

    def __len__(self) -> int:
        return len(self.shape)

    def features(self, nodes: Sequence[int]) -> Sequence[int]:
        """Return the features of an element that stands for some nodes, as :class:`ElementNode` counts them."""
        if self._rules.data_node:
            nodes = [*nodes, *chain.from_iterable(map(self._texts_below, nodes))]
        if len(nodes) == 1:
            return self._features[self._starts[nodes[0]] : self._starts[nodes[0] + 1]]
        counts = Counter[int]()
        for node in nodes:
            for row in self._features[self._starts[node] : self._starts[node + 1]]:
                counts[row >> FEATURE_BITS] += row >> PAGES_BITS & MAX_OCCURRENCES
        # no other can be among the lowest of all pages
        lowest = sorted(counts.items())[: self._rules.features_per_leaf]
        return [_row(feature, min(count, MAX_OCCURRENCES)) for feature, count in lowest]

    def _texts_below(self, node: int) -> Iterable[int]:
        places = zip(*self.shape.below(node), strict=True)
        return chain.from_iterable(nodes for label, nodes in places if label == TEXT)


def _row(feature: int, count: int) -> int:
    return (feature << FEATURE_BITS - PAGES_BITS | count) << PAGES_BITS


class ElementNode:
    """E = (TAG, Attr, Ss): a label, the style nodes below it, and the number of pages that have it.

    Its features are numbers, ascending: 32 bits of hash, 12 of the occurrences on a page, 20 of the pages that
    have so many. So pages are added and taken out exactly, in any order.
    """

    __slots__ = ("empty", "features", "importance", "is_rated", "label", "pages", "peak", "style_nodes")

    def __init__(self, label: str) -> None:
        self.label = label
        self.pages = self.empty = 0  # empty: the pages that have nothing below it
        self.importance = self.peak = 0.0  # CompImp, and the highest in its subtree
        self.is_rated = False
        self.style_nodes: dict[Labels, StyleNode] = _NO_STYLES
        self.features = _NO_FEATURES

    @property
    def is_leaf(self) -> bool:
        """Return True if no page has anything below this element."""
        return not self.style_nodes

    @property
    def styles(self) -> Mapping[Labels, StyleNode]:
        """Ss: the style nodes by their sequence of children's labels."""
        empty = {(): StyleNode(self.empty)} if self.empty else {}
        return empty | self.style_nodes

    def style_node(self, sequence: Labels) -> StyleNode:
        """Return the style node of a sequence, a new one if there is none."""
        if self.style_nodes is _NO_STYLES:
            self.style_nodes = {}
        if (style := self.style_nodes.get(sequence)) is None:
            style = self.style_nodes[sequence] = StyleNode()
        return style

    def add_features(self, features: Sequence[int]) -> None:
        """Count the features of a page."""
        if self.features is _NO_FEATURES:
            self.features = array("Q")
        rows, place = self.features, 0
        for row in features:
            place = bisect_left(rows, row, place)
            if place < len(rows) and rows[place] >> PAGES_BITS == row >> PAGES_BITS:
                rows[place] += 1
            else:
                rows.insert(place, row + 1)

    def remove_features(self, features: Sequence[int]) -> None:
        """Subtract what :meth:`add_features` counted."""
        rows, place = self.features, 0
        for row in features:
            place = bisect_left(rows, row, place)
            rows[place] -= 1
            if not rows[place] & MAX_TREE_PAGES:
                del rows[place]


class StyleNode:
    """S = (Es, n): one sequence of children, and the number of pages that have it."""

    __slots__ = ("children", "folded", "importance", "is_rated", "pages", "peak")

    def __init__(self, pages: int = 0) -> None:
        self.pages = pages
        self.importance = self.peak = 0.0
        self.is_rated = False
        self.children: Sequence[ElementNode] = ()  # Es, none while it is folded
        self.folded: Sequence[FoldedPage] = ()


_NO_STYLES: dict[Labels, StyleNode] = {}
_NO_FEATURES = array("Q")

FoldedPage: TypeAlias = "tuple[int, Sequence[int]]"  # the key of a page, and its nodes
Laid: TypeAlias = "tuple[ElementNode, PageNodes, Sequence[int]]"  # an element node, and nodes that come to it
NodesOf: TypeAlias = Callable[[int], PageNodes]  # by key of a page


def lay(waiting: list[Laid], nodes_of: NodesOf, *, most_folded: int) -> None:
    """Lay pages over a style tree, each from an element node down.

    Args:
        waiting: The element nodes, and the nodes of pages that come to them.
        nodes_of: Returns the nodes of a page that was laid over the tree, by its key.
        most_folded: The most pages of a folded style node.

    """
    while waiting:
        element, page, nodes = waiting.pop()
        element.pages += 1
        element.is_rated = False
        if features := page.features(nodes):
            element.add_features(features)
        for sequence, places, own in page.shape.styles(nodes):
            if not sequence:
                element.empty += 1
                continue
            style = element.style_node(sequence)
            style.pages += 1
            style.is_rated = False
            if style.children:
                waiting += zip(style.children, repeat(page), places, strict=False)
                continue
            style.folded = (*style.folded, (page.key, tuple(own)))
            if style.pages > most_folded:
                style.children, laid = unfolded(style, nodes_of)
                style.folded = ()
                waiting += laid


def unfolded(style: StyleNode, nodes_of: NodesOf) -> tuple[tuple[ElementNode, ...], list[Laid]]:
    """Return new children of a folded style node, and what has to be laid over them."""
    pages = [(nodes_of(key), nodes) for key, nodes in style.folded]
    page, nodes = pages[0]
    children = tuple(map(ElementNode, page.shape.below(nodes[0])[0]))
    laid = (zip(children, repeat(page), page.shape.children(nodes), strict=False) for page, nodes in pages)
    return children, list(chain.from_iterable(laid))


def take_out(waiting: list[Laid]) -> None:
    """Subtract pages that were laid over a tree, each from an element node down."""
    while waiting:
        element, page, nodes = waiting.pop()
        element.pages -= 1
        element.is_rated = False
        element.remove_features(page.features(nodes))
        for sequence, places, _ in page.shape.styles(nodes):
            if not sequence:
                element.empty -= 1
                continue
            style = element.style_nodes[sequence]
            style.pages -= 1
            style.is_rated = False
            if not style.pages:
                del element.style_nodes[sequence]
            elif style.children:
                waiting += zip(style.children, repeat(page), places, strict=False)
            else:
                style.folded = tuple(folded for folded in style.folded if folded[0] != page.key)


def match(
    root: ElementNode, page: Shape, children_of: Callable[[StyleNode], Sequence[ElementNode]]
) -> list[ElementNode | None]:
    """Return by node of a page its element node in a tree, None for those that the tree does not have.

    Args:
        root: The element node of the body.
        page: The page, which need not be in the tree.
        children_of: Returns the children of a style node, none for one that is not to be entered.

    """
    elements: list[ElementNode | None] = [None] * len(page)
    waiting: list[tuple[ElementNode, Sequence[int]]] = [(root, (0,))]
    while waiting:
        element, nodes = waiting.pop()
        for node in nodes:
            elements[node] = element
        for sequence, places, _ in page.styles(nodes):
            if sequence and (style := element.style_nodes.get(sequence)) is not None:
                waiting += zip(children_of(style), places, strict=False)
    return elements
