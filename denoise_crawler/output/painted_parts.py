"""The parts of a page that are painted: blocks of lines with one verdict, single texts and pictures.

Browsers move and close elements whose nesting is invalid (HTML standard, §13.2.6): a block closes a paragraph,
what is no row leaves its table. They move no text out of a block that holds lines only.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate

from denoise_crawler.output.safe_markup import VOID
from denoise_crawler.page import TEXT, Nodes
from denoise_crawler.page.nodes import INLINE

_CELLS = frozenset({"td", "th"})
_ROW_GROUPS = frozenset({"tbody", "thead", "tfoot"})
_TABLE_PARTS = _CELLS | _ROW_GROUPS | {"tr", "col", "colgroup", "caption"}
# Those that a browser may ignore, or empty
_NEVER_A_PART = (_TABLE_PARTS - _CELLS) | VOID | {"body", "table", "form"}
# Elements that are visible without text.
_SHOWN = frozenset(
    {"img", "svg", "iframe", "object", "video", "audio", "canvas", "embed"}
    | {"input", "button", "select", "textarea"}
)
_IN_LINES = INLINE | _SHOWN | (VOID - {"hr"}) | {TEXT}


def painted_parts(nodes: Nodes, tags: Sequence[str], noise: Sequence[bool]) -> dict[int, bool]:
    """Return the roots of the parts of a page in document order, each with whether it is noise.

    A block that holds lines of one verdict is a part, and each text outside such blocks. A picture or another
    visible element is a part of its own if its verdict is not that of the part around it; outside, if it is noise.

    Args:
        nodes: The nodes of the page.
        tags: Those that the nodes are written with.
        noise: Whether each node is noise.

    Example:
        >>> from denoise_crawler import Page
        >>> nodes = Page.parse("", "<p>One <b>two</b>.<div>Three<p>Four.</div>").nodes
        >>> painted_parts(nodes, nodes.tags, [index > 5 for index in range(len(nodes))])
        {1: False, 7: True, 8: True}
    """
    are_blocks = [tag not in _IN_LINES for tag in tags]
    are_texts = [tag is TEXT for tag in nodes.tags]
    are_noisy = [is_text and gone for is_text, gone in zip(are_texts, noise, strict=True)]
    blocks, texts, noisy = (list(accumulate(column, initial=0)) for column in (are_blocks, are_texts, are_noisy))
    parts: dict[int, bool] = {}
    part = part_end = 0
    for index, end in enumerate(nodes.ends):
        if tags[index] in _SHOWN and end == index + 1:
            if noise[index] != (index < part_end and parts[part]):
                parts[index] = noise[index]
        elif index < part_end:
            continue
        elif are_texts[index]:
            parts[index] = noise[index]
        elif are_blocks[index] and _stays(nodes, tags, index):
            size, gone = texts[end] - texts[index], noisy[end] - noisy[index]
            if blocks[end] == blocks[index + 1] and size and gone in (0, size):
                parts[index] = gone > 0
                part, part_end = index, end
    return parts


def _stays(nodes: Nodes, tags: Sequence[str], index: int) -> bool:
    """Return True if a browser keeps a block that holds lines only: of parts of tables a cell in its place."""
    if tags[index] not in _CELLS:
        return tags[index] not in _NEVER_A_PART
    row = nodes.parents[index]
    above = nodes.parents[row]
    if above > 0 and tags[above] in _ROW_GROUPS:
        above = nodes.parents[above]
    return tags[row] == "tr" and above > 0 and tags[above] == "table"
