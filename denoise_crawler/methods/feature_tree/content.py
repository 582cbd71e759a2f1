"""The content of a page: the best clusters of what a similar page does not have."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from denoise_crawler.methods.feature_tree.clusters import clustered, outermost
from denoise_crawler.methods.feature_tree.indicators import scores
from denoise_crawler.methods.feature_tree.matching import match
from denoise_crawler.methods.feature_tree.similarity import WHOLE, in_parts

if TYPE_CHECKING:
    from denoise_crawler.methods.feature_tree.nodes import FeatureTree, Target
    from denoise_crawler.page import Nodes


@dataclass(slots=True)
class Content:
    """What was found, by page node in document order.

    ``clusters`` are lists of outermost candidates in the order of the document, with their
    ``scores``; ``chosen`` tells which are content. ``cluster_of[i]`` is the cluster that node i is in or below,
    -1 for none; ``similarities[i]`` that of an element and its partner, -1.0 without one.
    """

    clusters: list[list[int]]
    scores: list[int]
    chosen: list[bool]
    cluster_of: list[int]
    similarities: list[float]


def find_content(
    nodes: Nodes, target: Target, similar: FeatureTree, similarity_threshold: float, closeness: int
) -> Content:
    """Match ``target``, the feature tree of a page with these ``nodes``, with a similar page; choose its content.

    Content are the cluster with the highest score and those at most ``closeness`` points below.
    """
    threshold = in_parts(similarity_threshold)
    matching = match(target.tree, similar, threshold)
    candidates = sorted(target.order[matching.candidates(threshold)].tolist())
    clusters = clustered(outermost(candidates, nodes.ends), nodes.parents)
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
        similarities[index] = parts / WHOLE if partner >= 0 else -1.0
    return Content(clusters, found, [score >= least for score in found], cluster_of, similarities)
