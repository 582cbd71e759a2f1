"""The posts of a thread in its blocks: who wrote each and when, a rule between two, no controls."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import accumulate

from denoise_crawler.output.content.blocks import Block, Inline, Paragraph, Rule, Text, block_around
from denoise_crawler.output.content.pictures import Belonging
from denoise_crawler.page import TEXT, Nodes, Page
from denoise_crawler.page.date_parsing import iso_date
from denoise_crawler.page.nodes import INLINE
from denoise_crawler.records import PageRecord

_MOST_CHARACTERS = 40
_OFTEN = 3  # quotations of a page that end with the same words
_NAMES = re.compile(r"expand|toggle|collaps", re.IGNORECASE)


def quote_controls(page: Page) -> frozenset[int]:
    """Return the elements of ``page`` that open a quotation: the last line of it, if that is a control.

    A control is a button, a link without an address, or named so; or its words end several quotations.

    Example:
        >>> html = "<blockquote>It was late.<div class=quoteExpand>Click to expand...</div></blockquote>"
        >>> quote_controls(Page.parse("", html))
        frozenset({3})
    """
    nodes = page.nodes
    ends: dict[str, list[int]] = defaultdict(list)
    controls: set[int] = set()
    for index, tag in enumerate(nodes.tags):
        if tag == "blockquote" and (line := _last_line(nodes, index)) > index:
            text = "".join("".join(nodes.texts[line : nodes.ends[line]]).split())
            if 0 < len(text) <= _MOST_CHARACTERS:
                ends[text].append(line)
                if _is_control(nodes, line):
                    controls.add(line)
    for lines in ends.values():
        if len(set(lines)) >= _OFTEN:
            controls.update(lines)
    return frozenset(controls)


def _last_line(nodes: Nodes, quote: int) -> int:
    """Return the block-level element of the last text in a quotation; the quotation if it has no other."""
    index = nodes.ends[quote] - 1
    while index > quote and not nodes.texts[index].strip():
        index -= 1
    while index > quote and nodes.tags[index] in INLINE:
        index = nodes.parents[index]
    return index


def _is_control(nodes: Nodes, line: int) -> bool:
    elements = [nodes.elements[index] for index in range(line, nodes.ends[line]) if nodes.tags[index] != TEXT]
    return any(
        element.tag == "button"
        or element.get("role") == "button"
        or (element.tag == "a" and not element.get("href"))
        or _NAMES.search(element.get("class", ""))
        for element in elements
    )


_FEWEST = 2  # posts that are kept
_TO_THE_MINUTE = len("2024-05-02T12:00")
_WORDS_BESIDE = 30  # characters that a line of user and time has besides: "posted by … on …"


@dataclass(slots=True)
class Posts:
    """The posts of a page that are kept.

    ``heads`` are the lines to be written before the text of each, by the node where it begins, ``left_out`` the
    nodes that say the same. ``holders`` are what the posts stand in: no list, table or quotation, but the thread.
    """

    heads: dict[int, list[Block]] = field(default_factory=dict)
    left_out: set[int] = field(default_factory=set)
    holders: set[int] = field(default_factory=set)

    @classmethod
    def of(cls, page: Page, records: Sequence[PageRecord], belongs: Belonging) -> Posts:
        """Return the kept ones of the posts that ``records`` are; none unless two say who wrote them, and when.

        Example:
            >>> from denoise_crawler.records.posts import find_posts
            >>> post = "<div class=post><b>{}</b> <i>May {}, 2024</i><p>{}</p></div>"
            >>> html = post.format("Ann", 2, "Is it open today?") + post.format("Bob", 3, "It is, until six.")
            >>> page = Page.parse("https://a.example/", html)
            >>> sorted(Posts.of(page, find_posts(page), Belonging(page, None)).heads)
            [6, 13]
        """
        nodes = page.nodes
        until = list(accumulate(page.characters, initial=0))
        kept = [one for one in records if _is_kept(page, one, belongs)]
        named = [one for one in kept if one.byline and not _has_byline_in_text(page, one, until)]
        posts = cls()
        if len(named) < _FEWEST or 2 * len(named) < len(kept):
            return posts
        for one in kept:
            begin = one.inside.start
            posts.heads[begin] = [*([Rule()] if posts.heads else []), *_head(one)]
            posts.left_out.update(_lines_of_head(page, one, until))
            posts.holders.update(_around_all(page, one, until))
            while begin >= 0 and begin not in posts.holders:
                posts.holders.add(begin)
                begin = nodes.parents[begin]
        return posts


def _is_kept(page: Page, post: PageRecord, belongs: Belonging) -> bool:
    return any(
        page.characters[index] and belongs.stays(index) for index in post.inside if index not in post.byline
    )


def _around_all(page: Page, post: PageRecord, until: Sequence[int]) -> Iterator[int]:
    """Yield the elements in a post that hold all of its text."""
    nodes, index = page.nodes, post.inside.start + 1
    while index < post.inside.stop and until[index] == until[post.inside.start]:
        if until[nodes.ends[index]] == until[post.inside.stop]:
            yield index
        index += 1


def _head(post: PageRecord) -> Iterator[Block]:
    user, time = post.values.get("user", ""), post.values.get("time", "")
    when = (iso_date(time) or "")[:_TO_THE_MINUTE].replace("T", " ") or time
    parts: list[Inline] = [Text(user, "strong")] if user else []
    parts += [Text(f" · {when}" if user else when)] if when else []
    if parts:
        yield Paragraph(parts)


def _has_byline_in_text(page: Page, post: PageRecord, until: Sequence[int]) -> bool:
    """Return True if user and time stand in the line that is the post's text."""
    lines = {block_around(page.nodes, index) for index in post.byline}
    size = sum(page.characters[index] for index in post.byline)
    text = until[post.inside.stop] - until[post.inside.start]
    return any(
        line in post.inside and 2 * (until[page.nodes.ends[line]] - until[line] - size) > text for line in lines
    )


def _lines_of_head(page: Page, post: PageRecord, until: Sequence[int]) -> Iterator[int]:
    """Yield the nodes that say who and when: the whole line where there is little else in it."""
    nodes, size = page.nodes, sum(page.characters[index] for index in post.byline)
    for index in post.byline:
        line = block_around(nodes, index)
        holds_text = line <= post.inside.start < nodes.ends[line]
        short = until[nodes.ends[line]] - until[line] <= size + _WORDS_BESIDE
        yield line if short and not holds_text and line >= post.own.start else index
