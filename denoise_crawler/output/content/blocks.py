"""The block model: what a page says, as typed blocks that hold inline pieces and other blocks.

Blocks nest at most :data:`MAX_CONTAINERS` deep, so code that walks through blocks may call itself.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any, TypeAlias

import msgspec

MAX_CONTAINERS = 8  # blocks in blocks; what stands deeper on the page is written at this depth


class _Part(msgspec.Struct, tag_field="type", tag=str.lower, omit_defaults=True):
    """The base of all blocks and inline pieces: as a dict each has its ``type`` and what is not empty."""


class Text(_Part):
    """A piece of a line.

    ``style`` is ``em``, ``strong``, ``sub``, ``sup``, ``code`` or empty, ``link`` an absolute URL.
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


Inline: TypeAlias = Text | LineBreak | Formula | FootnoteMark | Picture
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
