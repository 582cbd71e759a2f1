"""Clusters of candidates: those that stand close together in the tree."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence


def outermost(candidates: Iterable[int], ends: Sequence[int]) -> list[int]:
    """Return the candidates (document order) that do not lie below another."""
    found: list[int] = []
    for index in candidates:
        if not found or index >= ends[found[-1]]:
            found.append(index)
    return found


def clustered(candidates: Sequence[int], parents: Sequence[int]) -> list[list[int]]:
    """Group ``candidates`` (document order) that share a parent, or where one's grandparent is another's parent.

    Transitively: what is grouped with one of a group belongs to the group.
    """
    group: dict[int, int] = {}  # of a parent of candidates
    for parent in sorted({parents[index] for index in candidates}):
        above = parents[parent] if parent >= 0 else -1
        group[parent] = group.get(above, parent)
    clusters: dict[int, list[int]] = {}
    for index in candidates:
        clusters.setdefault(group[parents[index]], []).append(index)
    return list(clusters.values())
