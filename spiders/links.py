"""The links of a page: which URLs are the same page, and which of them a crawl follows."""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from importlib.resources import files
from re import Pattern
from urllib.parse import SplitResult, unquote_plus, urljoin, urlsplit

from parsel import Selector
from scrapy.http import HtmlResponse, TextResponse
from scrapy.linkextractors import IGNORED_EXTENSIONS
from scrapy.utils.url import url_has_any_extension
from w3lib.html import strip_html5_whitespace
from w3lib.url import canonicalize_url, safe_url_string

from denoise_crawler.crawl.middleware import needs_script
from denoise_crawler.output.clean_page import CleanPage
from denoise_crawler.page.site import DEFAULT_PORTS, canonical_host, host_of

# Query parameters that say where a reader came from and do not select the page.
TRACKING_PREFIXES = ("utm_", "hsa_", "mtm_", "pk_")
TRACKING_PARAMETERS = frozenset(files(__package__).joinpath("tracking_parameters.txt").read_text("utf-8").split())
# Tracking on Chinese news sites (?from=timeline), but an offset or a date elsewhere (?from=20).
TRACKING_UNLESS_NUMBER = frozenset({"from"})

MAX_URL_CHARACTERS = 2083
_EXTENSIONS = frozenset("." + name for name in IGNORED_EXTENSIONS)
_MAX_ROUNDS = 5


def split_http(url: str) -> SplitResult | None:
    """Split an http(s) URL; return None for anything else and for an invalid URL."""
    try:
        parts = urlsplit(url.strip())
        usable = parts.scheme in DEFAULT_PORTS and parts.hostname and (parts.port is None or parts.port > 0)
    except ValueError:
        return None
    return parts if usable else None


def canonical_url(url: str) -> str:
    """Return the canonical form of a URL, an empty string for what is no http(s) URL.

    Links to the same page agree on it. Fragment, tracking parameters and default port are dropped, scheme and host
    are lower-cased, the query is sorted, and percent-encodings are unified. Use it only to compare URLs, because a
    server may answer the sorted one differently.

    Example:
        >>> canonical_url("HTTP://Example.com:80/a?b=2&a=1&utm_source=mail#top")
        'http://example.com/a?a=1&b=2'

    """
    for _ in range(_MAX_ROUNDS):
        again = _canonical_once(url)
        if again == url:
            return again
        url = again
    return ""


def _canonical_once(url: str) -> str:
    try:
        parts = split_http(canonicalize_url(without_tracking(url)))
    except (ValueError, UnicodeError):
        return ""
    if parts is None:
        return ""
    port = f":{DEFAULT_PORTS[parts.scheme]}"
    return parts._replace(netloc=parts.netloc.removesuffix(port)).geturl()


def without_tracking(url: str) -> str:
    """Return a URL without fragment and tracking parameters, with its host in canonical form.

    A crawl requests this URL. All else stays as it was written, also what is no http(s) URL.

    Example:
        >>> without_tracking("https://example.com/a?b=2&a=1&utm_source=mail#top")
        'https://example.com/a?b=2&a=1'

    """
    parts = split_http(url)
    if parts is None:
        return url
    kept = "&".join(pair for pair in parts.query.split("&") if not _is_tracking(pair))
    return parts._replace(netloc=_netloc(parts), query=kept, fragment="").geturl()


def _netloc(parts: SplitResult) -> str:
    """Return user, host and port as they were written, but the host in canonical form."""
    before, at, _ = parts.netloc.rpartition("@")
    host = canonical_host(str(parts.hostname))
    host = f"[{host}]" if ":" in host else host
    return f"{before}{at}{host}" if parts.port is None else f"{before}{at}{host}:{parts.port}"


def _is_tracking(pair: str) -> bool:
    name, _, value = pair.partition("=")
    name = unquote_plus(name).strip().lower()
    if name in TRACKING_UNLESS_NUMBER:
        return not value[:1].isdigit()
    return name in TRACKING_PARAMETERS or name.startswith(TRACKING_PREFIXES)


