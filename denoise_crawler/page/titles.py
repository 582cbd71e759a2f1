"""The headline of a page: among its headings and the titles that it declares, without the name of its site."""

from __future__ import annotations

import re
from collections import Counter
from functools import lru_cache
from html import unescape
from itertools import pairwise
from operator import itemgetter
from typing import Any

from denoise_crawler.page.declarations import (
    MAX_VALUES,
    Declarations,
    declarations_of,
    first,
    has_type,
    strings,
    text_of,
    without_markup,
)
from denoise_crawler.page.nodes import Element
from denoise_crawler.page.page import Page
from denoise_crawler.page.site import host_of, site_of_host
from denoise_crawler.page.text import HAN, KANA, collapse_spaces, letters, without_controls

MAX_CHARACTERS = 400
# An h1 whose letter pairs are shared to this degree with a declared title says the same in other words.
MIN_LIKENESS = 0.45
_LEAST_CHARACTERS = 3  # of a title; a shorter one is a label, unless there is no other
_MIN_NAME_CHARACTERS = 3
_LEAST_BEGINNING = 10  # letters of a title that a heading continues
_MOST_WORDS = 3  # of the name of a section that stands before a title
_SMALLER = frozenset({"h2", "h3"})
_MOST_SMALLER = 30  # headings below the first level that are compared
_SITE = re.compile(r"(?:organization|website)$", re.IGNORECASE)
# What may begin it is looked for first: a search for several beginnings is slow.
_BETWEEN = re.compile(
    r"[\s|｜│：»«:](?:(?<=\s)(?:\s*[-–—|·•:»«›‹/~]+\s+|\s*[|｜│：»«]+\s*|\s*[-–—])"
    r"|(?<=[|｜│：»«])[|｜│：»«]*\s*|(?<=\w:)\s+)"
)
# Between a title and more, where a heading says which part is the title
_MARK = re.compile(r"\s?[-–—|｜│·•»«›‹_~]+\s?")
_IDEOGRAPH = re.compile(f"[{HAN}{KANA}]")
_LEAST_IDEOGRAPHS = 4
_PERMALINK_SIGNS = frozenset("#¶§🔗\ufe0f")
_BOUND = re.compile(r"[\W_]")


def headline_of(page: Page, declared: Declarations) -> str:
    """Return the headline; an empty string if there is none.

    A heading that a declared title begins or ends with, before a separator, is the headline. Else it is what two
    of these sources say, in this order: the ``h1`` that is most like a declared title, JSON-LD, ``og:title``,
    ``title``. If no two say the same, it is the first declared title, or the ``h1`` that it begins with.
    """
    names = page.once(site_names)
    linked = strings(declared.work.get("headline"), declared.work.get("name"))[:1]
    headline = letters(linked[0]) if linked else ""
    every = linked + _declared_titles(page, declared)
    others = [title for title in every if (own := letters(title)) == headline or own not in names]
    titles = [_without_site(title, names) for title in others or every]
    titles = [title for title in titles if len(title) >= _LEAST_CHARACTERS] or titles
    keys = list(map(letters, titles))
    headings: dict[str, str] = {}  # with their letters
    for heading in map(heading_text, page.self_description.headings[:MAX_VALUES]):
        if 0 < len(heading) <= MAX_CHARACTERS and (own := letters(heading)) not in names:
            if own in keys:
                return heading
            if len(heading) >= _LEAST_CHARACTERS or not titles:
                headings[heading] = own
    unsure = [title for title, own in zip(titles, keys, strict=True) if not headline or own != headline]
    if parted := _parted_by_heading(page, unsure, headings):
        return parted
    begun = [heading for heading, own in headings.items() if keys and keys[0].startswith(own)]
    candidates = [*_most_like(headings, keys), *zip(titles, keys, strict=True)]
    count = Counter(own for _, own in candidates)
    twice = [title for title, own in candidates if own and count[own] > 1]
    return first([*twice, *begun, *titles, *headings]) or without_controls(page.title)


def site_names(page: Page) -> set[str]:
    """Return the names of the site, in small letters without anything else: those declared, and its domain's.

    Ask for them by ``page.once(site_names)``.
    """
    declared = page.once(declarations_of)
    metas = declared.metas
    named = [item.get("name") for item in declared.items if has_type(item, _SITE)]
    for item in (declared.work, *declared.wrappers):
        if publisher := item.get("publisher"):
            named += declared.resolved(publisher)
    written = map(without_markup, (*metas.get("og:site_name", ()), *metas.get("application-name", ())))
    names = map(letters, (*written, *strings(*named)))
    return {*_host_names(host_of(page.url)), *[name for name in names if len(name) >= _MIN_NAME_CHARACTERS]}


@lru_cache(maxsize=1_024)
def _host_names(host: str) -> frozenset[str]:
    """Return what the host of a site is called, in letters: whole, and its domain with and without its end."""
    site = site_of_host(host)
    names = map(letters, (site, site.partition(".")[0], host.removeprefix("www.")))
    return frozenset([name for name in names if len(name) >= _MIN_NAME_CHARACTERS])


