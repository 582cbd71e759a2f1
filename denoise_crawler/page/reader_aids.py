"""What stands beside words for those who listen to a page, or read the source of what it documents."""

from __future__ import annotations

from denoise_crawler.page.page import Page

# Classes of what is read aloud only; all sites that have them mean the same by them
HEARD = (
    "sr-only", "visually-hidden", "visuallyhidden", "screen-reader-text", "screen-reader-only",
    "element-invisible",
)  # fmt: skip
_SOURCES = frozenset({"[source]", "[src]", "[docs]", "[view source]"})  # links of generators of documentation


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
    aids = [index for index in nodes.with_attribute("class", *HEARD) if _is_heard_in_link(page, index)]
    sources = (index for index, text in enumerate(nodes.texts) if text[:1] == "[" and text.strip() in _SOURCES)
    return (*aids, *(index for index in sources if nodes.link_of(index) >= 0))


def _is_heard_in_link(page: Page, index: int) -> bool:
    """Return True if an element in a link is for those who listen, and the link shows something else."""
    nodes, link = page.nodes, page.nodes.link_of(index)
    if link < 0 or link == index or not set(HEARD).intersection(nodes.elements[index].get("class", "").split()):
        return False
    characters = page.characters
    return sum(characters[link : nodes.end_of(link)]) > sum(characters[index : nodes.end_of(index)])