def scope_of(url: str) -> str:
    """Return the site of a crawl that starts at a URL: the host without ``www.``, with its port if it has one.

    As with Scrapy's ``allowed_domains``, a host covers its subdomains. A host with a port and an IP address cover
    only themselves. What is no http(s) URL has no site, an empty string.

    Example:
        >>> scope_of("https://www.example.com/news"), scope_of("http://localhost:8000/")
        ('example.com', 'localhost:8000')

    """
    return host_of(url.strip()).removeprefix("www.") if split_http(url) else ""


def _covers_subdomains(site: str) -> bool:
    try:
        ipaddress.ip_address(site)
    except ValueError:
        return ":" not in site
    return False


class LinkFilter:
    """Decides which links a crawl follows.

    Links to files that are no pages (Scrapy's ``IGNORED_EXTENSIONS``) and links of more than 2,083 characters are
    not followed. Patterns are searched in the whole URL, as in Scrapy's ``LinkExtractor``.

    Args:
        sites: The sites to stay on, as :func:`scope_of` returns them.
        allow: If there are any, one of them must match.
        deny: None of them may match.

    Example:
        >>> links = LinkFilter(["example.com"])
        >>> links.accepts("https://news.example.com/a"), links.accepts("https://example.com/a.pdf")
        (True, False)
    """

    def __init__(
        self, sites: Iterable[str], allow: Iterable[Pattern[str]] = (), deny: Iterable[Pattern[str]] = ()
    ) -> None:
        self.sites: list[str] = []
        self._allow = tuple(allow)
        self._deny = tuple(deny)
        for site in sites:
            self.add_site(site)

    def add_site(self, site: str) -> None:
        """Add a site; an empty or known one changes nothing."""
        if site and site not in self.sites:
            self.sites.append(site)

    def on_site(self, url: str) -> bool:
        """Return True if the URL is on one of the sites."""
        own = scope_of(url)
        return bool(own) and any(
            own == site or (_covers_subdomains(site) and own.endswith("." + site)) for site in self.sites
        )

    def accepts(self, url: str) -> bool:
        """Return True if to follow the link."""
        if len(url) > MAX_URL_CHARACTERS or not self.on_site(url):
            return False
        if url_has_any_extension(url, _EXTENSIONS):
            return False
        if self._allow and not any(pattern.search(url) for pattern in self._allow):
            return False
        return not any(pattern.search(url) for pattern in self._deny)


def page_links(response: TextResponse) -> list[str]:
    """Return the http(s) links of a page: absolute, without tracking, in the order of the page, each page once.

    ``<base href>`` is respected. For politeness, links marked ``rel=nofollow`` are left out, and all links of a
    page whose ``<meta name=robots>`` says ``nofollow`` or ``none``. The tree is not changed.
    """
    tree = selector_of(response)
    if not _robots_words(tree).isdisjoint({"nofollow", "none"}):
        return []
    base = _absolute_url(response.url, tree.xpath("//base/@href").get() or "", response) or response.url
    found: dict[str, str] = {}
    for element in tree.xpath("//a[@href] | //area[@href]"):
        # .attrib would read all attributes, and an invalid attribute name makes parsel raise.
        if "nofollow" in element.root.get("rel", "").lower().replace(",", " ").split():
            continue
        url = without_tracking(_absolute_url(base, element.root.get("href"), response))
        if key := canonical_url(url):
            found.setdefault(key, url)
    return list(found.values())


def selector_of(response: TextResponse) -> Selector:
    """Return the selector of the response; if ``<base href>`` is invalid, one that ignores it."""
    try:
        return response.selector
    except ValueError:
        return Selector(text=response.text)


def _robots_words(tree: Selector) -> frozenset[str]:
    words: set[str] = set()
    for meta in tree.xpath("//meta[@name and @content]"):
        if meta.root.get("name").strip().lower() == "robots":
            words.update(meta.root.get("content").lower().replace(",", " ").split())
    return frozenset(words)


def _absolute_url(base: str, href: str, response: TextResponse) -> str:
    """Return the absolute, safe URL of a link, an empty string for an invalid one."""
    try:
        return safe_url_string(urljoin(base, strip_html5_whitespace(href)), encoding=response.encoding)
    except (ValueError, UnicodeError, LookupError):
        return ""


# --- the links of a news feed (RSS or Atom), and pages without links because a browser builds them

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
