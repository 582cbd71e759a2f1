"""``feature_tree``: what a similar page of the site has as well is noise (Song et al., 2011).

Of the rest, the clusters of nodes that six indicators find best are the content.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import fsum
from typing import TYPE_CHECKING, ClassVar, TypeAlias

import msgspec
import numpy as np

from denoise_crawler.errors import ReferencesFormatError
from denoise_crawler.methods.base import Judgement, Method, spare_holders, subtree_sums
from denoise_crawler.methods.bottom_k_sample import BottomKSample
from denoise_crawler.methods.feature_tree.matching import FULL_SIMILARITY, match, to_420ths
from denoise_crawler.methods.feature_tree.nodes import (
    DEPTH,
    MAX_NODES,
    Features,
    FeatureTree,
    Measures,
    Numbers,
    Target,
    build_target,
    depths_of,
)
from denoise_crawler.methods.stored_bytes import VersionedFormat, pack_numbers, unpack_numbers
from denoise_crawler.page import Nodes, Page
from denoise_crawler.page.geometry import Box

if TYPE_CHECKING:
    from typing_extensions import Self


class References(BottomKSample[FeatureTree]):
    """At most ``limit`` pages: those with the lowest hash of their URL, in whatever order they are learned.

    ``merge`` is associative, commutative and idempotent. Of a page with more than ``MAX_NODES`` elements the first
    in level order are kept.

    Raises:
        ValueError: ``limit`` is below 1.
    """

    def __init__(self, limit: int) -> None:
        if limit < 1:
            raise ValueError(f"references must be at least 1, not {limit}")
        super().__init__(limit, lambda tree: encode([tree]))

    def learn(self, page: Page) -> None:
        """Learn ``page`` if it is wanted."""
        if self.wants(page.key):
            self.add(build_target(page).tree.first(MAX_NODES))

    def merge_bytes(self, data: bytes) -> None:
        """Learn stored pages; raise :class:`ReferencesFormatError` for other bytes."""
        self.merge(decode(data))

    def to_bytes(self) -> bytes:
        """Return the pages as bytes; equal sets give equal bytes."""
        return encode(list(self))

    def most_similar(self, tree: FeatureTree) -> FeatureTree | None:
        """Return the page that shares most nodes by depth, tag, id and class; None if there is no other page.

        The measure is 2·|A ∩ B| / (|A| + |B|) over the two pages' multisets of nodes. A page with the same URL or
        text is left out. Of equally similar pages the one with the lowest hash is taken.
        """
        others = [other for other in self if other.key != tree.key and other.text != tree.text]
        shares = [_share(tree, other) for other in others]
        return others[shares.index(max(shares))] if shares else None


def _share(tree: FeatureTree, other: FeatureTree) -> float:
    (names, counts), (other_names, other_counts) = tree.shape, other.shape
    _, here, there = np.intersect1d(names, other_names, assume_unique=True, return_indices=True)
    return 2 * float(np.minimum(counts[here], other_counts[there]).sum()) / (len(tree) + len(other))


_COLUMNS = 9


_FORMAT = VersionedFormat(b"FTR\x01", "reference pages", ReferencesFormatError)


class _PageRecord(msgspec.Struct, array_like=True):
    key: int
    text: int
    drawn: bool
    parents: bytes  # differences between neighbours
    kinds: bytes
    kind_parents: bytes
    features: bytes  # column by column, indices into the values; without the depth, which follows from the parents


class _ReferencesRecord(msgspec.Struct, array_like=True):
    values: bytes  # the distinct features of all pages, ascending
    trees: list[_PageRecord]


def encode(trees: Sequence[FeatureTree]) -> bytes:
    """Convert ``trees``, in the order of their keys, to bytes."""
    stored = [np.delete(tree.features, DEPTH, axis=1).T for tree in trees]
    values = np.unique(np.concatenate([np.zeros(0, np.uint64), *(features.ravel() for features in stored)]))
    records = []
    for tree, features in zip(trees, stored, strict=True):
        parents, places = np.diff(tree.parents[1:], prepend=0), np.searchsorted(values, features)
        columns = map(pack_numbers, (parents, tree.kinds, tree.kind_parents, places))
        records.append(_PageRecord(tree.key, tree.text, tree.drawn, *columns))
    return _FORMAT.write(_ReferencesRecord(values.astype("<u8").tobytes(), records))


def decode(data: bytes) -> list[FeatureTree]:
    """Read what :func:`encode` returned; raise :class:`ReferencesFormatError` for anything else."""
    return _FORMAT.read(data, _ReferencesRecord, _read_trees)


def _read_trees(record: _ReferencesRecord) -> list[FeatureTree]:
    values = np.frombuffer(record.values, "<u8").astype(np.uint64)
    return [_read_tree(tree, values) for tree in record.trees]


def _read_tree(record: _PageRecord, values: Features) -> FeatureTree:
    kinds, kind_parents = unpack_numbers(record.kinds), unpack_numbers(record.kind_parents)
    parents = np.concatenate(([-1], np.cumsum(unpack_numbers(record.parents))))
    _check_tree(parents, kinds, kind_parents)
    stored = values[unpack_numbers(record.features).reshape(_COLUMNS - 1, len(kind_parents)).T]
    features = np.insert(stored, DEPTH, depths_of(kind_parents).astype(np.uint64), axis=1)
    return FeatureTree(record.key, record.text, record.drawn, parents, kinds, kind_parents, features)


def _check_tree(parents: Numbers, kinds: Numbers, kind_parents: Numbers) -> None:
    """Raise ValueError unless nodes are in level order and kinds in the order of their first nodes."""
    size = len(kinds)
    if size > MAX_NODES:
        raise ValueError(f"a page of more than {MAX_NODES:,} nodes")
    if not size or len(parents) != size or kinds[0] or not kinds[1:].all() or kind_parents[0]:
        raise ValueError("a page that does not fit together")
    later, highest = np.arange(1, size), np.maximum.accumulate(kinds)
    ordered = (parents[1:] < later).all() and (np.diff(parents) >= 0).all() and (np.diff(highest) <= 1).all()
    if not ordered or highest[-1] != len(kind_parents) - 1:
        raise ValueError("a page whose nodes are not in level order")
    if (kind_parents[kinds[1:]] != kinds[parents[1:]]).any():
        raise ValueError("a page whose kinds do not fit its nodes")


# --- what no similar page has: candidates in clusters, their indicators and points

Clusters: TypeAlias = Sequence[Sequence[int]]


def outermost(candidates: Iterable[int], ends: Sequence[int]) -> list[int]:
    """Return the candidates, in document order, that are not below another."""
    tops: list[int] = []
    for index in candidates:
        if not tops or index >= ends[tops[-1]]:
            tops.append(index)
    return tops


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
    text, code, linked, tags = (_cluster_sums(clusters, subtree_sums(column, ends)) for column in columns)
    by_indicator = {
        "text length": text,
        "content tags": tags,
        "link rate": [part / whole for part, whole in zip(linked, code, strict=True)],
        "text/code ratio": [part / whole for part, whole in zip(text, code, strict=True)],
    }
    if measures.boxes is not None:
        by_indicator |= _areas(clusters, measures.boxes)
    return by_indicator


def points(values: Sequence[float], given: Sequence[int]) -> list[int]:
    """Give points for the first places, from the largest value down.

    Equal values share a place. A value of 0 gets no points; otherwise all clusters of a page without links would
    get the penalty for the worst link rate.

    Example:
        >>> points([0.2, 0.9, 0.9, 0.0], REWARDS)
        [1, 5, 5, 0]
    """
    ranked = sorted(values, reverse=True)
    by_place = [*given, *[0] * len(values)]
    return [by_place[ranked.index(value)] if value > 0 else 0 for value in values]


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
        "area": [fsum(box.area for box in of_cluster) for of_cluster in drawn],
        "effective area": [fsum(box.overlap(middle) for box in of_cluster) for of_cluster in drawn],
    }


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
    sums = scores(clusters, target.measures, nodes.ends)
    least = max(sums, default=0) - closeness
    cluster_of = [-1] * len(nodes)
    for number, cluster in enumerate(clusters):
        for index in cluster:
            cluster_of[index : nodes.ends[index]] = [number] * (nodes.ends[index] - index)
    similarities = [-1.0] * len(nodes)
    columns = (target.order, matching.partners, matching.similarities)
    for index, partner, parts in zip(*(column.tolist() for column in columns), strict=True):
        similarities[index] = parts / FULL_SIMILARITY if partner >= 0 else -1.0
    return Content(clusters, sums, [score >= least for score in sums], cluster_of, similarities)


SIMILARITY_THRESHOLD = 0.3
CLOSENESS = 3
REFERENCES = 16


class FeatureTreeMatching(Method):
    """The best clusters of nodes that the most similar known page lacks are content; all else is noise.

    A node's score is that of its cluster, or 0.

    Args:
        similarity_threshold: The similarity (Ts, 0 to 1) from which two nodes are similar.
        closeness: How many points below the best cluster other clusters are still content.
        references: How many pages of the site are kept for comparison.

    Raises:
        ValueError: An option is out of range.
    """

    name: ClassVar[str] = "feature_tree"
    learns: ClassVar[bool] = True

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
        self.similarity_threshold = similarity_threshold
        self.closeness = closeness
        self.sample = self.references = References(references)

    @property
    def store_key(self) -> str:
        """The name of the method with the number of pages to keep."""
        return f"{self.name}:{self.references.limit}"

    def observe(self, page: Page) -> None:
        """Add ``page`` to the references if its key is low enough."""
        self.references.learn(page)

    def merge(self, other: Self) -> None:
        """Add the references of ``other``."""
        self.references.merge(other.references)

    def to_bytes(self) -> bytes:
        """Return the references as bytes."""
        return self.references.to_bytes()

    def merge_bytes(self, data: bytes) -> None:
        """Add stored references."""
        self.references.merge_bytes(data)

    def judge(self, page: Page) -> Judgement:
        """Keep the chosen clusters and their ancestors."""
        nodes = page.nodes
        target = build_target(page)
        similar = self.references.most_similar(target.tree)
        if similar is None:
            return Judgement.all_kept(nodes, "no other page of the site to compare with, so all was kept")
        content = find_content(nodes, target, similar, self.similarity_threshold, self.closeness)
        if not content.clusters:
            return Judgement.all_kept(nodes, f"{_page_name(similar)} has all that this page has, so all was kept")
        return _judgement(nodes, similar, content)


def _page_name(similar: FeatureTree) -> str:
    return f"the similar page {similar.key:016x}"


def _judgement(nodes: Nodes, similar: FeatureTree, content: Content) -> Judgement:
    marked = [number < 0 or not content.chosen[number] for number in content.cluster_of]
    noise = spare_holders(marked, nodes.parents)
    best = max(content.scores)

    def reason(index: int) -> str:
        number = content.cluster_of[index]
        if number >= 0:
            score = content.scores[number]
            return f"candidate, cluster {number + 1} with score {score}, best is {best}"
        of_text = bool(nodes.texts[index])
        element = nodes.parents[index] if of_text else index
        subject = "its element matched" if of_text else "matched"
        holds = "" if noise[index] else ", but holds content"
        similarity = f"with similarity {content.similarities[element]:.2f}"
        return f"{subject} a node of {_page_name(similar)} {similarity}{holds}"

    scores = [float(content.scores[number]) if number >= 0 else 0.0 for number in content.cluster_of]
    return Judgement(noise, scores, reason)
