"""Which blocks are taken, how sure that is, and why."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from denoise_crawler.core import loops
from denoise_crawler.methods.base import Judgement
from denoise_crawler.methods.fusion.features import KEEP, Look, Wishes
from denoise_crawler.methods.fusion.parts import INTRODUCTION, NO_PARTS, Parts
from denoise_crawler.methods.fusion.records import FIELD, field_reason
from denoise_crawler.methods.fusion.tellers import TELLERS, Case
from denoise_crawler.page import Nodes, Page

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


MOST = 3
_LEAST_SHARE = 0.08  # of what the strongest evidence adds to the score
_DOUBTFUL = 0.2


def reason_of(decision: Decision, block: int) -> str:
    """Say why a block was kept or dropped: the first row of ``_REASONS`` whose condition holds."""
    return next(text(decision, block) for holds, text in _REASONS if holds(decision, block))


def _wanted(decision: Decision, block: int) -> str | None:
    """Return why a block is taken in any case, though it is not likely."""
    if not decision.taken[block] or decision.likely[block]:
        return None
    return next((reason for reason, blocks in decision.because.items() if blocks[block]), None)


def _joint(decision: Decision, block: int) -> bool:
    """Tell whether what a block belongs to decided; an introduction only keeps."""
    whole = decision.parts.whole_of(block)
    if not whole or (whole == INTRODUCTION and not decision.taken[block]):
        return False
    return bool(decision.best[block]) != bool(decision.own[block] >= decision.bar)


def _because(decision: Decision, block: int) -> str:
    reason = _wanted(decision, block) or ""
    return field_reason(decision.look.evidence, block) if reason == FIELD else reason


def _together(decision: Decision, block: int) -> str:
    whole = decision.parts.whole_of(block)
    said = f"kept with its {whole}" if decision.taken[block] else f"goes with its {whole}"
    if whole == INTRODUCTION:
        return said
    return f"{said}, which is {decision.chances[block]:.0%} likely to be content as a whole"


def _why(decision: Decision, block: int) -> str:
    """Return the evidence that spoke most for the verdict on a block, the strongest first, three at most."""
    taken, row = bool(decision.taken[block]), decision.look.row(block)
    sign = 1.0 if taken else -1.0
    sums = {topic: sign * total for topic, total in added_by_topic(decision.look, row).items()}
    least = max(_LEAST_SHARE * max(sums.values(), default=0.0), 0.0)
    topics = sorted((topic for topic, total in sums.items() if total > least), key=lambda one: -sums[one])
    case = Case(decision.look.evidence, block, taken, row)
    told = [one for one in (TELLERS[topic](case) for topic in topics) if one]
    doubt = _doubt(taken, float(decision.own[block]), decision.bar)
    said = ([doubt] if doubt else []) + told[: MOST - bool(doubt)]
    all_in_all = f"no single strong sign; all in all {decision.own[block]:.0%} likely to be content"
    return "; ".join(said) or all_in_all


# When a text is the reason, and the text; the first that holds.
_REASONS: tuple[tuple[Callable[[Decision, int], bool], Callable[[Decision, int], str]], ...] = (
    (lambda one, block: _wanted(one, block) is not None, _because),
    (
        lambda one, block: bool(one.taken[block] != one.once[block]),
        lambda one, block: f"{'kept' if one.taken[block] else 'goes'} with its section",
    ),
    (_joint, _together),
    (
        lambda one, block: bool(one.best[block] and not one.taken[block]),
        lambda *_: "the same text was taken already, further up on the page",
    ),
    (lambda *_: True, _why),
)


def added_by_topic(look: Look, row: Mapping[str, float]) -> dict[str, float]:
    """Return what the features of a block, by name, add to its score, summed by what they are about.

    See :meth:`BoostedTrees.contributions`.
    """
    assert look.trees is not None  # noqa: S101
    names, sums = list(row), dict[str, float]()
    for number, amount in look.trees.contributions(list(row.values())).items():
        topic = topic_of(names[number])
        sums[topic] = sums.get(topic, 0.0) + amount
    return sums


def _doubt(taken: bool, chance: float, bar: float) -> str:
    """Say of a block that went neither way by far where the line was drawn."""
    if taken and chance < 1 / 2:
        return f"{chance:.0%} likely to be content, which is enough on this page (from {bar:.0%})"
    if not taken and chance >= _DOUBTFUL:
        return f"{chance:.0%} likely to be content, too little on this page (from {bar:.0%})"
    return ""


def topic_of(feature: str) -> str:
    """Return what a feature is about; ``"other"`` for one that is not known here."""
    fitting = (topic for topic, starts, ends in _TOPICS if feature.startswith(starts) or feature.endswith(ends))
    return next(fitting, "other")


# What features are about, by how their names begin or end; the first that fits.
_TOPICS: tuple[tuple[str, tuple[str, ...], tuple[str, ...]], ...] = (
    ("list", ("inner list", "outer list"), ()),
    ("wishes", ("wish ",), ()),
    ("whole page", ("page ", "site pages", "longest", "main region s"), ()),
    ("same at this place", ("place shape", "place repeated", "place sameness", "place run"), ()),
    ("new text", ("new text",), ()),
    ("repeated text", ("site text", "site masked"), (" repeated",)),
    ("repeated link", ("site link",), ()),
    ("site's habits", ("site ",), ()),
    ("repeated on the page", ("times on page",), ()),
    ("alike", (), (" on path", " same path")),
    ("names", ("names",), (" names",)),
    ("title", ("title", "first heading"), (" to title",)),
    ("description", (), (" description",)),
    ("declared", (), (" declared",)),
    ("main text", (), (" main region", "text score", "text score above")),
    ("landmark", ("in ",), ()),
    ("neighbours", ("window ", "before ", "after ", "neighbour "), ()),
    ("links", (), ("link share",)),
    ("surroundings", ("above ",), ()),
    ("length", ("characters", "of longest", "commas", "closed", "tokens"), ()),
    ("place", ("place",), ()),
    ("markup", ("tag", "depth"), ()),
)


TOPICS = frozenset(TELLERS)


def judgement_of(page: Page, decision: Decision, confidence: float, page_type: str | None = None) -> Judgement:
    """Return what was decided about the blocks of ``page`` as a judgement of its nodes.

    An element has the highest score of its text, and is noise if all its text is; one without text goes with its
    parent.
    """
    nodes, blocks, chances = page.nodes, decision.look.evidence.blocks, decision.chances
    marks = decision.taken.view(np.uint8), chances, chances.tolist()
    noise, scores = loops.blocks.judged(nodes.columns.parents, blocks.nodes, *marks)
    return Judgement(noise, scores, _Reasons(decision, nodes).of, confidence=confidence, page_type=page_type)


class _Reasons:
    """Why nodes were kept or dropped; nothing is worked out until somebody asks."""

    def __init__(self, decision: Decision, nodes: Nodes) -> None:
        self._decision, self._nodes = decision, nodes

    def of(self, index: int) -> str:
        """Return the reason for the verdict on a node."""
        block = self._deciding_blocks.get(index, -1)
        if block < 0:
            return "without text: goes with what it stands in" if index else ""
        return reason_of(self._decision, block)

    @cached_property
    def _deciding_blocks(self) -> dict[int, int]:
        """The block that each text node is part of, and of each element the one that decided: its longest.

        Of an element that is kept for some of its blocks, it is the longest of these.
        """
        found: dict[int, int] = {}
        blocks = self._decision.look.evidence.blocks
        for block in np.lexsort((-blocks.characters, ~self._decision.taken)).tolist():
            for index in blocks.nodes[block]:
                node = index
                while node >= 0 and node not in found:
                    found[node] = block
                    node = self._nodes.parents[node]
        return found
