"""Clean text: the kept runs of a page, one block a line."""

from __future__ import annotations

from typing import TYPE_CHECKING

from denoise_crawler.markup import INLINE
from denoise_crawler.page import TEXT
from denoise_crawler.text import normalised

if TYPE_CHECKING:
    from denoise_crawler.page import Page


def clean_text(page: Page, noise: list[bool] | None = None) -> str:
    """Return the text of ``page`` without its ``noise`` nodes, each block-level element on lines of its own."""
    nodes = page.nodes
    lines: list[list[str]] = [[]]
    blocks: list[int] = []  # ends of the block-level elements that are open
    for index, tag in enumerate(nodes.tags):
        while blocks and blocks[-1] <= index:
            blocks.pop()
            lines.append([])
        if tag is TEXT:
            if noise is None or not noise[index]:
                lines[-1].append(nodes.texts[index])
        elif tag not in INLINE:
            lines.append([])
            blocks.append(nodes.ends[index])
    found = (normalised("".join(line)) for line in lines)
    return "\n".join(line for line in found if line)
