"""Chunks for retrieval: the sections of a page, of at most so many words each; and how blocks are cut."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import takewhile
from typing import Any, TypeVar

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

T = TypeVar("T")


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
    given = [from_dicts([block])[0] if isinstance(block, dict) else block for block in blocks]
    return _cut(given, max_words)


def parts(blocks: list[Block], most: int, size: Callable[[Block], int]) -> Iterator[list[Block]]:
    """Cut blocks into parts that are as long as they may be, none longer than ``most`` as ``size`` measures.

    Only a heading, a formula, a picture or a text without spaces may be longer.

    Example:
        >>> from denoise_crawler.output.content.blocks import Paragraph, Rule, Text
        >>> page = [Paragraph([Text("One two. Three four.")]), Rule()]
        >>> [list(map(plain_text, part)) for part in parts(page, 11, lambda block: len(plain_text(block)))]
        [['One two.'], ['Three four.', '']]
    """
    return (chunk.blocks for chunk in _cut(blocks, most, size, by_heading=False))


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


def _cut(
    blocks: list[Block], most: int, size: Callable[[Block], int] | None = None, *, by_heading: bool = True
) -> Iterator[Chunk]:
    size_of, words_of_part = (_size, most) if size is None else (size, max(1, most // _CHARACTERS_OF_A_WORD))
    chunk = _OpenChunk(most, size_of)
    for block in blocks:
        if isinstance(block, Heading) and by_heading:
            yield from chunk.close()
            chunk.above = [*(heading for heading in chunk.above if heading.level < block.level), block]
        waiting = [(block, size_of(block))]
        while waiting:
            part, cost = waiting.pop()
            if chunk.takes(part, cost, cut=part is not block):
                continue
            headings = chunk.headings_at_end()
            room = most - sum(map(size_of, headings))
            smaller = smaller_blocks(part, words_of_part) if cost > room else []
            if smaller:
                waiting += [(one, size_of(one)) for one in reversed(smaller)]
            else:
                yield from chunk.close(headings if cost <= room else [])
                chunk.blocks.append(part)
                chunk.size += cost
    yield from chunk.close()


@dataclass(slots=True)
class _OpenChunk:
    """The chunk that blocks are put into, and the headings ``above``."""

    most: int
    size_of: Callable[[Block], int]
    above: list[Heading] = field(default_factory=list)
    blocks: list[Block] = field(default_factory=list)
    size: int = 0

    def takes(self, block: Block, size: int, *, cut: bool) -> bool:
        """Add a block of this ``size``, or a part that was ``cut`` from one, if there is room for it."""
        joined = _joined(self.blocks[-1], block) if cut and self.blocks else None
        if joined is not None and isinstance(block, Table):
            size -= self.size_of(Table(block.rows[:1]))  # the header, which is there already
        if self.size + size > self.most:
            return False
        if joined is not None:
            self.blocks[-1] = joined
        else:
            self.blocks.append(block)
        self.size += size
        return True

    def headings_at_end(self) -> list[Block]:
        """Return the headings below which the chunk has nothing yet; none if they leave little room for more."""
        headings = list(takewhile(lambda block: isinstance(block, Heading), reversed(self.blocks)))[::-1]
        return headings if 2 * sum(map(self.size_of, headings)) <= self.most else []

    def close(self, next_ones: Sequence[Block] = ()) -> Iterator[Chunk]:
        """Yield the chunk, if there is anything in it, and begin another with ``next_ones``, its last blocks."""
        blocks, next_size = self.blocks[: len(self.blocks) - len(next_ones)], sum(map(self.size_of, next_ones))
        if blocks:
            headings = [text_of(heading.content) for heading in self.above]
            yield Chunk(headings, blocks, to_markdown(blocks), self.size - next_size)
        self.blocks, self.size = list(next_ones), next_size


def _size(block: Block) -> int:
    return len(words(plain_text(block)))


def _joined(first: Block, second: Block) -> Block | None:
    """Return two parts of the same block as one; None if they are none."""
    if isinstance(first, List) and isinstance(second, List) and first.ordered == second.ordered:
        follows = second.start == first.start + len(first.items) or not first.ordered
        return replace(first, items=[*first.items, *second.items]) if follows else None
    if isinstance(first, Table) and isinstance(second, Table) and first.rows[0] is second.rows[0]:
        return replace(first, rows=[*first.rows, *second.rows[1:]])
    if isinstance(first, Code) and isinstance(second, Code) and first.language == second.language:
        return replace(first, text=f"{first.text}\n{second.text}")
    return None


_CHARACTERS_OF_A_WORD = 8  # or less, so that a part has room for them
_SENTENCE_END = re.compile(r"(?<=[.!?…]\s)(?=\S)|(?<=[。！？])")


def smaller_blocks(block: Block, max_words: int) -> list[Block]:
    """Return a block in smaller ones; an empty list if it cannot be cut.

    Texts without the end of a sentence are cut into parts of ``max_words`` words.
    """
    if isinstance(block, List) and len(block.items) > 1:
        numbered = enumerate(block.items, block.start)
        return [replace(block, items=[item], start=number if block.ordered else 1) for number, item in numbered]
    if isinstance(block, Table):
        header = block.rows[:1] if all(cell.header for cell in block.rows[0]) else []
        rows = block.rows[len(header) :]
        return [replace(block, rows=[*header, row]) for row in rows] if len(rows) > 1 else _inside(block)
    if isinstance(block, Code):
        return _halves(block.text.split("\n"), lambda lines: replace(block, text="\n".join(lines))) or _by_words(
            block.text, max_words
        )
    if isinstance(block, Paragraph):
        sentences = list(_sentences(block.content))
        return _halves(sentences, _paragraph) or _by_words(text_of(block.content), max_words)
    return _inside(block)


def _halves(units: list[T], make: Callable[[list[T]], Block]) -> list[Block]:
    half = len(units) // 2
    return [make(units[:half]), make(units[half:])] if half else []


def plain_text(block: Block) -> str:
    """Return the text of a block, without addresses. Blocks nest a few levels deep only."""
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


def _by_words(text: str, max_words: int) -> list[Block]:
    """Return a text that cannot be cut otherwise in paragraphs of ``max_words`` words; none if it is as short."""
    lines: list[list[str]] = [[]]
    size = 0
    for part in text.split(" "):
        more = len(words(part))
        if lines[-1] and size + more > max_words:
            lines.append([])
            size = 0
        lines[-1].append(part)
        size += more
    return [Paragraph([Text(" ".join(line))]) for line in lines] if len(lines) > 1 else []
