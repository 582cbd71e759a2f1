"""The texts of a thread's posts: alike elements that take turns with the dates of their posts."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from itertools import accumulate, pairwise
from typing import TYPE_CHECKING

from denoise_crawler.page.text import collapse_spaces
from denoise_crawler.records.alike import alike_elements, outermost
from denoise_crawler.records.post_dates import find_date

if TYPE_CHECKING:
    from collections.abc import Sequence

    from denoise_crawler.page import Nodes, Page

_OFTEN, _SHORT = 2, 60  # a short text that stands more often is no prose
_DATE_INSIDE = 0.6  # what holds the date as well is less likely the text of a post alone
_NAMED = 1.3
_NAMES = re.compile(r"post|messag|msg|content|comment|text|body|repl|answer|entry", re.IGNORECASE)


@dataclass(frozen=True, slots=True, eq=False)
class Tally:
    """Running sums by node of prose, characters and dates; ``sums[end] - sums[start]`` is that of a range."""

    prose: Sequence[int]
    characters: Sequence[int]
    dates: Sequence[int]


@dataclass(frozen=True, slots=True, eq=False)
class Thread:
    """The posts of a page: the elements with their texts (``bodies``), and the nodes that are each post's own.

    ``spaces[i]`` goes from where the post before ends to the end of the largest element with this post alone.
    ``dates_inside`` tells whether the bodies hold the dates of their posts, and so what else is said of them;
    ``likeness`` (0 to 1.3) how much they look like posts.
    """

    bodies: list[int]
    spaces: list[range]
    dates_inside: bool
    likeness: float


def thread_of(page: Page) -> Thread:
    """Find the posts of ``page``; none if it has no thread."""
    nodes, tally = page.nodes, page.once(_tally_of)
    best, bodies = 0.0, list[int]()
    for name, members in page.once(alike_elements).items():
        candidates = outermost(nodes, members)
        if len(candidates) > 1:
            likeness = _likeness(nodes, tally, candidates) * (_NAMED if _NAMES.search(name) else 1.0)
            if likeness > best:
                best, bodies = likeness, candidates
    with_date = sum(tally.dates[nodes.ends[body]] > tally.dates[body] for body in bodies)
    return Thread(bodies, _spaces(nodes, bodies), 2 * with_date > len(bodies), best)


def _tally_of(page: Page) -> Tally:
    nodes = page.nodes
    texts = [collapse_spaces(text) for text in nodes.texts]
    often = Counter(text for text in texts if text and len(text) <= _SHORT)
    dated = [
        find_date(text) is not None if text else tag == "time" and end == index + 1
        for index, (tag, text, end) in enumerate(zip(nodes.tags, texts, nodes.ends, strict=True))
    ]
    prose = (
        0 if nodes.links[index] >= 0 or often[text] > _OFTEN or dated[index] else page.characters[index]
        for index, text in enumerate(texts)
    )
    sums = (list(accumulate(numbers, initial=0)) for numbers in (prose, page.characters, map(int, dated)))
    return Tally(*sums)


def _likeness(nodes: Nodes, tally: Tally, bodies: Sequence[int]) -> float:
    """Say how much elements look like the texts of posts: they hold the prose, little else, and dates between."""
    spans = [(body, nodes.ends[body]) for body in bodies]
    prose = [tally.prose[end] - tally.prose[start] for start, end in spans]
    if not (total := sum(prose)):
        return 0.0
    held = [tally.characters[end] - tally.characters[start] for start, end in spans]
    coverage = total / tally.prose[-1]
    density = sum(one / every for one, every in zip(prose, held, strict=True) if every) / sum(map(bool, held))
    borders = zip([0, *(end for _, end in spans)], [*bodies, len(nodes)], strict=True)
    between = [tally.dates[start] > tally.dates[end] for end, start in borders]
    inside = sum(1 / dates for start, end in spans if (dates := tally.dates[end] - tally.dates[start]))
    count = len(bodies)
    turns = max(sum(between[:-1]), sum(between[1:]), _DATE_INSIDE * inside) / count
    return coverage * density**2 * turns * count / (count + 1)


def _spaces(nodes: Nodes, bodies: Sequence[int]) -> list[range]:
    """Return the own nodes of each post; what stands before the first is as long as before the others."""
    own = [_own_element(nodes, bodies, number) for number in range(len(bodies))]
    gaps = [after.start - before.stop for before, after in pairwise(own)]
    starts = [max(own[0].start - min(gaps, default=0), 0), *(one.stop for one in own[:-1])] if own else []
    return [range(start, one.stop) for start, one in zip(starts, own, strict=True)]


def _own_element(nodes: Nodes, bodies: Sequence[int], number: int) -> range:
    """Return the largest element that holds this body and no other."""
    index = bodies[number]
    before = bodies[number - 1] if number else -1
    behind = bodies[number + 1] if number + 1 < len(bodies) else len(nodes)
    while (above := nodes.parents[index]) > max(before, 0) and nodes.ends[above] <= behind:
        index = above
    return range(index, nodes.ends[index])
