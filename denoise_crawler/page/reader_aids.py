"""What stands beside words for those who listen to a page, or read the source of what it documents."""

from __future__ import annotations

from denoise_crawler.page.page import Page
from denoise_crawler.page.signs import HEARD, SOURCE_LINK, signed


def reader_aids(page: Page) -> tuple[int, ...]:
    """Return the nodes of what is no text of ``page``; ask for it by ``page.once``.

    That is what a link says to those who listen ("opens in a new window"), and the link to the source of what a
    documentation is about.

    Example:
        >>> page = Page.parse("https://a.example/", "<p>See <a href=/b>b<i class=sr-only> (new window)</i></a>.")
        >>> [page.nodes.tags[index] for index in reader_aids(page)]
        ['i']
    """
    nodes = page.nodes
    return tuple(index for index in signed(nodes) if nodes.link_of(index) >= 0 and _is_aid(page, index))


def _is_aid(page: Page, index: int) -> bool:
    """Return True if an element in a link leads to the source, or is read aloud beside something that is shown."""
    nodes, link = page.nodes, page.nodes.link_of(index)
    classes = nodes.elements[index].get("class", "")
    if SOURCE_LINK in classes:
        return True
    if link == index or not set(HEARD).intersection(classes.split()):
        return False
    characters = page.characters
    return sum(characters[link : nodes.end_of(link)]) > sum(characters[index : nodes.end_of(index)])
