"""What opens a long quotation in a thread ("Click to expand…"): a control, and no word of the quotation."""

from __future__ import annotations

import re
from collections import defaultdict
from typing import TYPE_CHECKING

from denoise_crawler.page import TEXT
from denoise_crawler.page.markup import INLINE

if TYPE_CHECKING:
    from denoise_crawler.page import Nodes, Page

_MOST_CHARACTERS = 40
_OFTEN = 3  # quotations of a page that end with the same words
_NAMES = re.compile(r"expand|toggle|collaps", re.IGNORECASE)


def quote_controls(page: Page) -> frozenset[int]:
    """Return the elements of ``page`` that open a quotation: the last line of it, if that is a control.

    A control is a button, a link without an address, or named so; or its words end several quotations.

    Example:
        >>> from denoise_crawler import Page
        >>> html = "<blockquote>It was late.<div class=quoteExpand>Click to expand...</div></blockquote>"
        >>> quote_controls(Page.parse("", html))
        frozenset({3})

    """
    nodes = page.nodes
    ends: dict[str, list[int]] = defaultdict(list)
    found: set[int] = set()
    for index, tag in enumerate(nodes.tags):
        if tag == "blockquote" and (line := _last_line(nodes, index)) > index:
            text = "".join("".join(nodes.texts[line : nodes.ends[line]]).split())
            if 0 < len(text) <= _MOST_CHARACTERS:
                ends[text].append(line)
                if _is_control(nodes, line):
                    found.add(line)
    for lines in ends.values():
        if len(set(lines)) >= _OFTEN:
            found.update(lines)
    return frozenset(found)


def _last_line(nodes: Nodes, quote: int) -> int:
    """Return the block-level element of the last text in a quotation; the quotation if it has no other."""
    index = nodes.ends[quote] - 1
    while index > quote and not nodes.texts[index].strip():
        index -= 1
    while index > quote and nodes.tags[index] in INLINE:
        index = nodes.parents[index]
    return index


def _is_control(nodes: Nodes, line: int) -> bool:
    elements = [nodes.elements[index] for index in range(line, nodes.ends[line]) if nodes.tags[index] != TEXT]
    return any(
        element.tag == "button"
        or element.get("role") == "button"
        or (element.tag == "a" and not element.get("href"))
        or _NAMES.search(element.get("class", ""))
        for element in elements
    )
