"""Lists that a paragraph introduces: it ends with a colon, and they go with it."""

from __future__ import annotations

from bisect import bisect_left
from typing import TYPE_CHECKING, NamedTuple

from denoise_crawler.methods.fusion.blocks import TAGS, blocks_of

if TYPE_CHECKING:
    from denoise_crawler.page import Page

_LISTS = frozenset({"ul", "ol"})
_PARTS_OF_PAGES = frozenset({"h1", "h2", "h3", "article", "main", "nav", "header", "footer", "aside", "form"})
_COLONS = (":", "：")
_PARAGRAPH = TAGS.index("p")
MOST_LINKED = 0.5  # of the characters of the paragraph and the list: "See also:" introduces links


class Introduced(NamedTuple):
    """The blocks from ``first`` up to ``last`` (without it) are a list, block ``first - 1`` introduces it."""

    first: int
    last: int


def introduced_lists(page: Page) -> list[Introduced]:
    """Return the lists of ``page`` behind a paragraph that ends with a colon, in document order.

    Example:
        >>> from denoise_crawler import Page
        >>> introduced_lists(Page.parse("https://a.example/", "<p>It has:<ul><li>one<li>two</ul><p>So."))
        [Introduced(first=1, last=3)]

    """
    nodes, blocks = page.nodes, page.once(blocks_of)
    starts, found = blocks.starts, list[Introduced]()
    tried = 0
    for index in nodes.tagged(_LISTS):
        first = bisect_left(starts, index)
        if first <= tried or not blocks.texts[first - 1].endswith(_COLONS):
            continue
        tried = first  # of lists in each other the outermost decides
        end = nodes.end_of(index)
        last = bisect_left(starts, end)
        is_paragraph = blocks.around.tags[blocks.elements[first - 1]] == _PARAGRAPH
        if last == first or not is_paragraph or nodes.holds(index, end, _PARTS_OF_PAGES):
            continue
        both = slice(first - 1, last)
        if blocks.linked[both].sum() <= MOST_LINKED * blocks.characters[both].sum():
            found.append(Introduced(first, last))
            tried = last
    return found
