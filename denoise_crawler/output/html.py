"""Clean HTML: the kept nodes of a page as a new document, repaired, with absolute links."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lxml import etree

from denoise_crawler.markup import ADDRESSES
from denoise_crawler.page import TEXT

if TYPE_CHECKING:
    from lxml.etree import _Element

    from denoise_crawler.page import Page


def clean_tree(page: Page, noise: list[bool] | None = None) -> _Element:
    """Return a new tree of ``page`` without its ``noise`` nodes; without any, the page repaired.

    Repaired as the LCS paper preprocesses a page: tags closed, scripts, styles and comments gone, links
    absolute. The page's own tree is not touched.
    """
    return repaired(page, noise)[0]


def repaired(page: Page, noise: list[bool] | None = None) -> tuple[_Element, list[_Element | None]]:
    """Return :func:`clean_tree` with the element made for each node: None for text and for what is left out."""
    nodes = page.nodes
    root = etree.Element("html")
    body = etree.SubElement(root, "body")
    made: list[_Element | None] = [body] + [None] * (len(nodes) - 1)
    for index in range(1, len(nodes)):
        parent = made[nodes.parents[index]]
        if parent is None or (noise is not None and noise[index]):
            continue
        if nodes.tags[index] is TEXT:
            _append_text(parent, nodes.texts[index])
        else:
            made[index] = _copy(page, nodes.elements[index], parent)
    return root, made


def clean_html(page: Page, noise: list[bool] | None = None) -> str:
    """Return :func:`clean_tree` as markup."""
    return etree.tostring(clean_tree(page, noise), encoding="unicode", method="html")


def _copy(page: Page, element: _Element, parent: _Element) -> _Element:
    try:
        copy = etree.SubElement(parent, element.tag)
    except ValueError:  # a tag that HTML parsers take and XML names do not allow
        copy = etree.SubElement(parent, "span")
    for name, value in map(_strings, element.items()):
        try:
            copy.set(name, page.absolute(value) if name in ADDRESSES else value)
        except ValueError:
            continue
    return copy


def _strings(attribute: tuple[str | bytes, str | bytes]) -> tuple[str, str]:
    return str(attribute[0]), str(attribute[1])


def _append_text(parent: _Element, text: str) -> None:
    text = "".join(letter for letter in text if letter >= " " or letter in "\t\n\r")
    last = next(parent.iterchildren(reversed=True), None)  # len() of an element counts its children
    if last is not None:
        last.tail = (last.tail or "") + text
    else:
        parent.text = (parent.text or "") + text
