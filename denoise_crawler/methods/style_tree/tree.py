"""The style tree: element nodes (TAG, Attr, Ss), style nodes (Es, n); adding pages, and matching one.

A style node that a single page has is *folded*: it refers to the nodes of this page instead of having children,
since most of what stands below it no other page will ever have. Its children are made when another page comes to
it.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, repeat
from math import fsum
from typing import TypeAlias

from denoise_crawler.methods.style_tree.importance import content_importance, node_importance, with_data_node
from denoise_crawler.methods.style_tree.page_nodes import (
    BITS_BELOW_HASH,
    PAGES_BITS,
    Labels,
    PageNodes,
    PageShape,
    Places,
)
from denoise_crawler.page import TEXT


@dataclass(frozen=True, slots=True)
class TreeOptions:
    """The choices that the sources leave open.

    Args:
        collapse: Whether a run of equal siblings counts as one. Real pages differ in their numbers of paragraphs
            and teasers; without this, each number is a style of its own (``docs/methods.md`` has the figures).
        gamma: The damping γ.
        single_page: The NodeImp of an inner node on one page (m = 1): 0 in the blog, 1 in the KDD paper.
        presence: Whether p_j is a share of pages rather than of occurrences.
        data_node: Whether every element also has the importance of its own text (pySST, 3.2).
        features_per_leaf: The most features of a leaf that count.
    """

    collapse: bool = True
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


class ElementNode:
    """E = (TAG, Attr, Ss): a label, the style nodes below it, and m, the number of pages that have it."""

    __slots__ = ("empty", "features", "has_importance", "importance", "label", "pages", "peak", "style_nodes")

    def __init__(self, label: str) -> None:
        self.label = label
        self.pages = self.empty = 0  # empty: the pages that have nothing below it
        self.importance = self.peak = 0.0  # CompImp, and the highest in its subtree
        self.has_importance = False
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

    def count_features(self, features: Sequence[int], step: int) -> None:
        """Add the features of a page (``step`` 1), or subtract them (-1)."""
        if not len(self.features):
            self.features = array("Q", [feature + step for feature in features])
            return
        rows, place = self.features, 0
        for feature in features:
            place = bisect_left(rows, feature, place)
            if place == len(rows) or rows[place] >> PAGES_BITS != feature >> PAGES_BITS:
                rows.insert(place, feature)
            rows[place] += step
            if rows[place] == feature:  # no page has it
                del rows[place]


class StyleNode:
    """S = (Es, n): one sequence of children, and the number of pages that have it."""

    __slots__ = ("children", "folded", "has_importance", "importance", "pages", "peak", "sequence")

    def __init__(self, sequence: Labels, pages: int = 0) -> None:
        self.sequence, self.pages = sequence, pages
        self.importance = self.peak = 0.0
        self.has_importance = False
        self.children: Sequence[ElementNode] = ()  # Es, none while it is folded
        self.folded: tuple[PageNodes, Places] | None = None  # the only page, and the children there

    def expand(self) -> list[Arrival]:
        """Make the children; return the nodes of the page that come to them."""
        self.children, folded = tuple(map(ElementNode, self.sequence)), self.folded
        self.folded = None
        return [] if folded is None else list(zip(self.children, repeat(folded[0]), folded[1], strict=False))


_NO_STYLES: dict[Labels, StyleNode] = {}
_NO_FEATURES = array("Q")

# An element node, and nodes of a page that come to it.
Arrival: TypeAlias = "tuple[ElementNode, PageNodes, Sequence[int]]"


# --- adding pages and taking them out: page and tree are walked together


def update_tree(waiting: list[Arrival], options: TreeOptions, *, step: int = 1, fold: bool = True) -> None:
    """Count pages in a style tree, or take them out, each from an element node down.

    Args:
        waiting: The element nodes, and the nodes of pages that come to them.
        options: The choices that the sources leave open.
        step: 1 to add the pages, -1 to subtract pages that were added.
        fold: Whether what only one page has is folded.
    """
    while waiting:
        element, page, nodes = waiting.pop()
        element.pages += step
        element.has_importance = False
        if features := _features_of(page, nodes, options):
            element.count_features(features, step)
        for sequence, places in page.styles(nodes, collapse=options.collapse).items():
            if not sequence:
                element.empty += step
                continue
            style = element.style_node(sequence)
            style.pages += step
            style.has_importance = False
            if not style.pages:
                del element.style_nodes[sequence]
            elif fold and style.pages == 1 and not style.children:
                style.folded = page, places
            else:
                if not style.children:
                    waiting += style.expand()
                waiting += zip(style.children, repeat(page), places, strict=False)


def _features_of(page: PageNodes, nodes: Sequence[int], options: TreeOptions) -> list[int]:
    """Return the features of an element that stands for some nodes of one page, as numbers."""
    if options.data_node:
        styles = page.styles(nodes, collapse=True).items()
        children = chain.from_iterable(zip(sequence, places, strict=True) for sequence, places in styles)
        nodes = [*nodes, *chain.from_iterable(place for label, place in children if label == TEXT)]
    features = page.features(nodes, options.features_per_leaf)
    return [feature << BITS_BELOW_HASH | count << PAGES_BITS for feature, count in features]


# --- the importance of the nodes that changed


def set_importance(elements: Iterable[ElementNode], options: TreeOptions) -> None:
    """Compute the importance of all nodes of some subtrees that changed, children first."""
    order, waiting = list[ElementNode](), list(elements)
    while waiting:
        element = waiting.pop()
        if not element.has_importance:
            order.append(element)
            for style in element.style_nodes.values():
                if not style.has_importance:
                    waiting += style.children
    for element in reversed(order):
        for style in element.style_nodes.values():
            if not style.has_importance:
                if style.children:
                    _set_style_importance(style, style.children)
                else:
                    children_with_importance(style, options)
        _set_element_importance(element, options)


def children_with_importance(style: StyleNode, options: TreeOptions) -> Sequence[ElementNode]:
    """Return the children of a style node with all that stands below them.

    Those of a folded one are made for the caller, and their importance and its own are set: it stays folded.
    """
    if style.folded is None:
        return style.children
    page, places = style.folded
    children = tuple(map(ElementNode, style.sequence))
    update_tree(list(zip(children, repeat(page), places, strict=False)), options, fold=False)
    set_importance(children, options)
    _set_style_importance(style, children)
    return children


def _set_style_importance(style: StyleNode, children: Sequence[ElementNode]) -> None:
    """Set CompImp(S) = Σ CompImp(E_j)/k, the mean over its k element nodes (KDD 2003, definition 4)."""
    style.importance = fsum(child.importance for child in children) / len(children)
    style.peak = max(child.peak for child in children)
    style.has_importance = True


def _set_element_importance(element: ElementNode, options: TreeOptions) -> None:
    """Set CompImp(E) = (1 − γ^l)·NodeImp(E) + γ^l·Σ p_i·CompImp(S_i), or the importance of a leaf's content."""
    styles = element.style_nodes.values()
    element.has_importance = True
    content = 0.0
    if options.data_node or not styles:
        most, presence = options.features_per_leaf, options.presence
        content = content_importance(element.features, element.pages, most, presence=presence)
    if not styles:
        element.importance = element.peak = content
        return
    counts = [style.pages for style in styles]
    if element.empty:
        counts.append(element.empty)  # an element without children has one empty style node, of importance 0
    total, damping = sum(counts), options.gamma ** len(counts)
    below = fsum(style.pages / total * style.importance for style in styles)
    importance = (1.0 - damping) * node_importance(counts, element.pages, options.single_page) + damping * below
    if options.data_node and len(element.features):
        importance = with_data_node(importance, content)
    element.importance = importance
    element.peak = max(importance, *(style.peak for style in styles))


# --- mapping a page to the tree


def match(
    root: ElementNode,
    page: PageShape,
    options: TreeOptions,
    children_of: Callable[[StyleNode], Sequence[ElementNode]],
) -> list[ElementNode | None]:
    """Return by node of a page its element node in a tree, None for those that the tree does not have.

    Args:
        root: The element node of the body.
        page: The page, which need not be in the tree.
        options: The choices that the sources leave open.
        children_of: Returns the children of a style node, none for one that is not to be entered.
    """
    elements: list[ElementNode | None] = [None] * len(page)
    waiting: list[tuple[ElementNode, Sequence[int]]] = [(root, (0,))]
    while waiting:
        element, nodes = waiting.pop()
        for node in nodes:
            elements[node] = element
        for sequence, places in page.styles(nodes, collapse=options.collapse).items():
            if sequence and (style := element.style_nodes.get(sequence)) is not None:
                waiting += zip(children_of(style), places, strict=False)
    return elements
