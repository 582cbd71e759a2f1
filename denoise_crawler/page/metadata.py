"""What a page says of itself: title, authors, dates and language; where asked for, more."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import date
from functools import lru_cache
from itertools import chain, islice
from operator import attrgetter
from typing import Any

from lxml import etree
from lxml.etree import _Element

from denoise_crawler.page.bylines import authors_beside, date_beside, is_own_address, names_in
from denoise_crawler.page.date_parsing import dates_in_address, iso_date
from denoise_crawler.page.declarations import (
    MAX_VALUES,
    Declarations,
    declarations_of,
    first,
    strings,
    text_of,
    without_markup,
)
from denoise_crawler.page.page import Page
from denoise_crawler.page.text import letters, without_controls
from denoise_crawler.page.titles import headline_of, site_names

_MAX_TIME_ELEMENTS = 1_000
_BEFORE_THE_WEB = "1991"  # the first of January 1970 is a clock that was never set
_DATE_METAS = (
    *("article:published_time", "og:article:published_time", "og:published_time", "datepublished"),
    *("parsely-pub-date", "sailthru.date"),
    *("dc.date.issued", "dcterms.issued", "dcterms.created", "dc.date.created", "dc.date", "dcterms.date"),
    *("citation_publication_date", "citation_online_date", "citation_date", "pubdate", "publishdate"),
    *("publish-date", "publish_date", "publish_time", "published_date", "publication_date", "pub_date", "date"),
)
_MODIFIED = (
    *("article:modified_time", "og:updated_time", "datemodified", "dc.date.modified", "dcterms.modified"),
    *("lastmod", "last-modified", "revised"),
)
_MAX_ANCESTORS, _LONGEST_CLASS = 12, 500
_CONTENT = ("article", "main")
_OTHERS = re.compile(
    r"\b(?:comments?|repl(?:y|ies)|respond|cards?|related|teasers?|recommend\w*|widgets?|sidebar|most-read)\b",
    re.IGNORECASE,
)


def _first_date(texts: Iterable[str]) -> str | None:
    for text in texts:
        if (date := iso_date(text)) and date > _BEFORE_THE_WEB:
            return date
    return None


def _published(page: Page, declared: Declarations) -> Iterator[str]:
    """Yield what may be the date of publication, the likeliest first."""
    work, described = declared.work, page.self_description
    yield from strings(work.get("datePublished"), work.get("uploadDate"), work.get("dateCreated"))
    for name in _DATE_METAS:
        if name in declared.metas:
            yield from declared.metas[name]
    yield from strings(*[item.get("datePublished") for item in declared.wrappers])
    yield from _values(described.dates)
    times = _own_times(page) if described.times else []
    yield from _values([time for time in times if time.get("pubdate") is not None])
    in_address, beside = dates_in_address(page.url), date_beside(page)
    for shown in ([beside] if beside else []) + _shown_in(times):
        if not in_address or _days_between(shown, in_address[0]) <= 1:
            yield shown
    yield from in_address
    yield from strings(work.get("dateModified"))
    yield from _values(described.changes)


def _shown_in(times: list[_Element]) -> list[str]:
    of_content = _values([time for time in times if next(time.iterancestors(*_CONTENT), None) is not None])
    distinct = set(_values(times))  # several may belong to other articles
    return of_content + (list(distinct) if len(distinct) == 1 else [])


def _days_between(text: str, other: str) -> int:
    days = [date.fromisoformat(iso[:10]) for iso in map(iso_date, (text, other)) if iso]
    return abs((days[0] - days[1]).days) if len(days) == 2 else 0


def _own_times(page: Page) -> list[_Element]:
    """Return the ``time`` elements that may be the page's own: none of a teaser, a comment or another article."""
    articles = {_article_of(heading) for heading in page.self_description.headings[:MAX_VALUES]} - {None}
    return [
        time
        for time in page.self_description.times[:_MAX_TIME_ELEMENTS]
        if next(time.iterancestors("aside", "nav"), None) is None
        and all(is_own_address(page, link.get("href", "")) for link in time.iterancestors("a"))
        and not (articles and (article := _article_of(time)) is not None and article not in articles)
        and not _is_of_others(time)
    ]


def _article_of(element: _Element) -> _Element | None:
    return next(element.iterancestors("article"), None)


def _is_of_others(element: _Element) -> bool:
    """Return True if an element stands in what is named as a comment, a teaser or the like."""
    for above in islice(element.iterancestors(), _MAX_ANCESTORS):
        if above.tag in (*_CONTENT, "body"):
            break
        if _names_others(f"{above.get('class', '')} {above.get('id', '')}"[:_LONGEST_CLASS]):
            return True
    return False


@lru_cache(maxsize=4_096)
def _names_others(classes: str) -> bool:
    return _OTHERS.search(classes) is not None


def _modified(page: Page, declared: Declarations) -> Iterator[str]:
    """Yield the dates of the last change, as far as the page declares it."""
    yield from strings(declared.work.get("dateModified"))
    for name in _MODIFIED:
        yield from declared.metas.get(name, ())
    yield from strings(*[item.get("dateModified") for item in declared.wrappers])
    yield from _values(page.self_description.changes)


def _values(elements: list[_Element]) -> list[str]:
    return [one.get("datetime") or one.get("content") or text_of(one) for one in elements[:MAX_VALUES]]


