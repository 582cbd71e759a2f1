"""Blocks of code: which elements are some, and what they hold."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from denoise_crawler.output.content.blocks import Code
from denoise_crawler.output.content.code_language import code_language
from denoise_crawler.output.content.code_lines import EDITOR_LINE, code_text
from denoise_crawler.page import TEXT
from denoise_crawler.page.markup import INLINE

if TYPE_CHECKING:
    from lxml.etree import _Element

    from denoise_crawler.page import Nodes

MIN_KEPT_SHARE = 0.5  # of the characters of a block; with less kept it goes
_IN_CODE = INLINE | frozenset(
    {"br", "div", "ol", "ul", "li", "table", "tbody", "thead", "tr", "td", "th", "button", "svg", "p", "pre"}
    | {"figure", "path", "rect", "g", "use", "colgroup", "col", "figcaption"}
)
_CODE_TABLE = re.compile(
    r"(?:^|\s)(?:highlighttable|codehilitetable|rouge-table|lntable|hljs-ln|crayon-table|CodeRay"
    r"|js-file-line-container|syntaxhighlighter)(?:\s|$)"
)
_CODE_BOX = re.compile(r"(?:^|\s)(?:CodeMirror-code|cm-content|view-lines|syntaxhighlighter|crayon-pre)(?:\s|$)")
_VERSE = re.compile(r"(?:^|[\s_-])(?:verse|poem|poetry|lyrics)(?:$|[\s_-])", re.IGNORECASE)
_KEEPS_SPACES = re.compile(r"white-space:\s*pre\b(?!-line)")
_BLOCK_STYLE = re.compile(r"display:\s*(?:block|flex|grid|table)\b")
_BLOCK_CLASS = re.compile(r"(?:^|[\s_-])(?:block|codeblock)(?:$|[\s_-])", re.IGNORECASE)
_IN_LONE_CODE = INLINE | frozenset({"br", "div"})
_ONE_LINE = frozenset({"h1", "h2", "h3", "h4", "h5", "h6", "dt", "summary", "caption", "figcaption", "td", "th"})
_MAX_NEAR = 50  # nodes that are looked at beside a code
_NUMBERS = re.compile(r"[\s\d]*")


def is_verse(element: _Element) -> bool:
    """Tell whether a ``pre`` holds a poem and no code."""
    return _VERSE.search(element.get("class", "")) is not None


def is_code(nodes: Nodes, index: int) -> bool:
    """Tell whether an element is a block of code: a ``pre``, or what a highlighter makes of one."""
    element, tag = nodes.elements[index], nodes.tags[index]
    if tag == "pre":
        below = range(index + 1, nodes.ends[index])
        return not is_verse(element) and all(nodes.tags[one] in _IN_CODE for one in below)
    classes = element.get("class", "")
    if tag == "table":
        return _CODE_TABLE.search(classes) is not None or _is_numbered_code(nodes, index)
    if tag == "code":
        return _is_block_of_code(nodes, index)
    if element.get("data-lang") and "code" in classes:
        return all(one in INLINE or one == "br" for one in nodes.tags[index + 1 : nodes.ends[index]])
    return _CODE_BOX.search(classes) is not None or _holds_editor_lines(nodes, index)


def _is_block_of_code(nodes: Nodes, index: int) -> bool:
    """Tell whether a ``code`` without a ``pre`` is a block: it keeps its lines, or stands alone and has some."""
    alone = _stands_alone(nodes, index)
    element = nodes.elements[index]
    style = element.get("style", "")
    keeps_spaces = _KEEPS_SPACES.search(style) is not None
    if not keeps_spaces and not alone:
        return False
    has_lines = "\n" in "".join(map(str, element.itertext("*"))).strip()
    if keeps_spaces and has_lines:
        return True
    if not alone or not all(tag in _IN_LONE_CODE for tag in nodes.tags[index + 1 : nodes.ends[index]]):
        return False
    if has_lines or _BLOCK_STYLE.search(style) or _BLOCK_CLASS.search(element.get("class", "")):
        return True
    return any(tag == "br" for tag in nodes.tags[index + 1 : nodes.ends[index]])


def _stands_alone(nodes: Nodes, index: int) -> bool:
    """Tell whether the line that an inline element stands in holds nothing else, and is no heading or cell."""
    block = _block_around(nodes, index)
    if nodes.tags[block] in _ONE_LINE or nodes.links[index] >= 0:
        return False
    end = nodes.ends[index]
    for one in range(index - 1, max(block, index - _MAX_NEAR) - 1, -1):
        if nodes.tags[one] is TEXT and _block_around(nodes, one) == block:
            return False
        if nodes.tags[one] is TEXT or nodes.tags[one] not in INLINE:
            break
    else:
        return False
    for one in range(end, min(nodes.ends[block], end + _MAX_NEAR)):
        if nodes.tags[one] is TEXT:
            return False
        if nodes.tags[one] not in INLINE:
            break
    return True


def _holds_editor_lines(nodes: Nodes, index: int) -> bool:
    """Tell whether all that stands right in an element are the lines of an editor."""
    one = 0
    for one in nodes.children(index):
        if nodes.tags[one] != "div" or not EDITOR_LINE.search(nodes.elements[one].get("class", "")):
            return False
    return one > 0


def _block_around(nodes: Nodes, index: int) -> int:
    """Return the block-level element that a node stands in."""
    for _ in range(_MAX_NEAR):
        index = nodes.parents[index]
        if index <= 0 or nodes.tags[index] not in INLINE:
            break
    return max(index, 0)


def kept_share(nodes: Nodes, index: int, noise: list[bool] | None) -> float:
    """Return the share of the characters below a node that is kept; 1 without any."""
    every = kept = 0
    for one in range(index, nodes.ends[index]):
        if nodes.tags[one] is TEXT:
            every += len(nodes.texts[one])
            kept += len(nodes.texts[one]) * (noise is None or not noise[one])
    return kept / every if every else 1.0


def code_of(element: _Element) -> Code | None:
    """Return the code in an element; None if it is empty."""
    text = code_text(element)
    return Code(text, code_language(element)) if text else None


def _is_numbered_code(nodes: Nodes, table: int) -> bool:
    """Tell whether a table is one row: a cell of line numbers, a cell with a ``pre``."""
    cells = [one for one in range(table, nodes.ends[table]) if nodes.tags[one] in ("td", "th")]
    if len(cells) != 2 or nodes.ends[cells[0]] > cells[1]:
        return False
    first = "".join(nodes.texts[cells[0] : nodes.ends[cells[0]]])
    return _NUMBERS.fullmatch(first) is not None and "pre" in nodes.tags[cells[1] : nodes.ends[cells[1]]]
