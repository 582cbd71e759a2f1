"""Why a block was kept or dropped, in words a user understands."""

from __future__ import annotations

from typing import TYPE_CHECKING

from denoise_crawler.methods.fusion.parts import INTRODUCTION
from denoise_crawler.methods.fusion.records import FIELD, field_reason
from denoise_crawler.methods.fusion.tellers import TELLERS, Case

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from denoise_crawler.methods.fusion.decision import Decision
    from denoise_crawler.methods.fusion.look import Look

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
    assert look.forest is not None  # noqa: S101
    names, sums = list(row), dict[str, float]()
    for number, amount in look.forest.trees.contributions(list(row.values())).items():
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
