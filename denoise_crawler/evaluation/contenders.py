"""What is compared: our methods, all visible text, and lxml's parse to measure time by."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from lxml import etree

from denoise_crawler.denoiser import AS_TEXT, denoise_pages
from denoise_crawler.evaluation.page_file import to_utf8
from denoise_crawler.methods import METHODS, MethodChoice
from denoise_crawler.output.extractors import alone as extract_alone
from denoise_crawler.output.extractors import check, library_named
from denoise_crawler.output.text import clean_text
from denoise_crawler.output.writing import Writing
from denoise_crawler.page import Page

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

VISIBLE_TEXT = "all visible text"


class PageSource(NamedTuple):
    """A page as an extractor gets it."""

    url: str
    html: str
    language: str | None


@dataclass(frozen=True, slots=True)
class Failure:
    """What an extractor gives for a page that it cannot read."""

    why: str


Extractor: TypeAlias = "Callable[[Iterable[PageSource]], Iterator[str | Failure]]"


@dataclass(frozen=True, slots=True)
class Contender:
    """A way to get text out of pages, one row of the tables.

    ``load`` runs in the contender's own process, so it must be possible to pickle it. It imports what it needs
    and returns a function from the pages of one site to their texts, in order. An ImportError leaves the
    contender out. ``call`` says how it is called, ``packages`` are the distributions whose versions are
    reported, ``install`` is how to get them.
    """

    name: str
    load: Callable[[], Extractor]
    call: str = ""
    packages: tuple[str, ...] = ()
    install: str = ""


def failure(error: Exception) -> Failure:
    """Return the failure that ``error`` stands for."""
    return Failure(f"{type(error).__name__}: {error}"[:200].removesuffix(": "))


def page_by_page(extract: Callable[[PageSource], str]) -> Extractor:
    """Return an extractor that sees one page at a time; an error fails that page alone."""

    def extractor(pages: Iterable[PageSource]) -> Iterator[str | Failure]:
        for page in pages:
            try:
                yield extract(page)
            except Exception as error:
                yield failure(error)

    return extractor


def method(name: str, **options: object) -> Contender:
    """Return one of our methods, which learns each site from all its pages by the road that users take.

    Raises :class:`MethodError` for an unknown name or option.
    """
    MethodChoice(name, options).new()
    given = "".join(f", {option}={value!r}" for option, value in options.items())
    call = f"denoise_pages(pages, method={name!r}{given})"
    return Contender(f"{name}{given}", partial(_load_method, name, options), call, ("denoise-crawler",))


def _load_method(name: str, options: dict[str, Any], writing: Writing = AS_TEXT) -> Extractor:
    check(writing.extractor, writing.extractor_options)  # its import is no part of the time

    def extractor(pages: Iterable[PageSource]) -> Iterator[str | Failure]:
        sources = ((page.url, page.html) for page in pages)
        return (clean.text for clean in denoise_pages(sources, method=name, writing=writing, **options))

    return extractor


def after(method: str, extractor: str) -> Contender:
    """Return what users get with ``DENOISE_EXTRACTOR``: the noise removed by ``method``, then that library.

    Raises :class:`MethodError` or :class:`ExtractorError` for unknown names.
    """
    MethodChoice(method).new()
    writing, library = Writing(extractor=extractor), library_named(extractor)
    return Contender(
        f"{extractor} after {method}",
        partial(_load_method, method, {}, writing),
        f"denoise_pages(pages, method={method!r}, writing=Writing(extractor={extractor!r}))",
        ("denoise-crawler", *library.packages),
        f"pip install 'denoise-crawler[{library.extra}]'",
    )


def alone(extractor: str) -> Contender:
    """Return the same library, called in the same way, on the pages as they are."""
    library = library_named(extractor)
    return Contender(
        f"{extractor} alone",
        partial(_load_alone, extractor),
        library.call,
        library.packages,
        f"pip install 'denoise-crawler[{library.extra}]'",
    )


def _load_alone(name: str) -> Extractor:
    write = extract_alone(name, {})
    return page_by_page(lambda page: write(page.html, page.url))


def all_methods() -> list[Contender]:
    """Return every method there is, with its defaults."""
    return [method(name) for name in METHODS]


def visible_text() -> Contender:
    """Return what merely dropping the markup gives."""
    return Contender(VISIBLE_TEXT, _load_visible_text, "clean_text(Page.parse(url, html))", ("denoise-crawler",))


def _load_visible_text() -> Extractor:
    return page_by_page(lambda page: clean_text(Page.parse(page.url, page.html)))


def lxml_parse() -> Contender:
    """Return lxml's parse of a page, without any text: what times are compared to."""
    return Contender("lxml parse", _load_lxml_parse, "etree.fromstring(html)", ("lxml",))


def _load_lxml_parse() -> Extractor:
    def parse(page: PageSource) -> str:
        etree.fromstring(to_utf8(page.html), etree.HTMLParser(encoding="utf-8", recover=True, huge_tree=True))
        return ""

    return page_by_page(parse)
