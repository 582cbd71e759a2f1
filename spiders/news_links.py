"""The links of a news feed (RSS or Atom), and pages without links because a browser builds them."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from urllib.parse import urljoin

from parsel import Selector
from scrapy.http import HtmlResponse, TextResponse

from denoise_crawler.crawl.script_pages import needs_script
from denoise_crawler.output.clean_page import CleanPage
from denoise_crawler.spiders.links import canonical_url, selector_of, without_tracking

_FEED = re.compile(r"<(?:[a-z]+:)?(?:rss|feed|rdf)[\s>]", re.IGNORECASE)
_FEED_HEAD_CHARACTERS = 1000
_ENTRY_TEST = "local-name()='item' or local-name()='entry'"


def is_feed(response: TextResponse) -> bool:
    """Return True if the response is a feed, whatever its content type says."""
    return _FEED.search(response.text[:_FEED_HEAD_CHARACTERS]) is not None


def feed_links(response: TextResponse) -> list[str]:
    """Return the http(s) links of the entries of a feed: absolute, without tracking, in order, each once.

    Of a broken feed the readable part is used.
    """
    try:
        entries = Selector(text=response.text, type="xml").xpath(f"//*[{_ENTRY_TEST}]")
    except ValueError:
        return []
    found: dict[str, str] = {}
    for entry in entries:
        texts = entry.xpath("*[local-name()='link']/text() | *[local-name()='link']/@href").getall()
        texts += entry.xpath("*[local-name()='guid']/text()").getall()
        for text in texts:
            url = _absolute(response.url, text.strip())
            if key := canonical_url(url):
                found.setdefault(key, without_tracking(url))
                break
    return list(found.values())


def _absolute(base: str, text: str) -> str:
    try:
        return urljoin(base, text) if text.startswith(("http", "/")) else ""
    except ValueError:
        return ""


def is_shell(response: HtmlResponse) -> bool:
    """Return True if a browser must build the page: it has scripts, no title of its own, and hardly any text."""
    title = " ".join(selector_of(response).xpath("//title//text()").getall()).strip().casefold()
    return title in ("", "msn") and needs_script(response)


@dataclass
class NewsPage(CleanPage):
    """The clean text of one article.

    Attributes:
        source: Where the text came from: ``detail`` (MSN's JSON interface) or ``html`` (the page itself).
        provider: The name of the publisher; detail mode only.
        authors: The authors; detail mode only.
        published: An ISO 8601 time as the publisher wrote it; detail mode only.
    """

    source: str = ""
    provider: str | None = None
    authors: list[str] = field(default_factory=list)
    published: str | None = None
