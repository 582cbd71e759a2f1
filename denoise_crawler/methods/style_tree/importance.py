"""How important a node of a style tree is: by presentation (KDD 2003), by content, and by its own text (pySST)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import groupby, islice
from math import fsum, log

from denoise_crawler.methods.style_tree.page_nodes import (
    BITS_BELOW_HASH,
    MAX_OCCURRENCES,
    MAX_TREE_PAGES,
    PAGES_BITS,
)


def node_importance(counts: Sequence[int], pages: int, single_page: float = 0.0) -> float:
    """Return the presentation importance of an element: NodeImp(E) = −Σ p_i·log_m p_i (KDD 2003, definition 3).

    Args:
        counts: n_i, the pages of each of its style nodes; p_i is their share.
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


def content_importance(features: Sequence[int], pages: int, most: int, *, presence: bool) -> float:
    """Return the importance of an element's actual content: 1 − Σ H(a_i)/l, over the l lowest of its features.

    Args:
        features: The features of an element of the tree.
        pages: The pages that have it.
        most: The most features that count.
        presence: As for :func:`entropy`.
    """
    if not len(features) or pages < 2:
        return float(len(features) > 0)
    entropies, number = 0.0, 0
    for _, rows in islice(groupby(features, key=BITS_BELOW_HASH.__rrshift__), most):
        entropies += entropy(rows, presence=presence) / log(pages)
        number += 1
    return 1.0 - entropies / number


def entropy(rows: Iterable[int], *, presence: bool) -> float:
    """Return H(a) = −Σ p_j·log p_j of a feature, p_j the probability that it comes from page j.

    With c_j occurrences on page j and N in all this is ``log N − (Σ c_j·log c_j)/N``, so no page need be known.

    Args:
        rows: A feature in the features of an element of the tree.
        presence: Whether each page that has it is as probable as any other.
    """
    occurrences, spread, having = 0, 0.0, 0
    for row in rows:
        count, pages = row >> PAGES_BITS & MAX_OCCURRENCES, row & MAX_TREE_PAGES
        having += pages
        occurrences += count * pages
        spread += count * log(count) * pages
    return log(having) if presence or not spread else log(occurrences) - spread / occurrences


def with_data_node(former: float, data: float) -> float:
    """Return (1 − k)·F + k·D with k = D/(F + D), of an element and of its own text (pySST, 3.2)."""
    share = data / (former + data) if former + data else 0.0
    return (1.0 - share) * former + share * data
