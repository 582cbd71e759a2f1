"""Which blocks are taken, and how sure that is."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from denoise_crawler.core import loops
from denoise_crawler.methods.fusion.features import KEEP, Look, Wishes
from denoise_crawler.methods.fusion.parts import NO_PARTS, Parts

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from denoise_crawler.methods.fusion.blocks import Blocks, Numbers

    Flags = NDArray[np.bool_]


@dataclass(eq=False)
class Decision:
    """What became of the blocks of a page, step by step.

    ``own`` is how likely each block is content, ``chances`` the same with its unit. ``likely`` are the blocks
    whose text promises the best F1, ``best`` those to take of the units, ``once`` without what stands there twice,
    ``taken`` with headings as their sections. ``because`` are blocks that are taken in any case, by the reason.
    ``bar`` is the lowest chance that was likely, ``expected`` the F1 to be expected.
    """

    look: Look
    parts: Parts
    because: dict[str, Flags]
    own: Numbers
    chances: Numbers
    likely: Flags
    best: Flags
    once: Flags
    taken: Flags
    bar: float
    expected: float


def content_chances(look: Look, wishes: Wishes) -> Numbers:
    """Return by block how likely it is content that is wished."""
    standing, found = look.evidence.standing, np.empty(len(look.scores))
    style = () if standing is None else (standing.style_tokens, standing.style_scores)
    title = look.evidence.headline.sure, wishes.title == KEEP
    loops.deciding.chances(look.scores, style, wishes.shift, *title, found)
    return found


def most_f1(chances: Numbers, tokens: Numbers, shift: float = 0.0) -> tuple[Flags, float, float]:
    """Take the likeliest blocks, as many as make the expected F1 of the text largest.

    Args:
        chances: By block, how likely it is content.
        tokens: By block, its words.
        shift: What is added to the log odds first.

    Returns:
        Whether each block is taken, the F1 to be expected, and the lowest chance that is taken.
    """
    taken = np.empty(len(chances), bool)
    expected, lowest = loops.deciding.most_f1(chances, tokens, shift, taken.view(np.uint8))
    return taken, expected, lowest


def joint_chances(own: Numbers, tokens: Numbers, parts: Parts) -> Numbers:
    """Return the chances of blocks, their ``own`` if they are in no unit, else that of the unit."""
    if not len(parts.units):
        return own
    joint = np.empty(len(own))
    loops.deciding.of_units(own, tokens, parts.units, parts.silent, joint)
    return joint


def take(
    blocks: Blocks,
    parts: Parts,
    likely: Flags,
    wanted: Flags,
    chances: Numbers,
    *,
    title: int = -1,
    repeating: bool = True,
) -> tuple[Flags, Flags, Flags]:
    """Take what belongs to the ``likely`` blocks, and those ``wanted`` in any case.

    Args:
        blocks: The blocks of the page.
        parts: What belongs together.
        likely: Whether each block is likely.
        wanted: Whether each block is taken in any case.
        chances: By block, how likely it is content.
        title: The block that surely is the title, below 0 if none is.
        repeating: Whether what stands there twice is taken twice.

    Returns:
        The blocks to take of the units, the same without what stands there twice, and with headings as their
        sections.
    """
    around, marks = blocks.around, np.empty((3, len(blocks)), bool)
    loops.deciding.take(
        (blocks.tokens, blocks.characters, blocks.text_hashes, blocks.elements),
        (around.parents, around.paths, around.places),
        (parts.units, parts.lists, parts.headings),
        chances, wanted.view(np.uint8), title, repeating,
        (likely.view(np.uint8), *marks.view(np.uint8)),
    )  # fmt: skip
    best, once, taken = marks
    return best, once, taken


def decide(
    look: Look,
    wishes: Wishes,
    parts: Parts = NO_PARTS,
    because: dict[str, Flags] | None = None,
    *,
    shift: float = 0.0,
    repeating: bool = True,
) -> Decision:
    """Decide what to take of a page.

    Args:
        look: What the trees see of it.
        wishes: What is wished of the text.
        parts: What belongs together.
        because: Blocks that are taken in any case, by the reason.
        shift: What is added to the log odds of all blocks before the cut, for pages of this type.
        repeating: Whether what stands there twice is taken twice.
    """
    blocks, because = look.evidence.blocks, because or {}
    own = content_chances(look, wishes)
    chances = joint_chances(own, blocks.tokens, parts)
    likely, expected, bar = most_f1(chances, blocks.tokens, shift)
    wanted = np.zeros(len(blocks), bool)
    for some in because.values():
        wanted |= some
    title = look.evidence.headline.sure
    steps = take(blocks, parts, likely, wanted, chances, title=title, repeating=repeating)
    return Decision(look, parts, because, own, chances, likely, *steps, bar, expected)
