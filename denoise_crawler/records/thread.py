"""Where the posts of a thread stand: texts that take turns with the dates of their posts."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import accumulate, pairwise

from denoise_crawler.page import Nodes, Page
from denoise_crawler.page.date_parsing import AGO
from denoise_crawler.records.listings import alike_elements, outermost

LONGER_THAN_DATES = 61  # characters of a text that is more than a date
_TIMES = frozenset({"time"})
_MONTH = (
    r"(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec|märz|mai|okt|dez|janv|févr|mars|avril|juin|juil|août|déc"
    r"|ene|abr|ago|dic|gen|mag|giu|lug|set|ott|mrt|mei|янв|фев|мар|апр|мая|июн|июл|авг|сен|окт|ноя|дек|stycz|lut|kwi"
    r"|maj|cze|lip|sie|wrz|paź|lis|gru)"
)
_DAY = r"(?:yesterday|today|gestern|heute|hier|ayer|hoy|ieri|oggi)"
_DATES = (
    r"(?<!\d)(?:\d{4}[-/.]\d{1,2}[-/.]\d{1,2}|\d{1,2}[-/.]\d{1,2}[-/.](?:\d{4}|\d{2}))(?!\d)"
    r"|\d{4}\s?年\s?\d{1,2}\s?月"
    rf"|\b{_MONTH}\w*\.?,?\s+\d{{1,4}}\b|\b\d{{1,2}}(?:st|nd|rd|th|\.)?[\s-]+{_MONTH}\w*\b"
    rf"|{AGO}|^{_DAY}\W*$|\b{_DAY}(?:\W+\w{{1,2}})?\W*\d{{1,2}}[:.h]\d\d"
)
_DATE, _ASCII_DATE = re.compile(_DATES, re.IGNORECASE), re.compile(_DATES)
_IN_DATES = re.compile("|".join((r"\d", "ago", "vor", "il y a", "hace", _DAY)))
DATE_ENDS = " ·|-–—,"
_OFTEN, _SHORT = 2, 60  # a short text that stands more often is no prose
_DATE_INSIDE = 0.6  # what holds the date as well is less likely the text of a post alone
_NAMED_WORTH = 1.3
_POST_NAMES = re.compile(r"post|messag|msg|content|comment|text|body|repl|answer|entry", re.IGNORECASE)


@lru_cache(maxsize=4_096)  # a page is asked for the same texts several times
def find_date(text: str) -> str | None:
    """Return a short text from its date on, None if it is long or has no date.

    Texts are remembered, so pass no more of a long one than its beginning.

    Example:
        >>> find_date("Posted on 12.03.2020, 19:29"), find_date("3 hours ago"), find_date("A story.")
        ('12.03.2020, 19:29', '3 hours ago', None)
    """
    if len(text) >= LONGER_THAN_DATES or not _IN_DATES.search(small := text.lower()):
        return None  # most texts, and the search for all dates is slow
    # small letters that are compared one by one: twice as fast
    date = _ASCII_DATE.search(small) if text.isascii() else _DATE.search(text)
    return text[date.start() :].strip(DATE_ENDS) if date else None


@dataclass(frozen=True, slots=True, eq=False)
class PrefixSums:
    """Running sums by node of prose, characters and dates; ``sums[end] - sums[start]`` is that of a range."""

    prose: Sequence[int]
    characters: Sequence[int]
    dates: Sequence[int]


@dataclass(frozen=True, slots=True, eq=False)
class Thread:
    """The posts of a page: the elements with their texts (``bodies``), and the nodes that are each post's own.

    ``spaces[i]`` goes from where the post before ends to the end of the largest element with this post alone.
    ``dates_inside`` is True if the bodies hold the dates of their posts, and so what else is said of them;
    ``likeness`` (0 to 1.3) how much they look like posts.
    """

    bodies: list[int]
    spaces: list[range]
    dates_inside: bool
    likeness: float


def thread_of(page: Page) -> Thread:
    """Find the posts of ``page``; none if it has no thread."""
    nodes, sums = page.nodes, page.once(_prefix_sums_of)
    best, bodies = 0.0, list[int]()
    for name, members in page.once(alike_elements).items():
        if len(members) < 2 or len(candidates := outermost(nodes, members)) < 2:
            continue
        worth = _NAMED_WORTH if _POST_NAMES.search(name) else 1.0
        likeness = worth * _likeness(nodes, sums, candidates, best / worth)
        if likeness > best:
            best, bodies = likeness, candidates
    with_date = sum([sums.dates[nodes.ends[body]] > sums.dates[body] for body in bodies])
    return Thread(bodies, _spaces(nodes, bodies), 2 * with_date > len(bodies), best)


def _prefix_sums_of(page: Page) -> PrefixSums:
    nodes = page.nodes
    texts = [text and " ".join(text.split()) for text in nodes.texts]
    often = Counter([text for text in texts if text and len(text) <= _SHORT])
    dated = [0 < len(text) < LONGER_THAN_DATES and find_date(text) is not None for text in texts]
    for index in nodes.tagged(_TIMES):
        dated[index] = nodes.ends[index] == index + 1
    prose = [
        0 if not text or link >= 0 or has_date or often.get(text, 0) > _OFTEN else characters
        for text, link, has_date, characters in zip(texts, nodes.links, dated, page.characters, strict=True)
    ]
    sums = [list(accumulate(numbers, initial=0)) for numbers in (prose, page.characters, map(int, dated))]
    return PrefixSums(*sums)


def _likeness(nodes: Nodes, sums: PrefixSums, bodies: Sequence[int], least: float) -> float:
    """Return how much elements look like the texts of posts: full of prose, little else, dates between them.

    0 if they have too little prose for ``least``, however much looks like posts otherwise.
    """
    ends, sum_of_prose = nodes.ends, sums.prose
    prose = [sum_of_prose[ends[body]] - sum_of_prose[body] for body in bodies]
    if (total := sum(prose)) <= least * sum_of_prose[-1]:
        return 0.0
    spans = [(body, ends[body]) for body in bodies]
    held = [sums.characters[end] - sums.characters[start] for start, end in spans]
    coverage = total / sum_of_prose[-1]
    density = sum([one / every for one, every in zip(prose, held, strict=True) if every]) / sum(map(bool, held))
    borders = zip([0, *[end for _, end in spans]], [*bodies, len(nodes)], strict=True)
    between = [sums.dates[start] > sums.dates[end] for end, start in borders]
    inside = sum([1 / dates for start, end in spans if (dates := sums.dates[end] - sums.dates[start])])
    count = len(bodies)
    turns = max(sum(between[:-1]), sum(between[1:]), _DATE_INSIDE * inside) / count
    return coverage * density**2 * turns * count / (count + 1)


def _spaces(nodes: Nodes, bodies: Sequence[int]) -> list[range]:
    """Return the own nodes of each post; what stands before the first is as long as before the others."""
    own = [_own_element(nodes, bodies, number) for number in range(len(bodies))]
    gaps = [after.start - before.stop for before, after in pairwise(own)]
    starts = [max(own[0].start - min(gaps, default=0), 0), *[one.stop for one in own[:-1]]] if own else []
    return [range(start, one.stop) for start, one in zip(starts, own, strict=True)]


def _own_element(nodes: Nodes, bodies: Sequence[int], number: int) -> range:
    """Return the largest element that holds this body and no other."""
    index = bodies[number]
    before = bodies[number - 1] if number else -1
    behind = bodies[number + 1] if number + 1 < len(bodies) else len(nodes)
    while (above := nodes.parents[index]) > max(before, 0) and nodes.ends[above] <= behind:
        index = above
    return range(index, nodes.ends[index])
