"""A page for the report: painted, with its blocks and why each was kept or dropped."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from denoise_crawler.methods.base import Judgement
from denoise_crawler.output.explanation import blocks, first_reasons
from denoise_crawler.output.painted import painted_html
from denoise_crawler.page import TEXT
from denoise_crawler.rules.path_selector import selector_of

if TYPE_CHECKING:
    from denoise_crawler.denoiser import Cleaned
    from denoise_crawler.page import Page

NODE = "data-node"  # not data-denoise-…: the painted page keeps such marks for itself
MAX_BLOCKS = 3_000
MAX_PAINTED_CHARACTERS = 4_000_000


@dataclass(slots=True)
class ListedBlock:
    """One block: the number of its element, its verdict, score and reason, and a selector that finds it alone."""

    node: int
    text: str
    kept: bool
    score: float
    reason: str
    selector: str = ""


@dataclass(slots=True)
class PageView:
    """A painted page, empty if it is too long, and its blocks; ``more_blocks`` of them are not listed."""

    painted: str
    blocks: list[ListedBlock]
    more_blocks: int = 0


def page_view(cleaned: Cleaned, *, remote: bool = False) -> PageView:
    """Return the view of a page.

    Args:
        cleaned: The page. Its tree must have no other user: each element gets its number as an attribute.
        remote: Whether the view may fetch the page's pictures and style sheets.

    """
    page, judgement = cleaned.page, cleaned.judgement or Judgement.all_kept(cleaned.page.nodes)
    found = list(blocks(page, judgement))
    reason = first_reasons(judgement)
    listed = [
        ListedBlock(
            (element := page.nodes.parents[block.node]),
            block.text,
            block.kept,
            block.score,
            reason(block.node),
            selector_of(page, element),
        )
        for block in found[:MAX_BLOCKS]
    ]
    return PageView(_paint(page, judgement, cleaned, remote=remote), listed, len(found) - len(listed))


def _paint(page: Page, judgement: Judgement, cleaned: Cleaned, *, remote: bool) -> str:
    for index, (tag, element) in enumerate(zip(page.nodes.tags, page.nodes.elements, strict=True)):
        if tag is not TEXT:
            element.set(NODE, str(index))
    painted = painted_html(page, judgement, method=cleaned.clean_page.method or "", remote=remote)
    return painted if len(painted) <= MAX_PAINTED_CHARACTERS else ""
