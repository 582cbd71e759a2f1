"""A page for the report: painted, with its blocks and why each was kept or dropped."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from denoise_crawler.methods.base import Judgement
from denoise_crawler.output.explanation import blocks, first_reasons
from denoise_crawler.output.painted import painted_html
from denoise_crawler.page import TEXT
from denoise_crawler.rules.path_selector import selector_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from denoise_crawler.denoiser import Cleaned
    from denoise_crawler.output.explanation import JudgedBlock
    from denoise_crawler.page import Page

NODE = "data-node"  # not data-denoise-…: the painted page keeps such marks for itself
MAX_BLOCKS = 3_000
MAX_PAINTED_CHARACTERS = 4_000_000
MAX_TEXT_BYTES = 300_000  # of the clean text


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
    """A painted page, empty if it is too long, the lines of its clean text, and its blocks.

    ``more_blocks`` and ``more_lines`` are left out, since a giant page would take a browser too long.
    """

    painted: str
    blocks: list[ListedBlock]
    more_blocks: int = 0
    lines: list[str] = field(default_factory=list)
    more_lines: int = 0


def page_view(cleaned: Cleaned, *, remote: bool = False) -> PageView:
    """Return the view of a page.

    Args:
        cleaned: The page. Its tree must have no other user: each element gets its number as an attribute.
        remote: Whether the view may fetch the page's pictures and style sheets.

    """
    page, judgement = cleaned.page, cleaned.judgement or Judgement.all_kept(cleaned.page.nodes)
    found, text = list(blocks(page, judgement)), str(cleaned.clean_page.text)  # blocks as JSON
    listed = list(_listed(page, judgement, found[:MAX_BLOCKS]))
    lines = text.encode("utf-8", "replace")[:MAX_TEXT_BYTES].decode("utf-8", "ignore").splitlines()
    painted = _paint(page, judgement, cleaned, remote=remote)
    return PageView(painted, listed, len(found) - len(listed), lines, len(text.splitlines()) - len(lines))


def _listed(page: Page, judgement: Judgement, found: list[JudgedBlock]) -> Iterator[ListedBlock]:
    reason = first_reasons(judgement)
    for block in found:
        element = page.nodes.parents[block.node]
        selector = selector_of(page, element)
        yield ListedBlock(element, block.text, block.kept, block.score, reason(block.node), selector)


def _paint(page: Page, judgement: Judgement, cleaned: Cleaned, *, remote: bool) -> str:
    for index, (tag, element) in enumerate(zip(page.nodes.tags, page.nodes.elements, strict=True)):
        if tag is not TEXT:
            element.set(NODE, str(index))
    painted = painted_html(page, judgement, method=cleaned.clean_page.method or "", remote=remote)
    return painted if len(painted) <= MAX_PAINTED_CHARACTERS else ""
