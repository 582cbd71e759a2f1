"""Cuts a block into smaller ones: a list into items, a table into rows, a paragraph into sentences."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from msgspec.structs import replace

from denoise_crawler.output.content.blocks import (
    Block,
    Callout,
    Code,
    Details,
    Embed,
    Footnote,
    Formula,
    Heading,
    List,
    Paragraph,
    Picture,
    Quote,
    Rule,
    Table,
    Text,
    text_of,
)
from denoise_crawler.page.text import words

if TYPE_CHECKING:
    from collections.abc import Iterator

    from denoise_crawler.output.content.blocks import Inline

_SENTENCE_END = re.compile(r"(?<=[.!?…])\s+|(?<=[。！？])")


def smaller_blocks(block: Block, max_words: int) -> list[Block]:
    """Return a block in smaller ones; an empty list if it cannot be cut.

    Args:
        block: The block.
        max_words: Texts without the end of a sentence are cut into parts of so many words.

    """
    if isinstance(block, List):
        return _items(block)
    if isinstance(block, Table):
        return _rows(block)
    if isinstance(block, Code):
        lines = block.text.split("\n")
        if len(lines) > 1:
            half = len(lines) // 2
            return [replace(block, text="\n".join(part)) for part in (lines[:half], lines[half:])]
        return list(_by_words(block.text, max_words))
    if isinstance(block, Paragraph):
        sentences = list(_sentences(block.content))
        if len(sentences) > 1:
            half = len(sentences) // 2
            return [
                Paragraph([piece for one in part for piece in one])
                for part in (sentences[:half], sentences[half:])
            ]
        return list(_by_words(text_of(block.content), max_words))
    return _inside(block)


def plain_text(block: Block) -> str:
    """Return the text of a block, without addresses. Blocks nest a few levels deep only."""
    return " ".join(_texts(block))


def _texts(block: Block) -> Iterator[str]:
    if isinstance(block, (Heading, Paragraph)):
        yield text_of(block.content)
    elif isinstance(block, Code):
        yield block.text
    elif isinstance(block, Formula):
        yield block.latex
    elif isinstance(block, Picture):
        yield f"{block.alt} {text_of(block.caption)}"
    elif isinstance(block, Embed):
        yield block.title
    elif not isinstance(block, Rule):
        yield from _titles(block)
        for inner in _inside(block):
            yield from _texts(inner)


def _titles(block: Block) -> Iterator[str]:
    if isinstance(block, Details):
        yield text_of(block.summary)
    elif isinstance(block, Callout):
        yield text_of(block.title)
    elif isinstance(block, Table):
        yield text_of(block.caption)


def _inside(block: Block) -> list[Block]:
    """Return the blocks that a block holds."""
    if isinstance(block, (Quote, Callout, Details, Footnote)):
        return list(block.content)
    if isinstance(block, List):
        return [inner for item in block.items for inner in item]
    if isinstance(block, Table):
        return [inner for row in block.rows for cell in row for inner in cell.content]
    return []


def _items(block: List) -> list[Block]:
    if len(block.items) == 1:
        return list(block.items[0])
    return [replace(block, items=[item], start=number) for number, item in enumerate(block.items, block.start)]


def _rows(block: Table) -> list[Block]:
    has_header = all(cell.header for cell in block.rows[0])
    header, rows = (block.rows[:1], block.rows[1:]) if has_header else ([], block.rows)
    if len(rows) < 2:
        return _inside(block)
    return [replace(block, rows=[*header, row]) for row in rows]


def _sentences(content: list[Inline]) -> Iterator[list[Inline]]:
    sentence: list[Inline] = []
    for piece in content:
        if not isinstance(piece, Text) or piece.style == "code":
            sentence.append(piece)
            continue
        first, *others = _SENTENCE_END.split(piece.text)
        sentence += [replace(piece, text=first)] if first else []
        for text in others:
            yield sentence
            sentence = [replace(piece, text=text)] if text else []
    if sentence:
        yield sentence


def _by_words(text: str, max_words: int) -> Iterator[Block]:
    """Yield a text that cannot be cut otherwise in paragraphs of ``max_words`` words."""
    run: list[str] = []
    size = 0
    parts = [part for part in text.split(" ") for part in (part, " ")]
    for part in parts:
        more = len(words(part))
        if more and size + more > max_words and run:
            yield Paragraph([Text("".join(run).strip())])
            run, size = [], 0
        run.append(part)
        size += more
    if size and "".join(run).strip() != text:
        yield Paragraph([Text("".join(run).strip())])
