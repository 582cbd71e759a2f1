"""The authors that a page names, without "By" and without what they are."""

from __future__ import annotations

import re
from itertools import chain, islice
from typing import TYPE_CHECKING, Any

from lxml import etree

from denoise_crawler.page.byline import authors_beside
from denoise_crawler.page.declarations import MAX_VALUES, clean, strings
from denoise_crawler.page.headline import letters, site_names
from denoise_crawler.page.page import self_description_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from lxml.etree import _Element

    from denoise_crawler.page.declarations import Declarations
    from denoise_crawler.page.page import Page

_MAX_NAME_CHARACTERS = 200
_MAX_WORDS = 5  # of a name
_MAX_LEVELS = 3  # that the link of another author of the same page is away
_METAS = (
    *("author", "article:author", "dc.creator", "dcterms.creator", "citation_author", "parsely-author"),
    *("sailthru.author", "og:author", "byl", "creator"),
)
_NAMES = etree.XPath("descendant::*[@itemprop='name']")
_AUTHOR_PAGE = re.compile(r"/(?:authors?|autor(?:a|es?|en|i|in)?|auteurs?|byline|journalist[a-z]*)/[^/?#]")
_LOOKS_LIKE_URL = re.compile(r"(?:https?:)?//|www\.|@\w|[\w-]+\.(?:com|org|net)\b", re.IGNORECASE)
_BY = re.compile(
    r"(?:(?:written|posted|published|story|text|words|more\s+(?:stories|posts|articles))\s+)?(?:by|por|par)[:\s]\s*|"
    r"(?:text|texte|texto|tekst|autor|author|auteur|från|von|di|av|af|door)(?:\s*:\s*|\s+(?=\w+\s+\w+))",
    re.IGNORECASE,
)
_BETWEEN = re.compile(r"\s*[,，、]\s*(?:and\s+)?|\s+(?:and|und|et|y|e|og|och|en|i|&|\+|/|\|)\s+", re.IGNORECASE)
_OFFICE = re.compile(
    r"\b(?:editors?|reporters?|correspondents?|writers?|journalists?|contributors?|columnists?|producers?|staff|"
    r"chief|director|analyst|critic|phd|ph\.d|md|redakteur(?:in)?|redaktion|korrespondent(?:in)?|journaliste?|"
    r"redactora?|corresponsal|periodista|rédact\w+|correspondante?)\b",
    re.IGNORECASE,
)


def authors_of(page: Page, declared: Declarations) -> str | None:
    """Return the authors, parted by "; "; None if the page names none.

    Each source is asked in turn: JSON-LD of the page's main work, ``meta``, microdata, ``rel="author"``, links to
    the pages of authors. A source that names nothing but the site itself counts if no other names anybody.
    """
    if page.tree is None:
        return None
    own, unnamed = page.once(site_names), None
    for texts in _sources(page, declared):
        if not (names := dict.fromkeys(chain.from_iterable(map(names_in, texts)))):
            continue
        found = "; ".join(islice(names, MAX_VALUES))
        if not all(letters(name) in own for name in names):
            return found
        unnamed = unnamed or found
    return unnamed


def names_in(text: str) -> list[str]:
    """Return the names in a byline: several by their "and" or commas, without "By" and titles of office.

    Example:
        >>> names_in("By Ann Lee and Bo Ek, Senior Editor"), names_in("https://a.example/ann")
        (['Ann Lee', 'Bo Ek'], [])

    """
    if not text or len(text) > _MAX_NAME_CHARACTERS or _looks_like_url(text):
        return []
    text = text[found.end() :] if (found := _BY.match(text)) else text
    return [name for part in text.split(";") for name in _names_of_part(part.strip())]


def _looks_like_url(text: str) -> bool:
    """Tell whether an address stands in a text; nearly all end at its marks."""
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


def _sources(page: Page, declared: Declarations) -> Iterator[Iterable[str]]:
    said, work, metas = page.once(self_description_of), declared.work, declared.metas
    yield strings(*declared.resolved(work.get("author") or work.get("creator")))
    for name in _METAS:
        if name in metas:
            yield map(clean, metas[name])
    yield chain.from_iterable(
        map(clean, values) for name, values in metas.items() if name.endswith((".author", ":author"))
    )
    yield _texts(_neighbours(said.authors))
    yield _texts(_neighbours(said.author_links))
    yield _texts(_neighbours([link for address, link in said.author_pages if _AUTHOR_PAGE.search(address)]))
    if beside := authors_beside(page):
        yield [beside]


def _neighbours(elements: list[_Element]) -> list[_Element]:
    """Return the first element and those close to it: others name authors of other pages."""
    elements = elements[:MAX_VALUES]
    if not elements:
        return []
    around = set(islice(elements[0].iterancestors(), _MAX_LEVELS))
    return [one for one in elements if around.intersection(islice(one.iterancestors(), _MAX_LEVELS))]


def _texts(elements: Iterable[_Element]) -> Iterator[str]:
    """Yield the author of each element: the microdata name in it, else all its text."""
    for element in elements:
        inner: Any = _NAMES(element)
        source = inner[0] if inner else element
        yield clean(source.get("content") or "".join(map(str, source.itertext())))
