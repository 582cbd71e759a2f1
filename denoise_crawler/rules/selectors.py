"""Selectors, CSS or XPath: the nodes of a page that they find, and one that finds a single element of it."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache, lru_cache
from typing import Any

from lxml import etree

from denoise_crawler.errors import SelectorError
from denoise_crawler.page import TEXT, Element, Page
from denoise_crawler.rules.finding import find_in_order
from denoise_crawler.rules.xpath_steps import check_nesting, tokens_of

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
        if self.tag not in ("*", other.tag) or self.id not in ("", other.id):
            return False
        return all(name in other.classes for name in self.classes)


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

    It is empty where there is none without an escape, or it would be very long.

    Example:
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


MAX_SELECTOR_CHARACTERS = 4_000
# "//div", "./p", "(//p)[1]" and "substring-before(//h1, '-')" are XPath; "div.story" and ".story" are CSS.
_XPATH = re.compile(r"/|\.{1,2}/|\(|[a-z-]+\(")
_TRIAL = etree.HTML("<html><head><title>t</title></head><body><div id='a' class='b'><p>t</p></div></body></html>")


def is_xpath(selector: str) -> bool:
    """Return True if a selector is written as XPath; else it is CSS.

    Example:
        >>> is_xpath("//div[@id='story']"), is_xpath("div#story"), is_xpath("concat(//h1, '')")
        (True, False, True)
    """
    return _XPATH.match(selector.lstrip()) is not None


@lru_cache(maxsize=1_024)
def compile_selector(selector: str) -> etree.XPath:
    """Return a selector as compiled XPath.

    Args:
        selector: A CSS selector, or an XPath expression: it starts with ``/``, ``./``, ``(`` or a function.

    Raises:
        SelectorError: It is neither, and the message says where it is wrong; or an axis that reaches through the
            page stands in a predicate inside another such predicate.

    Example:
        >>> compile_selector("div.story > p")(_TRIAL)
        []
    """
    if len(selector) > MAX_SELECTOR_CHARACTERS:
        raise SelectorError(f"a selector of more than {MAX_SELECTOR_CHARACTERS:,} characters")
    written_as_xpath = is_xpath(selector)
    language = "an XPath expression" if written_as_xpath else "a CSS selector"
    try:
        compiled = etree.XPath(selector if written_as_xpath else _css_as_xpath(selector))
        compiled(_TRIAL)  # some mistakes show only when it is used, as the name of a function
    except (etree.XPathError, ValueError, RecursionError) as error:
        raise SelectorError(f"{selector!r:.200} is not {language} ({error})") from None
    try:
        check_nesting(tokens_of(compiled.path))
    except SelectorError as error:
        raise SelectorError(f"{selector!r:.200} may take hours on a page: {error}") from None
    return compiled


def _css_as_xpath(selector: str) -> str:
    """Return a CSS selector as XPath; raise ValueError, which says where it is wrong."""
    from cssselect import SelectorError as CssError  # late: most processes obey no CSS

    try:
        return str(_css_translator().css_to_xpath(selector))
    except CssError as error:
        raise ValueError(str(error)) from None


@cache
def _css_translator() -> Any:
    from parsel.csstranslator import HTMLTranslator

    class Translator(HTMLTranslator):
        """Writes CSS as XPath; of ``h2 + p`` only the next element is looked at."""

        def xpath_direct_adjacent_combinator(self, left: Any, right: Any) -> Any:
            right.add_name_test()
            condition, right.condition = right.condition, ""
            joined = left.join("/following-sibling::*[1]/self::", right)
            return joined.add_condition(condition) if condition else joined

    return Translator()


def find(page: Page, selector: str) -> list[Element | str]:
    """Return the elements or texts that a selector finds in ``page``, in order.

    Raises:
        SelectorError: The selector is wrong, or takes too much work on this page.

    Example:
        >>> find(Page.parse("", "<title>News</title>"), "substring(//title, 1, 2)")
        ['Ne']
    """
    if page.tree is None:
        return []
    try:
        result = find_in_order(page, compile_selector(selector).path)
    except etree.XPathError as error:
        raise SelectorError(f"{selector!r:.200} cannot be used: {error}") from None
    if isinstance(result, list):
        return [one if isinstance(one, etree._Element) else str(one) for one in result]
    return [str(result)] if isinstance(result, str) else []


def find_nodes(page: Page, selector: str) -> list[int]:
    """Return the numbers of the nodes that a selector finds in ``page``, in order.

    Elements that are never read, such as scripts, are no nodes.

    Raises:
        SelectorError: The selector is wrong.

    Example:
        >>> find_nodes(Page.parse("", "<p>One.<p class=b>Two."), "p.b")
        [3]
    """
    numbers = page.once(_numbers_of_elements)
    return sorted({numbers[one] for one in find(page, selector) if not isinstance(one, str) and one in numbers})


def _numbers_of_elements(page: Page) -> dict[Element, int]:
    nodes = page.nodes
    return {nodes.elements[number]: number for number, tag in enumerate(nodes.tags) if tag != TEXT}
