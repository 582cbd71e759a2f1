"""Clean HTML: the kept nodes of a page as a new document, repaired, with absolute links."""

from __future__ import annotations

import re
from itertools import islice
from typing import TYPE_CHECKING

from lxml import etree

from denoise_crawler.output.safe_markup import DROPPED, markup_of, safe_attributes
from denoise_crawler.output.written_tags import written_tags
from denoise_crawler.page import TEXT
from denoise_crawler.page.text import normalised

if TYPE_CHECKING:
    from collections.abc import Iterable

    from lxml.etree import _Element

    from denoise_crawler.page import Page

_JSON_LD = "application/ld+json"
_RELATIONS = frozenset({"alternate", "amphtml", "author", "canonical", "license", "shortlink"})
_LONGEST_TITLE = 1_000
_SCRIPT = re.compile("</?script", re.IGNORECASE)


def clean_tree(page: Page, noise: list[bool] | None = None) -> _Element:
    """Return a new tree of ``page`` without its ``noise`` nodes; without any, the page repaired.

    Repaired as the LCS paper preprocesses a page: tags closed, scripts, styles and comments gone, links
    absolute. Nothing in it runs or leads a browser elsewhere by itself: event handlers, addresses that are
    scripts, embedded pages, ``meta`` and ``base`` are gone as well. The page's own tree is not touched.
    """
    return repaired(page, noise)[0]


def repaired(page: Page, noise: list[bool] | None = None) -> tuple[_Element, list[_Element | None]]:
    """Return :func:`clean_tree` with the element made for each node: None for text and for what is left out."""
    nodes, tags = page.nodes, written_tags(page.nodes)
    root = etree.Element("html")
    body = etree.SubElement(root, "body")
    made: list[_Element | None] = [body] + [None] * (len(nodes) - 1)
    homes = list(made)  # what the content of each node goes to
    for index in range(1, len(nodes)):
        parent = homes[nodes.parents[index]]
        if parent is None or (noise is not None and noise[index]):
            continue
        if nodes.tags[index] is TEXT:
            _append_text(parent, nodes.texts[index])
        elif tags[index] in DROPPED or tags[index] == "link":
            homes[index] = parent
        else:
            made[index] = homes[index] = _copy(page, nodes.elements[index], parent, tags[index])
    return root, made


def clean_html(page: Page, noise: list[bool] | None = None) -> str:
    """Return :func:`clean_tree` as markup."""
    return markup_of(clean_tree(page, noise))


def clean_document(page: Page, noise: list[bool] | None = None) -> str:
    """Return :func:`clean_html` with what the page says of itself.

    That is its declared language and, in a head, its title, ``meta`` elements, the links that name the page
    elsewhere, and all of its JSON-LD.
    """
    root = clean_tree(page, noise)
    head = etree.Element("head")
    root.insert(0, head)
    etree.SubElement(head, "meta", charset="utf-8")
    if page.root is not None:
        _set(root, safe_attributes(page.root, page.absolute))
        for own in islice(page.root.iter("head"), 1):
            for element in own.iter("title", "meta", "link"):
                _tell(page, element, head)
        for element in page.root.iter("script"):
            _tell(page, element, head)
    return markup_of(root)


def _tell(page: Page, element: _Element, head: _Element) -> None:
    """Copy ``element`` into ``head`` if it says something of the page."""
    if element.tag == "script":
        text = element.text or ""
        if element.get("type", "").strip().lower() == _JSON_LD and not _SCRIPT.search(text):
            _append_text(etree.SubElement(head, "script", type=_JSON_LD), text)
    elif element.tag == "title":
        text = normalised("".join(map(str, element.itertext())))
        if len(text) <= _LONGEST_TITLE:  # a title that was never closed holds the page
            _append_text(_copy(page, element, head, "title"), text)
    elif _says(element):
        _copy(page, element, head, str(element.tag))


def _says(element: _Element) -> bool:
    """Tell whether a ``meta`` or ``link`` is about the page, not about how to read or draw it."""
    if element.tag == "meta":
        return element.get("charset") is None and element.get("http-equiv") is None
    relations = element.get("rel", "").lower().split()
    return bool(relations) and _RELATIONS.issuperset(relations)


def _copy(page: Page, element: _Element, parent: _Element, tag: str) -> _Element:
    try:
        copy = etree.SubElement(parent, tag)
    except ValueError:  # a tag that HTML parsers take and XML names do not allow
        copy = etree.SubElement(parent, "span")
    _set(copy, safe_attributes(element, page.absolute))
    return copy


def _set(element: _Element, attributes: Iterable[tuple[str, str]]) -> None:
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
