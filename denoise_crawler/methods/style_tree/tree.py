"""The style tree: element nodes (TAG, Attr, Ss), style nodes (Es, n), and pages that are laid over one another.

A style node that a single page has is *folded*: it holds the nodes of this page instead of its children, since
most of what stands below it no other page will ever have. Its children are made when another page comes to it.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, repeat
from math import fsum, log
from typing import TypeAlias

from denoise_crawler.methods.style_tree.page_nodes import (
    MAX_OCCURRENCES,
    MAX_TREE_PAGES,
    Labels,
    PageNodes,
    Places,
    Shape,
)
from denoise_crawler.page import TEXT

_PAGES_BITS, _FEATURE_BITS = 20, 32  # of a feature: where the occurrences begin, and the hash


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

    def __post_init__(self) -> None:
        if self.features_per_leaf < 1:
            raise ValueError(f"features_per_leaf must be at least 1, not {self.features_per_leaf}")
        if not 0.0 < self.gamma < 1.0:
            raise ValueError(f"gamma must lie between 0 and 1, not {self.gamma}")

    def features(self, page: PageNodes, nodes: Sequence[int]) -> list[int]:
        """Return the features of an element that stands for some nodes, as one page of :class:`ElementNode`."""
        if self.data_node:
            nodes = [*nodes, *chain.from_iterable(self._texts_below(page, nodes))]
        found = page.features(nodes, self.features_per_leaf)
        return [(feature << _FEATURE_BITS - _PAGES_BITS | count) << _PAGES_BITS | 1 for feature, count in found]

    def _texts_below(self, page: PageNodes, nodes: Sequence[int]) -> Iterable[Sequence[int]]:
        for sequence, places in page.styles(nodes, collapse=True).items():
            yield from (place for label, place in zip(sequence, places, strict=True) if label == TEXT)


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
    def styles(self) -> Mapping[Labels, StyleNode]:
        """Ss: the style nodes by their sequence of children's labels."""
        empty = {(): StyleNode((), self.empty)} if self.empty else {}
        return empty | self.style_nodes

    def style_node(self, sequence: Labels) -> StyleNode:
        """Return the style node of a sequence, a new one if there is none."""
        if self.style_nodes is _NO_STYLES:
            self.style_nodes = {}
        if (style := self.style_nodes.get(sequence)) is None:
            style = self.style_nodes[sequence] = StyleNode(sequence)
        return style

    def add_features(self, features: Sequence[int]) -> None:
        """Count the features of a page."""
        if not len(self.features):
            self.features = array("Q", features)
            return
        rows, place = self.features, 0
        for row in features:
            place = bisect_left(rows, row - 1, place)
            if place < len(rows) and rows[place] >> _PAGES_BITS == row >> _PAGES_BITS:
                rows[place] += 1
            else:
                rows.insert(place, row)

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

    __slots__ = ("children", "folded", "importance", "is_rated", "pages", "peak", "sequence")

    def __init__(self, sequence: Labels, pages: int = 0) -> None:
        self.sequence, self.pages = sequence, pages
        self.importance = self.peak = 0.0
        self.is_rated = False
        self.children: Sequence[ElementNode] = ()  # Es, none while it is folded
        self.folded: tuple[PageNodes, Places] | None = None  # the only page, and the children there

    def unfold(self) -> list[Laid]:
        """Make the children; return what has to be laid over them."""
        self.children, folded = tuple(map(ElementNode, self.sequence)), self.folded
        self.folded = None
        return [] if folded is None else list(zip(self.children, repeat(folded[0]), folded[1], strict=False))


_NO_STYLES: dict[Labels, StyleNode] = {}
_NO_FEATURES = array("Q")

Laid: TypeAlias = "tuple[ElementNode, PageNodes, Sequence[int]]"  # an element node, and nodes that come to it


