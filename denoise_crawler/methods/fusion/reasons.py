"""The verdicts on blocks as a judgement of nodes, and the reason for each: what added most to its score."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache, cached_property
from typing import TYPE_CHECKING

import numpy as np

from denoise_crawler import kernel
from denoise_crawler.kernel.columns import PLACES, UNITS, Choice, Parts
from denoise_crawler.kernel.names import words_of
from denoise_crawler.methods.base import Judgement
from denoise_crawler.methods.fusion.boxes import BOXES
from denoise_crawler.methods.fusion.features import BLOCK_NAMES
from denoise_crawler.methods.fusion.record_blocks import FIELD, field_reason
from denoise_crawler.page import Nodes, Page
from denoise_crawler.page.declarations import FIELDS
from denoise_crawler.page.text import counted

if TYPE_CHECKING:
    from denoise_crawler.kernel.columns import Flags, SiteStats
    from denoise_crawler.methods.fusion.features import Look

MAX_TOPICS = 3
_LEAST_SHARE = 0.08  # of what the strongest topic adds to the score
_DOUBTFUL = 0.2
INTRODUCTION = "introduction"


@dataclass(frozen=True, slots=True, eq=False)
class Decision:
    """What was decided, and by what: ``because`` are blocks that are taken in any case, by the reason."""

    look: Look
    parts: Parts
    because: dict[str, Flags]
    choice: Choice


def judgement_of(page: Page, decision: Decision, confidence: float, page_type: str | None = None) -> Judgement:
    """Return what was decided about the blocks of ``page`` as a judgement of its nodes.

    An element has the highest score of its text, and is noise if all its text is; one without text goes with its
    parent.
    """
    nodes, choice = page.nodes, decision.choice
    noise, scores = kernel.active.verdicts(nodes, decision.look.blocks, choice.taken, choice.chances)
    reasons = _Reasons(decision, nodes)
    return Judgement(noise, scores, reasons.of_node, confidence=confidence, page_type=page_type)


class _Reasons:
    """Why nodes were kept or dropped, worked out when first asked for."""

    def __init__(self, decision: Decision, nodes: Nodes) -> None:
        self._decision, self._nodes = decision, nodes

    def of_node(self, index: int) -> str:
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
        deciding: dict[int, int] = {}
        blocks = self._decision.look.blocks
        for block in np.lexsort((-blocks.characters, ~self._decision.choice.taken)).tolist():
            for node in filter(self._nodes.texts.__getitem__, range(blocks.starts[block], blocks.ends[block])):
                while node >= 0 and node not in deciding:
                    deciding[node] = block
                    node = self._nodes.parents[node]
        return deciding


def reason_of(decision: Decision, block: int) -> str:
    """Return why a block was kept or dropped: the step that decided, or the evidence."""
    choice = decision.choice
    taken = bool(choice.taken[block])
    if taken and not choice.likely[block]:
        for reason, blocks in decision.because.items():
            if blocks[block]:
                return field_reason(decision.look, block) if reason == FIELD else reason
    if taken != choice.once[block]:
        return f"{'kept' if taken else 'goes'} with its section"
    whole = _whole_of(decision.parts, block)
    alone = bool(choice.own[block] >= choice.bar)
    # a paragraph that introduces a list is kept with it, but does not go with it
    if whole and (taken or whole != INTRODUCTION) and bool(choice.best[block]) != alone:
        reason = f"kept with its {whole}" if taken else f"goes with its {whole}"
        likely = f", which is {choice.chances[block]:.0%} likely to be content as a whole"
        return reason if whole == INTRODUCTION else reason + likely
    if choice.best[block] and not taken:
        return "the same text was taken already, further up on the page"
    return _evidence_for(decision, block)


def _whole_of(parts: Parts, block: int) -> str:
    """Return the name of what a block is judged with, empty if nothing."""
    for kind, first, last in parts.units.tolist():
        if first <= block < last:
            return UNITS[kind]
    return INTRODUCTION if any(first <= block < last for first, last in parts.lists.tolist()) else ""


def _evidence_for(decision: Decision, block: int) -> str:
    """Return the topics that added most to the verdict on a block, the strongest first, and how close it was."""
    choice, row = decision.choice, decision.look.row(block)
    taken, chance = bool(choice.taken[block]), float(choice.own[block])
    sums = {topic: total if taken else -total for topic, total in added_by_topic(decision.look, block).items()}
    least = max(_LEAST_SHARE * max(sums.values(), default=0.0), 0.0)
    case = Case(decision.look, block, taken, row)
    topics = sorted((topic for topic, total in sums.items() if total > least), key=lambda topic: -sums[topic])
    words = [text for text in (case.describe(topic) for topic in topics) if text]
    doubt = ""
    if taken and chance < 1 / 2:
        doubt = f"{chance:.0%} likely to be content, which is enough on this page (from {choice.bar:.0%})"
    elif not taken and chance >= _DOUBTFUL:
        doubt = f"{chance:.0%} likely to be content, too little on this page (from {choice.bar:.0%})"
    reasons = [doubt, *words[: MAX_TOPICS - 1]] if doubt else words[:MAX_TOPICS]
    return "; ".join(reasons) or f"no single strong sign; all in all {chance:.0%} likely to be content"


def added_by_topic(look: Look, block: int) -> dict[str, float]:
    """Return what the features of a block add to its score, summed by topic; see :meth:`Look.contributions`."""
    topics, numbers = _topics()
    return dict(zip(topics, np.bincount(numbers, look.contributions(block)).tolist(), strict=True))


@cache
def _topics() -> tuple[list[str], list[int]]:
    """Return the topics, and by feature the number of its topic."""
    by_feature = list(map(topic_of, BLOCK_NAMES))
    topics = sorted({*by_feature})
    return topics, list(map(topics.index, by_feature))


@cache
def topic_of(feature: str) -> str:
    """Return what a feature is about; ``"other"`` for one that is not known here."""
    fitting = (topic for topic, starts, ends in _TOPICS if feature.startswith(starts) or feature.endswith(ends))
    return next(fitting, "other")


# What features are about, by how their names begin or end; the first that fits.
_TOPICS: tuple[tuple[str, tuple[str, ...], tuple[str, ...]], ...] = (
    ("wishes", ("wish ",), ()),
    ("boxes", BOXES, ()),
    ("whole page", ("page ", "site pages", "longest", "highest score", "likely so far", "score rank"), ()),
    ("alike", ("same path",), (" on path",)),
    ("neighbours", ("score", "before ", "after "), ()),
    ("surroundings", (), (" likely", "0 tokens", "1 tokens", "2 tokens", "3 tokens")),
    ("same at this place", ("place shape", "place repeated", "place sameness"), ()),
    ("repeated text", ("site text", "site masked"), (" repeated",)),
    ("repeated link", ("site link",), ()),
    ("site's habits", ("site ",), ()),
    ("repeated on the page", ("times on page",), ()),
    ("names", ("names",), (" names",)),
    ("title", ("title", "first heading"), (" to title",)),
    ("description", (), (" description",)),
    ("declared", (), (" declared",)),
    ("landmark", ("in ",), ()),
    ("links", (), ("link share",)),
    ("surroundings", ("above ",), ()),
    ("length", ("characters", "of longest", "commas", "closed"), ()),
    ("place", ("place",), ()),
    ("markup", ("tag", "depth", "unit"), ()),
)


@dataclass(frozen=True, slots=True)
class Case:
    """One block: the look at its page, whether it was kept, its features by name."""

    look: Look
    block: int
    taken: bool
    values: Mapping[str, float]

    def describe(self, topic: str) -> str:
        """Return the fact behind a topic in words; empty if the topic has none, or it speaks for neither side."""
        if topic in _SITE_WORDINGS:
            site = self.look.site_stats
            return "" if site is None else _SITE_WORDINGS[topic](self, site)
        return _PAGE_WORDINGS[topic](self) if topic in _PAGE_WORDINGS else ""

    @property
    def element(self) -> int:
        """The element that the block stands in."""
        return int(self.look.blocks.elements[self.block])

    def value(self, feature: str) -> float:
        """Return a feature, -1 where it is not known."""
        return self.values.get(feature, -1.0)


def _repeated_text(case: Case, site: SiteStats) -> str:
    same, masked = int(site.texts[case.block]), int(site.masked[case.block])
    what = "its text" if same >= masked else "its text, but for numbers,"
    return f"{what} is on {max(same, masked)} of {counted(site.pages, 'other page')}"


def _same_at_this_place(case: Case, site: SiteStats) -> str:
    same, have = int(site.shapes[case.block]), int(site.path_pages[case.element])
    return f"its like is at this place on {same} of {counted(have, 'other page')} that have it" if have else ""


def _repeated_link(case: Case, site: SiteStats) -> str:
    has_link = case.look.blocks.link_hashes[case.block]
    return (
        f"its link is on {int(site.links[case.block])} of {counted(site.pages, 'other page')}" if has_link else ""
    )


def _names(case: Case) -> str:
    around, words = case.look.blocks.around, case.look.class_words
    sign, best, element = 1.0 if case.taken else -1.0, ("", 0.0), case.element
    while element >= 0:
        for word in words_of(around.names[around.named[element]]):
            if (weight := sign * words.get(word, 0.0)) > best[1]:
                best = (word, weight)
        element = int(around.parents[element])
    return f"in class or id “{best[0]}”, usual for {'content' if case.taken else 'noise'}" if best[0] else ""


def _title(case: Case) -> str:
    title, block = case.look.headline.best, case.block
    if block == title:
        return "it is the page's title"
    side = "behind" if block > title else "before"
    return f"{counted(abs(block - title), 'block')} {side} the page's title" if title >= 0 else ""


def _declared(case: Case) -> str:
    for field in FIELDS:
        if case.value(f"{field} declared") >= _MOST_WORDS:
            return f"most of its words are in what the page declares as {_FIELD_NAMES[field]}"
    inside = case.value("in body declared")
    return "" if inside < 0 else f"{'in' if inside else 'not in'} the article as the page declares it (JSON-LD)"


_MOST_WORDS = 0.6
_FIELD_NAMES = {
    "body": "its text", "description": "its description", "ingredient": "ingredients", "step": "steps",
    "answer": "questions and answers", "comment": "comments", "record": "a record",
}  # fmt: skip


def _landmark(case: Case) -> str:
    if case.value("in unseen") > 0:
        return "hidden from readers"
    bits = int(case.look.blocks.around.places[case.element])
    places = [place for bit, place in enumerate(PLACES) if bits >> bit & 1 and (place in _CHROME) != case.taken]
    return f"inside {' and '.join(_PLACE_NAMES.get(place, place) for place in places[:2])}" if places else ""


_CHROME = frozenset({"header", "footer", "nav", "aside", "form", "hidden", "comment", "chrome_role"})
_PLACE_NAMES = {
    "chrome_role": "the role of a navigation",
    "body_role": "the role of the main text",
    "itemprop": "an itemprop of the text",
    "comment": "comments",
}


def _boxes(case: Case) -> str:
    return next((words for feature, words in _BOX_WORDS.items() if case.value(feature) > 0.0), "")


_BOX_WORDS = {
    "below advertisement": "below the label of an advertisement",
    "near address field": "beside a field for an address",
    "below comments": "below a label of comments",
    "answerable": "beside a button to answer",
    "calls": "calls on the reader",
    "calls around": "beside calls on the reader",
}


def _links(case: Case) -> str:
    blocks = case.look.blocks
    above = max(int(blocks.around.parents[case.element]), 0)
    around = slice(int(blocks.around.first[above]), int(blocks.around.last[above]))
    own, outer = (
        float(blocks.linked[some].sum() / max(blocks.characters[some].sum(), 1.0)) for some in (case.block, around)
    )
    return f"{own:.0%} links, {outer:.0%} around it"


_SITE_WORDINGS: dict[str, Callable[[Case, SiteStats], str]] = {
    "repeated text": _repeated_text,
    "same at this place": _same_at_this_place,
    "repeated link": _repeated_link,
    "site's habits": lambda *_: "what other pages have at this place",
}
_PAGE_WORDINGS: dict[str, Callable[[Case], str]] = {
    "repeated on the page": lambda case: (
        f"its text is {'more than ' * (case.value('times on page') > 1)}once on the page"
    ),
    "alike": lambda _: "the blocks of its kind on the page",
    "names": _names,
    "title": _title,
    "description": lambda _: "the page's description",
    "declared": _declared,
    "landmark": _landmark,
    "boxes": _boxes,
    "links": _links,
    "length": lambda case: f"{int(case.look.blocks.characters[case.block])} characters long",
    "neighbours": lambda _: "the blocks before and after it",
    "surroundings": lambda _: "the elements around it",
    "place": lambda case: f"block {case.block + 1} of {len(case.look.blocks)} on the page",
}
