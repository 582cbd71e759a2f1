"""Pages whose text comes only by JavaScript: found, counted (``denoise/script_pages``) and said."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any

from lxml import etree
from scrapy.http import HtmlResponse

from denoise_crawler.crawl.pages import is_opted_out
from denoise_crawler.page import MAX_CHARACTERS

if TYPE_CHECKING:
    from scrapy.crawler import Crawler
    from scrapy.http import Response
    from typing_extensions import Self

logger = logging.getLogger(__name__)

# Of 4,910 gold pages 20 have less and a script; all are built by it.
MIN_CHARACTERS = 200
_NOT_READ = frozenset({"script", "style", "template", "svg", "iframe", "object"})


def needs_script(response: HtmlResponse) -> bool:
    """Tell whether ``response`` has scripts and next to no text; what stands in ``noscript`` counts as text."""
    if len(response.body) > MAX_CHARACTERS or b"<script" not in response.body.lower():
        return False
    try:
        root: Any = response.selector.root
    except ValueError:  # a base address that cannot be joined
        return False
    return root is not None and not _has_text(root)


def _has_text(root: etree._Element) -> bool:
    body = root.find("body")
    if body is None:
        return False
    characters = 0
    walk = etree.iterwalk(body, events=("start",))
    for _, element in walk:
        if element.tag in _NOT_READ:
            walk.skip_subtree()
        elif isinstance(element.tag, str) and element.text:
            characters += len(element.text.strip())
        if element is not body and element.tail:
            characters += len(element.tail.strip())
        if characters >= MIN_CHARACTERS:
            return True
    return False


class ScriptPagesMiddleware:
    """Spider middleware: says so once, and counts, when pages come that a browser would have to build."""

    def __init__(self, crawler: Crawler) -> None:
        self._crawler = crawler

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Set up."""
        return cls(crawler)

    def process_spider_input(self, response: Response) -> None:
        """Look at each page that no browser has rendered."""
        rendered = response.request is not None and response.meta.get("playwright")
        if rendered or is_opted_out(response) or response.status != 200 or not isinstance(response, HtmlResponse):
            return
        if not needs_script(response):
            return
        stats = self._crawler.stats
        if not stats.get_value("denoise/script_pages"):
            logger.warning(
                "%s has scripts and next to no text: a browser would build it, and without one there is nothing "
                "more to read. The add-on denoise_crawler.crawl.rendering.rendering_addon.Rendering renders such pages",
                response.url,
            )
        stats.inc_value("denoise/script_pages")
