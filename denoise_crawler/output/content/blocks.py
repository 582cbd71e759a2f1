"""The block model: what a page says, as typed blocks that hold inline pieces and other blocks.

Blocks nest at most :data:`MAX_CONTAINERS` deep, so code that walks through blocks may call itself.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import accumulate, pairwise
from typing import Any, TypeAlias

import msgspec

from denoise_crawler.page import Nodes, Page
from denoise_crawler.page.nodes import INLINE
from denoise_crawler.page.signs import find_words

MAX_CONTAINERS = 8  # blocks in blocks; what stands deeper on the page is written at this depth


class _Part(msgspec.Struct, tag_field="type", tag=str.lower, omit_defaults=True):
    """The base of all blocks and inline pieces: as a dict each has its ``type`` and what is not empty."""


class Text(_Part):
    """A piece of a line.

    ``style`` is ``em``, ``strong``, ``del``, ``sub``, ``sup``, ``code`` or empty, ``link`` an absolute URL.
    """

    text: str
    style: str = ""
    link: str = ""


class LineBreak(_Part, tag="break"):
    """A line break inside a paragraph, as in a verse or an address."""


class Formula(_Part):
    """A formula as LaTeX; ``display`` says that the page gives it a line of its own."""

    latex: str
    display: bool = False


class TaskBox(_Part, tag="task_box"):
    """The box that an item of a list of tasks begins with."""

    checked: bool = False


class FootnoteMark(_Part, tag="footnote_mark"):
    """A reference to the footnote with this label."""

    label: str


class Picture(_Part):
    """A picture with its alternative text, the URL that it links to and its caption."""

    address: str
    alt: str = ""
    link: str = ""
    caption: list[Inline] = []


class Heading(_Part):
    """A heading; ``level`` is 1 to 6."""

    level: int
    content: list[Inline]


class Paragraph(_Part):
    """A paragraph."""

    content: list[Inline]


class List(_Part):
    """A list; each item holds blocks. The items of an ordered list count from ``start``."""

    items: list[list[Block]]
    ordered: bool = False
    start: int = 1


class Cell(msgspec.Struct, omit_defaults=True):
    """A cell of a table. It spans ``columns`` and ``rows``."""

    content: list[Block]
    header: bool = False
    columns: int = 1
    rows: int = 1


class Table(_Part):
    """A data table. A cell that spans several rows or columns stands in the first of them only."""

    rows: list[list[Cell]]
    caption: list[Inline] = []


class Code(_Part):
    """A block of code with its language, if the page names it."""

    text: str
    language: str = ""


class Quote(_Part):
    """A quotation; ``source`` is the URL that the page names for it."""

    content: list[Block]
    source: str = ""


class Callout(_Part):
    """A box beside the text: a note, a tip, a warning."""

    kind: str
    content: list[Block]
    title: list[Inline] = []


class Details(_Part):
    """Content that readers open by its summary."""

    summary: list[Inline]
    content: list[Block]


class Footnote(_Part):
    """A footnote; :class:`FootnoteMark` refers to its label."""

    label: str
    content: list[Block]


class Embed(_Part):
    """A video, a sound or a post of another site, shown in the page."""

    address: str
    title: str = ""


class Rule(_Part):
    """A line between two parts of the text."""


Inline: TypeAlias = Text | LineBreak | Formula | TaskBox | FootnoteMark | Picture
_Container: TypeAlias = List | Table | Quote | Callout | Details | Footnote
Block: TypeAlias = Heading | Paragraph | Code | Formula | Picture | Embed | Rule | _Container


class BlockList(list[dict[str, Any]]):
    """Blocks as dicts, in a list that writes itself as JSON where a feed holds only text (CSV)."""

    def __str__(self) -> str:
        return msgspec.json.encode(list(self)).decode()


def to_dicts(blocks: list[Block]) -> BlockList:
    """Return ``blocks`` as dicts of plain values.

    Example:
        >>> to_dicts([Heading(1, [Text("News")]), Rule()])
        [{'type': 'heading', 'level': 1, 'content': [{'type': 'text', 'text': 'News'}]}, {'type': 'rule'}]
    """
    return BlockList(msgspec.to_builtins(blocks))


def from_dicts(dicts: list[dict[str, Any]]) -> list[Block]:
    """Return the blocks that :func:`to_dicts` made dicts of.

    Raises:
        msgspec.ValidationError: A dict is no block.
    """
    return msgspec.convert(dicts, list[Block])


def text_of(content: list[Inline]) -> str:
    """Return the plain text of inline pieces.

    Example:
        >>> text_of([Text("One "), Text("two", "em"), LineBreak(), Formula("x^2")])
        'One two x^2'
    """
    parts = []
    for piece in content:
        if isinstance(piece, Text):
            parts.append(piece.text)
        elif isinstance(piece, Formula):
            parts.append(piece.latex)
        else:
            parts.append(" ")
    return " ".join("".join(parts).split())


_SHORT = 12  # characters


def without_empty_headings(blocks: list[Block]) -> list[Block]:
    """Return ``blocks`` with short headings as paragraphs where no text stands below them.

    The highest heading of the page is one in any case.

    Example:
        >>> blocks = [Heading(1, [Text("News")]), Heading(6, [Text("T|T")]), Heading(2, [Text("A")])]
        >>> blocks = without_empty_headings(blocks)
        >>> [type(block).__name__ for block in blocks]
        ['Heading', 'Paragraph', 'Paragraph']
    """
    highest = min((block.level for block in blocks if isinstance(block, Heading)), default=0)
    return [
        Paragraph(block.content) if isinstance(block, Heading) and _is_label(block, below, highest) else block
        for block, below in pairwise([*blocks, Rule()])
    ]


def _is_label(heading: Heading, below: Block, highest: int) -> bool:
    if heading.level == highest or len(text_of(heading.content)) >= _SHORT:
        return False
    return isinstance(below, Rule) or (isinstance(below, Heading) and below.level <= heading.level)


# --- lines of inline pieces, paragraphs parted by empty lines; the style and heading that each node stands in

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
            space = isinstance(piece, LineBreak | TaskBox)
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
        collapsed, line = collapse(line), []
        if collapsed:
            paragraph += [LineBreak(), *collapsed] if paragraph else collapsed
        if paragraph and (apart or not collapsed):
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
    **dict.fromkeys(("del", "s", "strike"), "del"),
    "sub": "sub",
    "sup": "sup",
    **dict.fromkeys(("code", "kbd", "samp", "tt"), "code"),
}
_STRENGTH = ("", "em", "strong", "del", "sub", "sup", "code")  # of nested styles the last one here is written
_STRUCK = re.compile(r"text-decoration(?:-line)?:[^;]*line-through")
_LEVELS = frozenset("123456")
RAISED = ("sub", "sup")
_HEADINGS = {f"h{level}": level for level in range(1, 7)}
_STYLED, _HEADING_TAGS = frozenset(_STYLES), frozenset(_HEADINGS)


def _marked_by_attributes(page: Page) -> Sequence[int]:
    """Return the elements that may be headings or struck through by their attributes."""
    return find_words(page.nodes, {"role": ("heading",), "style": ("line-through",)})


def text_styles(page: Page) -> list[str]:
    """Return the style of each node: its own or the inherited one, whichever is stronger."""
    nodes, styles = page.nodes, [""] * len(page.nodes)
    own = {index: _STYLES[nodes.tags[index]] for index in nodes.tagged(_STYLED)}
    for index in page.once(_marked_by_attributes):
        if _STRUCK.search(nodes.elements[index].get("style", "")):
            own.setdefault(index, "del")
    for index, style in sorted(own.items()):
        if _STRENGTH.index(style) > _STRENGTH.index(styles[index]):
            end = nodes.ends[index]
            styles[index:end] = [style] * (end - index)
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
    headings = {index: _HEADINGS[nodes.tags[index]] for index in nodes.tagged(_HEADING_TAGS)}
    for index in page.once(_marked_by_attributes):
        if nodes.elements[index].get("role") == "heading" and nodes.tags[index] not in INLINE:
            written = nodes.elements[index].get("aria-level", "").strip()
            headings.setdefault(index, int(written) if written in _LEVELS else 2)
    if not headings:
        return levels
    until = list(accumulate(map(len, nodes.texts), initial=0))
    title = _letters(page.title) if 1 in headings.values() else ""
    for index, level in sorted(headings.items()):
        end = nodes.ends[index]
        if until[end] - until[index] <= MAX_HEADING_CHARACTERS:
            is_second = level == 1 and not _is_title(_letters("".join(nodes.texts[index:end])), title)
            levels[index:end] = [2 if is_second else level] * (end - index)
    return levels


def _is_title(heading: str, title: str) -> bool:
    return heading in title or (title in heading and bool(title))


def _letters(text: str) -> str:
    return "".join(letter for letter in text.casefold() if letter.isalnum())
