"""Other extractors as writers, and what becomes of a page that is less sure than the user wants.

Extractors get the page without its noise. It keeps the structure, classes and ids of the remaining body, and the
title, metadata and JSON-LD of the head, so that the libraries find what they look for.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from pkgutil import resolve_name
from typing import Any, TypeAlias

from denoise_crawler.errors import ExtractorError, ExtractorOptionsError
from denoise_crawler.output.safe_markup import clean_document, clean_html
from denoise_crawler.page import Page
from denoise_crawler.page.text import printable

Options: TypeAlias = Mapping[str, object]
Write: TypeAlias = Callable[[str, str], object]  # (markup, url) -> text

logger = logging.getLogger(__name__)

# Libraries take seconds for a page of this size; some take more than linear time.
MAX_MARKUP_CHARACTERS = 2_000_000
_PARAGRAPH = "<p>The harbour was quiet, and the boats came home one by one, long before the evening bell.</p>"
_TRIAL = (
    '<html lang="en"><head><title>Trial</title></head><body><article><h1>Trial</h1>'
    f"{_PARAGRAPH * 6}</article></body></html>"
)


@dataclass(frozen=True, slots=True)
class Library:
    """A library that extracts text.

    ``load`` imports it and returns a function from (markup, URL) to text with the given options. ``extra`` is the
    extra that installs it, ``packages`` are its distributions, ``call`` describes the call. ``reads_head`` tells
    whether it gets the head of the page: a library that only converts to text would include the title.
    """

    load: Callable[[Options], Write]
    extra: str
    packages: tuple[str, ...]
    call: str
    reads_head: bool = True


def run_extractor(page: Page, noise: list[bool] | None, name: str, options: Options) -> str:
    """Let a library extract the text of ``page`` without its ``noise``.

    Returns:
        The text; empty if the library finds none or raises, or the markup exceeds ``MAX_MARKUP_CHARACTERS``.

    Raises:
        ExtractorError: There is no such extractor, or it is not installed.
    """
    library = find_library(name)
    write = _load_library(name, library, options)
    try:
        markup = clean_document(page, noise) if library.reads_head else clean_html(page, noise)
        if len(markup) > MAX_MARKUP_CHARACTERS:
            logger.info(
                "%s was not asked for %s: %d characters are left of it", name, printable(page.url), len(markup)
            )
            return ""
        return str(write(markup, page.url) or "").strip()
    except Exception as error:  # libraries may fail on broken or deep pages
        logger.info("%s failed on %s: %s: %s", name, printable(page.url), type(error).__name__, printable(error))
        return ""


def check(name: str | None, options: Options) -> None:
    """Try an extractor on a small page; None, for no extractor, is valid.

    Raises:
        ExtractorError: There is no such extractor, or it is not installed.
        ExtractorOptionsError: The library does not take the options.
    """
    if name is None:
        return
    write = _load_library(name, find_library(name), options)
    try:
        text = write(_TRIAL, "https://site.example/trial")
    except Exception as error:
        raise ExtractorOptionsError(f"{name} fails with these options: {type(error).__name__}: {error}") from error
    if not isinstance(text, str | None):
        raise ExtractorOptionsError(f"with these options {name} gives {type(text).__name__}, not text")


def find_library(name: str) -> Library:
    """Return the extractor ``name``; raise :class:`ExtractorError` if there is none."""
    if name not in EXTRACTORS:
        raise ExtractorError(f"{name!r} is no extractor; there are {', '.join(EXTRACTORS)}")
    return EXTRACTORS[name]


def _load_library(name: str, library: Library, options: Options) -> Write:
    try:
        return library.load(options)
    except ImportError as error:
        raise ExtractorError(
            f"{name} cannot be imported ({error}): pip install 'denoise-crawler[{library.extra}]'"
        ) from error


def _load_function(function: str, defaults: dict[str, object], options: Options) -> Write:
    """Return a library's ``function`` ("module:name") as a function from (markup, URL) to text."""
    extract = resolve_name(function)
    return lambda markup, _: extract(markup, **{**defaults, **options})


def _trafilatura(options: Options) -> Write:
    from trafilatura import extract

    def write(markup: str, url: str) -> object:
        chosen: dict[str, Any] = {"url": url, "include_comments": False, **options}
        return extract(markup, **chosen)

    return write


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


_SUMMARY = ("html_partial", "keep_all_images")  # options of readability's summary; the others are its Document's
_PLAIN_TEXT = "resiliparse.extract.html2text:extract_plain_text"
EXTRACTORS: dict[str, Library] = {
    "trafilatura": Library(
        _trafilatura,
        "trafilatura",
        ("trafilatura",),
        "extract(html, include_comments=False)",
    ),
    "readability": Library(
        _readability,
        "readability",
        ("readability-lxml", "html-text"),
        "html_text.extract_text(Document(html).summary(html_partial=True))",
    ),
    "resiliparse": Library(
        partial(_load_function, _PLAIN_TEXT, {"main_content": True, "comments": False, "alt_texts": False}),
        "resiliparse",
        ("resiliparse",),
        "extract_plain_text(html, main_content=True, comments=False, alt_texts=False)",
    ),
    "html_text": Library(
        partial(_load_function, "html_text:extract_text", {}),
        "html-text",
        ("html-text",),
        "extract_text(html)",
        reads_head=False,
    ),
}


MARK, DROP = ACTIONS = "mark", "drop"


def is_low(confidence: float | None, minimum: float) -> bool | None:
    """Return True if a confidence is below the least; None if nothing is asked for, or the method gives none."""
    return confidence < minimum if minimum and confidence is not None else None
