"""A part of a page: one comment of two hundred, one record of a list."""

from __future__ import annotations

from collections import defaultdict
from functools import lru_cache
from itertools import accumulate
from typing import TYPE_CHECKING

from cssselect import SelectorError
from lxml import etree
from parsel.csstranslator import HTMLTranslator

from denoise_crawler.page import TEXT, Page

if TYPE_CHECKING:
    from collections.abc import Iterable

# Where more of a part than this was judged noise, the judgement was about the page, not about the part.
MOST_NOISE = 0.5


class PartError(ValueError):
    """A part cannot be found on its page; the message says why."""


def noise_outside_part(page: Page, noise: list[bool] | None, part: str) -> list[bool]:
    """Return the noise of ``page`` if ``part`` of it is all that is wanted.

    What was judged noise inside the part is noise still, unless that is most of the part: the comments of an
    article are noise for those who want the article, not for those who want the comments.

    Args:
        page: The page.
        noise: By node, whether it was judged noise; None for a page that was not judged.
        part: A CSS selector, an XPath expression (it begins with ``/``, ``.`` or ``(``) or the HTML of a node (it
            begins with ``<``). All nodes that a selector finds make up the part.

    Returns:
        By node, whether it is noise or stands outside the part.

    Raises:
        PartError: the selector is none, or the page has nothing of that kind.

    >>> page = Page.parse("https://a.example/", "<p>One.<p class=b>Two.")
    >>> noise_outside_part(page, None, "p.b")
    [False, True, True, False, False]
    """
    nodes = page.nodes
    found = _by_html(page, part) if part.lstrip().startswith("<") else _by_selector(page, part)
    if not found:
        raise PartError(f"{page.url} has nothing like {part[:200]!r}")
    outside = [True] * len(nodes)
    for index in found:
        inside = range(index, nodes.ends[index])
        keep_all = noise is None or _share_of_noise(page, noise, inside) > MOST_NOISE
        for node in inside:
            outside[node] = not keep_all and noise is not None and noise[node]
        above = index
        while above >= 0:
            outside[above] = False
            above = nodes.parents[above]
    return outside


def _share_of_noise(page: Page, noise: list[bool], inside: range) -> float:
    characters = sum(page.characters[node] for node in inside)
    gone = sum(page.characters[node] for node in inside if noise[node])
    return gone / characters if characters else 0.0


def _by_selector(page: Page, selector: str) -> list[int]:
    if page.root is None:
        return []
    try:
        found = page.root.xpath(_xpath(selector))
    except (etree.XPathError, SelectorError) as error:
        raise PartError(f"{selector[:200]!r} is no CSS selector and no XPath expression: {error}") from None
    elements = page.once(_index_of_elements)
    return sorted({elements[each] for each in found if each in elements} if isinstance(found, list) else ())


@lru_cache(maxsize=256)
def _xpath(selector: str) -> str:
    if selector.lstrip().startswith(("/", ".//", "./", "(")):
        return selector
    return HTMLTranslator().css_to_xpath(selector)


def _index_of_elements(page: Page) -> dict[etree._Element, int]:
    nodes = page.nodes
    return {nodes.elements[index]: index for index, tag in enumerate(nodes.tags) if tag != TEXT}


def _by_html(page: Page, html: str) -> list[int]:
    """Return the first node of ``page`` that has the tag and the text of the node that ``html`` is of."""
    fragment = Page.parse(page.url, html, site=page.site)
    if len(fragment.nodes) < 2:
        return []
    tag = fragment.nodes.tags[1]
    text = _letters(fragment, range(1, fragment.nodes.ends[1]))
    for index in page.once(_by_tag_and_length).get((tag, len(text)), ()):
        if _letters(page, range(index, page.nodes.ends[index])) == text:
            return [index]
    return []


def _by_tag_and_length(page: Page) -> dict[tuple[str, int], list[int]]:
    nodes, before = page.nodes, [0, *accumulate(page.characters)]
    found: dict[tuple[str, int], list[int]] = defaultdict(list)
    for index, tag in enumerate(nodes.tags):
        if tag != TEXT:
            found[tag, before[nodes.ends[index]] - before[index]].append(index)
    return found


def _letters(page: Page, inside: Iterable[int]) -> str:
    """Return the text of nodes without white space."""
    texts = page.nodes.texts
    return "".join("".join(texts[node].split()) for node in inside)
