"""How important nodes are: by presentation, by content, and both together (composite importance, CompImp).

The equations are numbered as in Orisun's account of the paper (https://www.cnblogs.com/zhangchaoyang/articles/2679295.html).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from math import fsum, log

from denoise_crawler.methods.style_tree.page_nodes import MAX_OCCURRENCES
from denoise_crawler.methods.style_tree.tree import (
    FEATURE_BITS,
    MAX_TREE_PAGES,
    PAGES_BITS,
    ElementNode,
    Rules,
    StyleNode,
)


def rate(elements: Iterable[ElementNode], rules: Rules, rate_folded: Callable[[StyleNode], object]) -> None:
    """Compute the importance of all nodes of some subtrees that changed, children first.

    Args:
        elements: The tops of the subtrees.
        rules: The choices that the sources leave open.
        rate_folded: Rates a folded style node.

    """
    order, waiting = list[ElementNode](), [element for element in elements if not element.is_rated]
    while waiting:
        element = waiting.pop()
        order.append(element)
        for style in element.style_nodes.values():
            if not style.is_rated:
                waiting += [child for child in style.children if not child.is_rated]
    for element in reversed(order):
        for style in element.style_nodes.values():
            if style.is_rated:
                continue
            if style.children:
                rate_style(style, style.children)
            else:
                rate_folded(style)
        rate_element(element, rules)


def rate_element(element: ElementNode, rules: Rules) -> None:
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


def rate_style(style: StyleNode, children: Sequence[ElementNode]) -> None:
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
        while end < len(rows) and rows[end] >> FEATURE_BITS == row >> FEATURE_BITS:
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
        count, pages = row >> PAGES_BITS & MAX_OCCURRENCES, row & MAX_TREE_PAGES
        having += pages
        if count > 1:
            spread += count * log(count) * pages
        occurrences += count * pages
    return log(having) if presence or not spread else log(occurrences) - spread / occurrences


def with_data_node(former: float, data: float) -> float:
    """Return (1 − k)·F + k·D with k = D/(F + D), of an element and of its own text (pySST, 3.2)."""
    share = data / (former + data) if former + data else 0.0
    return (1.0 - share) * former + share * data
