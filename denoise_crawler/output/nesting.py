"""Finds invalid nesting: elements that a browser closes earlier than a lenient parser does.

The rules are those of the HTML standard (§13.2.6, tree construction): a block closes a paragraph, a link closes a
link, what is no row leaves its table.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

import numpy as np

from denoise_crawler.methods.base import subtree_sums
from denoise_crawler.page import TEXT, Nodes
from denoise_crawler.page.nodes import INLINE

VOID = frozenset(
    {"area", "base", "basefont", "bgsound", "br", "col", "embed", "frame", "hr", "img", "input", "keygen"}
    | {"link", "meta", "param", "source", "track", "wbr"}
)
_HEADINGS = frozenset({"h1", "h2", "h3", "h4", "h5", "h6"})
CLOSES_PARAGRAPH = _HEADINGS | frozenset(
    {"address", "article", "aside", "blockquote", "center", "dd", "details", "dialog", "dir", "div", "dl", "dt"}
    | {"fieldset", "figcaption", "figure", "footer", "form", "header", "hgroup", "hr", "li", "main", "menu"}
    | {"nav", "ol", "p", "pre", "search", "section", "summary", "table", "ul"}
)
_NONE: frozenset[str] = frozenset()
# (what is closed, what closes it, what shields it)
_CLOSINGS = (
    (frozenset({"p"}), CLOSES_PARAGRAPH, _NONE),
    (_HEADINGS, _HEADINGS, _NONE),
    (frozenset({"a"}), frozenset({"a"}), _NONE),
    (frozenset({"nobr"}), frozenset({"nobr"}), _NONE),
    (frozenset({"li"}), frozenset({"li"}), frozenset({"ul", "ol"})),
    (frozenset({"dd", "dt"}), frozenset({"dd", "dt"}), frozenset({"dl"})),
    (frozenset({"rb", "rp", "rt", "rtc"}), frozenset({"rb", "rp", "rt", "rtc"}), frozenset({"ruby"})),
)
_CELLS = frozenset({"td", "th", "caption"})
_ROW_GROUPS = frozenset({"tbody", "thead", "tfoot"})
TABLE_PARTS = _CELLS | _ROW_GROUPS | {"tr", "col", "colgroup"}
_HOLDS = {
    "table": TABLE_PARTS,
    **dict.fromkeys(_ROW_GROUPS, frozenset({"tr", "td", "th"})),
    "tr": frozenset({"td", "th"}),
    "colgroup": frozenset({"col"}),
}


def find_misnested(nodes: Nodes, tags: Sequence[str]) -> set[int]:
    """Return the elements that a browser would close early or ignore, rather too many than too few.

    ``tags`` are those that the nodes are written with.
    """
    misnested = {index for index in range(len(nodes)) if tags[index] in VOID and nodes.ends[index] > index + 1}
    for closed, closing, shields in _CLOSINGS:
        if not closed.isdisjoint(tags):
            inside = _inside(nodes, tags, closed, shields)
            below = _below(nodes, tags, [tag in closing for tag in tags], shields)
            misnested.update(index for index in range(len(nodes)) if inside[index] and below[index])
    if "table" in tags or not TABLE_PARTS.isdisjoint(tags):
        misnested |= _misnested_in_tables(nodes, tags)
    return misnested


def _inside(nodes: Nodes, tags: Sequence[str], closed: frozenset[str], shields: frozenset[str]) -> list[bool]:
    """Return for each node whether it or an ancestor without a shield between has a tag of ``closed``."""
    inside: list[bool] = []
    for tag, parent in zip(tags, nodes.parents, strict=True):
        inside.append(tag in closed or (parent >= 0 and inside[parent] and tag not in shields))
    return inside


def _below(nodes: Nodes, tags: Sequence[str], marked: Sequence[bool], shields: frozenset[str]) -> list[bool]:
    """Return for each node whether a ``marked`` one is below it without a shield between."""
    below = [False] * len(nodes)
    for index in range(len(nodes) - 1, 0, -1):
        if marked[index] or (below[index] and tags[index] not in shields):
            below[nodes.parents[index]] = True
    return below


def _misnested_in_tables(nodes: Nodes, tags: Sequence[str]) -> set[int]:
    table = frozenset({"table"})
    inside = _inside(nodes, tags, table, _CELLS)
    in_table = [parent >= 0 and inside[parent] for parent in nodes.parents]
    strays = [tag in TABLE_PARTS and not within for tag, within in zip(tags, in_table, strict=True)]
    forms = {index for index, tag in enumerate(tags) if tag == "form" and in_table[index]}
    misplaced = _misplaced(nodes, tags, in_table)
    below, below_in_cells = _below(nodes, tags, misplaced, _CELLS), _below(nodes, tags, strays, table)
    anywhere = _inside(nodes, tags, table, _NONE)
    torn = {
        index
        for index in range(len(nodes))
        if strays[index] or (inside[index] and below[index]) or (anywhere[index] and below_in_cells[index])
    }
    return forms | torn


def _misplaced(nodes: Nodes, tags: Sequence[str], in_table: Sequence[bool]) -> list[bool]:
    """Return for each node whether it is in a part of a table that must not contain it."""
    holders: list[str] = []  # the tag around the children of each node: a form in a table holds nothing
    misplaced = []
    for tag, parent, within in zip(tags, nodes.parents, in_table, strict=True):
        holder = holders[parent] if parent >= 0 else ""
        is_form = tag == "form" and within
        holders.append(holder if is_form else tag)
        wanted = _HOLDS.get(holder, _NONE)
        misplaced.append(within and not is_form and tag not in wanted and (holder in _HOLDS or tag in TABLE_PARTS))
    return misplaced


# --- regions: the largest parts of a page that are all content or all noise

# Elements that are visible without text.
_SHOWN = frozenset(
    {"img", "svg", "iframe", "object", "video", "audio", "canvas", "embed"}
    | {"input", "button", "select", "textarea"}
)


def regions(nodes: Nodes, noise: Sequence[bool], divisible: Collection[int] = ()) -> dict[int, bool]:
    """Divide a page into regions.

    Every run of text is in one region. A node without text belongs to the region around it, unless it is a picture
    (or another visible element) with a different judgement: then it is a region of its own. Of ``divisible`` nodes
    the children are roots.

    Returns:
        The roots of the regions in document order, each with whether it is noise.

    Example:
        >>> from denoise_crawler import Page
        >>> regions(Page.parse("", "<p>One.<p>Two.").nodes, [False, True, True, False, False])
        {1: True, 3: False}
    """
    texts, pictures = (np.array([one in tags for one in nodes.tags]) for tags in ({TEXT}, _SHOWN))
    shown, has_text, noisy_text, noisy_picture = (
        (subtree_sums(column.astype(np.int64), nodes.ends) > 0).tolist()
        for column in (texts | pictures, texts, texts & noise, pictures & noise)
    )
    mixed = [(noisy_text if text else noisy_picture)[index] for index, text in enumerate(has_text)]
    verdicts: dict[int, bool] = {}
    index, content_end = 0, 0  # content_end: the end of the content region around
    while index < len(nodes):
        if not shown[index]:
            index = nodes.ends[index]
        elif index not in divisible and noise[index]:
            verdicts[index] = True
            index = nodes.ends[index]
        elif index < content_end or index in divisible or mixed[index]:
            index += 1
        elif noisy_picture[index]:
            verdicts[index] = False
            content_end = nodes.ends[index]
            index += 1
        else:
            verdicts[index] = False
            index = nodes.ends[index]
    return verdicts


def joined_sides(nodes: Nodes, roots: dict[int, bool]) -> dict[int, list[str]]:
    """Return the sides where a region borders a sibling with the same verdict, so that no line separates them.

    Sides are ``above`` and ``below`` for blocks, ``before`` and ``after`` inside a line.
    """
    sides: dict[int, list[str]] = {}
    last = -1
    for index in roots:
        if last >= 0 and index < nodes.ends[last]:
            continue  # a picture in a region
        if last >= 0 and nodes.parents[last] == nodes.parents[index] and roots[last] == roots[index]:
            inline = nodes.tags[index] in INLINE
            if inline == (nodes.tags[last] in INLINE) and nodes.tags[index] not in TABLE_PARTS:
                sides.setdefault(last, []).append("after" if inline else "below")
                sides.setdefault(index, []).append("before" if inline else "above")
        last = index
    return sides
