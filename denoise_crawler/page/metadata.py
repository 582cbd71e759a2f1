"""What a page says of itself: title, author, date and language in standard metadata.

Read from the tree that is there. ``extruct`` wants five more parsers installed and leaves the choice among JSON-LD
items to its user; ``htmldate`` parses each page anew.
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
from lxml import etree

from denoise_crawler.page.dates import iso_date
from denoise_crawler.page.text import normalised

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from typing import TypeAlias

    from lxml.etree import _Element

    from denoise_crawler.page import Page

    Item: TypeAlias = dict[str, Any]

LONGEST_JSON = 2_000_000  # characters of JSON-LD of a page: what is beyond is not read
_MOST_ITEMS = 2_000
_MOST_AUTHORS = 20
_MOST_TIMES = 1_000
_LONGEST_NAME = 200
# The types of https://schema.org that are what a page is about, and those that only wrap it.
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
_WANTED = frozenset(_AUTHORS + _MORE_AUTHORS + _DATES + _LANGUAGES)
# attributes are found much faster than elements that have them
_PROPERTIES = etree.XPath("/descendant::*/@itemprop")
_RELATIONS = etree.XPath("/descendant::a/@rel")
_NAMING = ("property", "name", "itemprop", "http-equiv")
_ADDRESS = re.compile(r"(?:https?:)?//|www\.|@\w|[\w-]+\.(?:com|org|net)\b", re.IGNORECASE)
_LANGUAGE = re.compile(r"[a-zA-Z]{2,3}(?:[-_][a-zA-Z0-9]{2,8})*")
_BEFORE_JSON = re.compile(r"<!--|//\s*<!\[CDATA\[|/\*\s*<!\[CDATA\[\s*\*/|<!\[CDATA\[")


@dataclass(frozen=True, slots=True)
class Metadata:
    """What a page says of itself: several authors are parted by "; ", the date is in ISO 8601."""

    title: str = ""
    author: str | None = None
    date: str | None = None
    language: str | None = None


def metadata_of(page: Page) -> Metadata:
    """Return what ``page`` says of itself; of each field the first of its sources that says something readable.

    Sources are JSON-LD (the article or other work that the page is about), ``meta`` (OpenGraph, Dublin Core,
    Highwire and common names), microdata, ``rel="author"`` and ``time``; for title and language also what
    :class:`Page` finds. Never raises; what cannot be read counts as not there.
    """
    if page.root is None:
        return Metadata(page.title)
    metas, items = _declared(page.root)
    work = _work(items, page.url)
    known = {identity: item for item in items if isinstance(identity := item.get("@id"), str) and len(item) > 1}
    wrappers = [item for item in items if _has_type(item, _WRAPPER)]
    return Metadata(
        title=_first(_strings(work.get("headline"), work.get("name"))) or page.title,
        author=_author(page.root, work, metas, known),
        date=_date(page.root, work, metas, wrappers),
        language=page.language or _language(metas, [work, *wrappers]),
    )


def _declared(root: _Element) -> tuple[dict[str, list[str]], list[Item]]:
    """Return the values of the ``meta`` elements that are wanted, by name in lower case, and the JSON-LD items."""
    metas: dict[str, list[str]] = {}
    items: list[Item] = []
    left = LONGEST_JSON
    for element in root.iter("meta", "script"):
        if element.tag == "meta":
            for naming in _NAMING:
                name = element.get(naming, "").lower()
                if name in _WANTED and (value := element.get("content", "").strip()):
                    metas.setdefault(name, []).append(value)
        elif "ld+json" in element.get("type", "").lower() and (text := element.text):
            left -= len(text)
            if left >= 0:
                items.extend(_items(_decoded(text), _MOST_ITEMS - len(items)))
    return metas, items


def _decoded(text: str) -> Any:
    """Return the value of a JSON text; None for what is none. Comments around it and raw newlines are common."""
    text = _unwrapped(_unwrapped(text))
    decoders: tuple[Callable[[str], Any], ...] = (msgspec.json.decode, partial(json.loads, strict=False))
    for decode in decoders:
        try:
            return decode(text)
        except (ValueError, RecursionError):
            continue
    return None


def _unwrapped(text: str) -> str:
    """Take one comment or CDATA mark, or a semicolon, from each end; in time that grows with the length alone."""
    text = text.strip()
    if opening := _BEFORE_JSON.match(text):
        text = text[opening.end() :].lstrip()
    if text.endswith(("-->", ";")):
        return text.removesuffix("-->").removesuffix(";").rstrip()
    inner = text.removesuffix("*/").rstrip()
    if inner.endswith("]]>"):
        return inner.removesuffix("]]>").rstrip().removesuffix("//").removesuffix("/*").rstrip()
    return text


def _items(value: Any, most: int) -> Iterator[Item]:
    """Yield the items of a JSON-LD document in order: those of lists and graphs, and each one's main entity."""
    waiting = [value]
    while waiting and most > 0:
        value = waiting.pop()
        if isinstance(value, list):
            waiting.extend(reversed(value[:most]))
        elif isinstance(value, dict):
            most -= 1
            yield value
            waiting.extend(value[key] for key in ("mainEntityOfPage", "mainEntity", "@graph") if key in value)