_MOST_LINKED = 4  # authors
_MAX_LEVELS = 3  # that the link of another author of the same page is away
_AUTHOR_METAS = (
    *("author", "article:author", "dc.creator", "dcterms.creator", "citation_author", "parsely-author"),
    *("sailthru.author", "og:author", "byl", "creator"),
)
_NAMES = etree.XPath("descendant::*[@itemprop='name']")
_AUTHOR_PAGE = re.compile(r"/(?:authors?|autor(?:a|es?|en|i|in)?|auteurs?|byline|journalist[a-z]*)/[^/?#]")


def authors_of(page: Page, declared: Declarations) -> str | None:
    """Return the authors, parted by "; "; None if the page names none.

    Each source is asked in turn: JSON-LD of the page's main work, ``meta``, microdata, ``rel="author"``, then what
    stands beside the heading and links to the pages of authors. What two of them say comes before what ``meta``
    alone says, as of a publisher, and a source that names nothing but the site itself comes last.
    """
    if page.tree is None:
        return None
    own, unnamed = page.once(site_names), None
    for sources in _sources(page, declared):
        named = [names for texts in sources if texts and (names := _distinct(texts))]
        if others := [names for names in named if not own.issuperset(map(letters, names))]:
            agreed = [names for names in others if others.count(names) > 1 and not {*names} & {*others[0]}]
            return "; ".join((agreed or others)[0])
        if unnamed is None and named:
            unnamed = "; ".join(named[0])
    return unnamed


def _distinct(texts: Iterable[str]) -> tuple[str, ...]:
    names = chain.from_iterable(map(names_in, texts))
    return tuple(dict.fromkeys(names))[:MAX_VALUES]


def _sources(page: Page, declared: Declarations) -> Iterator[list[list[str]]]:
    """Yield the sources, in lists of those that are asked together."""
    described, work, metas = page.self_description, declared.work, declared.metas
    if named := work.get("author") or work.get("creator"):
        yield [strings(*declared.resolved(named))]
    declaring = [metas[name] for name in _AUTHOR_METAS if name in metas]
    others = [one for name in metas if name.endswith((".author", ":author")) for one in metas[name]]
    marked = _texts([one for one in described.authors if not _is_of_others(one)])
    linked = _few(_texts(described.author_links))
    yield [*[list(map(without_markup, texts)) for texts in (*declaring, others)], marked, linked]
    yield [authors_beside(page)]
    pages = [link for address, link in described.author_pages if _AUTHOR_PAGE.search(address)]
    yield [_few(_texts(pages))]


def _few(names: list[str]) -> list[str]:
    """Return the texts of links if these are few: more of them are those of all who write for the site."""
    return names if len(set(names)) <= _MOST_LINKED else []


def _texts(elements: list[_Element]) -> list[str]:
    """Return the author in the first element, and in those close to it: others name authors of other pages.

    That is the microdata name in it, else all its text.
    """
    texts = list[str]()
    around = set(islice(elements[0].iterancestors(), _MAX_LEVELS)) if elements else set()
    for element in elements[:MAX_VALUES]:
        if around.intersection(islice(element.iterancestors(), _MAX_LEVELS)):
            inner: Any = _NAMES(element)
            source = inner[0] if inner else element
            texts.append(without_markup(source.get("content") or text_of(source)))
    return texts


_CANONICAL = etree.XPath("/descendant::link[@rel='canonical']/@href")
_MAX_TAGS = 50
_MAX_TAG_CHARACTERS = 100
_LANGUAGES = ("og:locale", "content-language", "dc.language", "dcterms.language")
_DESCRIPTIONS = ("og:description", "description", "twitter:description", "dc.description", "dcterms.description")
_IMAGES = ("og:image", "og:image:url", "og:image:secure_url", "twitter:image", "twitter:image:src", "thumbnail")
_TAGS = (
    *("article:tag", "og:article:tag", "video:tag", "parsely-tags", "news_keywords", "keywords", "sailthru.tags"),
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
    fields = dict(zip(_FIELDS, attrgetter(*_FIELDS)(page.once(metadata_of)), strict=True))
    if more:
        fields |= zip(MORE_FIELDS, attrgetter(*MORE_FIELDS)(page.once(more_metadata_of)), strict=True)
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
        date=_first_date(_published(page, declared)),
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
    links: Any = [] if page.tree is None else _CANONICAL(page.tree)
    return MoreMetadata(
        description=declared.first_meta(*_DESCRIPTIONS) or first(strings(work.get("description"))),
        image=_address(page, declared.first_meta(*_IMAGES) or _image(declared)),
        canonical_url=_address(page, next(map(str, links), "") or declared.first_meta("og:url")),
        site_name=_site_name(declared),
        tags=_tags(declared),
        modified=_first_date(_modified(page, declared)),
    )


def _language(declared: Declarations) -> str | None:
    in_metas = [text for name in _LANGUAGES for text in declared.metas.get(name, ())]
    items = [declared.work, *declared.wrappers]
    for text in in_metas + strings(*[item.get("inLanguage") for item in items]):
        if _LANGUAGE.fullmatch(text):
            return text.replace("_", "-")
    return None


def _address(page: Page, address: str | None) -> str | None:
    """Return an http(s) address, absolute; None for any other."""
    absolute = without_controls(page.absolute(address.strip())) if address and address.strip() else ""
    return absolute if absolute.startswith(("http://", "https://")) else None


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
        parts = (part.strip() for text in source for part in _BETWEEN_TAGS.split(text))
        if tags := dict.fromkeys(part for part in parts if 0 < len(part) <= _MAX_TAG_CHARACTERS):
            return list(tags)[:_MAX_TAGS]
    return None
