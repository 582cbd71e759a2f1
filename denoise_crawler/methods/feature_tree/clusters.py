"""Clusters of candidates that are close to each other in the tree."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence


def outermost(candidates: Iterable[int], ends: Sequence[int]) -> list[int]:
    """Return the candidates, in document order, that are not below another."""
    found: list[int] = []
    for index in candidates:
        if not found or index >= ends[found[-1]]:
            found.append(index)
    return found


def group_candidates(candidates: Sequence[int], parents: Sequence[int]) -> list[list[int]]:
    """Group ``candidates``, in document order: siblings, and those whose grandparent is another's parent.

    Grouping is transitive.

    Example:
        >>> group_candidates([2, 3, 5], parents=[-1, 0, 1, 1, 0, 4])
        [[2, 3], [5]]

    """
    group: dict[int, int] = {}  # by the parent of candidates
    for parent in sorted({parents[index] for index in candidates}):
        above = parents[parent] if parent >= 0 else -1
        group[parent] = group.get(above, parent)
    clusters: dict[int, list[int]] = {}
    for index in candidates:
        clusters.setdefault(group[parents[index]], []).append(index)
    return list(clusters.values())
