"""What a page says of itself: title, authors, date and language; where asked for, more."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from lxml import etree

from denoise_crawler.page.authors import authors_of
from denoise_crawler.page.declarations import clean, declarations_of, first, strings
from denoise_crawler.page.headline import headline_of
from denoise_crawler.page.publication import modified, published
from denoise_crawler.page.text import without_controls

if TYPE_CHECKING:
    from collections.abc import Iterable

    from denoise_crawler.page.declarations import Declarations
    from denoise_crawler.page.page import Page

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
    sources.extend(map(clean, declared.metas.get(name, ())) for name in _TAGS)
    for source in sources:
        found = (tag.strip() for text in source for tag in _BETWEEN_TAGS.split(text))
        if tags := dict.fromkeys(tag for tag in found if 0 < len(tag) <= _MAX_TAG_CHARACTERS):
            return list(tags)[:_MAX_TAGS]
    return None
