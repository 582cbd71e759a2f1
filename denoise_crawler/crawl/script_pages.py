"""Finds pages whose text is built by JavaScript, counts them (``denoise/script_pages``) and warns once."""

from __future__ import annotations

import logging
import re
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from lxml import etree
from scrapy.crawler import Crawler
from scrapy.http import HtmlResponse, Response

from denoise_crawler.crawl.source_page import is_opted_out
from denoise_crawler.page import MAX_HTML_BYTES
from denoise_crawler.page.text import printable

if TYPE_CHECKING:
    from typing_extensions import Self

logger = logging.getLogger(__name__)

# Of 4,910 gold pages, 20 have less text than this and a script; all of them are built by that script.
MIN_CHARACTERS = 200
_IGNORED_TAGS = frozenset({"script", "style", "template", "svg", "iframe", "object"})
_ENOUGH = 2 * MIN_CHARACTERS  # for a look at the markup: some encodings write a character as two of ASCII
_MOST_PARTS = 10_000
_IGNORED = "|".join(sorted(_IGNORED_TAGS))
_TAG_END = rb"""[^>"']*(?:(?:"[^"]*"|'[^']*')[^>"']*)*>"""
# Markup in a row, up to a text, an entity, the body or what is not plain. What repeats begins with another letter
# than what stands before it, and nothing has to follow: no backtracking.
_MARKUP = re.compile(
    rb"\s*(?:<(?:!--[^-]*(?:-(?!->)[^-]*)*--|(?:!(?!--)|\?)[^>]*)>\s*"
    + rf"|<(?P<ignored>{_IGNORED})(?=[\s>/])[^<]*(?:<(?!/?(?P=ignored))[^<]*)*</(?P=ignored)\s*>\s*".encode()
    + rf"|<(?!(?:{_IGNORED})[\s>/]|body(?![a-z0-9]))/?[a-z]".encode()
    + _TAG_END
    + rb"\s*){0,100}",
    re.IGNORECASE,
)
_BODY = re.compile(rb"<body(?![a-z0-9])" + _TAG_END, re.IGNORECASE)
_TEXT = re.compile(rb"(?:&[#\w]*;?)+|[^<&\s][^<&]*")


def needs_script(response: HtmlResponse) -> bool:
    """Return True if ``response`` has scripts and hardly any text. Text inside ``noscript`` counts."""
    body = response.body
    # most pages write it small, and a lower-case copy of all others is expensive
    if len(body) > MAX_HTML_BYTES or not (b"<script" in body or b"<script" in body.lower()):
        return False
    if _surely_has_enough_text(body):
        return False
    try:
        root: Any = response.selector.root
    except ValueError:  # an invalid base URL
        return False
    return root is not None and not _has_enough_text(root)


def _surely_has_enough_text(body: bytes) -> bool:
    """Return True if the markup surely has enough text, without a tree: the spider may never want one.

    The text is read up to the first markup that is not plain, where a parser might think otherwise.
    """
    found, place, inside = 0, 0, False
    for _ in range(_MOST_PARTS):
        if found >= _ENOUGH:
            break
        markup = _MARKUP.match(body, place)
        part = _TEXT.match(body, end := markup.end() if markup else place)
        if part is None and (begun := _BODY.match(body, end)):
            inside, part = True, begun
        elif part is not None and inside and not part[0].startswith(b"&"):
            with suppress(UnicodeDecodeError):  # what its characters are shows the tree
                found += len(part[0].decode().strip())
        if part is None and end == place:
            break
        place = end if part is None else part.end()
    return found >= _ENOUGH


def _has_enough_text(root: etree._Element) -> bool:
    body = root.find("body")
    if body is None:
        return False
    characters = 0
    walk = etree.iterwalk(body, events=("start", "comment", "pi"))
    for _, element in walk:
        if element.tag in _IGNORED_TAGS:
            walk.skip_subtree()
        elif isinstance(element.tag, str) and element.text:
            characters += len(element.text.strip())
        if element is not body and element.tail:
            characters += len(element.tail.strip())
        if characters >= MIN_CHARACTERS:
            return True
    return False


SCRIPT_PAGES_ORDER = 90  # among the spider middlewares


class ScriptPagesMiddleware:
    """Spider middleware that counts pages that need a browser, and warns of the first."""

    def __init__(self, crawler: Crawler) -> None:
        self._crawler = crawler

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Make the middleware."""
        return cls(crawler)

    def process_spider_input(self, response: Response) -> None:
        """Check each page that no browser has rendered."""
        rendered = response.request is not None and response.meta.get("playwright")
        if rendered or is_opted_out(response) or response.status != 200 or not isinstance(response, HtmlResponse):
            return
        if not needs_script(response):
            return
        stats = self._crawler.stats
        if not stats.get_value("denoise/script_pages"):
            logger.warning(
                "%s has scripts and hardly any text: only a browser could build it. The add-on "
                "denoise_crawler.Rendering renders such pages",
                printable(response.url),
            )
        stats.inc_value("denoise/script_pages")
