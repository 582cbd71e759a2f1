"""Headings that are none: a short label ("Text size: A|A") in the element of a heading, with nothing below it."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

from denoise_crawler.output.content.blocks import Heading, Paragraph, Rule, text_of

if TYPE_CHECKING:
    from denoise_crawler.output.content.blocks import Block

_SHORT = 12  # characters


def without_empty_headings(blocks: list[Block]) -> list[Block]:
    """Return ``blocks`` with short headings as paragraphs where no text stands below them.

    The highest heading of the page is one in any case.

    Example:
        >>> from denoise_crawler.output.content.blocks import Text
        >>> blocks = [Heading(1, [Text("News")]), Heading(6, [Text("T|T")]), Heading(2, [Text("A")])]
        >>> blocks = without_empty_headings(blocks)
        >>> [type(block).__name__ for block in blocks]
        ['Heading', 'Paragraph', 'Paragraph']

    """
    highest = min((block.level for block in blocks if isinstance(block, Heading)), default=0)
    return [
        Paragraph(block.content) if isinstance(block, Heading) and _is_label(block, below, highest) else block
        for block, below in pairwise([*blocks, Rule()])
    ]


def _is_label(heading: Heading, below: Block, highest: int) -> bool:
    if heading.level == highest or len(text_of(heading.content)) >= _SHORT:
        return False
    return isinstance(below, Rule) or (isinstance(below, Heading) and below.level <= heading.level)
