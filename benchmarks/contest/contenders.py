"""The contenders: the methods of the package, all visible text, and lxml's parse as the unit of time."""

from __future__ import annotations

import logging
import re
import sys
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache, partial
from importlib.resources import files
from itertools import islice
from pathlib import Path
from time import process_time
from typing import IO, Any, NamedTuple, TypeAlias

import msgspec
from lxml import etree

from denoise_crawler.denoiser import PLAIN_TEXT, denoise_pages
from denoise_crawler.methods import MethodChoice
from denoise_crawler.output.clean_text import clean_text
from denoise_crawler.output.extractors import check, find_library
from denoise_crawler.output.writing import Writing
from denoise_crawler.page import Page
from tests.memory import peak_bytes

VISIBLE_TEXT = "all visible text"


class Place(NamedTuple):
    """The place of a page in the file, in bytes."""

    offset: int
    size: int


def to_utf8(text: str) -> bytes:
    """Encode ``text`` as UTF-8, lone surrogates included."""
    return text.encode("utf-8", "surrogatepass")


def write_page(file: IO[bytes], html: str) -> Place:
    """Append a page and return its place."""
    offset = file.tell()
    return Place(offset, file.write(to_utf8(html)))


def read_page(file: IO[bytes], place: Place) -> str:
    """Return the page at ``place``."""
    file.seek(place.offset)
    return file.read(place.size).decode("utf-8", "surrogatepass")


class PageSource(NamedTuple):
    """A page as an extractor gets it."""

    url: str
    html: str
    language: str | None


@dataclass(frozen=True, slots=True)
class Failure:
    """An extractor's result for a page that it cannot read."""

    why: str


Extractor: TypeAlias = "Callable[[Iterable[PageSource]], Iterator[str | Failure]]"


@dataclass(frozen=True, slots=True)
class Contender:
    """A way to get text out of pages: one row of the tables.

    Args:
        name: The name of the row.
        load: Imports what the contender needs and returns a function from the pages of one site to their texts, in
            order. It must be picklable, because it runs in the contender's process. An ImportError leaves the
            contender out.
        call: How a user would call it.
        packages: The distributions whose versions are reported.
        install: The command that installs them.

    """

    name: str
    load: Callable[[], Extractor]
    call: str = ""
    packages: tuple[str, ...] = ()
    install: str = ""


def failure(error: Exception) -> Failure:
    """Return the failure for an error."""
    return Failure(f"{type(error).__name__}: {error}"[:200].removesuffix(": "))


def page_by_page(extract: Callable[[PageSource], str]) -> Extractor:
    """Return an extractor that handles one page at a time; an error fails only that page."""

    def extractor(pages: Iterable[PageSource]) -> Iterator[str | Failure]:
        for page in pages:
            try:
                yield extract(page)
            except Exception as error:
                yield failure(error)

    return extractor


def method(name: str, **options: object) -> Contender:
    """Return a method of the package, which learns each site from all of its pages, as users call it.

    Raises:
        MethodError: The name or an option is unknown.

    """
    MethodChoice(name, options).new()
    given = "".join(f", {option}={value!r}" for option, value in options.items())
    call = f"denoise_pages(pages, method={name!r}{given})"
    return Contender(f"{name}{given}", partial(_load_method, name, options), call, ("denoise-crawler",))


def _load_method(name: str, options: dict[str, Any], writing: Writing = PLAIN_TEXT) -> Extractor:
    check(writing.extractor, writing.extractor_options)  # so that its import is not timed

    def extractor(pages: Iterable[PageSource]) -> Iterator[str | Failure]:
        sources = ((page.url, page.html) for page in pages)
        return (clean.text for clean in denoise_pages(sources, method=name, writing=writing, **options))

    return extractor


