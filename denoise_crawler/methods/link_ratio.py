"""``link_ratio``: a block that is mostly links is noise. Needs one page only."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from denoise_crawler.methods.base import Judgement, Method, inherit, subtree_sums
from denoise_crawler.page import Page
from denoise_crawler.page.nodes import INLINE

THRESHOLD = 0.7


class LinkRatio(Method):
    """A block-level element is noise if its share of characters inside links is over ``threshold``.

    Inline elements share the judgement of their block; otherwise every link would leave a hole in its sentence.

    Args:
        threshold: The highest share (0 to 1) that is content.

    Raises:
        ValueError: ``threshold`` is out of range.
    """

    name: ClassVar[str] = "link_ratio"

    def __init__(self, threshold: float = THRESHOLD) -> None:
        if not 0.0 <= threshold <= 1.0:
            raise ValueError(f"threshold must lie between 0 and 1, not {threshold}")
        self.threshold = threshold

    def judge(self, page: Page) -> Judgement:
        """Mark the blocks with too many links."""
        nodes = page.nodes
        ends, links = np.array(nodes.ends), np.array(nodes.links)
        characters = np.array(page.characters)
        linked = np.where(links >= 0, characters, 0)
        ratio = subtree_sums(linked, ends) / np.maximum(subtree_sums(characters, ends), 1)
        marked = ratio > self.threshold
        marked[nodes.tagged(INLINE)] = False
        ratios, inherited = ratio.tolist(), inherit(marked, ends)

        def reason(index: int) -> str:
            decided = index
            while nodes.parents[decided] >= 0 and (
                inherited[nodes.parents[decided]] or (nodes.tags[decided] in INLINE and not inherited[decided])
            ):
                decided = nodes.parents[decided]  # up to the root of the noise, or to the block
            compared = "over" if ratios[decided] > self.threshold else "not over"
            return f"{ratios[decided]:.0%} links, {compared} {self.threshold:.0%}"

        return Judgement(inherited, ratios, reason)
