"""Chunks for retrieval: the sections of a page, in parts of at most so many words."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import msgspec

from denoise_crawler.output.content.blocks import Block, Code, Heading, List, Table, from_dicts, text_of
from denoise_crawler.output.content.markdown import to_markdown
from denoise_crawler.output.content.smaller_blocks import plain_text, smaller_blocks
from denoise_crawler.page.text import words

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence


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


def _cut(blocks: list[Block], max_words: int) -> Iterator[Chunk]:
    chunk = _OpenChunk(max_words)
    for block in blocks:
        if isinstance(block, Heading):
            yield from chunk.close()
            chunk.above = [*(heading for heading in chunk.above if heading.level < block.level), block]
        waiting = [(block, _size(block))]
        while waiting:
            part, size = waiting.pop()
            if chunk.takes(part, size, cut=part is not block):
                continue
            must_cut = size > max_words or chunk.has_only_headings
            smaller = smaller_blocks(part, max_words) if must_cut else []
            if smaller:
                waiting += [(one, _size(one)) for one in reversed(smaller)]
            else:
                yield from chunk.close()
                chunk.blocks, chunk.words = [part], size
    yield from chunk.close()


@dataclass(slots=True)
class _OpenChunk:
    """The chunk that blocks are put into, and the headings ``above``."""

    max_words: int
    above: list[Heading] = field(default_factory=list)
    blocks: list[Block] = field(default_factory=list)
    words: int = 0

    def takes(self, block: Block, size: int, *, cut: bool) -> bool:
        """Add a block of ``size`` words, or a part that was ``cut`` from one, if there is room for it."""
        joined = _joined(self.blocks[-1], block) if cut and self.blocks else None
        if joined is not None and isinstance(block, Table):
            size -= _size(Table(block.rows[:1]))  # the header, which is there already
        if self.words + size > self.max_words:
            return False
        if joined is not None:
            self.blocks[-1] = joined
        else:
            self.blocks.append(block)
        self.words += size
        return True

    @property
    def has_only_headings(self) -> bool:
        """Whether nothing but headings is in the chunk."""
        return bool(self.blocks) and all(isinstance(block, Heading) for block in self.blocks)

    def close(self) -> Iterator[Chunk]:
        """Yield the chunk, if there is anything in it, and begin another."""
        if self.blocks:
            headings = [text_of(heading.content) for heading in self.above]
            yield Chunk(headings, self.blocks, to_markdown(self.blocks), self.words)
        self.blocks, self.words = [], 0


def _size(block: Block) -> int:
    return len(words(plain_text(block)))


def _joined(first: Block, second: Block) -> Block | None:
    """Return two parts of the same block as one; None if they are none."""
    if isinstance(first, List) and isinstance(second, List):
        follows = second.start == first.start + len(first.items) or not first.ordered
        same = first.ordered == second.ordered and follows
        return List([*first.items, *second.items], first.ordered, first.start) if same else None
    if isinstance(first, Table) and isinstance(second, Table) and first.rows[0] is second.rows[0]:
        return msgspec.structs.replace(first, rows=[*first.rows, *second.rows[1:]])
    if isinstance(first, Code) and isinstance(second, Code) and first.language == second.language:
        return Code(f"{first.text}\n{second.text}", first.language)
    return None
