"""The headline of a page: which of its ``h1`` and declared titles it is, without the name of the site."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from itertools import pairwise
from typing import Any

from denoise_crawler.page.declarations import (
    Declarations,
    declarations_of,
    first,
    strings,
    text_of,
    without_markup,
)
from denoise_crawler.page.page import Page
from denoise_crawler.page.site import host_of, site_of_host
from denoise_crawler.page.text import without_controls

MAX_CHARACTERS = 400
# An h1 whose letter pairs are shared to this degree with a declared title says the same in other words.
MIN_LIKENESS = 0.45
_LEAST_CHARACTERS = 3  # of a title; a shorter one is a label, unless there is no other
_MIN_NAME_CHARACTERS = 3
_NO_LETTERS = re.compile(r"[\W_]+")
_SITE = re.compile(r"(?:organization|website)$", re.IGNORECASE)
# What may begin it is looked for first: a search for several beginnings is slow.
_BETWEEN = re.compile(
    r"[\s|｜│：»«:](?:(?<=\s)(?:\s*[-–—|·•:»«›‹/~]+\s+|\s*[|｜│：»«]+\s*|\s*[-–—])"
    r"|(?<=[|｜│：»«])[|｜│：»«]*\s*|(?<=\w:)\s+)"
)


def headline_of(page: Page, declared: Declarations) -> str:
    """Return the headline; an empty string if there is none.

    What two of these sources say is the headline, in this order: the ``h1`` that is most like a declared title,
    JSON-LD, ``og:title``, ``title``. If no two say the same, it is the first declared title, or the ``h1`` that it
    begins with.
    """
    names = page.once(site_names)
    titles = [_without_site(title, names) for title in _declared_titles(declared)]
    titles = [title for title in titles if len(title) >= _LEAST_CHARACTERS] or titles
    told = list(map(letters, titles))
    headings: dict[str, str] = {}  # with their letters
    for heading in map(text_of, declared.headings):
        if 0 < len(heading) <= MAX_CHARACTERS and (own := letters(heading)) not in names:
            if own in told:
                return heading
            if len(heading) >= _LEAST_CHARACTERS or not titles:
                headings[heading] = own
    begun = [heading for heading, own in headings.items() if told and told[0].startswith(own)]
    said = [*_most_like(headings, told), *zip(titles, told, strict=True)]
    count = Counter(own for _, own in said)
    twice = (title for title, own in said if own and count[own] > 1)
    return first(twice) or first([*begun, *titles, *headings]) or without_controls(page.title)


def site_names(page: Page) -> set[str]:
    """Return the names of the site, in small letters without anything else: those declared, and its domain's.

    Ask for them by ``page.once(site_names)``.
    """
    declared = page.once(declarations_of)
    metas = declared.metas
    publishers = (item.get("publisher") for item in (declared.work, *declared.wrappers))
    sites = (item.get("name") for item in declared.items if _is_site(item))
    found = (
        *map(without_markup, (*metas.get("og:site_name", ()), *metas.get("application-name", ()))),
        *strings(*(one for value in publishers for one in declared.resolved(value)), *sites),
        (site := site_of_host(host := host_of(page.url))),
        site.partition(".")[0],
        host.removeprefix("www."),
    )
    return {name for name in map(letters, found) if len(name) >= _MIN_NAME_CHARACTERS}


def letters(text: str) -> str:
    """Return the letters and digits of ``text`` in lower case."""
    return _NO_LETTERS.sub("", text.casefold())


def _is_site(item: dict[str, Any]) -> bool:
    kind = item.get("@type")
    return isinstance(kind, str) and _SITE.search(kind) is not None


def _declared_titles(declared: Declarations) -> Iterable[str]:
    work = declared.work
    yield from strings(work.get("headline"), work.get("name"))[:1]
    for name in ("og:title", "twitter:title"):  # most sites write both alike, so they count as one
        if name in declared.metas:
            yield without_markup(declared.metas[name][0])
            break
    yield from filter(None, map(text_of, declared.titles[:1]))


def _without_site(title: str, names: set[str]) -> str:
    """Leave out the names of the site at the end of a title, and one in front."""
    title = title[:MAX_CHARACTERS]
    while (ends := list(_BETWEEN.finditer(title))) and letters(title[ends[-1].end() :]) in names:
        title = title[: ends[-1].start()].strip()
    if ends and letters(title[: ends[0].start()]) in names:
        title = title[ends[0].end() :].strip()
    return title


def _most_like(headings: dict[str, str], titles: list[str]) -> list[tuple[str, str]]:
    """Return the heading, with its letters, that is most like the letters of a title; none if none is like one."""
    pairs = [_pairs(title) for title in titles] if headings else []
    found = [(_likeness(_pairs(own), pairs), (heading, own)) for heading, own in headings.items()]
    best = max((likeness for likeness, _ in found), default=0.0)
    return [one for likeness, one in found if likeness == best >= MIN_LIKENESS][:1]


def _likeness(own: set[Any], titles: list[set[Any]]) -> float:
    """Return how much of its letter pairs a heading shares with the title that is most like it (0 to 1)."""
    shares = (2 * len(own & other) / (len(own) + len(other) or 1) for other in titles)
    return max(shares, default=0.0)


def _pairs(shown: str) -> set[Any]:
    return set(pairwise(shown)) or {shown}
