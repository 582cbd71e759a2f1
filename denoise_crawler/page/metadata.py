"""The title, author, date and language that a page declares in standard metadata.

We read them from the tree that exists already. ``extruct`` needs five more parsers and leaves the choice among
JSON-LD items to its user; ``htmldate`` parses each page again.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from functools import partial
from html import unescape
from itertools import islice
from typing import TYPE_CHECKING, Any

import msgspec

from denoise_crawler.page.dates import iso_date
from denoise_crawler.page.declared import declared_of
from denoise_crawler.page.text import collapse_spaces, without_lone_surrogates

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from typing import TypeAlias

    from lxml.etree import _Element

    from denoise_crawler.page import Page
    from denoise_crawler.page.declared import Declared

    Item: TypeAlias = dict[str, Any]

MAX_JSON_LD_CHARACTERS = 2_000_000  # per page
_MAX_JSON_LD_ITEMS = 2_000
_MAX_AUTHORS = 20
_MAX_TIME_ELEMENTS = 1_000
_MAX_NAME_CHARACTERS = 200
# Types of https://schema.org: a page's main subject, and what only wraps it.
_ARTICLE = re.compile(r"(?:article|posting|report|review|recipe)$", re.IGNORECASE)
_OTHER_WORK = re.compile(
    r"(?:product|videoobject|event|course|book|movie|softwareapplication|dataset)$", re.IGNORECASE
)
_WRAPPER = re.compile(r"(?:page)$", re.IGNORECASE)
_AUTHORS = ("author", "article:author", "dc.creator", "dcterms.creator", "citation_author", "parsely-author")
_MORE_AUTHORS = ("sailthru.author", "og:author", "byl", "creator")
_DATES = (
    *("article:published_time", "og:published_time", "datepublished", "parsely-pub-date", "sailthru.date"),
    *("dc.date.issued", "dcterms.issued", "dcterms.created", "dc.date.created", "dc.date", "dcterms.date"),
    *("citation_publication_date", "citation_online_date", "citation_date", "pubdate", "publishdate"),
    *("publish-date", "publish_date", "publish_time", "published_date", "publication_date", "pub_date", "date"),
)
_LANGUAGES = ("og:locale", "content-language", "dc.language", "dcterms.language")
_META_NAMES = frozenset(_AUTHORS + _MORE_AUTHORS + _DATES + _LANGUAGES)
_LOOKS_LIKE_URL = re.compile(r"(?:https?:)?//|www\.|@\w|[\w-]+\.(?:com|org|net)\b", re.IGNORECASE)
_LANGUAGE = re.compile(r"[a-zA-Z]{2,3}(?:[-_][a-zA-Z0-9]{2,8})*")
_OPENING_WRAPPER = re.compile(r"<!--|//\s*<!\[CDATA\[|/\*\s*<!\[CDATA\[\s*\*/|<!\[CDATA\[")


@dataclass(frozen=True, slots=True)
class Metadata:
    """What a page declares: several authors are separated by "; ", the date is in ISO 8601."""

    title: str = ""
    author: str | None = None
    date: str | None = None
    language: str | None = None


def metadata_of(page: Page) -> Metadata:
    """Return the metadata that ``page`` declares. Never raises; what cannot be read counts as missing.

    Each field comes from the first readable source: JSON-LD of the page's main work, ``meta`` (OpenGraph, Dublin
    Core, Highwire and common names), microdata, ``rel="author"`` and ``time``; title and language fall back to
    those of :class:`Page`.

    Example:
        >>> from denoise_crawler import Page
        >>> metadata_of(Page.parse("", '<title>News</title><meta name="author" content="A. Ruiz">')).author
        'A. Ruiz'

    """
    if page.root is None:
        return Metadata(page.title)
    declared = page.once(declared_of)
    metas, items = _meta_and_json_ld(declared)
    work = _find_main_work(items, page.url)
    known = {identity: item for item in items if isinstance(identity := item.get("@id"), str) and len(item) > 1}
    wrappers = [item for item in items if _has_type(item, _WRAPPER)]
    return Metadata(
        title=_first(_strings(work.get("headline"), work.get("name"))) or page.title,
        author=_author(declared, work, metas, known),
        date=_date(declared, work, metas, wrappers),
        language=page.language or _language(metas, [work, *wrappers]),
    )


def _meta_and_json_ld(declared: Declared) -> tuple[dict[str, list[str]], list[Item]]:
    """Return the values of known ``meta`` elements by lower-case name, and the JSON-LD items."""
    metas: dict[str, list[str]] = {}
    items: list[Item] = []
    left = MAX_JSON_LD_CHARACTERS
    for meta in declared.metas:
        for naming in meta[:-1]:
            name = naming.lower()
            if name in _META_NAMES and (value := meta.content.strip()):
                metas.setdefault(name, []).append(value)
    for kind, script in declared.scripts:
        if "ld+json" in kind.lower() and (text := script.text):
            left -= len(text)
            if left >= 0:
                items.extend(_json_ld_items(_parse_json(text), _MAX_JSON_LD_ITEMS - len(items)))
    return metas, items


def _parse_json(text: str) -> Any:
    """Parse JSON, tolerating the comments around it and raw newlines that are common; None if it is invalid."""
    text = _strip_wrapping(_strip_wrapping(text))
    decoders: tuple[Callable[[str], Any], ...] = (msgspec.json.decode, partial(json.loads, strict=False))
    for decode in decoders:
        try:
            return decode(text)
        except (ValueError, RecursionError):
            continue
    return None


def _strip_wrapping(text: str) -> str:
    """Strip one comment or CDATA mark, or a semicolon, from each end, in linear time."""
    text = text.strip()
    if opening := _OPENING_WRAPPER.match(text):
        text = text[opening.end() :].lstrip()
    if text.endswith(("-->", ";")):
        return text.removesuffix("-->").removesuffix(";").rstrip()
    inner = text.removesuffix("*/").rstrip()
    if inner.endswith("]]>"):
        return inner.removesuffix("]]>").rstrip().removesuffix("//").removesuffix("/*").rstrip()
    return text


def _json_ld_items(value: Any, most: int) -> Iterator[Item]:
    """Yield at most ``most`` items of a JSON-LD document in order, also from lists, graphs and main entities."""
    waiting = [value]
    while waiting and most > 0:
        value = waiting.pop()
        if isinstance(value, list):
            waiting.extend(reversed(value[:most]))
        elif isinstance(value, dict):
            most -= 1
            yield value
            waiting.extend(value[key] for key in ("mainEntityOfPage", "mainEntity", "@graph") if key in value)


def _find_main_work(items: list[Item], url: str) -> Item:
    """Return the item that the page is about; an empty one if none is, or several might be."""
    for kind in (_ARTICLE, _OTHER_WORK):
        works = [item for item in items if _has_type(item, kind)]
        if len({_first(_strings(item.get("headline"), item.get("name"))) for item in works}) > 1:
            works = [item for item in works if url in _strings(item.get("url"), item.get("mainEntityOfPage"))]
        if works:
            return works[0]
    return {}


def _has_type(item: Item, pattern: re.Pattern[str]) -> bool:
    kinds = item.get("@type")
    return any(
        isinstance(kind, str) and pattern.search(kind) for kind in (kinds if isinstance(kinds, list) else [kinds])
    )


def _strings(*values: Any) -> list[str]:
    """Return the clean, non-empty strings of JSON-LD ``values``; an object stands for its value, name or id."""
    found: list[str] = []
    for value in values:
        for one in value[:_MAX_AUTHORS] if isinstance(value, list) else [value]:
            named = (
                next((one[key] for key in ("@value", "name", "@id") if one.get(key)), None)
                if isinstance(one, dict)
                else one
            )
            if isinstance(named, str) and (text := _clean(named)):
                found.append(text)
    return found


def _clean(text: str) -> str:
    """Remove entities, tags, lone surrogates and double spaces from ``text``."""
    if "&" in text:
        text = unescape(unescape(text))
    if "<" in text:
        text = re.sub(r"<[^<>]*>", " ", text)
    return collapse_spaces(without_lone_surrogates(text))


def _first(texts: Iterable[str]) -> str | None:
    return next(iter(texts), None)


def _author(declared: Declared, work: Item, metas: dict[str, list[str]], known: dict[str, Item]) -> str | None:
    authors = work.get("author") or work.get("creator")
    listed = authors if isinstance(authors, list) else [authors]
    resolved = [
        known.get(str(one["@id"]), one) if isinstance(one, dict) and "@id" in one and "name" not in one else one
        for one in listed[:_MAX_AUTHORS]
    ]
    if names := _join_names(_strings(*resolved)):
        return names
    for name in _AUTHORS + _MORE_AUTHORS:
        if names := _join_names(map(_clean, metas.get(name, ()))):
            return names
    return _join_names(_author_texts(declared.authors)) or _join_names(_author_texts(declared.author_links))


def _author_texts(elements: Iterable[_Element]) -> Iterator[str]:
    """Yield the author of each element: the microdata name in it, else all its text."""
    for element in elements:
        inner: Any = element.xpath(".//*[@itemprop='name']")
        source = inner[0] if inner else element
        yield _clean(source.get("content") or "".join(map(str, source.itertext())))


def _join_names(texts: Iterable[str]) -> str | None:
    """Join distinct names, leaving out URLs and texts too long to be a name."""
    names = dict.fromkeys(
        text for text in texts if text and len(text) <= _MAX_NAME_CHARACTERS and not _LOOKS_LIKE_URL.search(text)
    )
    return "; ".join(list(names)[:_MAX_AUTHORS]) or None


def _date(declared: Declared, work: Item, metas: dict[str, list[str]], wrappers: list[Item]) -> str | None:
    """Return the first readable date, preferring the date of publication."""
    return _first(filter(None, map(iso_date, _date_texts(declared, work, metas, wrappers))))


def _date_texts(
    declared: Declared, work: Item, metas: dict[str, list[str]], wrappers: list[Item]
) -> Iterator[str]:
    yield from _strings(work.get("datePublished"), work.get("uploadDate"), work.get("dateCreated"))
    for name in _DATES:
        yield from metas.get(name, ())
    yield from _strings(*(item.get("datePublished") for item in wrappers))
    yield from _time_values(declared.dates)
    if times := declared.times[:_MAX_TIME_ELEMENTS]:
        yield from _time_values(time for time in times if time.get("pubdate") is not None)
        yield from _time_values(time for time in times if _has_ancestor(time, "article", "main"))
        if len(distinct := set(_time_values(times))) == 1:  # several may belong to other articles
            yield from distinct
    yield from _strings(work.get("dateModified"))


def _has_ancestor(element: _Element, *tags: str) -> bool:
    return next(element.iterancestors(*tags), None) is not None


def _time_values(elements: Iterable[_Element]) -> Iterator[str]:
    for element in islice(elements, _MAX_AUTHORS):
        yield element.get("datetime") or element.get("content") or "".join(map(str, element.itertext()))


def _language(metas: dict[str, list[str]], items: list[Item]) -> str | None:
    in_metas = (text for name in _LANGUAGES for text in metas.get(name, ()))
    for text in (*in_metas, *_strings(*(item.get("inLanguage") for item in items))):
        if _LANGUAGE.fullmatch(text):
            return text.replace("_", "-")
    return None
