"""What stands beside the heading of a page: when it was published and by whom, where no tag says so."""

from __future__ import annotations

import re
from functools import lru_cache
from itertools import chain
from typing import TYPE_CHECKING

from denoise_crawler.page.dates import iso_date
from denoise_crawler.page.page import self_description_of
from denoise_crawler.page.text import collapse_spaces

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from denoise_crawler.page.nodes import Nodes
    from denoise_crawler.page.page import Page

_NODES_BEFORE, _NODES_AFTER = 40, 160  # of the heading
_LONGEST = 90  # characters of a text that is a date or a byline, not a sentence with one
_CONTENT = 1_200  # characters after the heading: what follows is the article
_NO_READERS: dict[str, Callable[[str], int]] = {}
_LONGEST_NAMES = 1_000  # characters of a class and id: what is remembered must be bounded
_HEADINGS = frozenset({"h1"})
_SMALLER_HEADINGS = frozenset({"h2", "h3"})
_BY = re.compile(
    r"(?:(?:written|posted|published|story|text|words)\s+)?by(?:\s*:)?(?:\s+(?P<rest>.*))?", re.IGNORECASE
)
_OF_AUTHORS = re.compile(r"\b(?:by-?lines?|authors?|article-?author|autor|auteur|writer)\b", re.IGNORECASE)
_OF_OTHERS = re.compile(r"bio|image|avatar|photo|credit|social|follow|comment|related|more|list", re.IGNORECASE)
_WORD = r"[^\W\d_a-z](?:[\w’'.-]*\w)?\.?"  # begins with a capital letter
_PARTICLE = r"(?:de|del|della|der|den|di|da|la|le|van|von|bin|al|el|y)"
_NAME = re.compile(rf"{_WORD}(?:\s+(?:{_PARTICLE}\s+)*{_WORD}){{1,3}}")
_AND = re.compile(r"\s*,\s*(?:and\s+)?|\s+(?:and|&)\s+", re.IGNORECASE)
_ENDS = re.compile(r"\s*(?:[|•·–—]|\s-\s|\bfor\b|\bon\b|\bat\b|\bin\b).*")
_UPDATED = re.compile(r"updated|modified|copyright|©|更新", re.IGNORECASE)


def texts_beside_heading(page: Page) -> list[tuple[int, str]]:
    """Return the texts beside the heading of ``page``, each with its node; call it by ``page.once``."""
    if (heading := _heading(page)) is None:
        return []
    nodes = page.nodes
    return [(index, collapse_spaces(text)) for index in _around(nodes, heading) if (text := nodes.texts[index])]


def _heading(page: Page) -> int | None:
    """Return the heading of the first level that a title holds, else the first one, else the first smaller one."""
    nodes = page.nodes
    found = nodes.tagged(_HEADINGS) or nodes.tagged(_SMALLER_HEADINGS)[:1]
    if len(found) < 2:
        return found[0] if found else None
    titles = {collapse_spaces("".join(map(str, one.itertext()))) for one in page.once(self_description_of).titles}
    for index in found:
        said = collapse_spaces("".join(nodes.texts[index : nodes.end_of(index)]))
        if said and any(said in title for title in titles):
            return index
    return found[0]


def _around(nodes: Nodes, heading: int) -> Iterator[int]:
    """Yield the nodes behind the heading up to the article, then those before it, the nearest first."""
    last = end = nodes.end_of(heading)
    left = _CONTENT
    for text in nodes.texts[end : end + _NODES_AFTER]:
        last += 1
        left -= len(text)
        if left < 0:
            break
    return chain(range(end, last), range(heading - 1, max(heading - _NODES_BEFORE, 0), -1))


def date_beside(page: Page) -> str | None:
    """Return the first date beside the heading of ``page``, None without any."""
    for _, text in page.once(texts_beside_heading):
        if 6 <= len(text) <= _LONGEST and not _UPDATED.search(text) and (found := iso_date(text)):
            return found
    return None


def authors_beside(page: Page) -> str | None:
    """Return the authors that stand beside the heading of ``page``, parted by "; ", None without any."""
    nodes, texts = page.nodes, page.once(texts_beside_heading)
    for place, (index, text) in enumerate(texts):
        if len(text) > _LONGEST:
            continue
        if said := _BY.fullmatch(text):
            following = texts[place + 1][1] if place + 1 < len(texts) else ""
            if found := _names(said["rest"] or following):
                return found
        elif _NAME.match(text) and _is_of_authors(nodes, index) and (found := _names(text)):
            return found
    return None


def _is_of_authors(nodes: Nodes, index: int) -> bool:
    """Tell by the classes of the element that a text stands in, and of that around it, that it names authors."""
    parents = nodes.columns.parents
    for _ in range(2):
        index = int(parents[index])
        if index < 0:
            break
        if names := nodes.attributes_of(index, _NO_READERS):
            of_authors = _names_authors(f"{names[0]} {names[1]}"[:_LONGEST_NAMES])
            if of_authors is not None:
                return of_authors
    return False


@lru_cache(maxsize=4_096)
def _names_authors(names: str) -> bool | None:
    """Tell whether a class and id name authors, or what belongs to them; None if neither."""
    return not _OF_OTHERS.search(names) if _OF_AUTHORS.search(names.replace("_", "-")) else None


def _names(text: str) -> str | None:
    """Return the names that a text begins with, parted by "; "; None if it begins with none."""
    parts = [_ENDS.sub("", part) for part in _AND.split(text)]
    people = []
    for part in parts:
        if not _NAME.fullmatch(part):
            break
        people.append(part)
    return "; ".join(people) or None
