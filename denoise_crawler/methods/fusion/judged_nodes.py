"""What was decided about blocks, as verdicts and scores of the nodes that they are made of, with reasons."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from denoise_crawler.core import loops
from denoise_crawler.methods.base import Judgement
from denoise_crawler.methods.fusion.reasons import reason_of

if TYPE_CHECKING:
    from denoise_crawler.methods.fusion.decision import Decision
    from denoise_crawler.page import Nodes, Page


def judgement_of(page: Page, decision: Decision, confidence: float, page_type: str | None = None) -> Judgement:
    """Return what was decided about the blocks of ``page`` as a judgement of its nodes.

    An element has the highest score of its text, and is noise if all its text is; one without text goes with its
    parent.
    """
    nodes, blocks, chances = page.nodes, decision.look.evidence.blocks, decision.chances
    marks = decision.taken.view(np.uint8), chances, chances.tolist()
    noise, scores = loops("blocks").judged(nodes.columns.parents, blocks.nodes, *marks)
    return Judgement(noise, scores, _Reasons(decision, nodes).of, confidence=confidence, page_type=page_type)


class _Reasons:
    """Why nodes were kept or dropped; nothing is worked out until somebody asks."""

    def __init__(self, decision: Decision, nodes: Nodes) -> None:
        self._decision, self._nodes = decision, nodes

    def of(self, index: int) -> str:
        """Return the reason for the verdict on a node."""
        block = self._deciding_blocks.get(index, -1)
        if block < 0:
            return "without text: goes with what it stands in" if index else ""
        return reason_of(self._decision, block)

    @cached_property
    def _deciding_blocks(self) -> dict[int, int]:
        """The block that each text node is part of, and of each element the one that decided: its longest.

        Of an element that is kept for some of its blocks, it is the longest of these.
        """
        found: dict[int, int] = {}
        blocks = self._decision.look.evidence.blocks
        for block in np.lexsort((-blocks.characters, ~self._decision.taken)).tolist():
            for index in blocks.nodes[block]:
                node = index
                while node >= 0 and node not in found:
                    found[node] = block
                    node = self._nodes.parents[node]
        return found
