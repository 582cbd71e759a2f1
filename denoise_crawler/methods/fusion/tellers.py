"""What each kind of evidence says of a block, in words; nothing where it does not speak for the verdict."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from math import expm1
from typing import TypeAlias

from denoise_crawler.methods.fusion.features import Evidence
from denoise_crawler.methods.fusion.names import PLACES, words_of
from denoise_crawler.page.declarations import FIELDS

_CLOSE = 3


@dataclass(frozen=True, slots=True)
class Case:
    """One block, what is known of it, and what became of it."""

    evidence: Evidence
    block: int
    taken: bool
    values: Mapping[str, float]

    @property
    def home(self) -> int:
        """The element the block stands in."""
        return int(self.evidence.blocks.elements[self.block])


Teller: TypeAlias = "Callable[[Case], str]"


def _repeated_text(case: Case) -> str:
    standing = case.evidence.standing
    if standing is None:
        return ""
    pages, same, masked = standing.pages, int(standing.texts[case.block]), int(standing.masked[case.block])
    if case.taken:
        if same or masked:
            return ""
        return (
            "the one other page known does not have this text"
            if pages == 1
            else f"none of {pages} other pages has this text"
        )
    if same:
        return f"the same text stands on {_of(same, pages)}"
    return f"the same text with other numbers stands on {_of(masked, pages)}" if masked else ""


def _same_at_this_place(case: Case) -> str:
    standing = case.evidence.standing
    if standing is None:
        return ""
    same, have = int(standing.places.shapes[case.block]), int(standing.path_pages[case.home])
    if case.taken:
        return f"something else on each of the {have} pages with this place" if have > 1 and not same else ""
    what = "it" if standing.texts[case.block] >= same else "its like"
    return f"{what} stands at this place on {same} of the {have} other pages that have it" if same else ""


def _new_text(case: Case) -> str:
    so_far = case.values.get("new text so far", -1.0)
    if case.taken:
        return "among text that no other page has" if 0.0 < so_far < 1.0 else ""
    if so_far <= 0.0:
        return "before all text that only this page has" if so_far == 0.0 else ""
    return "after all text that only this page has" if so_far >= 1.0 else ""


def _repeated_link(case: Case) -> str:
    standing = case.evidence.standing
    if standing is None or case.taken or not case.evidence.blocks.link_hashes[case.block]:
        return ""
    same = int(standing.links[case.block])
    return f"its link stands on {_of(same, standing.pages)}" if same else ""


def _habits(case: Case) -> str:
    standing = case.evidence.standing
    if standing is None:
        return ""
    have, length = int(standing.path_pages[case.home]), max(float(standing.path_characters[case.home]), 1.0)
    linked, again = (
        float(standing.path_linked[case.home]) / length,
        float(standing.path_repeated[case.home]) / length,
    )
    if not have:
        return ""
    where = f"in this place {_have(have, standing.pages)} text"
    if case.taken:
        return f"{where}, most of it new" if again < 1 / 3 and linked < 1 / 2 else ""
    if again >= 1 / 2:
        return f"{where}, {again:.0%} of it repeated"
    return f"{where}, {linked:.0%} of it links" if linked >= 1 / 2 else ""


def _repeated_on_the_page(case: Case) -> str:
    hashes = case.evidence.blocks.text_hashes
    times = int((hashes == hashes[case.block]).sum())
    return "" if case.taken or times < 2 else f"the page has the same text {times} times"


def _alike(case: Case) -> str:
    blocks, around = case.evidence.blocks, case.evidence.blocks.around
    paths = around.paths[blocks.elements]
    same = paths == paths[case.block]
    count, mean = int(same.sum()), float((blocks.characters - blocks.linked)[same].mean())
    if case.taken:
        return f"one of {count} blocks of running text in such a place" if count > 1 and mean >= 80 else ""
    return f"one of {count} short blocks of the same kind" if count >= 5 and mean < 30 else ""


def _names(case: Case) -> str:
    around, words = case.evidence.blocks.around, case.evidence.class_words
    sign, best, element = 1.0 if case.taken else -1.0, ("", 0.0), case.home
    while element >= 0:
        for word in words_of(around.names[element]):
            if (weight := sign * words.get(word, 0.0)) > best[1]:
                best = (word, weight)
        element = int(around.parents[element])
    return f"in class or id “{best[0]}”, usual for {'content' if case.taken else 'noise'}" if best[0] else ""


def _title(case: Case) -> str:
    best = case.evidence.headline.best
    distance = case.block - best
    if best < 0:
        return ""
    if case.taken:
        if not distance:
            return "it is the page's title"
        return "right after the page's title" if 0 < distance <= _CLOSE else ""
    inside = case.evidence.region.first <= case.block < case.evidence.region.last  # else it is told from there
    return f"{_blocks(distance)} the page's title" if distance < 0 and inside else ""


def _description(case: Case) -> str:
    return (
        "the page's own description begins so"
        if case.taken and case.values.get("begins description", 0.0) > 0
        else ""
    )


def _declared(case: Case) -> str:
    inside = case.values.get("in body declared", -1.0)
    fields = [field for field in FIELDS if case.values.get(f"{field} declared", -1.0) >= _MOSTLY]
    if fields and (fields[0] == "comment") != case.taken:
        return f"most of its words are in what the page declares as {_FIELD_NAMES[fields[0]]}"
    if case.taken:
        return "in the article as the page declares it (JSON-LD)" if inside > 0 else ""
    return "not in the article as the page declares it (JSON-LD)" if inside == 0 else ""


_MOSTLY = 0.6  # of the words of a block
_FIELD_NAMES = {
    "body": "its text", "description": "its description", "ingredient": "ingredients", "step": "steps",
    "answer": "questions and answers", "comment": "comments", "record": "a record",
}  # fmt: skip


def _main_text(case: Case) -> str:
    region = case.evidence.region
    if region.first <= case.block < region.last:
        return "in the page's main text" if case.taken else ""
    distance = region.distance(case.block)
    if case.taken:
        return f"right {_side(distance)} the main text" if abs(distance) <= _CLOSE else ""
    return f"{_blocks(distance)} the main text"


def _landmark(case: Case) -> str:
    if not case.taken and case.values.get("in unseen", 0.0) > 0:
        return "hidden from readers"
    inside = int(case.evidence.blocks.around.places[case.home])
    named = [place for bit, place in enumerate(PLACES) if inside >> bit & 1]
    told = [place for place in named if (place in _CHROME) != case.taken]
    told = [place for place in told if place not in _ROLES] or told  # a role says what the tag has said
    return f"inside {' and '.join(_PLACE_NAMES.get(place, place) for place in told[:2])}" if told else ""


_CHROME = frozenset({"header", "footer", "nav", "aside", "form", "hidden", "comment", "chrome_role"})
_ROLES = frozenset({"chrome_role", "body_role"})
_PLACE_NAMES = {
    "comment": "comments",
    "hidden": "something hidden",
    "chrome_role": "a part whose role is navigation or the like",
    "body_role": "a part whose role is the main text",
    "itemprop": "what is marked as the text",
    "quote": "a quote",
    "list": "a list",
    "table": "a table",
    "figure": "a figure",
    "form": "a form",
}


def _links(case: Case) -> str:
    blocks = case.evidence.blocks
    own = float(blocks.linked[case.block] / max(blocks.characters[case.block], 1.0))
    around = float(case.evidence.sums.link_shares[case.evidence.parent(case.block)])
    if case.taken:
        return "no links" if not own else f"only {own:.0%} links" if own < 1 / 4 else ""
    if own >= 1 / 3:
        return f"{own:.0%} links"
    return f"among links ({around:.0%} of what stands around it)" if around >= 1 / 2 else ""


def _length(case: Case) -> str:
    characters = int(case.evidence.blocks.characters[case.block])
    if case.taken:
        return f"{characters} characters long" if characters >= 60 else ""
    return f"only {characters} character{'s' * (characters != 1)} long" if characters < 60 else ""


def _neighbours(case: Case) -> str:
    evidence, block = case.evidence, case.block
    low, high = max(block - _CLOSE, 0), min(block + _CLOSE + 1, len(evidence.blocks))
    text = evidence.blocks.characters - evidence.blocks.linked
    around = float(text[low:high].sum() - text[block]) / max(high - low - 1, 1)
    if case.taken:
        return "running text before and after it" if around >= 60 else ""
    return "no running text before or after it" if around < 20 else ""


def _surroundings(case: Case) -> str:
    evidence = case.evidence
    home, sums = evidence.parent(case.block), evidence.sums
    unlinked = max(float(sums.characters[-1] - sums.linked[-1]), 1.0)
    share = float(sums.element_characters[home] - sums.element_linked[home]) / unlinked
    if case.taken:
        return f"the element around it holds {share:.0%} of the page's text" if share >= 1 / 4 else ""
    held = "less than 1%" if share < 0.01 else f"only {share:.0%}"
    return f"the element around it holds {held} of the page's text" if share < 0.1 else ""


def _place(case: Case) -> str:
    place = (case.block + 0.5) / max(len(case.evidence.blocks), 1)
    if case.taken:
        return ""
    return "near the page's top" if place < 0.1 else "near the page's end" if place > 0.9 else ""


def _list(case: Case) -> str:
    size, linked = case.values.get("inner list size", -1.0), case.values.get("inner list link share", -1.0)
    if size < 0 or (linked < 1 / 2) != case.taken:
        return ""
    return f"one of {round(expm1(size))} alike on this page{'' if case.taken else ', most of them links'}"


def _silent(_: Case) -> str:
    return ""


def _of(some: int, pages: int) -> str:
    if pages == 1:
        return "the one other page known"
    return f"{some} of {pages} other pages"


def _have(some: int, pages: int) -> str:
    return "the one other page known has" if pages == 1 else f"{some} of {pages} other pages have"


def _blocks(distance: int) -> str:
    return f"{abs(distance)} block{'s' * (abs(distance) != 1)} {_side(distance)}"


def _side(distance: int) -> str:
    return "after" if distance > 0 else "before"


TELLERS: dict[str, Teller] = {
    "same at this place": _same_at_this_place,
    "new text": _new_text,
    "repeated text": _repeated_text,
    "repeated link": _repeated_link,
    "site's habits": _habits,
    "repeated on the page": _repeated_on_the_page,
    "alike": _alike,
    "names": _names,
    "title": _title,
    "description": _description,
    "declared": _declared,
    "main text": _main_text,
    "landmark": _landmark,
    "links": _links,
    "length": _length,
    "neighbours": _neighbours,
    "surroundings": _surroundings,
    "place": _place,
    "list": _list,
    "wishes": _silent,
    "whole page": _silent,
    "markup": _silent,
    "other": _silent,
}
