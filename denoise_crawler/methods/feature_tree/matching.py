"""The similarity of two feature nodes (rules 1–7 of the paper), and the matching of two pages by its largest sum.

A similarity is a share of at most seven features, so it is a whole number of 420ths. Sums are exact, and paths
with equal scores compare equal.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from math import ceil
from typing import NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from denoise_crawler.methods.feature_tree.nodes import (
    CLASS,
    DEPTH,
    HEIGHT,
    ID,
    INNER,
    LEFT,
    TAG,
    TOP,
    WIDTH,
    Features,
    FeatureTree,
    Numbers,
)
from denoise_crawler.page.text import hash64

Similarities: TypeAlias = npt.NDArray[np.uint16]
Scores: TypeAlias = npt.NDArray[np.int32]

FULL_SIMILARITY = 420
BODY = np.uint64(hash64("body"))
_MARKUP = (ID, CLASS, DEPTH)
_SPACE = (WIDTH, HEIGHT, LEFT, TOP)


def to_420ths(similarity: float) -> int:
    """Round ``similarity`` (0 to 1) up to 420ths."""
    return ceil(similarity * FULL_SIMILARITY - 1e-6)


def comparable_features(target: FeatureTree, similar: FeatureTree) -> tuple[int, ...]:
    """Return the features of rule 7 by which two pages can be compared.

    Lengths count only if both pages were rendered or neither was.
    """
    return _MARKUP + _SPACE if target.drawn == similar.drawn else _MARKUP


def similarity_table(rows: Features, columns: Features, features: Sequence[int]) -> Similarities:
    """Return the similarity of each of ``rows`` with each of ``columns``, by all rules except the parents' (4)."""
    table = np.zeros((len(rows), len(columns)), np.uint16)
    for tag in np.intersect1d(rows[:, TAG], columns[:, TAG]):  # rule 1: nodes of different tags are not similar
        down, across = np.flatnonzero(rows[:, TAG] == tag), np.flatnonzero(columns[:, TAG] == tag)
        is_body = tag == BODY  # rules 2 and 3
        of_tag = FULL_SIMILARITY if is_body else _of_one_tag(rows[down, None], columns[None, across], features)
        table[np.ix_(down, across)] = of_tag
    return table


