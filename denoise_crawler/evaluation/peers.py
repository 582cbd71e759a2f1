"""Other extractors to compare with, from the extra ``peers``.

Each handles one page at a time. No gold text has readers' comments, so extractors that can omit them do so.
html-text turns HTML results into text.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache, partial
from importlib.resources import files
from typing import Any

import msgspec

from denoise_crawler.evaluation.contenders import Contender, Extractor, PageSource, page_by_page

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