def _work(items: list[Item], url: str) -> Item:
    """Return the item that the page is about, an empty one if there is none or no saying which."""
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
    """Return the strings among JSON-LD ``values`` (of objects their value, name or id), clean and not empty."""
    found: list[str] = []
    for value in values:
        for one in value[:_MOST_AUTHORS] if isinstance(value, list) else [value]:
            named = (
                next((one[key] for key in ("@value", "name", "@id") if one.get(key)), None)
                if isinstance(one, dict)
                else one
            )
            if isinstance(named, str) and (text := _clean(named)):
                found.append(text)
    return found


def _clean(text: str) -> str:
    """Return ``text`` without entities, tags, lone surrogates and double spaces."""
    if "&" in text:
        text = unescape(unescape(text))
    if "<" in text:
        text = re.sub(r"<[^<>]*>", " ", text)
    return normalised(text.encode("utf-16", "surrogatepass").decode("utf-16", "replace"))


def _first(texts: Iterable[str]) -> str | None:
    return next(iter(texts), None)


def _author(root: _Element, work: Item, metas: dict[str, list[str]], known: dict[str, Item]) -> str | None:
    authors = work.get("author") or work.get("creator")
    listed = authors if isinstance(authors, list) else [authors]
    resolved = [
        known.get(str(one["@id"]), one) if isinstance(one, dict) and "@id" in one and "name" not in one else one
        for one in listed[:_MOST_AUTHORS]
    ]
    if names := _names(_strings(*resolved)):
        return names
    for name in _AUTHORS + _MORE_AUTHORS:
        if names := _names(map(_clean, metas.get(name, ()))):
            return names
    for naming in (_PROPERTIES, _RELATIONS):
        if names := _names(_texts(_named(root, naming, "author"))):
            return names
    return None


def _named(root: _Element, naming: etree.XPath, name: str) -> list[_Element]:
    """Return the first elements whose attribute found by ``naming`` is ``name``."""
    attributes: Any = naming(root)
    return [attribute.getparent() for attribute in attributes if attribute == name][:_MOST_AUTHORS]


def _texts(elements: Iterable[_Element]) -> Iterator[str]:
    """Yield what ``elements`` say: of microdata the name within, else all their text."""
    for element in elements:
        inner: Any = element.xpath(".//*[@itemprop='name']")
        said = inner[0] if inner else element
        yield _clean(said.get("content") or "".join(map(str, said.itertext())))


def _names(texts: Iterable[str]) -> str | None:
    """Return names joined, each once; without addresses and what is too long to be a name."""
    names = dict.fromkeys(
        text for text in texts if text and len(text) <= _LONGEST_NAME and not _ADDRESS.search(text)
    )
    return "; ".join(list(names)[:_MOST_AUTHORS]) or None


def _date(root: _Element, work: Item, metas: dict[str, list[str]], wrappers: list[Item]) -> str | None:
    """Return the first date that can be read: of publication, as long as one is said."""
    for text in _date_texts(root, work, metas, wrappers):
        if date := iso_date(text):
            return date
    return None


def _date_texts(root: _Element, work: Item, metas: dict[str, list[str]], wrappers: list[Item]) -> Iterator[str]:
    yield from _strings(work.get("datePublished"), work.get("uploadDate"), work.get("dateCreated"))
    for name in _DATES:
        yield from metas.get(name, ())
    yield from _strings(*(item.get("datePublished") for item in wrappers))
    yield from _moments(_named(root, _PROPERTIES, "datePublished"))
    if times := list(islice(root.iter("time"), _MOST_TIMES)):
        yield from _moments(time for time in times if time.get("pubdate") is not None)
        yield from _moments(time for time in times if _inside(time, "article", "main"))
        if len(said := set(_moments(times))) == 1:  # with several there is no saying whose they are
            yield from said
    yield from _strings(work.get("dateModified"))


def _inside(element: _Element, *tags: str) -> bool:
    return next(element.iterancestors(*tags), None) is not None


def _moments(elements: Iterable[_Element]) -> Iterator[str]:
    for element in islice(elements, _MOST_AUTHORS):
        yield element.get("datetime") or element.get("content") or "".join(map(str, element.itertext()))


def _language(metas: dict[str, list[str]], items: list[Item]) -> str | None:
    said = (text for name in _LANGUAGES for text in metas.get(name, ()))
    for text in (*said, *_strings(*(item.get("inLanguage") for item in items))):
        if _LANGUAGE.fullmatch(text):
            return text.replace("_", "-")
    return None