def lay(waiting: list[Laid], rules: Rules) -> None:
    """Lay pages over a style tree, each from an element node down.

    Args:
        waiting: The element nodes, and the nodes of pages that come to them.
        rules: The choices that the sources leave open.
    """
    while waiting:
        element, page, nodes = waiting.pop()
        element.pages += 1
        element.is_rated = False
        if features := rules.features(page, nodes):
            element.add_features(features)
        for sequence, places in page.styles(nodes, collapse=rules.collapse).items():
            if not sequence:
                element.empty += 1
                continue
            style = element.style_node(sequence)
            style.pages += 1
            style.is_rated = False
            if style.pages == 1 and not style.children:
                style.folded = page, places
                continue
            if not style.children:
                waiting += style.unfold()
            waiting += zip(style.children, repeat(page), places, strict=False)


def take_out(page: PageNodes, root: ElementNode, rules: Rules) -> None:
    """Subtract a page that was laid over a tree."""
    waiting: list[tuple[ElementNode, Sequence[int]]] = [(root, (0,))]
    while waiting:
        element, nodes = waiting.pop()
        element.pages -= 1
        element.is_rated = False
        element.remove_features(rules.features(page, nodes))
        for sequence, places in page.styles(nodes, collapse=rules.collapse).items():
            if not sequence:
                element.empty -= 1
                continue
            style = element.style_nodes[sequence]
            style.pages -= 1
            style.is_rated = False
            if style.pages:
                waiting += zip(style.children, places, strict=True)
            else:
                del element.style_nodes[sequence]


def match(
    root: ElementNode, page: Shape, rules: Rules, children_of: Callable[[StyleNode], Sequence[ElementNode]]
) -> list[ElementNode | None]:
    """Return by node of a page its element node in a tree, None for those that the tree does not have.

    Args:
        root: The element node of the body.
        page: The page, which need not be in the tree.
        rules: The choices that the sources leave open.
        children_of: Returns the children of a style node, none for one that is not to be entered.
    """
    elements: list[ElementNode | None] = [None] * len(page)
    waiting: list[tuple[ElementNode, Sequence[int]]] = [(root, (0,))]
    while waiting:
        element, nodes = waiting.pop()
        for node in nodes:
            elements[node] = element
        for sequence, places in page.styles(nodes, collapse=rules.collapse).items():
            if sequence and (style := element.style_nodes.get(sequence)) is not None:
                waiting += zip(children_of(style), places, strict=False)
    return elements


# --- how important nodes are: by presentation, by content, and both together (composite importance, CompImp)


def rate(elements: Iterable[ElementNode], rules: Rules) -> None:
    """Compute the importance of all nodes of some subtrees that changed, children first."""
    order, waiting = list[ElementNode](), [element for element in elements if not element.is_rated]
    while waiting:
        element = waiting.pop()
        order.append(element)
        for style in element.style_nodes.values():
            if not style.is_rated:
                waiting += [child for child in style.children if not child.is_rated]
    for element in reversed(order):
        for style in element.style_nodes.values():
            if not style.is_rated and style.children:
                _rate_style(style, style.children)
            elif not style.is_rated:
                rated_children(style, rules)
        _rate_element(element, rules)


def rated_children(style: StyleNode, rules: Rules) -> Sequence[ElementNode]:
    """Return the children of a style node with all that stands below them.

    Those of a folded one are made and rated for the caller, as is the style node itself: it stays folded.
    """
    if style.folded is None:
        return style.children
    page, places = style.folded
    children = tuple(map(ElementNode, style.sequence))
    order = list(zip(children, places, strict=True))
    for element, nodes in order:  # which grows meanwhile
        element.pages = 1
        for sequence, below in page.styles(nodes, collapse=rules.collapse).items():
            if sequence:
                inner = element.style_node(sequence)
                inner.pages, inner.children = 1, tuple(map(ElementNode, sequence))
                order += zip(inner.children, below, strict=True)
            else:
                element.empty = 1
        if not element.style_nodes or rules.data_node:
            element.add_features(rules.features(page, nodes))
    for element, _ in reversed(order):
        for inner in element.style_nodes.values():
            _rate_style(inner, inner.children)
        _rate_element(element, rules)
    _rate_style(style, children)
    return children


