"""Who wrote the posts of a thread: short texts in elements that are alike in all posts."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from typing import TYPE_CHECKING

from denoise_crawler.page import TEXT
from denoise_crawler.page.text import collapse_spaces
from denoise_crawler.records.alike import names_of
from denoise_crawler.records.post_dates import find_date

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from denoise_crawler.page import Nodes
    from denoise_crawler.records.threads import Thread

MAX_CHARACTERS = 40
_SURE, _SURER = 0.5, 1.0  # of the best name, and of those for posts that have none
_TRIED = 3
_SAID, _DENIED, _CONSTANT, _AGREED, _BASE = 1.0, 0.7, 1.2, 0.05, 0.7
_USER = re.compile(
    r"user|author|auteur|autor|nick|poster|member|creator|mitglied|profile?\b|ersteller|verfasser", re.IGNORECASE
)
_NO_USER = re.compile(
    r"title|titel|avatar|rank|locat|date|time|repl|quot|zitat|count|signat|sig\b|stat|button|icon|group|badge|role"
    r"|info_|extra|action|menu|like",
    re.IGNORECASE,
)
_ADDRESS = re.compile(
    r"(?:^|[/?&=])(?:users?|members?|profiles?|u|people|authors?|mitglied\w*|memberlist|viewprofile|~)(?:[/.?&=]|$)"
)
_LETTER = re.compile(r"[^\W\d_]")
_CLOCK = re.compile(r"^\d{1,2}[:.]\d\d")


def users_of(nodes: Nodes, thread: Thread) -> list[int]:
    """Return by post the text node that names its user, -1 where there is none."""
    by_name: dict[str, dict[int, int]] = defaultdict(dict)
    following = _next_texts(nodes)
    for number, (space, body) in enumerate(zip(thread.spaces, thread.bodies, strict=True)):
        closed = range(0) if thread.dates_inside else range(body, nodes.ends[body])
        for name, text in _candidates(nodes, space, closed, following):
            by_name[name].setdefault(number, text)
    users = [-1] * len(thread.bodies)
    for place, (likeness, texts) in enumerate(_best(nodes, by_name, len(users))):
        if likeness < (_SURER if place else _SURE):
            break
        for number, text in texts.items():
            users[number] = text if users[number] < 0 else users[number]
    return users


def _best(nodes: Nodes, by_name: dict[str, dict[int, int]], posts: int) -> list[tuple[float, dict[int, int]]]:
    """Return the likeliest names with their texts by post; those that lead to the same texts agree."""
    agreeing = Counter(tuple(texts.values()) for texts in by_name.values())
    ranked = [
        (_likeness(nodes, name, texts, posts) + _AGREED * agreeing[tuple(texts.values())], name)
        for name, texts in by_name.items()
    ]
    return [(likeness, by_name[name]) for likeness, name in sorted(ranked, reverse=True)[:_TRIED]]


def _likeness(nodes: Nodes, name: str, texts: dict[int, int], posts: int) -> float:
    """Say how much the elements of this name look like those of users."""
    said = _SAID * bool(_USER.search(name)) - _DENIED * bool(_NO_USER.search(name))
    values = {collapse_spaces(nodes.texts[text]) for text in texts.values()}
    constant = _CONSTANT * (len(values) == 1 and len(texts) > 2)
    return len(texts) / posts * (_BASE + said - constant)


def _candidates(nodes: Nodes, space: range, closed: range, following: Sequence[int]) -> Iterator[tuple[str, int]]:
    """Yield the names of elements that begin with what may be a name, and its text node."""
    for index in space:
        if nodes.tags[index] == TEXT or index in closed:
            continue
        text = following[index]
        if text < nodes.ends[index] and _may_be_name(nodes.texts[text]):
            for name in _names(nodes, index):
                yield name, text


def _names(nodes: Nodes, index: int) -> Iterator[str]:
    names = list(names_of(nodes, index))
    yield from names
    if nodes.tags[index] == "a" and _ADDRESS.search(nodes.elements[index].get("href", "")):
        yield "a user"
    elif not names:
        above = nodes.parents[index]
        yield f"{nodes.tags[index]}<{next(names_of(nodes, above), nodes.tags[above])}"


def _may_be_name(text: str) -> bool:
    line = collapse_spaces(text) if len(text) < 10 * MAX_CHARACTERS else text
    return (
        len(line) <= MAX_CHARACTERS
        and _LETTER.search(line) is not None
        and find_date(line) is None
        and not _CLOCK.match(line)
    )


def _next_texts(nodes: Nodes) -> list[int]:
    """Return by node the first text at or behind it."""
    following = len(nodes)
    found = [following] * following
    for index in range(following - 1, -1, -1):
        if nodes.tags[index] == TEXT and not nodes.texts[index].isspace():
            following = index
        found[index] = following
    return found
