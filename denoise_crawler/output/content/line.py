"""Lines of inline pieces: white space collapsed, paragraphs parted by empty lines."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from denoise_crawler.output.content.blocks import Formula, LineBreak, Text

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from denoise_crawler.output.content.blocks import Inline

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
