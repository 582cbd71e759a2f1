"""The links of a page that a crawl follows, and which of them are the same page."""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Iterable
from importlib.resources import files
from urllib.parse import SplitResult, unquote_plus, urljoin, urlsplit

from parsel import Selector
from scrapy import Request
from scrapy.http import TextResponse
from scrapy.linkextractors import LinkExtractor
from scrapy.utils.request import RequestFingerprinter
from scrapy.utils.response import get_base_url
from w3lib.html import strip_html5_whitespace

from denoise_crawler.page.site import DEFAULT_PORTS, canonical_host, host_of

# Query parameters that say where a reader came from and do not select the page.
TRACKING_PREFIXES = ("utm_", "hsa_", "mtm_", "pk_")
TRACKING_PARAMETERS = frozenset(files(__package__).joinpath("tracking_parameters.txt").read_text("utf-8").split())
# Tracking on Chinese news sites (?from=timeline), but an offset or a date elsewhere (?from=20).
TRACKING_UNLESS_NUMBER = frozenset({"from"})

MAX_URL_CHARACTERS = 2083


def split_http(url: str) -> SplitResult | None:
    """Split an http(s) URL; return None for anything else and for an invalid URL."""
    try:
        parts = urlsplit(url.strip())
        host = (parts.hostname or "").strip(".")
        has_host = host and not any(map(str.isspace, host))
        usable = parts.scheme in DEFAULT_PORTS and has_host and (parts.port is None or parts.port > 0)
    except ValueError:
        return None
    return parts if usable else None


def without_tracking(url: str) -> str:
    """Return a URL without fragment, tracking parameters and default port, with its host in canonical form.

    A crawl requests this URL. All else stays as it was written, also what is no http(s) URL.

    Example:
        >>> without_tracking("https://Example.com:443/a?b=2&a=1&utm_source=mail#top")
        'https://example.com/a?b=2&a=1'
    """
    parts = split_http(url.partition("#")[0])  # before white space at the end goes
    if parts is None:
        return url
    kept = "&".join(pair for pair in parts.query.split("&") if not _is_tracking(pair))
    return parts._replace(netloc=_netloc(parts), query=kept, fragment="").geturl().rstrip()


def _netloc(parts: SplitResult) -> str:
    """Return user and host, with its port unless that is the scheme's default."""
    before, at, _ = parts.netloc.rpartition("@")
    host = canonical_host(str(parts.hostname))
    host = f"[{host}]" if ":" in host else host
    has_port = parts.port not in (None, DEFAULT_PORTS[parts.scheme])
    return f"{before}{at}{host}:{parts.port}" if has_port else f"{before}{at}{host}"


def _is_tracking(pair: str) -> bool:
    name, _, value = pair.partition("=")
    name = unquote_plus(name).strip().lower()
    if name in TRACKING_UNLESS_NUMBER:
        return not value[:1].isdigit()
    return name in TRACKING_PARAMETERS or name.startswith(TRACKING_PREFIXES)


class PageFingerprinter(RequestFingerprinter):
    """Scrapy's fingerprints, by which two spellings of the URL of a page are one, so that it is requested once."""

    def fingerprint(self, request: Request) -> bytes:
        """Return the fingerprint of a request."""
        url = without_tracking(request.url)
        return super().fingerprint(request if url == request.url else request.replace(url=url))


def scope_of(url: str) -> str:
    """Return the site of a crawl that starts at a URL: the host without ``www.``, with its port if it has one.

    What is no http(s) URL has no site, an empty string.

    Example:
        >>> scope_of("https://www.example.com/news"), scope_of("http://localhost:8000/")
        ('example.com', 'localhost:8000')
    """
    return host_of(url.strip()).removeprefix("www.") if split_http(url) else ""


def is_on_site(url: str, sites: Iterable[str]) -> bool:
    """Return True if a URL is on one of the sites, as :func:`scope_of` returns them.

    As with Scrapy's ``allowed_domains``, a host covers its subdomains. A host with a port and an IP address cover
    only themselves.

    Example:
        >>> is_on_site("https://news.example.com/a", ["example.com"])
        True
    """
    host = scope_of(url)
    return bool(host) and any(
        host == site or (host.endswith(f".{site}") and _covers_subdomains(site)) for site in sites
    )


def _covers_subdomains(site: str) -> bool:
    try:
        ipaddress.ip_address(site)
    except ValueError:
        return ":" not in site
    return False


def _usable_url(url: str) -> str | None:
    url = without_tracking(url)
    return url if split_http(url) and len(url) <= MAX_URL_CHARACTERS else None


def link_extractor(allow: Iterable[re.Pattern[str]] = (), deny: Iterable[re.Pattern[str]] = ()) -> LinkExtractor:
    """Return an extractor of the links to pages, without tracking; ``allow`` and ``deny`` as in Scrapy's."""
    return LinkExtractor(allow=allow, deny=deny, process_value=_usable_url, unique=False)


ALL_LINKS = LinkExtractor(process_value=_usable_url, deny_extensions=(), unique=False)


def page_links(response: TextResponse, extractor: LinkExtractor = ALL_LINKS) -> list[str]:
    """Return the http(s) links of a page, in the order of the page, each once.

    For politeness, links marked ``rel=nofollow`` are left out, and all links of a page whose
    ``<meta name=robots>`` says ``nofollow`` or ``none``. A page with an invalid ``<base href>`` has no links.
    """
    try:
        if not _robots_words(response.selector).isdisjoint({"nofollow", "none"}):
            return []
        if get_base_url(response) == response.url and (base := response.xpath("//base/@href").get()):
            # Scrapy looks for it in the first 4096 characters only.
            response = response.replace(url=urljoin(response.url, strip_html5_whitespace(base)))
        links = extractor.extract_links(response)
    except ValueError:
        return []
    return list(dict.fromkeys(link.url for link in links if not link.nofollow))


def _robots_words(tree: Selector) -> frozenset[str]:
    words: set[str] = set()
    for meta in tree.xpath("//meta[@name and @content]"):
        # .attrib would read all attributes, and an invalid attribute name makes parsel raise.
        if meta.root.get("name").strip().lower() == "robots":
            words.update(meta.root.get("content").lower().replace(",", " ").split())
    return frozenset(words)


# --- the links of a news feed (RSS or Atom)

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
    links: dict[str, None] = {}
    for entry in entries:
        texts = entry.xpath("*[local-name()='link']/text() | *[local-name()='link']/@href").getall()
        texts += entry.xpath("*[local-name()='guid']/text()").getall()
        links |= dict.fromkeys([url for text in texts if (url := _absolute(response.url, text.strip()))][:1])
    return list(links)


def _absolute(base: str, text: str) -> str | None:
    try:
        return _usable_url(urljoin(base, text)) if text.startswith(("http", "/")) else None
    except ValueError:
        return None
