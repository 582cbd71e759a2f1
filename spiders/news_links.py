"""The links of a news feed (RSS or Atom), and pages that hold none because a browser builds them."""

from __future__ import annotations

import re
from urllib.parse import urljoin

from parsel import Selector
from scrapy.http import HtmlResponse, TextResponse

from denoise_crawler.spiders.links import canonical_url, selector_of, without_tracking

_FEED = re.compile(r"<(?:[a-z]+:)?(?:rss|feed|rdf)[\s>]", re.IGNORECASE)
_FEED_HEAD = 1000
_HARDLY_ANY_TEXT = 200
_NAMES = "local-name()='item' or local-name()='entry'"


def is_feed(response: TextResponse) -> bool:
    """Tell whether the answer is a feed, whatever its content type says."""
    return _FEED.search(response.text[:_FEED_HEAD]) is not None


def feed_links(response: TextResponse) -> list[str]:
    """Return the http(s) links of a feed's entries in order, each once; of a broken feed what is readable."""
    try:
        entries = Selector(text=response.text, type="xml").xpath(f"//*[{_NAMES}]")
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
    """Tell whether a browser must fill the page: no title of its own, scripts, hardly any text."""
    tree = selector_of(response)
    title = " ".join(tree.xpath("//title//text()").getall()).strip().casefold()
    if title not in ("", "msn") or not tree.xpath("//script"):
        return False
    texts = tree.xpath(
        "//body//text()[not(ancestor::script or ancestor::style or ancestor::noscript or ancestor::template)]"
    )
    return sum(len(text.strip()) for text in texts.getall()) < _HARDLY_ANY_TEXT
