"""The headline of a page: which of its ``h1`` and declared titles it is, without the name of the site."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from datetime import datetime, timedelta, timezone
from functools import lru_cache
from itertools import chain, pairwise
from typing import Any

from denoise_crawler.page.declarations import (
    Declarations,
    declarations_of,
    first,
    has_type,
    strings,
    text_of,
    without_markup,
)
from denoise_crawler.page.nodes import Nodes
from denoise_crawler.page.page import Page, self_description_of
from denoise_crawler.page.site import host_of, site_of_host
from denoise_crawler.page.text import collapse_spaces, letters, without_controls

MAX_CHARACTERS = 400
# An h1 whose letter pairs are shared to this degree with a declared title says the same in other words.
MIN_LIKENESS = 0.45
_LEAST_CHARACTERS = 3  # of a title; a shorter one is a label, unless there is no other
_MIN_NAME_CHARACTERS = 3
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
    sites = (item.get("name") for item in declared.items if has_type(item, _SITE))
    found = (
        *map(without_markup, (*metas.get("og:site_name", ()), *metas.get("application-name", ()))),
        *strings(*(one for value in publishers for one in declared.resolved(value)), *sites),
        (site := site_of_host(host := host_of(page.url))),
        site.partition(".")[0],
        host.removeprefix("www."),
    )
    return {name for name in map(letters, found) if len(name) >= _MIN_NAME_CHARACTERS}


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


# --- the lines beside a headline that name authors and dates, and how dates are read

MAX_DATE_CHARACTERS = 100
# By month, how its name begins in English, French, German, Spanish, Italian, Portuguese and Dutch
_BEGINNINGS = (
    *("jan|ene|gen", "feb|fév|fev", "mar|mär|mrz|maa", "apr|avr|abr", "may|mai|mag|mei", "jun|juin|giu"),
    *("jul|juil|lug", "aug|aoû|aou|ago", "sep|set", "oct|okt|ott|out", "nov", "dec|déc|dez|dic"),
)
_MONTHS = {name: month for month, names in enumerate(_BEGINNINGS, 1) for name in names.split("|")}
_MONTH = rf"(?P<name>{'|'.join(sorted(_MONTHS, key=len, reverse=True))})[^\W\d_]*\.?"
_BOUND = r"(?<!\d){}(?!\d)"
_YEAR = r"(?P<year>[12]\d{3})"
_HAS_YEAR = re.compile(r"[12]\d{3}")  # as all of these have: most texts end here
# Tried in this order. Dates such as 03/04/2011 are ambiguous and not read.
_DAYS = tuple(
    re.compile(_BOUND.format(form), re.IGNORECASE)
    for form in (
        rf"{_YEAR}\s?(?:[-/.年])\s?(?P<month>\d{{1,2}})\s?(?:[-/.月])\s?(?P<day>\d{{1,2}})\s?日?",
        rf"{_YEAR}(?P<month>[01]\d)(?P<day>[0-3]\d)",
        rf"(?P<day>\d{{1,2}})(?:st|nd|rd|th|er|\.)?[\s-]+(?:(?:of|de)\s+)?{_MONTH},?[\s-]+(?:de\s+)?{_YEAR}",
        rf"\b{_MONTH}\s+(?P<day>\d{{1,2}})(?:st|nd|rd|th)?,?\s+{_YEAR}",
        rf"(?P<first>\d{{1,2}})[-/.](?P<second>\d{{1,2}})[-/.]{_YEAR}",
    )
)
_TIME = re.compile(
    r"[\s,T日]*(?:at\s+)?(?P<hour>\d{1,2})[:：时](?P<minute>\d{2})(?:[:：分](?P<second>\d{2})(?:[.,]\d+)?)?秒?"
    r"\s*(?P<half>[ap]\.?m\b\.?)?\s*(?P<zone>Z\b|UTC\b|GMT\b|[+-]\d{2}(?::?\d{2})?(?!\d))?",
    re.IGNORECASE,
)
_COMPACT_TIME = re.compile(
    r"T(?P<hour>\d{2})(?P<minute>\d{2})(?P<second>\d{2})?(?P<half>)(?P<zone>Z|[+-]\d{2}:?\d{2})?"
)
# How long ago something was, in English, German, French, Spanish, Chinese and Japanese
AGO = (
    r"\b(?:\d+|an?|one|few)\s*(?:seconds?|secs?|minutes?|mins?|hours?|hrs?|days?|weeks?|months?|years?|[smhdwy])\s+ago\b"
    r"|\bvor\s+\w+\s+(?:sekunden?|minuten?|stunden?|tag|wochen?|monat|jahr)\w*"
    r"|\bil y a\s+\w+\s+(?:secondes?|minutes?|heures?|jours?|semaines?|mois|ans?)\b"
    r"|\bhace\s+\w+\s+(?:segundos?|minutos?|horas?|días?|semanas?|mes(?:es)?|años?)\b"
    r"|\d+\s*(?:秒|分钟|分|小时|時間|天|日|个月|か月|年)前"
)


def iso_date(text: str) -> str | None:
    """Convert a date to ISO 8601.

    Args:
        text: A text of at most ``MAX_DATE_CHARACTERS`` with a date: year first (``2011/12/15``, ``20111215``,
            ``2011年12月15日 10:03``), with the name of a month (``December 15, 2011``, ``15 décembre 2011``), or
            day first where the order is unambiguous (``15.12.2011``).

    Returns:
        The date, with its time and UTC offset if ``text`` has them; None if there is no date to read.

    Example:
        >>> iso_date("Posted on Dec 15, 2011 at 10:03 pm"), iso_date("03/04/2011")
        ('2011-12-15T22:03:00', None)
    """
    text = text.strip()
    if len(text) > MAX_DATE_CHARACTERS or not _HAS_YEAR.search(text):
        return None
    for form in _DAYS:
        if found := form.search(text):
            day = _parse_day(found.groupdict())
            if day is None:
                return None
            rest = text[found.end() :]
            at = _TIME.match(rest) or _COMPACT_TIME.match(rest)
            time = _with_time(day, at.groupdict()) if at else None
            return time.isoformat() if time else day.date().isoformat()
    return None


def _parse_day(parts: dict[str, str | None]) -> datetime | None:
    if name := parts.get("name"):
        month, day = _MONTHS[name.lower()], int(parts["day"] or 0)
    elif "first" in parts:
        day, month = sorted((int(parts["first"] or 0), int(parts["second"] or 0)), reverse=True)
        if day <= 12 and day != month:
            return None
    else:
        month, day = int(parts["month"] or 0), int(parts["day"] or 0)
    try:
        return datetime(int(parts["year"] or 0), month, day)
    except ValueError:
        return None


def _with_time(day: datetime, parts: dict[str, str | None]) -> datetime | None:
    hour, half = int(parts["hour"] or 0), (parts["half"] or "").lower()
    if half and hour <= 12:
        hour = hour % 12 + 12 * half.startswith("p")
    try:
        time = day.replace(hour=hour, minute=int(parts["minute"] or 0), second=int(parts["second"] or 0))
        return time.replace(tzinfo=_parse_zone(parts["zone"])) if parts["zone"] else time
    except ValueError:
        return None


def _parse_zone(text: str | None) -> timezone:
    digits = re.sub(r"\D", "", text or "")
    offset = timedelta(hours=int(digits[:2] or 0), minutes=int(digits[2:] or 0))
    return timezone(-offset if (text or "").startswith("-") else offset)


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
