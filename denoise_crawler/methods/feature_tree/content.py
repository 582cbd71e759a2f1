"""The content of a page: the best clusters of nodes that a similar page does not have."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from denoise_crawler.methods.feature_tree.clusters import group_candidates, outermost
from denoise_crawler.methods.feature_tree.indicators import scores
from denoise_crawler.methods.feature_tree.matching import match
from denoise_crawler.methods.feature_tree.similarity import FULL_SIMILARITY, to_420ths

if TYPE_CHECKING:
    from denoise_crawler.methods.feature_tree.nodes import FeatureTree, Target
    from denoise_crawler.page import Nodes


@dataclass(slots=True)
class Content:
    """The content of a page.

    ``clusters`` are lists of outermost candidates in document order, each with one of ``scores``; ``chosen`` tells
    which are content. ``cluster_of[i]`` is the cluster that holds node i, or -1; ``similarities[i]`` is the
    similarity of element i and its partner, or -1.0.
    """

    clusters: list[list[int]]
    scores: list[int]
    chosen: list[bool]
    cluster_of: list[int]
    similarities: list[float]


def find_content(
    nodes: Nodes, target: Target, similar: FeatureTree, similarity_threshold: float, closeness: int
) -> Content:
    """Match a page with a similar page and choose its content.

    Args:
        nodes: The nodes of the page.
        target: Its feature tree.
        similar: The feature tree of the similar page.
        similarity_threshold: The similarity (0 to 1) from which two nodes are similar.
        closeness: How many points below the best cluster other clusters are still content.

    """
    threshold = to_420ths(similarity_threshold)
    matching = match(target.tree, similar, threshold)
    candidates = sorted(target.order[matching.candidates(threshold)].tolist())
    clusters = group_candidates(outermost(candidates, nodes.ends), nodes.parents)
    found = scores(clusters, target.measures, nodes.ends)
    least = max(found, default=0) - closeness
    cluster_of = [-1] * len(nodes)
    for number, cluster in enumerate(clusters):
        for index in cluster:
            cluster_of[index : nodes.ends[index]] = [number] * (nodes.ends[index] - index)
    similarities = [-1.0] * len(nodes)
    for index, partner, parts in zip(
        target.order.tolist(), matching.partners.tolist(), matching.similarities.tolist(), strict=True
    ):
        similarities[index] = parts / FULL_SIMILARITY if partner >= 0 else -1.0
    return Content(clusters, found, [score >= least for score in found], cluster_of, similarities)
