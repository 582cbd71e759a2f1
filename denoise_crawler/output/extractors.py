"""Other extractors as writers: the page without its noise goes in, their text comes out.

What is handed over keeps the structure, classes and ids of what is left of the body, and the title, the
metadata and the JSON-LD of the head, so the libraries find what they look for.
"""

from __future__ import annotations

import inspect
import logging
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

from denoise_crawler.errors import ExtractorError, ExtractorOptionsError
from denoise_crawler.output.html import clean_document, clean_html
from denoise_crawler.page.text import printable

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from denoise_crawler.page import Page

    Options: TypeAlias = Mapping[str, object]
    Write: TypeAlias = Callable[[str, str], object]  # (markup, url) -> text

logger = logging.getLogger(__name__)

# Libraries take seconds for a page of this size, some grow faster than the page.
MAX_MARKUP = 2_000_000
_PARAGRAPH = "<p>The harbour was quiet, and the boats came home one by one, long before the evening bell.</p>"
_TRIAL = (
    '<html lang="en"><head><title>Trial</title></head><body><article><h1>Trial</h1>'
    f"{_PARAGRAPH * 6}</article></body></html>"
)


@dataclass(frozen=True, slots=True)
class Library:
    """A library that writes text.

    ``load`` imports it and returns a function from (markup, url) to its text with some options, ``options``
    imports it and returns the names of those it takes. ``extra`` is the extra of ours that brings it,
    ``packages`` are its distributions, ``call`` says how it is called. ``reads_head`` tells whether it gets
    the head of the page: what merely writes text down would write the title too.
    """

    load: Callable[[Options], Write]
    options: Callable[[], Iterable[str]]
    extra: str
    packages: tuple[str, ...]
    call: str
    reads_head: bool = True


def written(page: Page, noise: list[bool] | None, name: str, options: Options) -> str:
    """Return what the library ``name`` writes of ``page`` without its ``noise``.

    Empty where it writes nothing or raises, and for more than ``MAX_MARKUP`` characters of markup. Raises
    :class:`ExtractorError` without the library.
    """
    library = library_named(name)
    write = _loaded(name, library, options)
    try:
        markup = clean_document(page, noise) if library.reads_head else clean_html(page, noise)
        if len(markup) > MAX_MARKUP:
            logger.info(
                "%s was not asked for %s: %d characters are left of it", name, printable(page.url), len(markup)
            )
            return ""
        return str(write(markup, page.url) or "").strip()
    except Exception as error:  # some recurse over the tree, all meet broken pages
        logger.info("%s failed on %s: %s: %s", name, printable(page.url), type(error).__name__, printable(error))
        return ""


def check(name: str | None, options: Options) -> None:
    """Try ``name`` with ``options`` on a small page; None, no extractor at all, is right.

    Raises :class:`ExtractorError` for an unknown name or a library that is not installed, and its subclass
    :class:`ExtractorOptionsError` for options that the library does not take.
    """
    if name is None:
        return
    library = library_named(name)
    write = _loaded(name, library, options)
    known = set(library.options())
    if wrong := sorted(map(str, set(options) - known)):
        raise ExtractorOptionsError(
            f"{name} does not take {', '.join(wrong)}; what it takes is {', '.join(sorted(known))}"
        )
    try:
        text = write(_TRIAL, "https://site.example/trial")
    except Exception as error:
        raise ExtractorOptionsError(f"{name} fails with these options: {type(error).__name__}: {error}") from error
    if not isinstance(text, str | None):
        raise ExtractorOptionsError(f"with these options {name} gives {type(text).__name__}, not text")


def alone(name: str, options: Options) -> Callable[[str, str], str]:
    """Return a function from (html, url) to what the library writes of a page as it is."""
    write = _loaded(name, library_named(name), options)
    return lambda html, url: str(write(html, url) or "").strip()


def library_named(name: str) -> Library:
    """Return the extractor ``name``; raise :class:`ExtractorError` if there is none."""
    if name not in EXTRACTORS:
        raise ExtractorError(f"{name!r} is no extractor; there are {', '.join(EXTRACTORS)}")
    return EXTRACTORS[name]


def _loaded(name: str, library: Library, options: Options) -> Write:
    try:
        return library.load(options)
    except ImportError as error:
        raise ExtractorError(
            f"{name} cannot be imported ({error}): pip install 'denoise-crawler[{library.extra}]'"
        ) from error


def _names(function: Callable[..., object], *ours: str) -> Iterable[str]:
    return (name for name in inspect.signature(function).parameters if name not in ours)


def _trafilatura(options: Options) -> Write:
    from trafilatura import extract

    def write(markup: str, url: str) -> object:
        chosen: dict[str, Any] = {"url": url, "include_comments": False, **options}
        return extract(markup, **chosen)

    return write


def _trafilatura_options() -> Iterable[str]:
    from trafilatura import extract

    return _names(extract, "filecontent")


def _readability(options: Options) -> Write:
    from html_text import extract_text
    from readability import Document

    of_summary = {name: value for name, value in options.items() if name in _SUMMARY}
    of_document: dict[str, Any] = {name: value for name, value in options.items() if name not in _SUMMARY}

    def write(markup: str, _: str) -> object:
        document = Document(markup, **of_document)
        if "html_partial" in of_summary:
            return document.summary(**of_summary)
        return extract_text(document.summary(html_partial=True, **of_summary))

    return write


def _readability_options() -> Iterable[str]:
    from readability import Document

    return (*_names(Document, "input"), *_SUMMARY)


def _resiliparse(options: Options) -> Write:
    from resiliparse.extract.html2text import extract_plain_text

    chosen: dict[str, Any] = {"main_content": True, "comments": False, "alt_texts": False, **options}
    return lambda markup, _: extract_plain_text(markup, **chosen)


def _resiliparse_options() -> Iterable[str]:
    from resiliparse.extract.html2text import extract_plain_text

    return _names(extract_plain_text, "html")


def _html_text(options: Options) -> Write:
    from html_text import extract_text

    chosen: dict[str, Any] = dict(options)
    return lambda markup, _: extract_text(markup, **chosen)


def _html_text_options() -> Iterable[str]:
    from html_text import extract_text

    return _names(extract_text, "html")


_SUMMARY = ("html_partial", "keep_all_images")  # what readability's summary takes; the rest is its Document's
EXTRACTORS: dict[str, Library] = {
    "trafilatura": Library(
        _trafilatura,
        _trafilatura_options,
        "trafilatura",
        ("trafilatura",),
        "extract(html, include_comments=False)",
    ),
    "readability": Library(
        _readability,
        _readability_options,
        "readability",
        ("readability-lxml", "html-text"),
        "html_text.extract_text(Document(html).summary(html_partial=True))",
    ),
    "resiliparse": Library(
        _resiliparse,
        _resiliparse_options,
        "resiliparse",
        ("resiliparse",),
        "extract_plain_text(html, main_content=True, comments=False, alt_texts=False)",
    ),
    "html_text": Library(
        _html_text, _html_text_options, "html-text", ("html-text",), "extract_text(html)", reads_head=False
    ),
}
