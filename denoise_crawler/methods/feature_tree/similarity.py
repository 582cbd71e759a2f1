"""The similarity of two feature nodes: rules 1–7 of the paper, in 420ths.

A similarity is a share of at most seven features, so it is a whole number of 420ths. Sums are exact, and paths
with equal scores compare equal.
"""

from __future__ import annotations

from itertools import pairwise
from math import ceil
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from denoise_crawler.methods.feature_tree.nodes import CLASS, DEPTH, HEIGHT, ID, INNER, LEFT, TAG, TOP, WIDTH
from denoise_crawler.page.text import hash64

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy.typing as npt

    from denoise_crawler.methods.feature_tree.nodes import Features, FeatureTree

    Similarities: TypeAlias = npt.NDArray[np.uint16]

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
    result = np.zeros((len(rows), len(columns)), np.uint16)
    for tag in np.intersect1d(rows[:, TAG], columns[:, TAG]):
        if tag == BODY:
            result[np.ix_(rows[:, TAG] == tag, columns[:, TAG] == tag)] = FULL_SIMILARITY
            continue
        for content in (True, False):
            across = np.flatnonzero((columns[:, TAG] == tag) & ((columns[:, INNER] > 0) == content))
            down = np.flatnonzero((rows[:, TAG] == tag) & ((rows[:, INNER] > 0) == content))
            if len(across) and len(down):
                block = _same_content if content else _same_features
                result[np.ix_(down, across)] = block(rows[down, None], columns[None, across], features)
    return result


def pairwise_similarities(one: Features, other: Features, features: Sequence[int]) -> Similarities:
    """Return the similarity of ``one[i]`` with ``other[i]`` for each i, by all rules except rule 4 on parents."""
    result = np.zeros(len(one), np.uint16)
    same = one[:, TAG] == other[:, TAG]
    content, beside = one[:, INNER] > 0, other[:, INNER] > 0
    for block, chosen in ((_same_content, same & content & beside), (_same_features, same & ~(content | beside))):
        result[chosen] = block(one[chosen], other[chosen], features)
    result[same & (one[:, TAG] == BODY)] = FULL_SIMILARITY
    return result


def _same_content(rows: Features, columns: Features, _: Sequence[int]) -> Similarities:
    result: Similarities = (rows[..., INNER] == columns[..., INNER]) * np.uint16(FULL_SIMILARITY)
    return result


def _same_features(rows: Features, columns: Features, features: Sequence[int]) -> Similarities:
    """Return the share of equal features among those that at least one of the two nodes has."""
    total = np.zeros(np.broadcast_shapes(rows.shape, columns.shape)[:-1], np.uint16)
    equal = np.zeros_like(total)
    for feature in features:
        left, right = rows[..., feature], columns[..., feature]
        if left.any() or right.any():
            known = (left > 0) | (right > 0)
            total += known
            equal += known & (left == right)
    return equal * (FULL_SIMILARITY // total).astype(np.uint16)  # total is never 0: each node has a depth


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
