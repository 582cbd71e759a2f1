"""Why a block was kept or dropped, in words a user understands."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from denoise_crawler.methods.fusion.tellers import TELLERS, Case

if TYPE_CHECKING:
    from collections.abc import Mapping

    from denoise_crawler.methods.fusion.evidence import Evidence
    from denoise_crawler.methods.fusion.look import Forest

MOST = 3
_LEAST_SHARE = 0.08  # of what the strongest evidence adds to the score
_DOUBTFUL = 0.2


@dataclass(frozen=True, slots=True)
class Verdict:
    """What became of a block: whether it was ``taken``, and its ``chance`` to be content.

    ``bar`` is the lowest chance that was taken on its page. A block is ``repeated`` if it would have been taken
    had its text not been taken before.
    """

    taken: bool
    chance: float
    bar: float = 0.5
    repeated: bool = False


def why(
    evidence: Evidence, added: Mapping[str, float], row: Mapping[str, float], block: int, verdict: Verdict
) -> str:
    """Return the evidence that spoke most for the verdict on a block, the strongest first, three at most.

    Args:
        evidence: All that is known of the page.
        added: What the features add to the score, summed by what they are about.
        row: The features of the block, by name.
        block: Its number.
        verdict: What became of it.

    """
    if verdict.repeated:
        return "the same text was taken already, further up on the page"
    sign = 1.0 if verdict.taken else -1.0
    sums = {topic: sign * total for topic, total in added.items()}
    least = _LEAST_SHARE * max(sums.values(), default=0.0)
    topics = sorted(
        (topic for topic, total in sums.items() if total > max(least, 0.0)), key=lambda one: -sums[one]
    )
    case = Case(evidence, block, verdict.taken, row)
    told = [one for one in (TELLERS[topic](case) for topic in topics) if one]
    doubt = _doubt(verdict)
    return "; ".join(([doubt] if doubt else []) + told[: MOST - bool(doubt)]) or _in_sum(verdict)


def added_by_topic(forest: Forest, row: Mapping[str, float]) -> dict[str, float]:
    """Return what the features of a block, by name, add to its score, summed by what they are about.

    See :meth:`BoostedTrees.contributions`.
    """
    of_numbers = forest.trees.contributions([row[name] for name in forest.features])
    sums: dict[str, float] = {}
    for number, amount in of_numbers.items():
        topic = topic_of(forest.features[number])
        sums[topic] = sums.get(topic, 0.0) + amount
    return sums


def _doubt(verdict: Verdict) -> str:
    """Say of a block that went neither way by far where the line was drawn."""
    if verdict.taken and verdict.chance < 1 / 2:
        return f"{verdict.chance:.0%} likely to be content, which is enough on this page (from {verdict.bar:.0%})"
    if not verdict.taken and verdict.chance >= _DOUBTFUL:
        return f"{verdict.chance:.0%} likely to be content, too little on this page (from {verdict.bar:.0%})"
    return ""


def _in_sum(verdict: Verdict) -> str:
    return f"no single strong sign; all in all {verdict.chance:.0%} likely to be content"


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


def together_reason(kept: bool, whole: str, chance: float | None = None) -> str:
    """Say of a block that its own chances did not decide, but those of the ``whole`` it is a part of."""
    said = f"kept with its {whole}" if kept else f"goes with its {whole}"
    return said if chance is None else f"{said}, which is {chance:.0%} likely to be content as a whole"
