"""The shortest CSS selector that matches a single element of a page."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field

from denoise_crawler.page import TEXT, Element, Page

_PLAIN = re.compile(r"-?[A-Za-z_][\w-]*", re.ASCII)  # a name that CSS needs no escape for
_PLAIN_TAG = re.compile(r"[a-z][a-z0-9]*")
_MAX_NAME_CHARACTERS = 60
_MAX_STEPS = 40


def selector_of(page: Page, node: int) -> str:
    """Return a CSS selector that matches the element of ``node`` alone, as short as its id and classes allow.

    It is empty where each such selector would need an escape, or be very long.

    Example:
        >>> page = Page.parse("", "<div class=story><p>One.<p class=ad>Two.<p>Three.</div>")
        >>> [selector_of(page, node) for node, tag in enumerate(page.nodes.tags) if tag == "p"]
        ['div.story > p:nth-of-type(1)', 'p.ad', 'div.story > p:nth-of-type(3)']
    """
    index, steps = page.once(_index_of), list[str]()
    element: Element | None = page.nodes.elements[node]
    while element is not None and len(steps) < _MAX_STEPS:
        if unique := index.unique(element):
            return " > ".join([unique, *reversed(steps)])
        if element not in index.positions or not _PLAIN_TAG.fullmatch(element.tag):
            return ""
        steps.append(f"{element.tag}:nth-of-type({index.positions[element]})")
        element = element.getparent()
    return ""


@dataclass(slots=True)
class _SelectorIndex:
    """How many elements each simple selector matches; the position of each element among siblings of its tag."""

    counts: Counter[str] = field(default_factory=Counter)
    positions: dict[Element, int] = field(default_factory=dict)

    def unique(self, element: Element) -> str:
        """Return a simple selector that matches this element alone; empty if there is none."""
        return next((simple for simple in _simple_selectors(element) if self.counts[simple] == 1), "")


def _index_of(page: Page) -> _SelectorIndex:
    index = _SelectorIndex()
    siblings: Counter[tuple[Element | None, str]] = Counter()
    for element in page.tree.iter() if page.tree is not None else ():
        if not isinstance(element.tag, str) or element.tag == TEXT:
            continue
        key = element.getparent(), element.tag
        siblings[key] += 1
        index.positions[element] = siblings[key]
        index.counts.update(_simple_selectors(element))
    return index


def _simple_selectors(element: Element) -> Iterator[str]:
    tag = str(element.tag)
    if tag in ("body", "html"):
        yield tag
    elif _PLAIN_TAG.fullmatch(tag):
        if _is_plain(identity := element.get("id", "")):
            yield f"{tag}#{identity}"
        yield from (f"{tag}.{name}" for name in dict.fromkeys(element.get("class", "").split()) if _is_plain(name))


def _is_plain(name: str) -> bool:
    return len(name) <= _MAX_NAME_CHARACTERS and _PLAIN.fullmatch(name) is not None
