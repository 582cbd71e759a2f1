"""The six indicators of a cluster, and the points for them."""

from __future__ import annotations

from math import fsum
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from denoise_crawler.methods.feature_tree.nodes import subtree_sums
from denoise_crawler.page.geometry import Box

if TYPE_CHECKING:
    from collections.abc import Sequence

    from denoise_crawler.methods.feature_tree.nodes import Measures

    Clusters: TypeAlias = Sequence[Sequence[int]]

REWARDS = (5, 3, 1)
PENALTIES = (-5, -3, -1)
# The shares of the page outside the main visual area: left and right, top and bottom.
MARGIN_ACROSS, MARGIN_DOWN = 1 / 4, 1 / 10


def scores(clusters: Clusters, measures: Measures, ends: Sequence[int]) -> list[int]:
    """Return the sum of points of each cluster over all known indicators.

    Args:
        clusters: The outermost nodes of each cluster.
        measures: The measures of the page.
        ends: The end of each node's subtree.

    """
    found = indicators(clusters, measures, ends)
    by_indicator = [
        points(values, PENALTIES if name == "link rate" else REWARDS) for name, values in found.items()
    ]
    return [sum(earned) for earned in zip(*by_indicator, strict=True)]


def indicators(clusters: Clusters, measures: Measures, ends: Sequence[int]) -> dict[str, list[float]]:
    """Return the values of the clusters by indicator; areas only for a rendered page."""
    columns = (measures.text, measures.code, measures.linked, measures.content_tags)
    text, code, linked, tags = (_cluster_sums(clusters, subtree_sums(column, ends)) for column in columns)
    found = {
        "text length": text,
        "content tags": tags,
        "link rate": [part / whole for part, whole in zip(linked, code, strict=True)],
        "text/code ratio": [part / whole for part, whole in zip(text, code, strict=True)],
    }
    if measures.boxes is not None:
        found |= _areas(clusters, measures.boxes)
    return found


def points(values: Sequence[float], given: Sequence[int]) -> list[int]:
    """Give points for the first places, from the largest value down.

    Equal values share a place. A value of 0 gets no points; otherwise all clusters of a page without links would
    get the penalty for the worst link rate.

    Example:
        >>> points([0.2, 0.9, 0.9, 0.0], REWARDS)
        [1, 5, 5, 0]

    """
    ranked = sorted(values, reverse=True)
    places = [ranked.index(value) for value in values]
    return [
        given[place] if value > 0 and place < len(given) else 0
        for value, place in zip(values, places, strict=True)
    ]


def main_visual_area(boxes: Sequence[Box | None]) -> Box:
    """Return the middle of the page: the inner half of its width, the inner four fifths of its height."""
    drawn = [box for box in boxes if box is not None]
    width = max((box.left + box.width for box in drawn), default=0.0)
    height = max((box.top + box.height for box in drawn), default=0.0)
    left, top = width * MARGIN_ACROSS, height * MARGIN_DOWN
    return Box(left, top, width - 2 * left, height - 2 * top)


def _cluster_sums(clusters: Clusters, column: np.ndarray[tuple[int, ...], np.dtype[np.int64]]) -> list[float]:
    return [float(column[list(cluster)].sum()) for cluster in clusters]


def _areas(clusters: Clusters, boxes: Sequence[Box | None]) -> dict[str, list[float]]:
    middle = main_visual_area(boxes)
    drawn = [[box for index in cluster if (box := boxes[index]) is not None] for cluster in clusters]
    return {
        "area": [fsum(box.area for box in found) for found in drawn],
        "effective area": [fsum(box.overlap(middle) for box in found) for found in drawn],
    }
