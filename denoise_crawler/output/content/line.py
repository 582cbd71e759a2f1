"""Lines of inline pieces, paragraphs parted by empty lines; the style and heading that each node stands in."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import accumulate

from denoise_crawler.output.content.blocks import Formula, Inline, LineBreak, Text
from denoise_crawler.page import Nodes, Page
from denoise_crawler.page.markup import INLINE

_SPACES = re.compile(r"\s+")


def collapse(pieces: Iterable[Inline]) -> list[Inline]:
    """Join neighbours of the same kind; keep single spaces, and none at the ends of a line.

    Example:
        >>> collapse([Text(" a"), Text(" "), Text(" b ", "em"), Text(" ")])
        [Text(text='a ', style='', link=''), Text(text='b', style='em', link='')]
    """
    line: list[Inline] = []
    space = True  # whether a space before the next piece would be one too many
    for piece in _joined(pieces):
        if not isinstance(piece, Text):
            line.append(piece)
            space = isinstance(piece, LineBreak)
            continue
        text = _SPACES.sub(" ", piece.text)
        if space and text.startswith(" "):
            text = text[1:]
        if text:
            line.append(Text(text, piece.style, piece.link))
            space = text.endswith(" ")
    return _without_last_spaces(line)


def paragraphs(pieces: Iterable[Inline]) -> Iterator[list[Inline]]:
    """Yield the paragraphs of a run of pieces: one line break parts lines, two part paragraphs.

    A formula that has a line of its own is a paragraph.
    """
    paragraph: list[Inline] = []
    line: list[Inline] = []
    for piece in (*pieces, LineBreak(), LineBreak()):
        apart = isinstance(piece, Formula) and piece.display
        if not apart and not isinstance(piece, LineBreak):
            line.append(piece)
            continue
        found, line = collapse(line), []
        if found:
            paragraph += [LineBreak(), *found] if paragraph else found
        if paragraph and (apart or not found):
            yield paragraph
            paragraph = []
        if apart:
            yield [piece]


def _joined(pieces: Iterable[Inline]) -> Iterator[Inline]:
    texts: list[str] = []
    style = link = ""
    for piece in pieces:
        if isinstance(piece, Text) and texts and (piece.style, piece.link) == (style, link):
            texts.append(piece.text)
            continue
        if texts:
            yield Text("".join(texts), style, link)
            texts = []
        if isinstance(piece, Text):
            texts, style, link = [piece.text], piece.style, piece.link
        else:
            yield piece
    if texts:
        yield Text("".join(texts), style, link)


def _without_last_spaces(line: list[Inline]) -> list[Inline]:
    while line and isinstance(last := line[-1], Text) and last.text.endswith(" "):
        line.pop()
        if text := last.text.rstrip(" "):
            line.append(Text(text, last.style, last.link))
    return line


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
_STYLED, _HEADING_TAGS = frozenset(_STYLES), frozenset(_HEADINGS)


def text_styles(nodes: Nodes) -> list[str]:
    """Return the style of each node: its own or the inherited one, whichever is stronger."""
    styles = [""] * len(nodes)
    for index in nodes.tagged(_STYLED):
        own, above = _STYLES[nodes.tags[index]], styles[index]
        if _STRENGTH.index(own) > _STRENGTH.index(above):
            end = nodes.ends[index]
            styles[index:end] = [own] * (end - index)
    return styles


def style_in(style: str, text: str, *, in_heading: bool, in_link: bool) -> str:
    """Return the style of a text where it stands: a heading has no emphasis, a reference is not raised."""
    if style in RAISED:
        return "" if in_link or not any(map(str.isalnum, text)) else style
    return "" if in_heading and style != "code" else style


def block_around(nodes: Nodes, index: int) -> int:
    """Return the block-level element around a node, or the node itself if it is one."""
    while index > 0 and nodes.tags[index] in INLINE:
        index = nodes.parents[index]
    return index


def heading_levels(page: Page) -> list[int]:
    """Return the level of the heading around each node, 0 outside headings.

    Only the title of a page has level 1: an ``h1`` with other words than the title has level 2.
    """
    nodes = page.nodes
    levels = [0] * len(nodes)
    if not (headings := nodes.tagged(_HEADING_TAGS)):
        return levels
    until = list(accumulate(map(len, nodes.texts), initial=0))
    title = _letters(page.title) if "h1" in nodes.tags else ""
    for index in headings:
        level, end = _HEADINGS[nodes.tags[index]], nodes.ends[index]
        if until[end] - until[index] > MAX_HEADING_CHARACTERS:
            continue
        if level == 1 and not _is_title(_letters("".join(nodes.texts[index:end])), title):
            level = 2
        levels[index:end] = [level] * (end - index)
    return levels


def _is_title(heading: str, title: str) -> bool:
    return heading in title or (title in heading and bool(title))


def _letters(text: str) -> str:
    return "".join(letter for letter in text.casefold() if letter.isalnum())
