"""Explains why each block of a page was kept or dropped, and what lowers the confidence of the verdict."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TypedDict

from denoise_crawler.methods.base import Judgement
from denoise_crawler.page import TEXT, Nodes, Page
from denoise_crawler.page.nodes import INLINE
from denoise_crawler.page.text import collapse_spaces

MAX_BLOCK_CHARACTERS = 120
MAX_REASONS = 2_000  # per page, since a reason takes milliseconds
SURE = 0.9  # the confidence of most pages; below it, `doubts` are shown
_LEAST_DOUBT, _MAX_QUOTED = 0.01, 60  # of the visible characters; characters


class BlockVerdict(TypedDict):
    """One block: its ``text`` (shortened), whether it was ``kept``, its ``score`` by the method, and why."""

    text: str
    kept: bool
    score: float
    reason: str


def explained_blocks(page: Page, judgement: Judgement) -> Iterator[tuple[int, BlockVerdict]]:
    """Yield the blocks of ``page`` in order, each with the node that decided: its longest run of text.

    A block is a line of :func:`clean_text`, or a part of a line with the same judgement. The first ``MAX_REASONS``
    have a reason.
    """
    texts, reason = page.nodes.texts, first_reasons(judgement)
    for run in _lines(page.nodes, judgement.noise):
        if text := collapse_spaces("".join(texts[index] for index in run)):
            node = max(run, key=lambda index: len(texts[index].strip()))
            score = round(float(judgement.scores[node]), 4)
            shown = _shortened(text, MAX_BLOCK_CHARACTERS)
            yield node, BlockVerdict(text=shown, kept=not judgement.noise[node], score=score, reason=reason(node))


def explanation(page: Page, judgement: Judgement) -> list[BlockVerdict]:
    """Return the verdicts on the blocks of ``page`` in order."""
    return [verdict for _, verdict in explained_blocks(page, judgement)]


def first_reasons(judgement: Judgement) -> Callable[[int], str]:
    """Return a function that gives the reason for a node, and "" after ``MAX_REASONS`` calls."""
    left = iter(range(MAX_REASONS))
    return lambda index: "" if next(left, None) is None else judgement.reason(index)


def _lines(nodes: Nodes, noise: list[bool]) -> Iterator[list[int]]:
    """Yield the text nodes that share a line and a verdict."""
    block_level = [index for index, tag in enumerate(nodes.tags) if tag is not TEXT and tag not in INLINE]
    borders = {*block_level, *(nodes.ends[index] for index in block_level)}
    line: list[int] = []
    for index, tag in enumerate(nodes.tags):
        if line and (index in borders or (tag is TEXT and noise[index] != noise[line[-1]])):
            yield line
            line = []
        if tag is TEXT:
            line.append(index)
    if line:
        yield line


def doubts(page: Page, judgement: Judgement, known: int | None = None) -> list[str]:
    """Return what lowers the confidence of a judgement, the strongest first: three reasons at most.

    Args:
        page: The page.
        judgement: Its judgement, whose scores are chances to be content.
        known: How many pages of the site are known; None if the method asks for none.

    Returns:
        The reasons; none if the method gives no confidence, or if site rules have decided.

    Example:
        >>> from denoise_crawler import Denoiser
        >>> page = Page.parse("", "<p>Storm</p><p>Share this story with your friends</p>")
        >>> doubts(page, Denoiser().judge(page), known=0)[-1]
        'nothing is known of its site'
    """
    if judgement.confidence is None or judgement.rules_applied:
        return []
    rows = list(zip(page.nodes.texts, page.characters, judgement.noise, judgement.scores, strict=True))
    kept = [(size * (1.0 - chance), size, text) for text, size, gone, chance in rows if not gone]
    above = {text.strip() for _, _, text in kept if text}  # what is kept above is rightly gone where it repeats
    gone = [row for row in rows if row[2] and row[0].strip() not in above]
    dropped = [(size * chance, size, text) for text, size, _, chance in gone]
    visible = sum(size for _, size, _ in (*kept, *dropped))
    reasoned = []
    for what, texts in (("kept characters may be noise", kept), ("dropped characters may be content", dropped)):
        doubtful = sum(amount for amount, _, _ in texts)
        if doubtful > _LEAST_DOUBT * visible:
            quoted = _shortened(collapse_spaces(max(texts, key=lambda row: row[0])[2]), _MAX_QUOTED)
            size = sum(size for _, size, _ in texts)
            reasoned.append((doubtful, f"about {doubtful:,.0f} of {size:,} {what}, as “{quoted}”"))
    strongest = [text for _, text in sorted(reasoned, key=lambda row: -row[0])]
    return [*strongest, *(["nothing is known of its site"] if known == 0 else [])]


def _shortened(text: str, most: int) -> str:
    return text if len(text) <= most else text[: most - 1].rstrip() + "…"
