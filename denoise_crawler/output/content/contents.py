"""Lists of contents that are written as lines of links to places of the page."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from denoise_crawler.output.content.blocks import LineBreak, List, Paragraph
from denoise_crawler.output.content.nested import LISTS
from denoise_crawler.page import TEXT

if TYPE_CHECKING:
    from collections.abc import Iterator

    from denoise_crawler.output.content.blocks import Block, Inline
    from denoise_crawler.page import Nodes

MIN_LINKS = 3
MAX_NODES = 2_000
_CONTENTS = re.compile(r"(?:^|[\s_-])(?:toc|table[-_]?of[-_]?contents)(?:$|[\s_-])", re.IGNORECASE)


def links_of_contents(nodes: Nodes, index: int) -> int:
    """Return how many links an element holds that is a list of contents without being a list; 0 if it is none."""
    element, end = nodes.elements[index], nodes.ends[index]
    if not any(_CONTENTS.search(element.get(name, "")) for name in ("class", "id", "role")):
        return 0
    if end - index > MAX_NODES or nodes.holds(index, end, LISTS):
        return 0
    texts = [one for one in range(index, end) if nodes.tags[one] is TEXT]
    links = {nodes.links[one] for one in texts[_titles(nodes, texts) :]}
    if len(links) < MIN_LINKS or min(links) < index:
        return 0
    return len(links) if all("#" in nodes.elements[link].get("href", "") for link in links) else 0


def as_list(blocks: list[Block], links: int) -> list[Block]:
    """Return the blocks of a list of contents with its lines as a list, if each of its ``links`` has one."""
    lines = [line for block in blocks if isinstance(block, Paragraph) for line in _lines(block.content)]
    titles = len(lines) - links
    if titles not in (0, 1):
        return blocks
    others = [block for block in blocks if not isinstance(block, Paragraph)]
    items: list[list[Block]] = [[Paragraph(line)] for line in lines[titles:]]
    return [*others, *map(Paragraph, lines[:titles]), List(items, ordered=False, start=1)]


def _titles(nodes: Nodes, texts: list[int]) -> int:
    """Return how many of the ``texts`` stand above the first link."""
    return next((number for number, one in enumerate(texts) if nodes.links[one] >= 0), len(texts))


def _lines(content: list[Inline]) -> Iterator[list[Inline]]:
    line: list[Inline] = []
    for piece in content:
        if isinstance(piece, LineBreak):
            if line:
                yield line
            line = []
        else:
            line.append(piece)
    if line:
        yield line
