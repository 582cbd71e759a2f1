"""What a page says of itself: title, authors, dates and language; where asked for, more."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import chain, islice
from typing import Any

from lxml import etree
from lxml.etree import _Element

from denoise_crawler.page.declarations import (
    MAX_VALUES,
    Declarations,
    declarations_of,
    first,
    strings,
    without_markup,
)
from denoise_crawler.page.headline import authors_beside, date_beside, headline_of, iso_date, site_names
from denoise_crawler.page.page import Page, self_description_of
from denoise_crawler.page.self_description import SelfDescription
from denoise_crawler.page.text import letters, without_controls

_MAX_TIME_ELEMENTS = 1_000
_BEFORE_THE_WEB = "1991"  # the first of January 1970 is a clock that was never set
_DATE_METAS = (
    *("article:published_time", "og:published_time", "datepublished", "parsely-pub-date", "sailthru.date"),
    *("dc.date.issued", "dcterms.issued", "dcterms.created", "dc.date.created", "dc.date", "dcterms.date"),
    *("citation_publication_date", "citation_online_date", "citation_date", "pubdate", "publishdate"),
    *("publish-date", "publish_date", "publish_time", "published_date", "publication_date", "pub_date", "date"),
)
_MODIFIED = (
    *("article:modified_time", "og:updated_time", "datemodified", "dc.date.modified", "dcterms.modified"),
    *("lastmod", "last-modified", "revised"),
)
_PROPERTIES = etree.XPath("/descendant::*/@itemprop")
_IN_ADDRESS = re.compile(r"/((?:19|20)\d{2})[/-](0?[1-9]|1[0-2])[/-](0?[1-9]|[12]\d|3[01])(?=[/-])")


def published(page: Page, declared: Declarations) -> str | None:
    """Return the first readable date, preferring the date of publication."""
    return None if page.tree is None else _first_date(_published(page, page.once(self_description_of), declared))


def modified(page: Page, declared: Declarations) -> str | None:
    """Return the date of the last change, None if the page declares none."""
    return None if page.tree is None else _first_date(_modified(page.tree, declared))


def _first_date(texts: Iterable[str]) -> str | None:
    return first(date for date in map(iso_date, texts) if date and date > _BEFORE_THE_WEB)


def _published(page: Page, said: SelfDescription, declared: Declarations) -> Iterator[str]:
    work = declared.work
    yield from strings(work.get("datePublished"), work.get("uploadDate"), work.get("dateCreated"))
    for name in _DATE_METAS:
        if name in declared.metas:
            yield from declared.metas[name]
    yield from strings(*(item.get("datePublished") for item in declared.wrappers))
    yield from _values(said.dates)
    if times := said.times[:_MAX_TIME_ELEMENTS]:
        yield from _values(time for time in times if time.get("pubdate") is not None)
        yield from _values(time for time in times if _has_ancestor(time, "article", "main"))
        if len(distinct := set(_values(times))) == 1:  # several may belong to other articles
            yield from distinct
    yield from _in_address(page.url)
    if beside := date_beside(page):
        yield beside
    yield from strings(work.get("dateModified"))


def _modified(root: _Element, declared: Declarations) -> Iterator[str]:
    yield from strings(declared.work.get("dateModified"))
    for name in _MODIFIED:
        yield from declared.metas.get(name, ())
    yield from strings(*(item.get("dateModified") for item in declared.wrappers))
    yield from _values(_with_property(root, "dateModified"))


def _with_property(root: _Element, name: str) -> list[_Element]:
    attributes: Any = _PROPERTIES(root)
    return [attribute.getparent() for attribute in attributes if attribute == name][:MAX_VALUES]


def _in_address(url: str) -> Iterator[str]:
    if found := _IN_ADDRESS.search(url):
        yield "-".join(found.groups())


def _has_ancestor(element: _Element, *tags: str) -> bool:
    return next(element.iterancestors(*tags), None) is not None


def _values(elements: Iterable[_Element]) -> Iterator[str]:
    for element in islice(elements, MAX_VALUES):
        yield element.get("datetime") or element.get("content") or "".join(map(str, element.itertext()))


_MAX_NAME_CHARACTERS = 200
_MAX_WORDS = 5  # of a name
_MAX_LEVELS = 3  # that the link of another author of the same page is away
_AUTHOR_METAS = (
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
    for name in _AUTHOR_METAS:
        if name in metas:
            yield map(without_markup, metas[name])
    yield chain.from_iterable(
        map(without_markup, values) for name, values in metas.items() if name.endswith((".author", ":author"))
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
        yield without_markup(source.get("content") or "".join(map(str, source.itertext())))


_CANONICAL = etree.XPath("/descendant::link[@rel='canonical']/@href")
_MAX_TAGS = 50
_MAX_TAG_CHARACTERS = 100
_LANGUAGES = ("og:locale", "content-language", "dc.language", "dcterms.language")
_DESCRIPTIONS = ("og:description", "description", "twitter:description", "dc.description", "dcterms.description")
_IMAGES = ("og:image", "og:image:url", "og:image:secure_url", "twitter:image", "twitter:image:src", "thumbnail")
_TAGS = (
    "article:tag",
    "og:article:tag",
    "video:tag",
    "parsely-tags",
    "news_keywords",
    "keywords",
    "sailthru.tags",
)
_LANGUAGE = re.compile(r"[a-zA-Z]{2,3}(?:[-_][a-zA-Z0-9]{2,8})*")
_BETWEEN_TAGS = re.compile(r"[,;，、|]")


@dataclass(frozen=True, slots=True)
class Metadata:
    """What a page declares: several authors are separated by "; ", the date is in ISO 8601."""

    title: str = ""
    author: str | None = None
    date: str | None = None
    language: str | None = None


@dataclass(frozen=True, slots=True)
class MoreMetadata:
    """What else a page declares, None where it says nothing; addresses are absolute."""

    description: str | None = None
    image: str | None = None
    canonical_url: str | None = None
    site_name: str | None = None
    tags: list[str] | None = None
    modified: str | None = None


_FIELDS = tuple(Metadata.__dataclass_fields__)
MORE_FIELDS = tuple(MoreMetadata.__dataclass_fields__)


def metadata_fields(page: Page, *, more: bool = False) -> dict[str, Any]:
    """Return the metadata of ``page`` by name, with ``more`` all of it."""
    found = page.once(metadata_of)
    fields = {name: getattr(found, name) for name in _FIELDS}
    if more:
        others = page.once(more_metadata_of)
        fields.update((name, getattr(others, name)) for name in MORE_FIELDS)
    return fields


def metadata_of(page: Page) -> Metadata:
    """Return the metadata that ``page`` declares. Never raises; what cannot be read counts as missing.

    The title is the headline that readers see where the declared titles are like it. Each other field comes from
    the first readable source: JSON-LD of the page's main work, ``meta`` (OpenGraph, Dublin Core, Highwire and
    common names), microdata, then links and ``time``; the language falls back to that of :class:`Page`.

    Example:
        >>> from denoise_crawler import Page
        >>> metadata_of(Page.parse("", '<title>News</title><meta name="author" content="A. Ruiz">')).author
        'A. Ruiz'
    """
    if page.tree is None:
        return Metadata(without_controls(page.title))
    declared = page.once(declarations_of)
    return Metadata(
        title=headline_of(page, declared),
        author=authors_of(page, declared),
        date=published(page, declared),
        language=page.language or _language(declared),
    )


def more_metadata_of(page: Page) -> MoreMetadata:
    """Return what else ``page`` declares. Never raises; what cannot be read counts as missing.

    Example:
        >>> from denoise_crawler import Page
        >>> page = Page.parse("https://a.test/1", '<meta property="og:image" content="/boat.jpg"><p>A boat.')
        >>> more_metadata_of(page).image
        'https://a.test/boat.jpg'
    """
    declared = page.once(declarations_of)
    work = declared.work
    return MoreMetadata(
        description=declared.first_meta(*_DESCRIPTIONS) or first(strings(work.get("description"))),
        image=_address(page, declared.first_meta(*_IMAGES) or _image(declared)),
        canonical_url=_address(page, _canonical(page) or declared.first_meta("og:url")),
        site_name=_site_name(declared),
        tags=_tags(declared),
        modified=modified(page, declared),
    )


def _language(declared: Declarations) -> str | None:
    in_metas = (text for name in _LANGUAGES for text in declared.metas.get(name, ()))
    items = [declared.work, *declared.wrappers]
    for text in (*in_metas, *strings(*(item.get("inLanguage") for item in items))):
        if _LANGUAGE.fullmatch(text):
            return text.replace("_", "-")
    return None


def _address(page: Page, address: str | None) -> str | None:
    """Return an http(s) address, absolute; None for any other."""
    absolute = without_controls(page.absolute(address.strip())) if address and address.strip() else ""
    return absolute if absolute.startswith(("http://", "https://")) else None


def _canonical(page: Page) -> str | None:
    links: Any = [] if page.tree is None else _CANONICAL(page.tree)
    return str(links[0]) if links else None


def _image(declared: Declarations) -> str | None:
    """Return the picture of the main work in JSON-LD: an address, or an item with one."""
    for value in declared.resolved(declared.work.get("image")):
        known = value.get("url") or value.get("contentUrl") if isinstance(value, dict) else value
        if isinstance(known, str) and known.strip():
            return known
    return None


def _site_name(declared: Declarations) -> str | None:
    publishers: list[Any] = [
        one
        for item in (declared.work, *declared.wrappers)
        for one in declared.resolved(item.get("publisher"))
        if isinstance(one, dict) and "name" in one
    ]
    return declared.first_meta("og:site_name", "application-name") or first(strings(*publishers))


def _tags(declared: Declarations) -> list[str] | None:
    """Return the distinct tags of the first source that has some."""
    sources: list[Iterable[str]] = [strings(declared.work.get("keywords"))]
    sources.extend(map(without_markup, declared.metas.get(name, ())) for name in _TAGS)
    for source in sources:
        found = (tag.strip() for text in source for tag in _BETWEEN_TAGS.split(text))
        if tags := dict.fromkeys(tag for tag in found if 0 < len(tag) <= _MAX_TAG_CHARACTERS):
            return list(tags)[:_MAX_TAGS]
    return None
