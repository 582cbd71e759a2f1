"""Selectors, CSS or XPath: the elements and nodes of a page that they match."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache, lru_cache
from typing import Any

from lxml import etree

from denoise_crawler.errors import SelectorError
from denoise_crawler.page import TEXT, Element, Page

MAX_SELECTOR_CHARACTERS = 4_000
# "//div", "./p", "(//p)[1]" and "substring-before(//h1, '-')" are XPath; "div.story" and ".story" are CSS.
_XPATH = re.compile(r"/|\.{1,2}/|\(|[a-z-]+\(")
_BY_ID = re.compile(r"(?<![\w-])id\((['\"])([^'\"\s]+)\1\)")  # trees have no table of ids
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
        SelectorError: It is neither, and the message says where it is wrong.

    Example:
        >>> compile_selector("div.story > p")(_TRIAL)
        []
    """
    if len(selector) > MAX_SELECTOR_CHARACTERS:
        raise SelectorError(f"a selector of more than {MAX_SELECTOR_CHARACTERS:,} characters")
    written_as_xpath = is_xpath(selector)
    language = "an XPath expression" if written_as_xpath else "a CSS selector"
    try:
        xpath = _BY_ID.sub(r"(//*[@id=\1\2\1])[1]", selector) if written_as_xpath else _css_as_xpath(selector)
        compiled = etree.XPath(xpath)
        compiled(_TRIAL)  # some mistakes show only in use, such as an unknown function
    except (etree.XPathError, ValueError, RecursionError) as error:
        raise SelectorError(f"{selector!r:.200} is not {language} ({error})") from None
    return compiled


def _css_as_xpath(selector: str) -> str:
    """Return a CSS selector as XPath; raise ValueError, which says where it is wrong."""
    from cssselect import SelectorError as CssError  # late: most processes apply no CSS

    try:
        return str(_css_translator().css_to_xpath(selector))
    except CssError as error:
        raise ValueError(str(error)) from None


@cache
def _css_translator() -> Any:
    from parsel.csstranslator import HTMLTranslator

    class Translator(HTMLTranslator):
        """Translates ``h2 + p`` so that only the next element is tested; cssselect tests all that follow."""

        def xpath_direct_adjacent_combinator(self, left: Any, right: Any) -> Any:
            right.add_name_test()
            condition, right.condition = right.condition, ""
            joined = left.join("/following-sibling::*[1]/self::", right)
            return joined.add_condition(condition) if condition else joined

    return Translator()


def find(page: Page, selector: str) -> list[Element | str]:
    """Return the elements or texts that a selector matches in ``page``, in document order.

    Raises:
        SelectorError: The selector is wrong.

    Example:
        >>> find(Page.parse("", "<title>News</title>"), "substring(//title, 1, 2)")
        ['Ne']
    """
    if page.tree is None:
        return []
    try:
        result = compile_selector(selector)(page.tree)
    except etree.XPathError as error:
        raise SelectorError(f"{selector!r:.200} cannot be used: {error}") from None
    if isinstance(result, list):
        return [match if isinstance(match, etree._Element) else str(match) for match in result]
    return [str(result)] if isinstance(result, str) else []


def find_nodes(page: Page, selector: str) -> list[int]:
    """Return the numbers of the nodes that a selector matches in ``page``, in order.

    Elements that are never read, such as scripts, are no nodes.

    Raises:
        SelectorError: The selector is wrong.

    Example:
        >>> find_nodes(Page.parse("", "<p>One.<p class=b>Two."), "p.b")
        [3]
    """
    numbers = page.once(_numbers_of_elements)
    return sorted({numbers[match] for match in find(page, selector) if match in numbers})


def _numbers_of_elements(page: Page) -> dict[Element | str, int]:
    nodes = page.nodes
    return {nodes.elements[number]: number for number, tag in enumerate(nodes.tags) if tag != TEXT}


# --- the shortest CSS selector that matches a single element of a page

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
