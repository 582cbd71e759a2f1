"""The dates of a page: when it was published, and when it was changed last."""

from __future__ import annotations

import re
from itertools import islice
from typing import TYPE_CHECKING, Any

from lxml import etree

from denoise_crawler.page.byline import date_beside
from denoise_crawler.page.dates import iso_date
from denoise_crawler.page.declarations import MAX_VALUES, first, strings
from denoise_crawler.page.page import self_description_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from lxml.etree import _Element

    from denoise_crawler.page.declarations import Declarations
    from denoise_crawler.page.page import Page
    from denoise_crawler.page.self_description import SelfDescription

_MAX_TIME_ELEMENTS = 1_000
_BEFORE_THE_WEB = "1991"  # the first of January 1970 is a clock that was never set
_METAS = (
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
    for name in _METAS:
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
