"""Folds what an explanation need not show: runs of blocks that were dropped without a doubt."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from itertools import groupby
from statistics import median
from typing import TYPE_CHECKING

from denoise_crawler.output.explanation import blocks
from denoise_crawler.page.text import counted

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from denoise_crawler.denoiser import Cleaned
    from denoise_crawler.output.explanation import BlockVerdict
    from denoise_crawler.page import Nodes

_LEAST = 4  # blocks that are folded
_NEAR = 0.75  # of the way from the usual score of what is kept to that of what is dropped
_PARTS = frozenset({"header", "nav", "footer", "aside", "form"})
_NAMED = 2


@dataclass(frozen=True, slots=True)
class Folded:
    """Blocks in a row that are not shown, and the parts of the page that most of them stand in."""

    count: int
    parts: Sequence[str]

    def __str__(self) -> str:
        inside = f": {' and '.join(self.parts)}" if self.parts else ""
        return f"… {counted(self.count, 'block')}{inside}"


def folded(cleaned: Cleaned, verdicts: Sequence[BlockVerdict]) -> Iterator[BlockVerdict | Folded]:
    """Yield the verdicts on the blocks of a page, runs of those that are surely noise as one.

    Shown are all that are kept, and of the dropped those whose score is nearer to what is kept than most are.

    Args:
        cleaned: The record of the page.
        verdicts: The verdicts on all of its blocks.

    """
    nodes = cleaned.page.nodes
    judged = [] if cleaned.judgement is None else [block.node for block in blocks(cleaned.page, cleaned.judgement)]
    sure = _surely_dropped(verdicts)
    pairs = zip(judged, verdicts, sure, strict=True)
    for is_sure, run in groupby(pairs, lambda one: one[2]):
        members = list(run)
        if is_sure and len(members) >= _LEAST:
            parts = Counter(part for node, _, _ in members if (part := _part_around(nodes, node)))
            yield Folded(len(members), [part for part, _ in parts.most_common(_NAMED)])
        else:
            yield from (verdict for _, verdict, _ in members)


def _surely_dropped(verdicts: Sequence[BlockVerdict]) -> list[bool]:
    kept, gone = ([one["score"] for one in verdicts if one["kept"] is wanted] for wanted in (True, False))
    if not kept or not gone:
        return [not one["kept"] for one in verdicts]
    usual, noise = median(kept), median(gone)
    return [not one["kept"] and abs(one["score"] - usual) >= _NEAR * abs(noise - usual) for one in verdicts]


def _part_around(nodes: Nodes, index: int) -> str:
    while index > 0 and nodes.tags[index] not in _PARTS:
        index = nodes.parents[index]
    return nodes.tags[index] if index > 0 else ""
