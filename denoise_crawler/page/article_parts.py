"""Which pages are parts of one article: `rel=next` and `rel=prev` between addresses that differ by a number."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from lxml import etree

from denoise_crawler.page.nodes import Element
from denoise_crawler.page.page import Page

_RELATED = etree.XPath("/descendant::*[self::link or self::a][@rel and @href]")
_HINT = re.compile(r"""\brel\s*=\s*["']?[^"'<>]*\b(?:next|prev)""", re.IGNORECASE)
_NEXT, _PREVIOUS = ("next",), ("prev", "previous")
_MAX_LINKS = 50
_NAME = "page|paged|pageno|pagina|part|seite|pg|p"
# How addresses number the parts of an article: ?page=2, /page/2 or /seite-2, /2/ or -2.html
_NUMBERED = (
    re.compile(rf"(?P<head>[^?]*)[?](?P<before>.*&)?(?:{_NAME})=(?P<number>\d{{1,3}})(?:&(?P<tail>.*))?", re.I),
    re.compile(rf"(?P<head>[^?]*)/(?:{_NAME})[-_/]?(?P<number>\d{{1,3}})(?P<tail>/?(?:[?].*)?)", re.I),
    re.compile(r"(?P<head>[^?]*[^/?])[/_-](?P<number>\d{1,3})(?P<tail>(?:/|\.[a-z]{2,5})?(?:[?].*)?)", re.I),
)


class ArticlePart(NamedTuple):
    """Where a page stands among the parts of its article.

    Attributes:
        number: Which part it is, from 1.
        previous: The address of the part before it; None for the first, and where the page names none.
        following: The address of the part behind it; None where the page names none.
    """

    number: int
    previous: str | None
    following: str | None


def number_behind(url: str, other: str) -> int | None:
    """Return which part ``other`` is if its address is that of the part behind ``url``, else None.

    A blog whose stories lead on to one another has no such addresses.

    Example:
        >>> number_behind("https://a.example/story", "https://a.example/story?page=2")
        2
        >>> number_behind("https://a.example/story-2.html", "https://a.example/story-3.html")
        3
        >>> number_behind("https://a.example/monday", "https://a.example/tuesday")
    """
    for kind, (number, bare) in _numbered(other):
        if number == 2 and bare == _bare(url):
            return 2
        for own_kind, (own, own_bare) in _numbered(url):
            # the first part has a number where a name says what it counts: in "day-1", "day-2" none does
            if own_kind == kind and own_bare == bare and own + 1 == number and (own > 1 or kind < 2):
                return number
    return None


def part_of(page: Page) -> ArticlePart | None:
    """Return which part of an article a page is by its links, None if it says nothing of parts."""
    if not _HINT.search(page.markup) or (root := page.tree) is None:
        return None
    return part_among(page.url, root, page.absolute)


def part_among(url: str, root: Element, absolute: Callable[[str], str]) -> ArticlePart | None:
    """Return which part of an article the page at ``url`` is."""
    following = next((one for one in _addresses(root, _NEXT, absolute) if number_behind(url, one)), None)
    previous = next((one for one in _addresses(root, _PREVIOUS, absolute) if number_behind(one, url)), None)
    if following is not None:
        number = (number_behind(url, following) or 2) - 1
    elif previous is not None:
        number = number_behind(previous, url) or 2
    else:
        return None
    return ArticlePart(number, previous if number > 1 else None, following)


def _addresses(root: Element, relations: tuple[str, ...], absolute: Callable[[str], str]) -> Iterator[str]:
    elements: Any = _RELATED(root)
    found = (one for one in elements if set(one.get("rel").lower().split()).intersection(relations))
    for _, element in zip(range(_MAX_LINKS), found, strict=False):
        yield absolute(element.get("href")).partition("#")[0]


def _numbered(url: str) -> Iterator[tuple[int, tuple[int, str]]]:
    """Yield by kind of spelling the number of an address, and the address without it."""
    address = url.partition("#")[0]
    for kind, spelling in enumerate(_NUMBERED):
        if found := spelling.fullmatch(address):
            if kind == 0:
                rest = (found["before"] or "") + (found["tail"] or "")
                bare = f"{found['head']}?{rest}" if rest else found["head"]
            else:
                bare = found["head"] + found["tail"]
            yield kind, (int(found["number"]), _bare(bare))


def _bare(url: str) -> str:
    """Return an address without fragment and without what many leave out at its end."""
    path, mark, query = url.partition("#")[0].partition("?")
    return path.rstrip("/") + (mark + query.rstrip("&") if query.rstrip("&") else "")
