"""The posts of a thread: for each its text, who wrote it, when, and its own address."""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING

from denoise_crawler.page import TEXT
from denoise_crawler.page.text import collapse_spaces
from denoise_crawler.records.found_record import POST, FoundRecord
from denoise_crawler.records.post_dates import find_date
from denoise_crawler.records.post_users import users_of
from denoise_crawler.records.threads import thread_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from denoise_crawler.page import Nodes, Page

_SIGNATURE = re.compile(r"signatur|(?:^|[-_\s])sig(?:$|[-_\s])", re.IGNORECASE)
_QUOTE = re.compile(r"quote|zitat|citation", re.IGNORECASE)
_PERMANENT = re.compile(r"permalink|bookmark|postlink|post-?number|hashpermalink|postcounter", re.IGNORECASE)
_NUMBER = re.compile(r"\d{2,}")
_MOST_POSTS = 0.5  # a short text that more of the posts have is no post's
_SIGNS = 3
_MAX_NAMES = 200  # characters of an attribute


def find_posts(page: Page) -> list[FoundRecord]:
    """Return the posts of a thread in document order; none if the page has no thread.

    Example:
        >>> from denoise_crawler import Page
        >>> post = "<div class=post><a class=user>{}</a> <i>May {}, 2024</i><div class=body>{}</div></div>"
        >>> html = post.format("Ann", 2, "Is it open today?") + post.format("Bob", 3, "It is, until six.")
        >>> [record.values["user"] for record in find_posts(Page.parse("https://a.example/", html))]
        ['Ann', 'Bob']

    """
    nodes, thread = page.nodes, page.once(thread_of)
    often = _furniture(nodes, thread.bodies)
    posts = []
    for body, space, user in zip(thread.bodies, thread.spaces, users_of(nodes, thread), strict=True):
        inside = range(body, nodes.ends[body])
        time = _time(nodes, space, inside)
        said = {"user": _text(nodes, user), "time": _moment(nodes, time), "link": _link(page, space, body)}
        values = {name: value for name, value in said.items() if value}
        posts.append(FoundRecord(POST, inside, tuple(_left_out(nodes, inside, often, {user, time})), values))
    return posts


def _text(nodes: Nodes, index: int) -> str:
    return collapse_spaces(nodes.texts[index]) if index >= 0 else ""


def _time(nodes: Nodes, space: range, body: range) -> int:
    """Return the node that says when, the nearest before the text, else behind it, else in it; -1 without one."""
    for part in (range(body.start - 1, space.start - 1, -1), range(body.stop, space.stop), body):
        for index in part:
            if _machine_time(nodes, index) or find_date(_text(nodes, index)):
                return index
    return -1


def _moment(nodes: Nodes, index: int) -> str:
    """Return the time that a node says: that of ``time`` elements for machines, else as written."""
    if index < 0:
        return ""
    above = _machine_time(nodes, index) or _machine_time(nodes, nodes.parents[index])
    return above or find_date(_text(nodes, index)) or ""


def _machine_time(nodes: Nodes, index: int) -> str:
    return nodes.elements[index].get("datetime", "").strip() if nodes.tags[index] == "time" else ""


def _furniture(nodes: Nodes, bodies: Sequence[int]) -> frozenset[str]:
    """Return the texts that most posts have in them, and so are no post's own words."""
    posts_with = Counter(
        line
        for body in bodies
        for line in {collapse_spaces(text) for text in nodes.texts[body : nodes.ends[body]]}
        if len(line) > _SIGNS
    )
    most = max(2.0, _MOST_POSTS * len(bodies))
    return frozenset(line for line, posts in posts_with.items() if posts > most)


def _left_out(nodes: Nodes, inside: range, often: frozenset[str], said: set[int]) -> Iterator[range]:
    """Yield the subtrees of a post that are not its text; what it quotes is its text."""
    end = inside.start + 1
    for index in inside:
        if index < end:
            continue
        names = "" if nodes.tags[index] == TEXT else _names(nodes, [index])
        if _SIGNATURE.search(names) or index in said or _text(nodes, index) in often:
            end = nodes.ends[index]
            yield range(index, end)
        elif nodes.tags[index] == "blockquote" or _QUOTE.search(names):
            end = nodes.ends[index]


def _names(nodes: Nodes, indices: Iterable[int], attributes: Sequence[str] = ("class", "id")) -> str:
    return " ".join(nodes.elements[index].get(name, "")[:_MAX_NAMES] for index in indices for name in attributes)


def _link(page: Page, space: range, body: int) -> str:
    """Return the address of a post: of the link that says so, one with its element's number, or its element."""
    nodes = page.nodes
    numbers = set(_NUMBER.findall(_names(nodes, (space.start, body), ("id",))))
    numbered = ""
    for index in space:
        if nodes.tags[index] != "a" or not (href := nodes.elements[index].get("href", "")):
            continue
        if _PERMANENT.search(_names(nodes, [index], ("class", "title", "rel"))):
            return page.absolute(href)
        if not numbered and not numbers.isdisjoint(_NUMBER.findall(href.partition("#")[2])):
            numbered = page.absolute(href)
    ids = (nodes.elements[index].get("id", "") for index in (body, space.start))
    own = next((f"{page.url.partition('#')[0]}#{one}" for one in ids if _NUMBER.search(one)), "")
    return numbered or own
