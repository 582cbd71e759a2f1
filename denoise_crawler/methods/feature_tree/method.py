"""``feature_tree``: what a similar page of the site has as well is noise (Song et al., 2011)."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from denoise_crawler.methods.base import Judgement, Method
from denoise_crawler.methods.feature_tree.content import find_content
from denoise_crawler.methods.feature_tree.nodes import build_target
from denoise_crawler.methods.feature_tree.references import References

if TYPE_CHECKING:
    from typing_extensions import Self

    from denoise_crawler.methods.feature_tree.content import Content
    from denoise_crawler.methods.feature_tree.nodes import FeatureTree
    from denoise_crawler.page import Nodes, Page

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
        self.references = References(references)

    @property
    def pages_known(self) -> int:
        """The number of reference pages."""
        return len(self.references)

    @property
    def store_key(self) -> str:
        """The name of the method with the number of pages to keep."""
        return f"{self.name}:{self.references.limit}"

    @property
    def pages_kept(self) -> int | None:
        """The most pages that are kept, those with the lowest keys."""
        return self.references.limit

    def knows(self, page: Page) -> bool:
        """Tell whether ``page`` is a reference page."""
        return page in self.references

    def wants(self, page: Page) -> bool:
        """Tell whether ``page`` would become a reference page."""
        return self.references.wants(page)

    def observe(self, page: Page) -> None:
        """Add ``page`` to the references if its key is low enough."""
        self.references.add(page)

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
    noise = [number < 0 or not content.chosen[number] for number in content.cluster_of]
    for cluster, chosen in zip(content.clusters, content.chosen, strict=True):
        for index in cluster if chosen else ():
            above = nodes.parents[index]
            while above >= 0 and noise[above]:
                noise[above] = False
                above = nodes.parents[above]
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
        return (
            f"{subject} a node of {_page_name(similar)} with similarity {content.similarities[element]:.2f}{holds}"
        )

    scores = [float(content.scores[number]) if number >= 0 else 0.0 for number in content.cluster_of]
    return Judgement(noise, scores, reason)
