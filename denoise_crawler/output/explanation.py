"""Explains why each block of a page was kept or dropped."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypedDict

from denoise_crawler.page import TEXT
from denoise_crawler.page.markup import INLINE
from denoise_crawler.page.text import collapse_spaces

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from denoise_crawler.methods.base import Judgement
    from denoise_crawler.page import Nodes, Page

MAX_BLOCK_CHARACTERS = 120
MAX_REASONS = 2_000  # per page, since a reason takes milliseconds


class BlockVerdict(TypedDict):
    """One block: its ``text`` (shortened), whether it was ``kept``, its ``score`` by the method, and why."""

    text: str
    kept: bool
    score: float
    reason: str


@dataclass(frozen=True, slots=True)
class JudgedBlock:
    """One block of a judged page; ``node`` is its longest run of text, which decides for the block.

    ``text``, ``kept`` and ``score`` are those of :class:`BlockVerdict`.
    """

    node: int
    text: str
    kept: bool
    score: float


def blocks(page: Page, judgement: Judgement) -> Iterator[JudgedBlock]:
    """Yield the blocks of ``page`` in order.

    A block is a line of :func:`clean_text`, or a part of a line with the same judgement.
    """
    for run in _runs(page.nodes, judgement.noise):
        if text := collapse_spaces("".join(page.nodes.texts[index] for index in run)):
            node = max(run, key=lambda index: len(page.nodes.texts[index].strip()))
            yield JudgedBlock(
                node=node,
                text=text
                if len(text) <= MAX_BLOCK_CHARACTERS
                else text[: MAX_BLOCK_CHARACTERS - 1].rstrip() + "…",
                kept=not judgement.noise[node],
                score=round(float(judgement.scores[node]), 4),
            )


def explanation(page: Page, judgement: Judgement) -> list[BlockVerdict]:
    """Return the verdicts on the blocks of ``page`` in order; the first ``MAX_REASONS`` have a reason."""
    reason = first_reasons(judgement)
    return [
        BlockVerdict(text=block.text, kept=block.kept, score=block.score, reason=reason(block.node))
        for block in blocks(page, judgement)
    ]


def first_reasons(judgement: Judgement) -> Callable[[int], str]:
    """Return a function that gives the reason for a node, and "" after ``MAX_REASONS`` calls."""
    left = iter(range(MAX_REASONS))
    return lambda index: "" if next(left, None) is None else judgement.reason(index)


def _runs(nodes: Nodes, noise: list[bool]) -> Iterator[list[int]]:
    """Yield the text nodes that share a line and a verdict."""
    run: list[int] = []
    open_ends: list[int] = []
    for index, tag in enumerate(nodes.tags):
        ended = False
        while open_ends and open_ends[-1] <= index:
            open_ends.pop()
            ended = True
        if tag is TEXT:
            ended = ended or bool(run and noise[run[-1]] != noise[index])
        elif tag not in INLINE:
            ended = True
            open_ends.append(nodes.ends[index])
        if ended and run:
            yield run
            run = []
        if tag is TEXT:
            run.append(index)
    if run:
        yield run
