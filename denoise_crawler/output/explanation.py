"""Explains why each block of a page was kept or dropped."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TypedDict

from denoise_crawler.methods.base import Judgement
from denoise_crawler.page import TEXT, Nodes, Page
from denoise_crawler.page.nodes import INLINE
from denoise_crawler.page.text import collapse_spaces

MAX_BLOCK_CHARACTERS = 120
MAX_REASONS = 2_000  # per page, since a reason takes milliseconds
SURE = 0.9  # the confidence of most pages; below it, `doubts` are shown


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
                text=_shortened(text, MAX_BLOCK_CHARACTERS),
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


def doubts(page: Page, judgement: Judgement, known: int | None = None) -> list[str]:
    """Return what lowers the confidence of a judgement, the strongest first: three reasons at most.

    Args:
        page: The page.
        judgement: What the method says of it, whose scores are chances to be content.
        known: How many pages of the site are known; None if the method asks for none.

    Returns:
        The reasons; none if the method gives no confidence, or if site rules have decided.

    Example:
        >>> from denoise_crawler import Denoiser
        >>> page = Page.parse("", "<p>Storm</p><p>Share this story with your friends</p>")
        >>> doubts(page, Denoiser().judge(page), known=0)[-1]
        'nothing is known of its site'
    """
    if judgement.confidence is None or judgement.obeyed:
        return []
    texts, noise = page.nodes.texts, judgement.noise
    taken = {text.strip() for text, gone in zip(texts, noise, strict=True) if text and not gone}
    kept, dropped = _Doubtful("kept characters may be noise"), _Doubtful("dropped characters may be content")
    for text, size, gone, chance in zip(texts, page.characters, noise, judgement.scores, strict=True):
        if not gone:
            kept.add(text, size, 1.0 - chance)
        elif text.strip() not in taken:  # a text that stands above as well is rightly gone here
            dropped.add(text, size, chance)
    least = _LEAST_DOUBT * (kept.size + dropped.size)
    doubtful = sorted((one for one in (kept, dropped) if one.amount > least), key=lambda one: -one.amount)
    return [*map(str, doubtful), *(["nothing is known of its site"] if known == 0 else [])]


_LEAST_DOUBT, _MAX_QUOTED = 0.01, 60  # of the visible characters; characters


@dataclass(slots=True)
class _Doubtful:
    """Texts with one verdict: their characters, how many should have the other one, the text most in doubt."""

    what: str
    size: int = 0
    amount: float = 0.0
    most: float = 0.0
    text: str = ""

    def add(self, text: str, size: int, chance: float) -> None:
        self.size += size
        self.amount += chance * size
        if chance * size > self.most:
            self.most, self.text = chance * size, text

    def __str__(self) -> str:
        quoted = _shortened(collapse_spaces(self.text), _MAX_QUOTED)
        return f"about {self.amount:,.0f} of {self.size:,} {self.what}, as “{quoted}”"


def _shortened(text: str, most: int) -> str:
    return text if len(text) <= most else text[: most - 1].rstrip() + "…"


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