def _of_one_tag(rows: Features, columns: Features, features: Sequence[int]) -> Similarities:
    """Return 1 for content nodes of equal inner HTML (rule 5), for structure nodes the share of equal features.

    That is the share among those that at least one of the two nodes has (rule 7); a content and a structure node
    have none (rule 6).
    """
    inner, other_inner = rows[..., INNER], columns[..., INNER]
    same: Similarities = (inner == other_inner).astype(np.uint16)  # structure nodes as well
    total = np.zeros_like(same)
    equal = np.zeros_like(same)
    for feature in features:
        left, right = rows[..., feature], columns[..., feature]
        if left.any() or right.any():
            known = (left > 0) | (right > 0)
            total += known
            equal += known & (left == right)
    shares = equal * (FULL_SIMILARITY // total).astype(np.uint16)  # total is never 0: each node has a depth
    return same * np.where(inner > 0, np.uint16(FULL_SIMILARITY), shares)


def kind_similarities(target: FeatureTree, similar: FeatureTree, threshold: int) -> Similarities:
    """Return the similarities of the kinds of ``similar`` (rows) and ``target`` (columns) by all rules.

    Kinds whose parents' similarity is below ``threshold`` (420ths) have similarity 0, level by level.
    """
    result = similarity_table(similar.features, target.features, comparable_features(target, similar))
    bodies = similar.features[:, TAG] == BODY
    exempt = target.features[:, TAG] == BODY
    depths = similar.features[:, DEPTH]
    starts = [*np.flatnonzero(np.diff(depths)) + 1, len(depths)]
    for start, end in pairwise(starts):
        parents = similar.kind_parents[start:end]
        first = int(parents.min())
        alike = result[first : int(parents.max()) + 1] >= threshold
        allowed = alike[parents - first][:, target.kind_parents]
        allowed[bodies[start:end]] |= exempt
        result[start:end] *= allowed
    return result


class Matching(NamedTuple):
    """For each node of the target, in level order, its partner in the similar page and their similarity.

    ``partners[i]`` is -1 for a node without a partner (direction left), whose similarity is 0. Similarities are in
    420ths.
    """

    partners: Numbers
    similarities: Numbers

    @classmethod
    def without_partners(cls, size: int) -> Matching:
        """Return the matching of ``size`` nodes that have no partner."""
        return cls(np.full(size, -1, np.int64), np.zeros(size, np.int64))

    def candidates(self, threshold: int) -> Numbers:
        """Return the nodes without a similar partner, in level order."""
        return np.flatnonzero(self.similarities < threshold)


MAX_CELLS = 9_000_000
MAX_PIECE_CHILDREN = 2_000


def match(target: FeatureTree, similar: FeatureTree, threshold: int, *, max_cells: int = MAX_CELLS) -> Matching:
    """Match the nodes of two trees.

    Args:
        target: The tree of the page to judge.
        similar: The tree of the similar page.
        threshold: The similarity, in 420ths above 0, from which nodes are similar.
        max_cells: Trees with a larger table are matched by :func:`match_top_down` instead.
    """
    if (len(target) + 1) * (len(similar) + 1) > max_cells:
        return match_top_down(target, similar, threshold)
    matching = Matching.without_partners(len(target))
    similarities = kind_similarities(target, similar, threshold)
    for row, column in trace_back(similarities, similar.kinds, target.kinds):
        matching.partners[column] = row
        matching.similarities[column] = similarities[similar.kinds[row], target.kinds[column]]
    return matching


def score_table(similarities: Similarities, rows: Numbers, columns: Numbers) -> Scores:
    """Return the table of the best sums: cell (i, j) is that of the first i rows and the first j columns.

    ``similarities`` are those of each two kinds, ``rows`` the kinds of the similar page's nodes, ``columns`` those
    of the target's.
    """
    table = np.zeros((len(rows) + 1, len(columns) + 1), np.int32)
    gain = np.empty(len(columns), np.int32)
    for index, kind in enumerate(rows.tolist()):
        above, cells = table[index], table[index + 1, 1:]
        np.add(above[:-1], similarities[kind].take(columns), out=gain)
        np.maximum(gain, above[1:], out=gain)
        np.maximum.accumulate(gain, out=cells)  # the best of diagonal and up, here or further left
    return table


def trace_back(similarities: Similarities, rows: Numbers, columns: Numbers) -> Iterator[tuple[int, int]]:
    """Yield the matches (row, column), from the last to the first: the diagonal steps of the trace-back.

    Among directions with the same score diagonal comes first, then up, then left.
    """
    table = score_table(similarities, rows, columns)
    row, column = len(rows), len(columns)
    while row and column:
        score = table[row, column]
        if score == table[row - 1, column - 1] + int(similarities[rows[row - 1], columns[column - 1]]):
            row, column = row - 1, column - 1
            yield row, column
        elif score == table[row - 1, column]:
            row -= 1
        else:
            column -= 1


def match_top_down(target: FeatureTree, similar: FeatureTree, threshold: int) -> Matching:
    """Match, level by level, the children of matched nodes only.

    Two lists of more than ``MAX_PIECE_CHILDREN`` children are cut into equal numbers of pieces, which are matched
    in order. So there are at most ``MAX_PIECE_CHILDREN`` cells for each node of the longer list.
    """
    matching, features = Matching.without_partners(len(target)), comparable_features(target, similar)
    matching.partners[0], matching.similarities[0] = 0, FULL_SIMILARITY
    row_starts, column_starts = _child_starts(similar), _child_starts(target)
    waiting = [(0, 0)]
    while waiting:
        row, column = waiting.pop()
        of_row = np.arange(row_starts[row], row_starts[row + 1])
        of_column = np.arange(column_starts[column], column_starts[column + 1])
        shorter, longer = sorted((len(of_row), len(of_column)))
        count = -(-longer // MAX_PIECE_CHILDREN) if shorter > MAX_PIECE_CHILDREN else min(shorter, 1)
        for piece in range(count):
            rows, columns = (
                children[len(children) * piece // count : len(children) * (piece + 1) // count]
                for children in (of_row, of_column)
            )
            similarities = similarity_table(
                similar.features[similar.kinds[rows]], target.features[target.kinds[columns]], features
            )
            for down, across in trace_back(similarities, np.arange(len(rows)), np.arange(len(columns))):
                partner, node, similarity = int(rows[down]), int(columns[across]), int(similarities[down, across])
                matching.partners[node], matching.similarities[node] = partner, similarity
                if similarity >= threshold:
                    waiting.append((partner, node))
    return matching


def _child_starts(tree: FeatureTree) -> list[int]:
    """Return where the children of each node start; those of node i end where those of i + 1 start."""
    starts: list[int] = np.searchsorted(tree.parents, np.arange(len(tree) + 1)).tolist()
    return starts
