"""Clean HTML: the kept nodes of a page as a new, repaired document with absolute links."""

from __future__ import annotations

import re
from collections.abc import Iterable
from itertools import islice

from lxml import etree
from lxml.etree import _Element

from denoise_crawler.output.safe_markup import DROPPED, markup_of, output_tags, safe_attributes
from denoise_crawler.page import TEXT, Page
from denoise_crawler.page.text import collapse_spaces

_JSON_LD = "application/ld+json"
_RELATIONS = frozenset({"alternate", "amphtml", "author", "canonical", "license", "shortlink"})
_MAX_TITLE_CHARACTERS = 1_000
_SCRIPT = re.compile("</?script", re.IGNORECASE)


def clean_tree(page: Page, noise: list[bool] | None = None) -> _Element:
    """Return a new tree of ``page``, repaired and without its ``noise`` nodes.

    We repair a page as the LCS paper preprocesses it: tags are closed, links absolute, scripts, styles and
    comments removed. Event handlers, script URLs, embedded pages, ``meta`` and ``base`` are removed too, so that
    nothing runs or redirects. The page's own tree is not changed.
    """
    return repair_page(page, noise)[0]


def repair_page(page: Page, noise: list[bool] | None = None) -> tuple[_Element, list[_Element | None]]:
    """Return :func:`clean_tree` and the new element of each node; None for text and for nodes left out."""
    nodes, tags = page.nodes, output_tags(page.nodes)
    root = etree.Element("html")
    body = etree.SubElement(root, "body")
    made: list[_Element | None] = [body] + [None] * (len(nodes) - 1)
    homes = list(made)  # the element that gets the content of each node
    for index in range(1, len(nodes)):
        parent = homes[nodes.parents[index]]
        if parent is None or (noise is not None and noise[index]):
            continue
        if nodes.tags[index] is TEXT:
            _append_text(parent, nodes.texts[index])
        elif tags[index] in DROPPED or tags[index] == "link":
            homes[index] = parent
        else:
            made[index] = homes[index] = _copy_element(page, nodes.elements[index], parent, tags[index])
    return root, made


def clean_html(page: Page, noise: list[bool] | None = None) -> str:
    """Return :func:`clean_tree` as markup.

    Example:
        >>> clean_html(Page.parse("https://a.test/", '<p onclick="x()">One <a href="/2">two'))
        '<html><body><p>One <a href="https://a.test/2">two</a></p></body></html>'
    """
    return markup_of(clean_tree(page, noise))


def clean_document(page: Page, noise: list[bool] | None = None) -> str:
    """Return :func:`clean_html` with the page's metadata.

    These are its declared language and, in a head, its title, ``meta`` elements, links to other versions of the
    page, and all of its JSON-LD.
    """
    root = clean_tree(page, noise)
    head = etree.Element("head")
    root.insert(0, head)
    etree.SubElement(head, "meta", charset="utf-8")
    if page.tree is not None:
        _set_attributes(root, safe_attributes(page.tree, page.absolute))
        for own in islice(page.tree.iter("head"), 1):
            for element in own.iter("title", "meta", "link"):
                _copy_to_head(page, element, head)
        for element in page.tree.iter("script"):
            _copy_to_head(page, element, head)
    return markup_of(root)


def _copy_to_head(page: Page, element: _Element, head: _Element) -> None:
    """Copy ``element`` into ``head`` if it is metadata of the page."""
    if element.tag == "script":
        text = element.text or ""
        if element.get("type", "").strip().lower() == _JSON_LD and not _SCRIPT.search(text):
            _append_text(etree.SubElement(head, "script", type=_JSON_LD), text)
    elif element.tag == "title":
        text = collapse_spaces("".join(map(str, element.itertext())))
        if len(text) <= _MAX_TITLE_CHARACTERS:  # an unclosed title holds the page
            _append_text(_copy_element(page, element, head, "title"), text)
    elif _describes_page(element):
        _copy_element(page, element, head, str(element.tag))


def _describes_page(element: _Element) -> bool:
    """Tell whether a ``meta`` or ``link`` describes the page rather than how to read or draw it."""
    if element.tag == "meta":
        return element.get("charset") is None and element.get("http-equiv") is None
    relations = element.get("rel", "").lower().split()
    return bool(relations) and _RELATIONS.issuperset(relations)


def _copy_element(page: Page, element: _Element, parent: _Element, tag: str) -> _Element:
    try:
        copy = etree.SubElement(parent, tag)
    except ValueError:  # valid as an HTML tag but not as an XML name
        copy = etree.SubElement(parent, "span")
    _set_attributes(copy, safe_attributes(element, page.absolute))
    return copy


def _set_attributes(element: _Element, attributes: Iterable[tuple[str, str]]) -> None:
    for name, value in attributes:
        try:
            element.set(name, value)
        except ValueError:
            continue


def _append_text(parent: _Element, text: str) -> None:
    text = "".join(letter for letter in text if letter >= " " or letter in "\t\n\r")
    last = next(parent.iterchildren(reversed=True), None)  # len() of an element counts its children
    if last is not None:
        last.tail = (last.tail or "") + text
    else:
        parent.text = (parent.text or "") + text
