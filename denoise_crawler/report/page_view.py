"""One page to look at: painted, with its blocks and why each was kept or dropped, and its clean text."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from denoise_crawler.methods.base import Judgement
from denoise_crawler.output.explanation import explanation
from denoise_crawler.output.painted import painted_html
from denoise_crawler.page import TEXT

if TYPE_CHECKING:
    from denoise_crawler.page import Page

NODE = "data-node"  # not data-denoise-…: the painted page keeps such marks for itself
MAX_BLOCKS = 3_000
MAX_PAINTED = 4_000_000


@dataclass(slots=True)
class Block:
    """One block: the element it stands in (its node), its verdict, score and reason."""

    node: int
    text: str
    kept: bool
    score: float
    reason: str


@dataclass(slots=True)
class PageView:
    """A judged page. ``painted`` is empty for a page too long to be painted; ``more_blocks`` are not listed."""

    painted: str
    blocks: list[Block]
    more_blocks: int = 0


def page_view(page: Page, judgement: Judgement, method: str, *, remote: bool = False) -> PageView:
    """Return the view of ``page``, whose tree is of nobody else: its elements get their number as an attribute.

    With ``remote`` its pictures and style sheets are fetched when it is looked at.
    """
    blocks = _blocks(page, judgement)
    for index, (tag, element) in enumerate(zip(page.nodes.tags, page.nodes.elements, strict=True)):
        if tag is not TEXT:
            element.set(NODE, str(index))
    painted = painted_html(page, judgement, method=method, remote=remote)
    if len(painted) > MAX_PAINTED:
        painted = ""
    return PageView(painted, blocks[:MAX_BLOCKS], max(0, len(blocks) - MAX_BLOCKS))


def _blocks(page: Page, judgement: Judgement) -> list[Block]:
    # for a reason, the number of the node that speaks for the block
    numbered = explanation(page, Judgement(judgement.noise, judgement.scores, str))
    return [
        Block(
            node=page.nodes.parents[int(block["reason"])],
            text=block["text"],
            kept=block["kept"],
            score=block["score"],
            reason=judgement.reason(int(block["reason"])),
        )
        for block in numbered[: MAX_BLOCKS + 1]
    ]
