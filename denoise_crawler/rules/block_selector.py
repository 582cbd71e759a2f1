"""A selector that finds one element of a page and no other, to be copied into a rule."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from denoise_crawler.page import TEXT
from denoise_crawler.rules.path_selector import Names, names_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from denoise_crawler.page import Element, Page

_MAX_STEPS = 40


def selector_of(page: Page, node: int) -> str:
    """Return a CSS selector that finds the element of ``node`` alone, as short as its names allow.

    Args:
        page: The page.
        node: An element.

    Returns:
        The selector; empty where there is none without an escape, or it would be very long.

    Example:
        >>> from denoise_crawler import Page
        >>> page = Page.parse("", "<div class=story><p>One.<p class=ad>Two.<p>Three.</div>")
        >>> [selector_of(page, node) for node, tag in enumerate(page.nodes.tags) if tag == "p"]
        ['div.story > p:nth-of-type(1)', 'p.ad', 'div.story > p:nth-of-type(3)']

    """
    named, steps = page.once(_named_elements), list[str]()
    element: Element | None = page.nodes.elements[node]
    while element is not None and len(steps) < _MAX_STEPS:
        if unique := named.unique(element):
            return " > ".join([unique, *reversed(steps)])
        names = names_of(element)
        if names.tag == "*" or element not in named.places:
            return ""
        steps.append(f"{names.tag}:nth-of-type({named.places[element]})")
        element = element.getparent()
    return ""


@dataclass(slots=True)
class _NamedElements:
    """How many elements have a name, and the place of each among those of its tag inside its parent."""

    counts: Counter[Names] = field(default_factory=Counter)
    places: dict[Element, int] = field(default_factory=dict)

    def unique(self, element: Element) -> str:
        """Return a name that this element alone has; empty if there is none."""
        if element.tag in ("body", "html"):
            return str(element.tag) if self.counts[Names(str(element.tag))] == 1 else ""
        return next((one.css for one in _single_names(names_of(element)) if self.counts[one] == 1), "")


def _named_elements(page: Page) -> _NamedElements:
    found = _NamedElements()
    if page.tree is None:
        return found
    siblings: Counter[tuple[Element | None, str]] = Counter()
    for element in page.tree.iter():
        if not isinstance(element.tag, str) or element.tag == TEXT:
            continue
        key = element.getparent(), element.tag
        siblings[key] += 1
        found.places[element] = siblings[key]
        names = names_of(element)
        found.counts.update(_single_names(names))
        if names.tag in ("body", "html"):
            found.counts[Names(names.tag)] += 1
    return found


def _single_names(names: Names) -> Iterator[Names]:
    if names.tag == "*":
        return
    if names.id:
        yield Names(names.tag, names.id)
    yield from (Names(names.tag, classes=(name,)) for name in names.classes)
