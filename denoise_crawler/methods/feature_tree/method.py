"""``feature_tree``: what a similar page of the site has as well is noise (Song et al., 2011).

Of the rest, the clusters of nodes that six indicators find best are the content.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import fsum
from typing import TYPE_CHECKING, ClassVar, TypeAlias

import numpy as np

from denoise_crawler.methods.base import Judgement, Method, spare_holders, subtree_sums
from denoise_crawler.methods.bottom_k_sample import BottomKSample
from denoise_crawler.methods.feature_tree.matching import FULL_SIMILARITY, match, to_420ths
from denoise_crawler.methods.feature_tree.nodes import (
    MAX_NODES,
    FeatureTree,
    Measures,
    build_target,
    decode,
    encode,
)
from denoise_crawler.page import Page
from denoise_crawler.page.geometry import Box
from denoise_crawler.records.listings import outermost

if TYPE_CHECKING:
    from typing_extensions import Self


def most_similar(tree: FeatureTree, references: Iterable[FeatureTree]) -> FeatureTree | None:
    """Return the page that shares most nodes by depth, tag, id and class; None if there is no other page.

    The measure is 2·|A ∩ B| / (|A| + |B|) over the two pages' multisets of nodes. A page with the same URL or
    text is left out. Of equally similar pages the first one is returned.
    """
    others = [other for other in references if other.key != tree.key and other.text != tree.text]
    return max(others, key=lambda other: _share(tree, other), default=None)


def _share(tree: FeatureTree, other: FeatureTree) -> float:
    return 2 * (tree.names & other.names).total() / (len(tree) + len(other))


# --- what no similar page has: candidates in clusters, their indicators and points

Clusters: TypeAlias = Sequence[Sequence[int]]


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


REWARDS = (5, 3, 1)
PENALTIES = (-5, -3, -1)
# The shares of the page outside the main visual area: left and right, top and bottom.
MARGIN_ACROSS, MARGIN_DOWN = 1 / 4, 1 / 10


def scores(clusters: Clusters, measures: Measures, ends: Sequence[int]) -> list[int]:
    """Return the sum of points of each cluster, given by its outermost nodes, over all known indicators."""
    rows = indicators(clusters, measures, ends).items()
    earned = [points(values, PENALTIES if name == "link rate" else REWARDS) for name, values in rows]
    return [sum(of_cluster) for of_cluster in zip(*earned, strict=True)]


def indicators(clusters: Clusters, measures: Measures, ends: Sequence[int]) -> dict[str, list[float]]:
    """Return the values of the clusters by indicator; areas only for a rendered page."""
    columns = (measures.text, measures.code, measures.linked, measures.content_tags)
    sums = np.stack([subtree_sums(column, ends) for column in columns], axis=1)
    text, code, linked, tags = np.array([sums[list(cluster)].sum(axis=0) for cluster in clusters], float).T
    values = {
        "text length": text,
        "content tags": tags,
        "link rate": linked / code,
        "text/code ratio": text / code,
    }
    by_indicator: dict[str, list[float]] = {name: of_clusters.tolist() for name, of_clusters in values.items()}
    if (boxes := measures.boxes) is not None:
        middle = main_visual_area(boxes)
        drawn = [[box for index in cluster if (box := boxes[index]) is not None] for cluster in clusters]
        by_indicator["area"] = [fsum(box.area for box in of_cluster) for of_cluster in drawn]
        by_indicator["effective area"] = [fsum(box.overlap(middle) for box in of_cluster) for of_cluster in drawn]
    return by_indicator


def points(values: Sequence[float], by_place: Sequence[int]) -> list[int]:
    """Give points for the first places, from the largest value down.

    Equal values share a place. A value of 0 gets no points; otherwise all clusters of a page without links would
    get the penalty for the worst link rate.

    Example:
        >>> points([0.2, 0.9, 0.9, 0.0], REWARDS)
        [1, 5, 5, 0]
    """
    ranked = sorted(values, reverse=True)
    earned = [*by_place, *[0] * len(values)]
    return [earned[ranked.index(value)] if value > 0 else 0 for value in values]


def main_visual_area(boxes: Sequence[Box | None]) -> Box:
    """Return the middle of the page: the inner half of its width, the inner four fifths of its height."""
    drawn = [box for box in boxes if box is not None]
    width = max((box.left + box.width for box in drawn), default=0.0)
    height = max((box.top + box.height for box in drawn), default=0.0)
    left, top = width * MARGIN_ACROSS, height * MARGIN_DOWN
    return Box(left, top, width - 2 * left, height - 2 * top)


SIMILARITY_THRESHOLD = 0.3
CLOSENESS = 3
REFERENCES = 16


class FeatureTreeMatching(Method):
    """The best clusters of nodes that the most similar known page lacks are content; all else is noise.

    Of a site the ``references`` pages with the lowest hash of their URL are kept, in whatever order they are
    learned: ``merge`` is associative, commutative and idempotent. Of a page with more than ``MAX_NODES`` elements
    the first in level order are kept. A node's score is that of its cluster, or 0.

    Args:
        similarity_threshold: The similarity (Ts, 0 to 1) from which two nodes are similar.
        closeness: How many points below the best cluster other clusters are still content.
        references: How many pages of the site are kept for comparison.

    Raises:
        ValueError: An option is out of range.
    """

    name: ClassVar[str] = "feature_tree"
    learns: ClassVar[bool] = True
    sample: BottomKSample[FeatureTree]

    def __init__(
        self,
        similarity_threshold: float = SIMILARITY_THRESHOLD,
        *,
        closeness: int = CLOSENESS,
        references: int = REFERENCES,
    ) -> None:
        if not 0.0 < similarity_threshold <= 1.0:
            raise ValueError(f"similarity_threshold must lie above 0 and not above 1, not {similarity_threshold}")
        if closeness < 0:
            raise ValueError(f"closeness must not be negative, not {closeness}")
        if references < 1:
            raise ValueError(f"references must be at least 1, not {references}")
        self.similarity_threshold, self.closeness = similarity_threshold, closeness
        self.sample = BottomKSample(references, lambda tree: encode([tree]))

    @property
    def store_key(self) -> str:
        """The name of the method with the number of pages to keep."""
        return f"{self.name}:{self.sample.limit}"

    def observe(self, page: Page) -> None:
        """Add ``page`` to the references if its key is low enough."""
        if self.wants(page):
            self.sample.add(build_target(page).tree.first(MAX_NODES))

    def merge(self, other: Self) -> None:
        """Add the references of ``other``."""
        self.sample.merge(other.sample)

    def to_bytes(self) -> bytes:
        """Return the references as bytes; equal references give equal bytes."""
        return encode(list(self.sample))

    def merge_bytes(self, data: bytes) -> None:
        """Add stored references; raise :class:`KnowledgeFormatError` for other bytes."""
        self.sample.merge(decode(data))

    def judge(self, page: Page) -> Judgement:
        """Keep the clusters with the most points and their ancestors."""
        nodes, target = page.nodes, build_target(page)
        if (similar := most_similar(target.tree, self.sample)) is None:
            return Judgement.all_kept(nodes, "no other page of the site to compare with, so all was kept")
        name, threshold = f"the similar page {similar.key:016x}", to_420ths(self.similarity_threshold)
        matching = match(target.tree, similar, threshold)
        candidates = sorted(target.order[matching.candidates(threshold)].tolist())
        if not candidates:
            return Judgement.all_kept(nodes, f"{name} has all that this page has, so all was kept")
        clusters = group_candidates(outermost(nodes, candidates), nodes.parents)
        points = scores(clusters, target.measures, nodes.ends)
        best = max(points)
        cluster_of = [-1] * len(nodes)
        for number, cluster in enumerate(clusters):
            for index in cluster:
                cluster_of[index : nodes.ends[index]] = [number] * (nodes.ends[index] - index)
        chosen = [number >= 0 and points[number] >= best - self.closeness for number in cluster_of]
        noise = spare_holders([not kept for kept in chosen], nodes.parents)
        similarities = dict(
            zip(target.order.tolist(), (matching.similarities / FULL_SIMILARITY).tolist(), strict=True)
        )

        def reason(index: int) -> str:
            if (number := cluster_of[index]) >= 0:
                return f"candidate, cluster {number + 1} with score {points[number]}, best is {best}"
            of_text = bool(nodes.texts[index])
            subject = "its element matched" if of_text else "matched"
            similarity = similarities[nodes.parents[index] if of_text else index]
            holds = "" if noise[index] else ", but holds content"
            return f"{subject} a node of {name} with similarity {similarity:.2f}{holds}"

        return Judgement(noise, [float(points[number]) if number >= 0 else 0.0 for number in cluster_of], reason)