def _rate_element(element: ElementNode, rules: Rules) -> None:
    """Set CompImp(E) = (1 − γ^l)·NodeImp(E) + γ^l·Σ p_i·CompImp(S_i), or the importance of a leaf's content."""
    styles = element.style_nodes.values()
    element.is_rated = True
    content = content_importance(element, rules) if rules.data_node or not styles else 0.0
    if not styles:
        element.importance = element.peak = content
        return
    counts = [style.pages for style in styles]
    if element.empty:
        counts.append(element.empty)  # an element without children has one empty style node, of importance 0
    total, damping = sum(counts), rules.gamma ** len(counts)
    below = fsum(style.pages / total * style.importance for style in styles)
    importance = (1.0 - damping) * node_importance(counts, element.pages, rules.single_page) + damping * below
    if rules.data_node and len(element.features):
        importance = with_data_node(importance, content)
    element.importance = importance
    element.peak = max(importance, *(style.peak for style in styles))


def _rate_style(style: StyleNode, children: Sequence[ElementNode]) -> None:
    """Set CompImp(S) = Σ CompImp(E_j)/k, the mean over its element nodes."""
    style.importance = fsum(child.importance for child in children) / len(children)
    style.peak = max(child.peak for child in children)
    style.is_rated = True


def node_importance(counts: Sequence[int], pages: int, single_page: float = 0.0) -> float:
    """Return the presentation importance of an element: NodeImp(E) = −Σ p_i·log_m p_i.

    Args:
        counts: n_i, the pages of each of its style nodes.
        pages: m, the pages that have it.
        single_page: The value for m = 1.

    Example:
        >>> round(node_importance([2, 1], 3), 5)
        0.57938
    """
    if pages < 2:
        return single_page
    total = sum(counts)
    entropy = -fsum(count / total * log(count / total) for count in counts) / log(pages)
    return min(1.0, max(0.0, entropy))  # with runs as one, a page can have several sequences


def content_importance(element: ElementNode, rules: Rules) -> float:
    """Return the importance of an element's actual content: 1 − Σ H(a_i)/l, over the lowest of many features."""
    rows = element.features
    if not len(rows) or element.pages < 2:
        return float(len(rows) > 0)
    entropies, features, start, logarithm = 0.0, 0, 0, log(element.pages)
    while start < len(rows) and features < rules.features_per_leaf:
        row, end = rows[start], start + 1
        while end < len(rows) and rows[end] >> _FEATURE_BITS == row >> _FEATURE_BITS:
            end += 1
        entropies += entropy(rows[start:end], presence=rules.presence) / logarithm
        start, features = end, features + 1
    return 1.0 - entropies / features


def entropy(rows: Sequence[int], *, presence: bool) -> float:
    """Return H(a) = −Σ p_j·log p_j of a feature, p_j the probability that it comes from page j.

    With c_j occurrences on page j and N in all this is ``log N − (Σ c_j·log c_j)/N``, so no page need be known.

    Args:
        rows: The feature in the features of an :class:`ElementNode`.
        presence: Whether each page that has it is as probable as any other.
    """
    occurrences, spread, having = 0, 0.0, 0
    for row in rows:
        count, pages = row >> _PAGES_BITS & MAX_OCCURRENCES, row & MAX_TREE_PAGES
        having += pages
        if count > 1:
            spread += count * log(count) * pages
        occurrences += count * pages
    return log(having) if presence or not spread else log(occurrences) - spread / occurrences


def with_data_node(former: float, data: float) -> float:
    """Return (1 − k)·F + k·D with k = D/(F + D), of an element and of its own text (pySST, 3.2)."""
    share = data / (former + data) if former + data else 0.0
    return (1.0 - share) * former + share * data
