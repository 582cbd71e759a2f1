"""The posts of a thread in its blocks: a line that says who wrote each and when, and a rule between two."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import accumulate
from typing import TYPE_CHECKING

from denoise_crawler.output.content.blocks import Block, Paragraph, Rule, Text
from denoise_crawler.page.byline import iso_date
from denoise_crawler.page.markup import INLINE

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from denoise_crawler.output.content.belonging import Belonging
    from denoise_crawler.output.content.blocks import Inline
    from denoise_crawler.page import Page
    from denoise_crawler.records import FoundRecord

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
    def of(cls, page: Page, records: Sequence[FoundRecord], belongs: Belonging) -> Posts:
        """Return the kept ones of the posts that ``records`` are; none unless two say who wrote them, and when.

        Example:
            >>> from denoise_crawler import Page
            >>> from denoise_crawler.output.content.belonging import Belonging
            >>> from denoise_crawler.records.thread import find_posts
            >>> post = "<div class=post><b>{}</b> <i>May {}, 2024</i><p>{}</p></div>"
            >>> html = post.format("Ann", 2, "Is it open today?") + post.format("Bob", 3, "It is, until six.")
            >>> page = Page.parse("https://a.example/", html)
            >>> sorted(Posts.of(page, find_posts(page), Belonging(page, None)).heads)
            [6, 13]

        """
        nodes = page.nodes
        until = list(accumulate(page.characters, initial=0))
        kept = [one for one in records if _is_kept(page, one, belongs)]
        named = [one for one in kept if one.said and not _is_said_in_text(page, one, until)]
        found = cls()
        if len(named) < _FEWEST or 2 * len(named) < len(kept):
            return found
        for one in kept:
            begin = one.inside.start
            found.heads[begin] = [*([Rule()] if found.heads else []), *_head(one)]
            found.left_out.update(_lines_of_head(page, one, until))
            found.holders.update(_around_all(page, one, until))
            while begin >= 0 and begin not in found.holders:
                found.holders.add(begin)
                begin = nodes.parents[begin]
        return found


def _is_kept(page: Page, post: FoundRecord, belongs: Belonging) -> bool:
    return any(page.characters[index] and belongs.stays(index) for index in post.inside if index not in post.said)


def _around_all(page: Page, post: FoundRecord, until: Sequence[int]) -> Iterator[int]:
    """Yield the elements in a post that hold all of its text."""
    nodes, index = page.nodes, post.inside.start + 1
    while index < post.inside.stop and until[index] == until[post.inside.start]:
        if until[nodes.ends[index]] == until[post.inside.stop]:
            yield index
        index += 1


def _head(post: FoundRecord) -> Iterator[Block]:
    user, time = post.values.get("user", ""), post.values.get("time", "")
    when = (iso_date(time) or "")[:_TO_THE_MINUTE].replace("T", " ") or time
    parts: list[Inline] = [Text(user, "strong")] if user else []
    parts += [Text(f" · {when}" if user else when)] if when else []
    if parts:
        yield Paragraph(parts)


def _is_said_in_text(page: Page, post: FoundRecord, until: Sequence[int]) -> bool:
    """Tell whether user and time stand in the line that is the post's text."""
    lines = {_line(page, index) for index in post.said}
    size = sum(page.characters[index] for index in post.said)
    text = until[post.inside.stop] - until[post.inside.start]
    return any(
        line in post.inside and 2 * (until[page.nodes.ends[line]] - until[line] - size) > text for line in lines
    )


def _lines_of_head(page: Page, post: FoundRecord, until: Sequence[int]) -> Iterator[int]:
    """Yield the nodes that say who and when: the whole line where there is little else in it."""
    nodes, size = page.nodes, sum(page.characters[index] for index in post.said)
    for index in post.said:
        line = _line(page, index)
        holds_text = line <= post.inside.start < nodes.ends[line]
        short = until[nodes.ends[line]] - until[line] <= size + _WORDS_BESIDE
        yield line if short and not holds_text and line >= post.own.start else index


def _line(page: Page, index: int) -> int:
    """Return the block-level element around a node."""
    while index > 0 and page.nodes.tags[index] in INLINE:
        index = page.nodes.parents[index]
    return index