def extractor_after(method: str, extractor: str) -> Contender:
    """Return an extractor on pages whose noise ``method`` has removed, as with ``DENOISE_EXTRACTOR``.

    Raises:
        MethodError: There is no such method.
        ExtractorError: There is no such extractor.

    """
    MethodChoice(method).new()
    library, load = find_library(extractor), partial(_load_method, method, {}, Writing(extractor=extractor))
    call = f"denoise_pages(pages, method={method!r}, writing=Writing(extractor={extractor!r}))"
    packages, install = ("denoise-crawler", *library.packages), f"pip install 'denoise-crawler[{library.extra}]'"
    return Contender(f"{extractor} after {method}", load, call, packages, install)


def extractor_alone(extractor: str) -> Contender:
    """Return an extractor on the pages as they are."""
    library, load = find_library(extractor), partial(_load_alone, extractor)
    install = f"pip install 'denoise-crawler[{library.extra}]'"
    return Contender(f"{extractor} alone", load, library.call, library.packages, install)


def _load_alone(name: str) -> Extractor:
    write = find_library(name).load({})
    return page_by_page(lambda page: str(write(page.html, page.url) or "").strip())


def visible_text() -> Contender:
    """Return the contender that only removes the markup."""
    return Contender(VISIBLE_TEXT, _load_visible_text, "clean_text(Page.parse(url, html))", ("denoise-crawler",))


def _load_visible_text() -> Extractor:
    return page_by_page(lambda page: clean_text(Page.parse(page.url, page.html)))


def lxml_parse() -> Contender:
    """Return the contender that only parses a page, as the unit of time."""
    return Contender("lxml parse", _load_lxml_parse, "etree.fromstring(html)", ("lxml",))


def _load_lxml_parse() -> Extractor:
    def parse(page: PageSource) -> str:
        etree.fromstring(to_utf8(page.html), etree.HTMLParser(encoding="utf-8", recover=True, huge_tree=True))
        return ""

    return page_by_page(parse)


class StoredPage(NamedTuple):
    """A page for a contender; its HTML is in the file of pages."""

    url: str
    place: Place
    language: str | None


class SiteTexts(NamedTuple):
    """A contender's texts of a site, its CPU seconds, and the peak memory of the process in bytes, if known."""

    texts: list[str | Failure]
    seconds: float
    peak_bytes: int | None


class ContenderProcess:
    """A loaded contender and the file of pages."""

    def __init__(self, contender: Contender, file: Path) -> None:
        logging.disable()
        warnings.simplefilter("ignore")
        sys.stdout = sys.stderr  # stdout is for tables
        self._file = file.open("rb")
        self._reading_seconds = 0.0
        self._missing: str | None = None
        try:
            self._extract = contender.load()
        except Exception as error:
            self._missing = str(error)

    def why_missing(self) -> str | None:
        """Return why the contender cannot be loaded; None if it is loaded."""
        return self._missing

    def texts(self, site: Sequence[StoredPage]) -> SiteTexts:
        """Return the texts of a site's pages; if the extractor stops, the remaining pages fail."""
        start, before = process_time(), self._reading_seconds
        texts, why = list[str | Failure](), Failure("no text was given")
        try:
            for text in islice(self._extract(self._sources(site)), len(site)):
                texts.append(text)
        except Exception as error:
            why = failure(error)
        seconds = process_time() - start - (self._reading_seconds - before)
        return SiteTexts(texts + [why] * (len(site) - len(texts)), seconds, peak_bytes())

    def _sources(self, site: Sequence[StoredPage]) -> Iterator[PageSource]:
        for page in site:
            start = process_time()
            html = read_page(self._file, page.place)
            self._reading_seconds += process_time() - start
            yield PageSource(page.url, html, page.language)


# --- other extractors to compare with, from the extra ``peers``
# Each handles one page at a time. No gold text has readers' comments, so extractors that can omit them do so.
# html-text turns HTML results into text.

