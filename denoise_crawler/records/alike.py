"""Elements of a page that are alike: same tag and a class, a kind of id or a property in common."""

from __future__ import annotations

import re
from collections import defaultdict
from typing import TYPE_CHECKING

from denoise_crawler.page import TEXT

if TYPE_CHECKING:
    from collections.abc import Iterator

    from denoise_crawler.page import Element, Nodes, Page

MAX_NAMES = 12  # of an element
MAX_NAME_CHARACTERS = 80
_DIGITS = re.compile(r"\d+")


def alike_elements(page: Page) -> dict[str, list[int]]:
    """Return the elements of ``page`` by what they have in common, in document order.

    An element is in the list of each of its names: its tag with a class, with an id without its number, or with a
    property of microdata; without any of these, its tag with the names of the element it stands in.

    Example:
        >>> from denoise_crawler import Page
        >>> page = Page.parse("", "<div class='post a'>One.</div><div class='post b'>Two.</div>")
        >>> alike_elements(page)["div.post"]
        [1, 3]

    """
    nodes = page.nodes
    found: dict[str, list[int]] = defaultdict(list)
    firsts = ["body"]
    for index, tag in enumerate(nodes.tags):
        if index == 0 or tag == TEXT:
            firsts += [""] * (index > 0)
            continue
        names = list(names_of(nodes, index)) or [f"{tag}<{firsts[nodes.parents[index]]}"[:MAX_NAME_CHARACTERS]]
        firsts.append(names[0])
        for name in names:
            found[name].append(index)
    return found


def names_of(nodes: Nodes, index: int) -> Iterator[str]:
    """Yield the names of an element."""
    tag, element = nodes.tags[index], nodes.elements[index]
    for name in _own_names(element):
        yield f"{tag}{name}"


def _own_names(element: Element) -> Iterator[str]:
    classes = dict.fromkeys(_DIGITS.sub("", one) for one in element.get("class", "").split()[:MAX_NAMES])
    for name in classes:
        if name.strip("-_"):
            yield f".{name}"[:MAX_NAME_CHARACTERS]
    identity = element.get("id", "")
    if (kind := _DIGITS.sub("", identity)) != identity and kind:
        yield f"#{kind}"[:MAX_NAME_CHARACTERS]
    if kind := element.get("itemprop", ""):
        yield f"@{kind}"[:MAX_NAME_CHARACTERS]


def outermost(nodes: Nodes, indices: list[int]) -> list[int]:
    """Return those of the elements that stand in no other of them."""
    found: list[int] = []
    for index in indices:
        if not found or index >= nodes.ends[found[-1]]:
            found.append(index)
    return found
