"""How important a node is: NodeImp and CompImp (Yi, Liu & Li, KDD 2003; pySST's data node)."""

from __future__ import annotations

from dataclasses import dataclass
from math import fsum, log
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from denoise_crawler.methods.style_tree.nodes import ElementNode, StyleNode

    Unfold: TypeAlias = Callable[[StyleNode], Sequence[ElementNode]]


@dataclass(frozen=True, slots=True)
class ImportanceRules:
    """The choices that the sources leave open.

    Args:
        gamma: The damping γ.
        single_page: The NodeImp of an inner node on one page (m = 1): 0 in the blog, 1 in the KDD paper.
        presence: Whether p_j is a share of pages rather than of occurrences.
        data_node: Whether every element also has the importance of its own text (pySST).
        features_per_leaf: The most features of a leaf that count.

    """

    gamma: float = 0.9
    single_page: float = 0.0
    presence: bool = False
    data_node: bool = False
    features_per_leaf: int = 64


def node_importance(counts: Iterable[int], pages: int, *, single_page: float = 0.0) -> float:
    """Return NodeImp(E) = −Σ p_i·log_m p_i from the page counts n_i of E's style nodes, m = ``pages``."""
    if pages < 2:
        return single_page
    counts = list(counts)
    total = sum(counts)
    found = -fsum(count / total * log(count / total) for count in counts if count) / log(pages)
    return min(1.0, max(0.0, found))  # with collapsed runs, one page can have several sequences here


def combine_importance(former: float, data: float) -> float:
    """Return pySST's CompImp_final = (1 − k)·F + k·D with k = D/(F + D); 0 when both are 0."""
    if former + data == 0.0:
        return 0.0
    share = data / (former + data)
    return (1.0 - share) * former + share * data


def refresh(root: ElementNode, rules: ImportanceRules, unfold: Unfold) -> None:
    """Compute the missing importances of all nodes below ``root``, children first.

    Args:
        root: The top node.
        rules: How importance is computed.
        unfold: Returns the children of a folded style node, which are dropped after use.

    """
    waiting = [(root, False)]
    while waiting:
        element, children_done = waiting.pop()
        if element.importance is not None:
            continue
        if not children_done and not element.is_leaf:
            waiting.append((element, True))
            waiting.extend((child, False) for style in element.styles.values() for child in style.children)
            continue
        for style in element.styles.values():
            if style.importance is None:
                children = style.children
                if style.folded is not None:
                    children = unfold(style)
                    for child in children:
                        refresh(child, rules, unfold)  # recurses once: unfolded nodes have no folded ones
                _rate_style(style, children)
        _rate_element(element, rules)


def _rate_element(element: ElementNode, rules: ImportanceRules) -> None:
    features, data = element.features, 0.0
    if features is not None:
        data = features.importance(element.pages, rules.features_per_leaf, presence=rules.presence)
    if element.is_leaf:
        element.importance = element.peak = data
        return
    styles = element.styles.values()
    total = sum(style.pages for style in styles)
    below = fsum(style.pages / total * (style.importance or 0.0) for style in styles)
    own = node_importance((style.pages for style in styles), element.pages, single_page=rules.single_page)
    damping = rules.gamma ** len(styles)
    former = (1.0 - damping) * own + damping * below
    element.importance = combine_importance(former, data) if rules.data_node and features else former
    element.peak = max(element.importance, *(style.peak for style in styles))


def _rate_style(style: StyleNode, children: Sequence[ElementNode]) -> None:
    """Set CompImp(S), the mean over its element nodes; 0 for an empty sequence."""
    style.importance = fsum(child.importance or 0.0 for child in children) / len(children) if children else 0.0
    style.peak = max((child.peak for child in children), default=0.0)