_DECLARED = re.compile(r"<html[^>]*?\slang\s*=\s*[\"']?\s*([a-z]{2,3})\b", re.IGNORECASE)
_MAX_SEARCHED_CHARACTERS = 4_000  # the html element comes before
# The stop lists of jusText by ISO 639-1 code, without those of rarer languages.
_STOP_LISTS = msgspec.json.decode(files(__package__).joinpath("stop_lists.json").read_bytes(), type=dict[str, str])


def _load_trafilatura(**options: Any) -> Extractor:
    from trafilatura import extract

    return page_by_page(lambda page: extract(page.html, include_comments=False, **options) or "")


def _load_resiliparse(**options: Any) -> Extractor:
    from resiliparse.extract.html2text import extract_plain_text

    return page_by_page(lambda page: str(extract_plain_text(page.html, main_content=True, **options)))


def _load_readability() -> Extractor:
    from html_text import extract_text
    from readability import Document

    return page_by_page(lambda page: str(extract_text(Document(page.html).summary(html_partial=True))))


def _load_justext() -> Extractor:
    from justext import get_stoplist, justext

    stop_list = cache(get_stoplist)

    def extract(page: PageSource) -> str:
        language = page.language or declared_language(page.html) or "en"
        if language in _STOP_LISTS:
            paragraphs = justext(page.html, stop_list(_STOP_LISTS[language]))
        else:  # jusText's mode for languages without a list
            paragraphs = justext(page.html, frozenset(), stopwords_low=0, stopwords_high=0)
        return "\n".join(paragraph.text for paragraph in paragraphs if not paragraph.is_boilerplate)

    return page_by_page(extract)


def declared_language(html: str) -> str | None:
    """Return the language that the ``html`` element declares, without its region."""
    declared = _DECLARED.search(html, 0, _MAX_SEARCHED_CHARACTERS)
    return declared[1].lower() if declared else None


def _load_boilerpy3() -> Extractor:
    from boilerpy3.extractors import ArticleExtractor

    extractor = ArticleExtractor(raise_on_failure=False)  # else broken markup (5 % of pages) gives no text
    return page_by_page(lambda page: str(extractor.get_content(page.html)))


def _load_magic_html() -> Extractor:
    from html_text import extract_text
    from magic_html import GeneralExtractor

    extractor = GeneralExtractor()
    return page_by_page(lambda page: str(extract_text(extractor.extract(page.html, base_url=page.url)["html"])))


def _peer(name: str, load: Callable[[], Extractor], call: str, *packages: str, note: str = "") -> Contender:
    return Contender(name, load, call, packages, f"pip install 'denoise-crawler[peers]'{note}")


_ALL = (
    _peer("trafilatura", _load_trafilatura, "extract(html, include_comments=False)", "trafilatura"),
    _peer(
        "trafilatura-fast",
        partial(_load_trafilatura, fast=True),
        "extract(html, include_comments=False, fast=True)",
        "trafilatura",
    ),
    _peer("resiliparse", _load_resiliparse, "extract_plain_text(html, main_content=True)", "resiliparse"),
    _peer(
        "resiliparse-text",
        partial(_load_resiliparse, comments=False, alt_texts=False),
        "extract_plain_text(html, main_content=True, comments=False, alt_texts=False)",
        "resiliparse",
    ),
    _peer(
        "readability",
        _load_readability,
        "html_text.extract_text(Document(html).summary(html_partial=True))",
        *("readability-lxml", "html-text"),
    ),
    _peer("justext", _load_justext, "justext(html, stop list of its language)", "justext"),
    _peer("boilerpy3", _load_boilerpy3, "ArticleExtractor(raise_on_failure=False).get_content(html)", "boilerpy3"),
    _peer(
        "magic-html",
        _load_magic_html,
        "html_text.extract_text(GeneralExtractor().extract(html, base_url=url)['html'])",
        *("magic-html", "html-text"),
        note=" (Python 3.12 or newer)",
    ),
)
PEERS = {peer.name: peer for peer in _ALL}
