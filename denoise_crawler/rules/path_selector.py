"""Selectors made of the names of elements, as CSS or as XPath; one that finds a single element of a page."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from denoise_crawler.page import TEXT

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from denoise_crawler.page import Element, Page

_PLAIN = re.compile(r"-?[A-Za-z_][\w-]*")  # a name that CSS needs no escape for
_PLAIN_TAG = re.compile(r"[a-z][a-z0-9]*")
MOST_NAME_CHARACTERS = 60
_MAX_STEPS = 40


@dataclass(frozen=True, slots=True)
class Names:
    """The names of an element: its tag, its id (empty without one) and its classes in order.

    Example:
        >>> Names("div", "story", ("wide",)).css
        'div#story.wide'

    """

    tag: str = "*"
    id: str = ""
    classes: tuple[str, ...] = ()

    @property
    def css(self) -> str:
        """The names as CSS."""
        named = self.id or self.classes
        tag = "" if self.tag == "*" and named else self.tag
        return "".join([tag, *([f"#{self.id}"] if self.id else ()), *(f".{name}" for name in self.classes)])

    @property
    def xpath(self) -> str:
        """The names as a step of XPath."""
        conditions = [f"@id='{self.id}'"] if self.id else []
        conditions += [f"contains(concat(' ', normalize-space(@class), ' '), ' {name} ')" for name in self.classes]
        return f"{self.tag}[{' and '.join(conditions)}]" if conditions else self.tag

    def fit(self, other: Names) -> bool:
        """Return True if an element with the names ``other`` has these as well."""
        return (
            self.tag in ("*", other.tag)
            and self.id in ("", other.id)
            and all(name in other.classes for name in self.classes)
        )


@dataclass(frozen=True, slots=True)
class PathSelector:
    """An element by its names and those of some elements around it, outermost first.

    With ``direct`` each stands right inside the one before.

    Example:
        >>> selector = PathSelector((Names("div", "story"), Names("p", classes=("ad",))))
        >>> selector.css
        'div#story p.ad'
        >>> selector.xpath
        "//div[@id='story']//p[contains(concat(' ', normalize-space(@class), ' '), ' ad ')]"

    """

    steps: tuple[Names, ...]
    direct: bool = False

    @property
    def css(self) -> str:
        """The selector as CSS."""
        return (" > " if self.direct else " ").join(step.css for step in self.steps)

    @property
    def xpath(self) -> str:
        """The selector as XPath."""
        return "//" + ("/" if self.direct else "//").join(step.xpath for step in self.steps)

    def fits(self, path: Sequence[Names]) -> bool:
        """Return True if the last element of ``path`` (from the body on) is found."""
        if self.direct:
            end = path[len(path) - len(self.steps) :] if len(path) >= len(self.steps) else ()
            return bool(end) and all(map(Names.fit, self.steps, end))
        if not path or not self.steps[-1].fit(path[-1]):
            return False
        above = list(path[:-1])
        for step in reversed(self.steps[:-1]):
            while above and not step.fit(above[-1]):
                above.pop()
            if not above:
                return False
            above.pop()
        return True


def names_of(element: Element, known: Iterable[str] | None = None) -> Names:
    """Return the names of an element that a selector can be made of, those in ``known`` only if it is given."""
    tag = str(element.tag)
    own, classes = element.get("id", "").strip(), element.get("class", "").split()
    usable = [
        name for name in dict.fromkeys(classes) if _is_plain(name) and (known is None or f".{name}" in known)
    ]
    identity = own if _is_plain(own) and (known is None or f"#{own}" in known) else ""
    return Names(tag if _PLAIN_TAG.fullmatch(tag) else "*", identity, tuple(usable))


def _is_plain(name: str) -> bool:
    return len(name) <= MOST_NAME_CHARACTERS and name.isascii() and _PLAIN.fullmatch(name) is not None


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
    named = _NamedElements()
    if page.tree is None:
        return named
    siblings: Counter[tuple[Element | None, str]] = Counter()
    for element in page.tree.iter():
        if not isinstance(element.tag, str) or element.tag == TEXT:
            continue
        key = element.getparent(), element.tag
        siblings[key] += 1
        named.places[element] = siblings[key]
        names = names_of(element)
        named.counts.update(_single_names(names))
        if names.tag in ("body", "html"):
            named.counts[Names(names.tag)] += 1
    return named


def _single_names(names: Names) -> Iterator[Names]:
    if names.tag == "*":
        return
    if names.id:
        yield Names(names.tag, names.id)
    yield from (Names(names.tag, classes=(name,)) for name in names.classes)
