"""The headings of a page, which go with their sections."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from denoise_crawler.methods.fusion.blocks import TAGS, blocks_of
from denoise_crawler.methods.fusion.evidence import running
from denoise_crawler.page.site import site_of

if TYPE_CHECKING:
    from denoise_crawler.page import Page

_HIGHEST, _LOWEST = TAGS.index("h1"), TAGS.index("h3")  # by which h4 to h6 go as well
ENTRIES = 3


class Heading(NamedTuple):
    """The blocks from ``first`` up to ``last`` (without it) are a heading; its section reaches up to ``end``.

    A section ends before the next heading of the same level or a higher one.
    """

    first: int
    last: int
    end: int


def headings_of(page: Page) -> list[Heading]:
    """Return the headings of ``page`` in document order, without those of no text.

    Where ``ENTRIES`` and more are links to other pages of the site, these are left out too: they are entries of a
    list, and have no section here. A heading that names a source links to another site.
    """
    blocks, nodes = page.once(blocks_of), page.nodes
    around = blocks.around
    elements = np.flatnonzero((around.tags >= _HIGHEST) & (around.tags <= _LOWEST) & (around.first < around.last))
    if not len(elements):
        return []
    columns = (around.nodes[elements], around.first[elements], around.last[elements])
    headings: list[Heading] = []
    open_ends = [len(blocks)] * 8  # by level, where the next heading of that level or a higher one begins
    for index, first, last in zip(*(column[::-1].tolist() for column in columns), strict=True):
        level = int(nodes.tag_of(index)[1])
        headings.append(Heading(first, last, max(open_ends[level], last)))
        open_ends[level:] = [first] * (8 - level)
    headings.reverse()
    if len(headings) < ENTRIES:
        return headings
    linked = running(2.0 * blocks.linked - blocks.characters)
    maybe = np.flatnonzero(linked[columns[2]] >= linked[columns[1]]).tolist()
    if len(maybe) < ENTRIES:
        return headings
    entries = {number for number in maybe if _leads_away(page, blocks.nodes[headings[number].first])}
    if len(entries) < ENTRIES:
        return headings
    return [heading for number, heading in enumerate(headings) if number not in entries]


def _leads_away(page: Page, line: list[int]) -> bool:
    """Tell whether the first link of a line leads to another page of the site."""
    nodes = page.nodes
    link = next((link for link in map(nodes.link_of, line) if link >= 0), -1)
    if link < 0:
        return False
    address = page.absolute(nodes.address_of(link) or "").partition("#")[0]
    return address != page.url and site_of(address) == page.site
