"""The headings of a page, which go with their sections."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from denoise_crawler.core import loops
from denoise_crawler.methods.fusion.blocks import TAGS, blocks_of
from denoise_crawler.page.site import site_of

if TYPE_CHECKING:
    from denoise_crawler.page import Page

_TAGS = TAGS.index("h1"), TAGS.index("h3")  # by which h4 and h5 go as well
_LEVELS = {f"h{level}": level for level in range(1, 7)}
ENTRIES = 3


Heading: TypeAlias = "tuple[int, int, int]"


def headings_of(page: Page) -> list[Heading]:
    """Return the headings of ``page`` in document order, without those of no text.

    Each is its first block, that behind its last, and that behind its section, which ends before the next heading
    of the same level or a higher one. Where ``ENTRIES`` and more are links to other pages of the site, these are
    left out too: they are entries of a list, and have no section here. A heading that names a source links to
    another site.
    """
    blocks, nodes = page.once(blocks_of), page.nodes
    around, columns = blocks.around, nodes.columns
    levels = np.array([_LEVELS.get(name, 0) for name in columns.names], np.int64)
    elements = around.nodes, around.first, around.last, around.tags
    headings: list[Heading]
    own = blocks.characters, blocks.linked
    headings, linked = loops("deciding").headings(columns.tags, levels, elements, own, _TAGS)
    if len(linked) < ENTRIES:
        return headings
    entries = {number for number in linked if _leads_away(page, blocks.nodes[headings[number][0]])}
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
