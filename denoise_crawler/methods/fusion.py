"""``fusion``: page evidence and site evidence in one judgement, from a single page on."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

import numpy as np

from denoise_crawler.fusion.blocks import blocks_of
from denoise_crawler.fusion.features import Evidence, table_of
from denoise_crawler.fusion.reasons import Verdict, everywhere_reason, why
from denoise_crawler.fusion.records import field_reason, record_fields
from denoise_crawler.fusion.selection import first_of_each, most_f1
from denoise_crawler.fusion.site_evidence import SiteEvidence
from denoise_crawler.fusion.weights import shipped_model
from denoise_crawler.methods.base import Judgement, Method
from denoise_crawler.page import TEXT

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from typing_extensions import Self

    from denoise_crawler.fusion.blocks import Blocks
    from denoise_crawler.page import Nodes, Page

MAX_PAGES = 128


class Fusion(Method):
    """Content is the set of text blocks that promises the best F1, by boosted trees over page and site evidence.

    Of a site at most ``max_pages`` pages are kept, as sketches. The trees were trained on gold pages of other
    sites (``python -m denoise_crawler.training``); see ``docs/fusion.md``.
    """

    name: ClassVar[str] = "fusion"
    learns: ClassVar[bool] = True

    def __init__(self, *, max_pages: int = MAX_PAGES) -> None:
        self.model = shipped_model()
        self.evidence = SiteEvidence(max_pages)

    @property
    def pages_known(self) -> int:
        """The number of pages in the evidence."""
        return len(self.evidence)

    def knows(self, page: Page) -> bool:
        """Tell whether ``page`` is in the evidence."""
        return page.key in self.evidence

    def observe(self, page: Page) -> None:
        """Add ``page`` to the evidence."""
        if self.evidence.wants(page.key):
            self.evidence.add(page.key, blocks_of(page))

    def merge(self, other: Self) -> None:
        """Add the pages of ``other``'s evidence."""
        self.evidence.merge(other.evidence)

    def to_bytes(self) -> bytes:
        """Write the evidence."""
        return self.evidence.to_bytes()

    def merge_bytes(self, data: bytes) -> None:
        """Add the pages of written evidence."""
        self.evidence.merge_bytes(data)

    def judge(self, page: Page) -> Judgement:
        """Mark all blocks but those to take."""
        blocks = blocks_of(page)
        evidence = Evidence(page, blocks, self.evidence.standing(page.key, blocks), self.model.class_words)
        table = table_of(evidence, self.model.features)
        chances = 1.0 / (1.0 + np.exp(-self.model.trees.scores(table)))
        chances[evidence.everywhere] = 0.0
        likely, fields = most_f1(chances, blocks.tokens), record_fields(evidence)
        best = likely | fields
        taken = first_of_each(best, blocks.text_hashes, blocks.characters)
        bar = float(chances[likely].min(initial=1.0))
        block_of: dict[int, int] = {}

        def reason(index: int) -> str:
            if not block_of:
                block_of.update(_block_of_nodes(page.nodes, blocks, taken))
            block = block_of.get(index, -1)
            if block < 0:
                return "without text: goes with what it stands in" if index else ""
            if fields[block] and taken[block] and not likely[block]:
                return field_reason(evidence, block)
            if evidence.everywhere[block]:
                return everywhere_reason(evidence, block)
            repeated = bool(best[block] and not taken[block])
            verdict = Verdict(bool(taken[block]), float(chances[block]), bar, repeated)
            return why(evidence, self.model, table, block, verdict)

        return Judgement(*_by_node(page.nodes, blocks, taken.tolist(), chances.tolist()), reason)


def _block_of_nodes(nodes: Nodes, blocks: Blocks, taken: NDArray[np.bool_]) -> dict[int, int]:
    """Return the block that each text node is part of, and of each element the one that decided: its longest.

    Of an element that is kept for some of its blocks, it is the longest of these.
    """
    found: dict[int, int] = {}
    for block in np.lexsort((-blocks.characters, ~taken)).tolist():
        for index in blocks.nodes[block]:
            node = index
            while node >= 0 and node not in found:
                found[node] = block
                node = nodes.parents[node]
    return found


def _by_node(
    nodes: Nodes, blocks: Blocks, taken: list[bool], chances: list[float]
) -> tuple[list[bool], list[float]]:
    """Return noise and scores by node.

    An element is noise if all its text is; one without text goes with its parent.
    """
    has_text, kept, scores = [False] * len(nodes), [False] * len(nodes), [0.0] * len(nodes)
    for texts, take, chance in zip(blocks.nodes, taken, chances, strict=True):
        for index in texts:
            has_text[index], kept[index], scores[index] = True, take, chance
    for index in range(len(nodes) - 1, 0, -1):
        if has_text[index]:
            parent = nodes.parents[index]
            has_text[parent] = True
            kept[parent] = kept[parent] or kept[index]
            scores[parent] = max(scores[parent], scores[index])
    for index in range(1, len(nodes)):
        if not has_text[index] and nodes.tags[index] is not TEXT:
            kept[index] = kept[nodes.parents[index]]
    return [not one for one in kept], scores
