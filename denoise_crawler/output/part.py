"""A part of a page: one comment of two hundred, one record of a list."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from itertools import accumulate, compress
from operator import not_

from denoise_crawler.errors import PartError, SelectorError
from denoise_crawler.output.clean_text import noise_ratio
from denoise_crawler.page import TEXT, Page
from denoise_crawler.rules.selectors import find_nodes

# If a larger share of a part was judged noise, the judgement does not apply to the part.
MAX_NOISE_SHARE = 0.5


def find_part(page: Page, part: str) -> list[range]:
    """Find a part of ``page``.

    Args:
        page: The page.
        part: A CSS selector, an XPath expression (starting with ``/``, ``./``, ``.//`` or ``(``) or the HTML of a
            node (starting with ``<``). All nodes that a selector finds make up the part.

    Returns:
        The subtrees of the part in document order; none contains another.

    Raises:
        PartError: The selector is invalid, or the page has no such part.

    Example:
        >>> find_part(Page.parse("https://a.example/", "<p>One.<p class=b>Two."), "p.b")
        [range(3, 5)]
    """
    ends = page.nodes.ends
    inside: list[range] = []
    for index in _by_html(page, part) if part.lstrip().startswith("<") else _by_selector(page, part):
        if not inside or index >= inside[-1].stop:
            inside.append(range(index, ends[index]))
    if not inside:
        raise PartError(f"{page.url} has nothing like {part!r:.200}")
    return inside


def noise_outside_part(page: Page, noise: list[bool] | None, inside: list[range]) -> list[bool]:
    """Return the noise of ``page`` when only a part of it is wanted.

    Noise inside the part (of :func:`find_part`) stays noise, unless it is most of the part: comments are noise to
    readers of the article, but not to readers of the comments. All else is noise.

    Example:
        >>> page = Page.parse("https://a.example/", "<p>One.<p class=b>Two.")
        >>> noise_outside_part(page, None, find_part(page, "p.b"))
        [False, True, True, False, False]
    """
    parents = page.nodes.parents
    outside = [True] * len(page.nodes)
    for subtree in inside:
        judged = None if noise is None else noise[subtree.start : subtree.stop]
        if judged is None or _share_of_noise(page, judged, subtree) > MAX_NOISE_SHARE:
            judged = [False] * len(subtree)
        outside[subtree.start : subtree.stop] = judged
        outside[subtree.start] = False
        above = parents[subtree.start]
        while above >= 0 and outside[above]:
            outside[above] = False
            above = parents[above]
    return outside


def _share_of_noise(page: Page, noise: list[bool], subtree: range) -> float:
    characters = page.characters[subtree.start : subtree.stop]
    return noise_ratio(sum(characters), sum(compress(characters, map(not_, noise))))


def _by_selector(page: Page, selector: str) -> list[int]:
    try:
        return find_nodes(page, selector)
    except SelectorError as error:
        raise PartError(str(error)) from None


def _by_html(page: Page, html: str) -> list[int]:
    """Return the first node of ``page`` with the tag and text of each node of ``html``."""
    fragment = Page.parse(page.url, html, site=page.site)
    found = (_first_like(page, fragment, node) for node in fragment.nodes.children(0))
    return sorted(node for node in found if node >= 0)


def _first_like(page: Page, fragment: Page, wanted: int) -> int:
    """Return the first node of ``page`` with the tag and text of a node of ``fragment``, or -1."""
    text = _letters(fragment, range(wanted, fragment.nodes.ends[wanted]))
    for index in page.once(_by_tag_and_length).get((fragment.nodes.tags[wanted], len(text)), ()):
        if _letters(page, range(index, page.nodes.ends[index])) == text:
            return index
    return -1


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
