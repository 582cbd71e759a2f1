"""Chunks for retrieval: the sections of a page, of at most so many words each; and how blocks are cut."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import takewhile
from typing import Any

from msgspec.structs import replace

from denoise_crawler.output.content.blocks import (
    Block,
    Callout,
    Code,
    Details,
    Footnote,
    Heading,
    Inline,
    List,
    Paragraph,
    Quote,
    Table,
    Text,
    from_dicts,
    text_of,
)
from denoise_crawler.output.content.markdown import to_markdown
from denoise_crawler.page.text import words


@dataclass(frozen=True, slots=True)
class Chunk:
    """A part of a page.

    Attributes:
        headings: The headings above it and in it, the highest first.
        blocks: Its blocks.
        text: Its blocks in Markdown.
        words: How many words its blocks have, without addresses.
    """

    headings: list[str]
    blocks: list[Block]
    text: str
    words: int


def chunks(blocks: Sequence[Block] | Sequence[dict[str, Any]], max_words: int = 300) -> Iterator[Chunk]:
    r"""Cut a page at its headings, and sections that are too long between blocks, rows, items, lines or sentences.

    Args:
        blocks: Blocks, or the list of dicts that the form ``blocks`` gives.
        max_words: The most words of a chunk. Only a heading, a formula, a picture or a text
            without spaces may have more.

    Yields:
        The chunks in order. Parts of a table repeat its header.

    Raises:
        ValueError: ``max_words`` is less than 1.
        msgspec.ValidationError: A dict is no block.

    Example:
        >>> from denoise_crawler.output.content.blocks import Paragraph, Text
        >>> page = [Heading(1, [Text("News")]), Paragraph([Text("One two. Three four.")])]
        >>> [(chunk.headings, chunk.text) for chunk in chunks(page, max_words=3)]
        [(['News'], '# News\n\nOne two.'), (['News'], 'Three four.')]
    """
    if max_words < 1:
        raise ValueError(f"max_words must be at least 1, not {max_words}")
    typed = [from_dicts([block])[0] if isinstance(block, dict) else block for block in blocks]
    return _chunks(typed, max_words)


def _chunks(blocks: list[Block], max_words: int) -> Iterator[Chunk]:
    above: list[Heading] = []
    section: list[Block] = []
    for block in (*blocks, Heading(1, [])):
        if isinstance(block, Heading):
            headings = [text_of(heading.content) for heading in above]
            for part in parts(section, max_words, _count_words, max_words=max_words):
                yield Chunk(headings, part, to_markdown(part), sum(map(_count_words, part)))
            section = []
            above = [*(heading for heading in above if heading.level < block.level), block]
        section.append(block)


def _count_words(block: Block) -> int:
    return len(words(plain_text(block)))


def parts(
    blocks: list[Block], most: int, size: Callable[[Block], int], *, max_words: int | None = None
) -> Iterator[list[Block]]:
    """Cut blocks into parts none of which is longer than ``most`` as ``size`` measures; of a text ``max_words``.

    Only a heading, a formula, a picture or a text without spaces may be longer. A heading stands in the part of
    what follows it.

    Example:
        >>> from denoise_crawler.output.content.blocks import Paragraph, Rule, Text
        >>> page = [Paragraph([Text("One two. Three four.")]), Rule()]
        >>> [list(map(plain_text, part)) for part in parts(page, 11, lambda block: len(plain_text(block)))]
        [['One two.'], ['Three four.', '']]
    """
    cutter = _Cutter(most, size, max_words or max(1, most // _CHARACTERS_OF_A_WORD))
    part: list[tuple[Block, int]] = []  # blocks with their sizes
    for block in blocks:
        head = _size_of(_headings_at_end(part))
        for piece in cutter.pieces(block, most - head if 2 * head <= most else most):
            piece_size = size(piece)
            if part and _size_of(part) + piece_size > most:
                headings = _headings_at_end(part)
                moved = headings if _size_of(headings) + piece_size <= most else []
                if rest := part[: len(part) - len(moved)]:
                    yield [one for one, _ in rest]
                part = moved
            part.append((piece, piece_size))
    if part:
        yield [one for one, _ in part]


def _size_of(part: list[tuple[Block, int]]) -> int:
    return sum(size for _, size in part)


def _headings_at_end(part: list[tuple[Block, int]]) -> list[tuple[Block, int]]:
    return list(takewhile(lambda one: isinstance(one[0], Heading), reversed(part)))[::-1]


def text_parts(text: str, most: int) -> Iterator[str]:
    r"""Cut a text behind lines, and lines that are longer than a part behind words.

    Example:
        >>> list(text_parts("One.\nTwo three four.\nFive.", 11))
        ['One.', 'Two three', 'four.\nFive.']
    """
    begin = 0
    while len(text) - begin > most:
        ends = (text.rfind(sign, begin, begin + most + 1) for sign in "\n ")
        end = next((at for at in ends if at > begin), begin + most)
        yield text[begin:end]
        begin = end + (text[end] in "\n ")
    if begin < len(text):
        yield text[begin:]


_CHARACTERS_OF_A_WORD = 8  # or less, so that a part has room for them
_SENTENCE_END = re.compile(r"(?<=[.!?…]\s)(?=\S)|(?<=[。！？])")


@dataclass(frozen=True, slots=True)
class _Cutter:
    """Cuts blocks that are longer than ``most`` as ``size`` measures."""

    most: int
    size: Callable[[Block], int]
    max_words: int

    def pieces(self, block: Block, room: int) -> Iterator[Block]:
        """Yield a block in pieces of at most ``room``; blocks nest a few levels deep only."""
        if self.size(block) <= room:
            yield block
            return
        units, make = _units(block)
        if len(units) < 2:
            smaller = _inside(block) or self._by_words(block)
            for inner in smaller:
                yield from self.pieces(inner, room)
            if not smaller:
                yield block
            return
        has_header = isinstance(block, Table) and len(units) < len(block.rows)
        header = self.size(make([])) if has_header else 0
        groups, total = [list[Any]()], header
        for unit in units:
            more = self.size(make([unit])) - header
            if groups[-1] and total + more > room:
                groups.append([])
                total = header
            groups[-1].append(unit)
            total += more
        if len(groups) == 1:  # one row with a list in it makes HTML of all of them, which is longer
            groups = [units[: len(units) // 2], units[len(units) // 2 :]]
        for group in groups:
            yield from self.pieces(make(group), room)

    def _by_words(self, block: Block) -> list[Block]:
        """Return a text that cannot be cut otherwise in paragraphs of ``max_words``; none if it is as short."""
        if not isinstance(block, (Code, Paragraph)):
            return []
        lines: list[list[str]] = [[]]
        size = 0
        for part in plain_text(block).split(" "):
            more = len(words(part))
            if lines[-1] and size + more > self.max_words:
                lines.append([])
                size = 0
            lines[-1].append(part)
            size += more
        return [Paragraph([Text(" ".join(line))]) for line in lines] if len(lines) > 1 else []


def _units(block: Block) -> tuple[list[Any], Callable[[list[Any]], Block]]:
    """Return what a block can be cut between, and the function that makes a block of some of these."""
    if isinstance(block, List):
        numbered = list(enumerate(block.items, block.start))
        return numbered, lambda items: replace(
            block, items=[item for _, item in items], start=items[0][0] if block.ordered else 1
        )
    if isinstance(block, Table):
        header = block.rows[:1] if all(cell.header for cell in block.rows[0]) else []
        return block.rows[len(header) :], lambda rows: replace(block, rows=[*header, *rows])
    if isinstance(block, Code):
        return block.text.split("\n"), lambda lines: replace(block, text="\n".join(lines))
    if isinstance(block, Paragraph):
        return list(_sentences(block.content)), _paragraph
    return [], lambda _: block


def plain_text(block: Block) -> str:
    """Return the text of a block, without addresses."""
    return " ".join(filter(None, _texts(block)))


def _texts(block: Block) -> Iterator[str]:
    if isinstance(block, (Heading, Paragraph)):
        yield text_of(block.content)
        return
    for name in ("text", "latex", "alt", "title", "summary", "caption"):
        value: str | list[Inline] = getattr(block, name, "")
        yield value if isinstance(value, str) else text_of(value)
    for inner in _inside(block):
        yield from _texts(inner)


def _inside(block: Block) -> list[Block]:
    """Return the blocks that a block holds."""
    if isinstance(block, (Quote, Callout, Details, Footnote)):
        return list(block.content)
    if isinstance(block, List):
        return [inner for item in block.items for inner in item]
    if isinstance(block, Table):
        return [inner for row in block.rows for cell in row for inner in cell.content]
    return []


def _paragraph(sentences: list[list[Inline]]) -> Block:
    content = [piece for sentence in sentences for piece in sentence]
    if isinstance(last := content[-1], Text):
        content[-1] = replace(last, text=last.text.rstrip())
    return Paragraph(content)


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