def heading_text(heading: Element) -> str:
    """Return the text of a heading without the sign of a link to itself, as generators of documentation add it."""
    text = text_of(heading)
    links = [link for link in heading.iter("a") if "#" in link.get("href", "")] if text else []
    for link in links:
        sign = text_of(link)
        if sign and _PERMALINK_SIGNS.issuperset(sign):
            text = text.removesuffix(sign).removeprefix(sign).strip()
    return text


def _declared_titles(page: Page, declared: Declarations) -> list[str]:
    """Return the title in ``meta``, where most sites write two alike, and that in ``title``."""
    both = declared.metas.get("og:title") or declared.metas.get("twitter:title")
    titles = [without_markup(both[0])] if both else []
    text = text_of(page.self_description.titles[0]) if page.self_description.titles else ""
    return titles + ([unescape(text) if "&" in text else text] if text else [])


def _without_site(title: str, names: set[str]) -> str:
    """Leave out the names of the site at the end of a title, and one in front."""
    title = title[:MAX_CHARACTERS]
    head, mark, _ = title.partition("_")  # as Chinese portals part a title from its section and their name
    if mark and len(_IDEOGRAPH.findall(head)) >= _LEAST_IDEOGRAPHS:
        return head.strip()
    while (ends := list(_BETWEEN.finditer(title))) and letters(title[ends[-1].end() :]) in names:
        title = title[: ends[-1].start()].strip()
    if ends and letters(title[: ends[0].start()]) in names:
        title = title[ends[0].end() :].strip()
    return title


def _parted_by_heading(page: Page, titles: list[str], headings: dict[str, str]) -> str | None:
    """Return the part of a title, before or behind a separator, that a heading of the page confirms."""
    parts = [(part, letters(part), is_beginning) for title in titles for part, is_beginning in _parts(title)]
    if not parts:
        return None
    by_letters = {own: text for text, own in headings.items()}
    if heading := first([by_letters.get(own) for _, own, _ in parts]):
        return heading
    smaller = {letters(text): text for text in _smaller_headings(page)}
    beginnings = [(part, own) for part, own, is_beginning in parts if is_beginning]
    if heading := first([smaller.get(own) for _, own in beginnings]):
        return heading
    long = [part for part, own in beginnings if len(own) >= _LEAST_BEGINNING]
    continued = ((one, part) for part in long for one in headings if one.startswith(part))
    return first([part for heading, part in continued if _BOUND.match(heading, len(part))])


def _parts(title: str) -> list[tuple[str, bool]]:
    """Return what stands before each separator of a title, the longest first, then what stands behind each."""
    marks = [mark for mark in _MARK.finditer(title) if _separates(title, mark)]
    parts = [(title[: mark.start()], True) for mark in reversed(marks)]
    for mark in marks:
        before, behind = title[: mark.start()], title[mark.end() :]
        # else that is the name of the site, as the heading of its pages
        if len(before) < len(behind) and all(len(one.split()) <= _MOST_WORDS for one in _MARK.split(before)):
            parts.append((behind, False))
    return parts


def _separates(title: str, mark: re.Match[str]) -> bool:
    """Return True for a sign that is not part of a word, as the hyphen of Latin letters is."""
    if not 0 < mark.start() < mark.end() < len(title):
        return False
    return not mark.group().isspace() and (
        mark.group()[-1].isspace() or _IDEOGRAPH.match(title, mark.start() - 1) is not None
        or _IDEOGRAPH.match(title, mark.end()) is not None or "|" in mark.group()
    )  # fmt: skip


def _smaller_headings(page: Page) -> list[str]:
    nodes = page.nodes
    unlinked = [index for index in nodes.tagged(_SMALLER)[:_MOST_SMALLER] if nodes.link_of(index) < 0]
    texts = [collapse_spaces("".join(nodes.texts[index : nodes.end_of(index)])) for index in unlinked]
    return [without_controls(text) for text in texts if _LEAST_CHARACTERS <= len(text) <= MAX_CHARACTERS]


def _most_like(headings: dict[str, str], titles: list[str]) -> list[tuple[str, str]]:
    """Return the heading, with its letters, that is most like the letters of a title; none if none is like one."""
    if not headings or not titles:
        return []
    pairs = [_pairs(title) for title in titles]
    likely = [(_likeness(_pairs(own), pairs), (heading, own)) for heading, own in headings.items()]
    best, one = max(likely, key=itemgetter(0))  # the first of those that are alike
    return [one] if best >= MIN_LIKENESS else []


def _likeness(own: set[Any], titles: list[set[Any]]) -> float:
    """Return how much of its letter pairs a heading shares with the title that is most like it (0 to 1)."""
    return max([2 * len(own & other) / (len(own) + len(other) or 1) for other in titles])


def _pairs(shown: str) -> set[Any]:
    return set(pairwise(shown)) or {shown}
