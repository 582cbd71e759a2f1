"""Who wrote a page and when, as it stands beside the heading; names in bylines."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import lru_cache
from typing import TypeAlias

from denoise_crawler.page.date_parsing import HAS_YEAR, MAX_DATE_CHARACTERS, first_date, month_of
from denoise_crawler.page.declarations import text_of
from denoise_crawler.page.nodes import INLINE, Nodes
from denoise_crawler.page.page import Page
from denoise_crawler.page.text import HAN, collapse_spaces, letters

_MAX_NAME_CHARACTERS = 200
_MAX_WORDS = 5  # of a name
_LOOKS_LIKE_URL = re.compile(r"(?:https?:)?//|www\.|@\w|[\w-]\.(?:com|org|net)\b", re.IGNORECASE)
_BY = re.compile(
    r"(?:(?:written|posted|published|story|text|words|more(?:\s(?:stories|posts|articles))?)\s)?(?:by|por|par)[:：\s]\s?"
    r"|(?:text|texte|texto|tekst|autore?|authors?|auteurs?|från|von|di|av|af|door)(?:\s?[:：]\s?|\s(?=\w+\s\w))"
    r"|(?:автор|текст|著者|作者|撰文|文|记者|記者|글)\s?[:：／/]\s?",
    re.IGNORECASE,
)
# The spaces before it are left to the name: a search that takes them begins anew at each of them.
_BETWEEN = re.compile(r"[,，、]\s*(?:and\s+)?|\s(?:and|und|et|y|e|og|och|en|i|и|&|\+|/|\|)\s+", re.IGNORECASE)
_OFFICE = re.compile(
    r"\b(?:editors?|reporters?|correspondents?|writers?|journalists?|contributors?|columnists?|producers?|staff|"
    r"chief|director|analyst|critic|phd|ph\.d|md|redakteur(?:in)?|redaktion|korrespondent(?:in)?|journaliste?|"
    r"redactora?|corresponsal|periodista|rédact\w+|correspondante?|(?:co-?)?founder|reviewer|ceo)\b",
    re.IGNORECASE,
)
# What links beside names say, and what systems write where nobody has a name
_NO_NAME = re.compile(
    r"\b(?:profiles?|view|see\s(?:all|more)|all\sposts|read\smore|learn\smore|follow|subscribe|share|login)\b"
    r"|^(?:admin(?:istrator)?|root|guest|unknown|none|null|authors?|more|rss|作者|编辑|編輯|不详|佚名|未知|网络整理)$",
    re.IGNORECASE,
)


def names_in(text: str) -> list[str]:
    """Return the names in a byline: several by their "and" or commas, without "By" and titles of office.

    Example:
        >>> names_in("By Ann Lee and Bo Ek, Senior Editor"), names_in("https://a.example/ann")
        (['Ann Lee', 'Bo Ek'], [])
    """
    if not text or len(text) > _MAX_NAME_CHARACTERS or _looks_like_url(text):
        return []
    text = text[by.end() :] if (by := _BY.match(text)) else text
    parts = text.split(";")
    return [name for part in parts for name in _names_of_part(part.strip()) if not _NO_NAME.search(name)]


def _looks_like_url(text: str) -> bool:
    """Return True if an address stands in a text; most have none of its marks."""
    return ("." in text or "/" in text or "@" in text) and _LOOKS_LIKE_URL.search(text) is not None


def _names_of_part(text: str) -> list[str]:
    """Part a text where that gives several names of two words or more; else return it whole, if it is a name."""
    parts = [part.strip() for part in _BETWEEN.split(text)]
    people = [part for part in parts if 2 <= len(part.split()) <= _MAX_WORDS and not _OFFICE.search(part)]
    if len(people) > 1 or (people and all(part in people or _OFFICE.search(part) for part in parts)):
        return people
    head, _, rest = text.partition(",")
    name = head.strip() if _OFFICE.search(rest) else text
    return [name] if len(letters(name)) > 1 and not _OFFICE.fullmatch(name) else []


# --- the lines beside the heading

_NODES_BEFORE, _NODES_AFTER = 40, 160  # of the heading
_LONGEST = 140  # characters of a line that is a date or a byline, not a sentence with one
_SHORTEST_TITLE, _LONGEST_TITLE = 4, 400
_CONTENT = 1_200  # characters after the heading: what follows is the article
_ANY = 1 << 40
_NO_READERS: dict[str, Callable[[str], int]] = {}
_LONGEST_CLASS = 1_000  # characters of a class and id: what is remembered must be bounded
_LEVELS = 12
_HEADINGS = frozenset({"h1"})
_MOST_SMALLER = 10
_SMALLER_HEADINGS = frozenset({"h2", "h3"})
_OF_OTHER_PAGES = frozenset({"aside", "blockquote", "figure", "nav"})
_OF_AUTHORS = re.compile(r"\b(?:by-?lines?|authors?|article-?author|autor|auteur|writer)\b", re.IGNORECASE)
_OF_OTHERS = re.compile(r"bio|image|avatar|photo|credit|social|follow|comment|related|more|list", re.IGNORECASE)
_WORD = r"[^\W\d_a-z](?:[\w’'.-]*\w)?\.?"  # begins with a capital letter
_PARTICLE = r"(?:de|del|della|der|den|di|da|la|le|van|von|bin|al|el|y)"
_NAME = re.compile(rf"{_WORD}(?:\s+(?:{_PARTICLE}\s+)*{_WORD}){{1,3}}")
_BEGINS = re.compile(rf"(?i:{_BY.pattern}|by\Z)|(?P<name>{_NAME.pattern})")
_BY_BEHIND = re.compile(r"[|•·+–>]\s?[Bb]y\s")  # what a reader may do with the page
_COMMENTS = re.compile(
    r"[(\d\s]*(?:comments?|replies|responses?|kommentare?|commentaires?|comentarios?|commenti|комментари[ий]|评论|評論|コメント)[\s\d:)]*",
    re.IGNORECASE,
)
_BEFORE_DAY = re.compile(r"\s(?P<name>[^\W\d_]{3,12}\.?)\s\d")
_ENDS = re.compile(
    r"\s?(?:[|•·–—@(]|\s-\s"
    r"|\b(?:for|on|at|in|published|posted|(?:last\s)?updated|twitter|facebook|e-?mail|(?:mon|tues|wednes|thurs|fri|satur|sun)day)\b).*",
    re.DOTALL | re.IGNORECASE,
)
# In scripts without capital letters a label tells a name, which is short and has no other signs in it.
_LABELLED = re.compile(
    r"(?:^|[\s|　（(【\[])(?:作者|撰文|文|记者|記者|著者|글|автор|текст)\s?[:：／]\s?"
    rf"(?P<names>[{HAN}]{{2,5}}(?:[ 　、·•][{HAN}]{{2,5}}){{0,4}}(?![{HAN}]|\s?[:：])"
    rf"|(?![{HAN}])[^\W\d_a-z]\w{{1,12}}(?: [^\W\d_a-z]\w{{1,12}})?)",
    re.IGNORECASE,
)


Line: TypeAlias = "tuple[list[int], str]"  # its text nodes, its text


def lines_beside_heading(page: Page) -> list[Line]:
    """Return the lines beside the heading of ``page``, those behind it first; call it by ``page.once``."""
    if (heading := _heading(page)) is None:
        return []
    nodes, end = page.nodes, page.nodes.end_of(heading)
    lines = _lines(nodes, end, min(end + _NODES_AFTER, len(nodes)), _CONTENT)
    for place, (_, text) in enumerate(lines):
        if _COMMENTS.fullmatch(text):
            del lines[place:]
            break
    return lines + _lines(nodes, max(heading - _NODES_BEFORE, 1), heading, _ANY)[::-1]


def _lines(nodes: Nodes, start: int, stop: int, most: int) -> list[Line]:
    """Return the lines of text in some nodes."""
    texts, joined = nodes.texts, list[Line]()
    for line in nodes.lines(start, stop, INLINE, most):
        text = texts[line[0]]
        for index in line[1:]:  # with a space where a style sets "By" apart from a name
            text += f" {texts[index]}" if text[-1].islower() and texts[index][0].isupper() else texts[index]
        text = " ".join(text.split())
        if joined and joined[-1][1][-1] in ":：":  # a label, with its value in the next block
            joined[-1] = [*joined[-1][0], *line], f"{joined[-1][1]} {text}"
        else:
            joined.append((line, text))
    return joined


def _heading(page: Page) -> int | None:
    """Return the heading that a title holds, else the first one, else the text that a title begins with."""
    nodes = page.nodes
    headings = nodes.tagged(_HEADINGS)
    titles = list(map(text_of, page.self_description.titles))
    smaller = nodes.tagged(_SMALLER_HEADINGS)[:_MOST_SMALLER]
    for index in (*headings, *smaller):
        text = collapse_spaces("".join(nodes.texts[index : nodes.end_of(index)]))
        if len(text) >= _SHORTEST_TITLE and [title for title in titles if text in title]:
            return index
    if not headings and (place := _title_text(nodes, titles)) is not None:
        return place
    return next(iter(headings or smaller), None)


def _title_text(nodes: Nodes, titles: list[str]) -> int | None:
    """Return the text that a title begins with, as pages without headings have it."""
    beginnings = {title[:_SHORTEST_TITLE] for title in titles}
    for index, text in enumerate(nodes.texts if titles else ()):
        if text.lstrip()[:_SHORTEST_TITLE] in beginnings and len(text) <= _LONGEST_TITLE:
            line = collapse_spaces(text)
            is_title = len(line) >= _SHORTEST_TITLE and any(title.startswith(line) for title in titles)
            if is_title and nodes.link_of(index) < 0:
                return index
    return None


def date_beside(page: Page) -> str | None:
    """Return the first date beside the heading of ``page``, None without any."""
    nodes = page.nodes
    for line, text in page.once(lines_beside_heading):
        may_be_date = 6 <= len(text) <= MAX_DATE_CHARACTERS and HAS_YEAR.search(text)
        date = first_date(text) if may_be_date else None
        if date and not all(_leads_away(page, index) for index in line):  # else it is that of a teaser
            return _machine_date(nodes, line) or date
    return None


def _leads_away(page: Page, index: int) -> bool:
    """Return True if a text stands in a link to another page."""
    link = page.nodes.link_of(index)
    return link >= 0 and not is_own_address(page, page.nodes.address_of(link) or "")


def is_own_address(page: Page, address: str) -> bool:
    """Return True if a link leads to ``page`` itself, as dates often do."""
    return page.absolute(address).partition("#")[0].rstrip("/") == page.url.partition("#")[0].rstrip("/")


def _machine_date(nodes: Nodes, line: list[int]) -> str | None:
    """Return the date that a ``time`` in the line has for machines."""
    for index in line:
        element = nodes.elements[index]
        if element.tag == "time" and (date := first_date(element.get("datetime", "")[:MAX_DATE_CHARACTERS])):
            return date
    return None


def authors_beside(page: Page) -> list[str]:
    """Return the authors that stand beside the heading of ``page``."""
    nodes, lines = page.nodes, page.once(lines_beside_heading)
    for place, (line, text) in enumerate(lines):
        if len(text) > _LONGEST:
            continue
        names: list[str] = []
        begins = _BEGINS.match(text)
        is_name = begins is not None and begins["name"] is not None
        if by := begins if begins and not is_name else "y " in text and _BY_BEHIND.search(text):
            following = lines[place + 1][1] if place + 1 < len(lines) else ""
            names = _people(text[by.end() :] or following)
        elif is_name and _is_of_authors(nodes, line[0]):
            names = _people(text)
        if not names and (":" in text or "：" in text or "／" in text) and (labelled := _LABELLED.search(text)):
            names = names_in(labelled["names"])
        if names and _OF_OTHER_PAGES.isdisjoint(map(nodes.tag_of, _above(nodes, line[0], _LEVELS))):
            return names
    return []


def _above(nodes: Nodes, index: int, most: int) -> list[int]:
    parents, levels = nodes.columns.parents, list[int]()
    while len(levels) < most and (index := int(parents[index])) >= 0:
        levels.append(index)
    return levels


def _is_of_authors(nodes: Nodes, index: int) -> bool:
    """Return True if the classes of the element that a text stands in, or of that around it, name authors."""
    for above in _above(nodes, index, 2):
        if attributes := nodes.attributes_of(above, _NO_READERS):
            of_authors = _names_authors(f"{attributes[0]} {attributes[1]}"[:_LONGEST_CLASS])
            if of_authors is not None:
                return of_authors
    return False


@lru_cache(maxsize=4_096)
def _names_authors(classes: str) -> bool | None:
    """Return True if a class and id name authors, False if what belongs to them; None if neither."""
    return not _OF_OTHERS.search(classes) if _OF_AUTHORS.search(classes.replace("_", "-")) else None


def _people(text: str) -> list[str]:
    """Return the names that a text begins with, in capital letters, up to the first part that is none."""
    people: list[str] = []
    month = _BEFORE_DAY.search(text)
    for part in _BETWEEN.split(text[: month.start()] if month and month_of(month["name"]) else text):
        name = _ENDS.sub("", part.strip()).strip()
        if not _NAME.fullmatch(name) or _NO_NAME.search(name) or _OFFICE.search(name):
            break
        people.append(name)
        if name != part.strip():
            break
    return people
