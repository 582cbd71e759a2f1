"""The style and the heading that each node of a page stands in."""

from __future__ import annotations

from itertools import accumulate
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from denoise_crawler.page import Nodes, Page

MAX_HEADING_CHARACTERS = 400  # a longer heading was never closed
_STYLES = {
    **dict.fromkeys(("em", "i", "dfn"), "em"),
    **dict.fromkeys(("b", "strong", "dt"), "strong"),
    "sub": "sub",
    "sup": "sup",
    **dict.fromkeys(("code", "kbd", "samp", "tt"), "code"),
}
_STRENGTH = ("", "em", "strong", "sub", "sup", "code")  # of nested styles the strongest, the last here, is written
RAISED = ("sub", "sup")
_HEADINGS = {f"h{level}": level for level in range(1, 7)}


def text_styles(nodes: Nodes) -> list[str]:
    """Return the style of each node: its own or the inherited one, whichever is stronger."""
    styles = [""]
    for tag, parent in zip(nodes.tags[1:], nodes.parents[1:], strict=True):
        own, above = _STYLES.get(tag, ""), styles[parent]
        styles.append(max(own, above, key=_STRENGTH.index) if own else above)
    return styles


def style_in(style: str, text: str, *, in_heading: bool, in_link: bool) -> str:
    """Return the style of a text where it stands: a heading has no emphasis, a reference is not raised."""
    if style in RAISED:
        return "" if in_link or not any(map(str.isalnum, text)) else style
    return "" if in_heading and style != "code" else style


def heading_levels(page: Page) -> list[int]:
    """Return the level of the heading around each node, 0 outside headings.

    Only the title of a page has level 1: an ``h1`` with other words than the title has level 2.
    """
    nodes = page.nodes
    until = list(accumulate(map(len, nodes.texts), initial=0))
    levels = [0]
    title = _letters(page.title) if "h1" in nodes.tags else ""
    for index in range(1, len(nodes)):
        level = _HEADINGS.get(nodes.tags[index], 0)
        if level and until[nodes.ends[index]] - until[index] > MAX_HEADING_CHARACTERS:
            level = 0
        if level == 1 and not _is_title(_letters("".join(nodes.texts[index : nodes.ends[index]])), title):
            level = 2
        levels.append(level or levels[nodes.parents[index]])
    return levels


def _is_title(heading: str, title: str) -> bool:
    return heading in title or (title in heading and bool(title))


def _letters(text: str) -> str:
    return "".join(letter for letter in text.casefold() if letter.isalnum())
