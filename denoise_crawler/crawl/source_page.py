"""The page that each item came from, and the response that the page came in."""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from cachetools import LRUCache
from scrapy.crawler import Crawler
from scrapy.http import HtmlResponse, Request, Response

from denoise_crawler.crawl.item_fields import ItemWriter
from denoise_crawler.crawl.report import CrawlReport
from denoise_crawler.crawl.settings import DenoiseSettings
from denoise_crawler.denoiser import Cleaned
from denoise_crawler.errors import GivenPageError
from denoise_crawler.page import MAX_HTML_BYTES, Page
from denoise_crawler.page.parsing import has_endless_tag, is_utf8, parse
from denoise_crawler.page.text import printable
from denoise_crawler.store.store import ParkedPage, ParkedResponse

# --- the page: the body of the response, or what the spider named instead

OPT_OUT_KEY = "denoise"
PAGE_KEY = "denoise_page"  # in the meta of a response: the page that the spider names instead of the body


def is_opted_out(response: Response) -> bool:
    """Return True if the request of ``response`` says ``meta={"denoise": False}``."""
    return response.request is not None and response.meta.get(OPT_OUT_KEY) is False


def given_page(response: Response) -> Any:
    """Return the page that the spider named instead of the body of ``response``, None if it named none."""
    return (response.meta.get(PAGE_KEY) or None) if response.request is not None else None


def page_of_response(response: Response, site_of: Callable[[str], str]) -> Page | None:
    """Return the page of a response, None if there is none (JSON, images, …).

    If the items of a spider belong to another page, the spider puts that page into
    ``response.meta["denoise_page"]``: a response, or, for HTML inside something else such as JSON, a dict
    ``{"url": …, "html": …, "site": …}``. ``site`` may be left out. An HTML response is not parsed again: the
    tree of the spider's selectors is read. Only where Scrapy cannot read the page, because of its charset or base
    URL, it is parsed here.

    Raises:
        GivenPageError: The spider named something that is no page.
    """
    given = given_page(response)
    if given is None:
        return _parse_body(response, site_of)
    return _parse_body(given, site_of) if isinstance(given, Response) else _parse_dict(given, site_of)


def _parse_dict(given: Any, site_of: Callable[[str], str]) -> Page:
    try:
        url, html, site = given["url"], given["html"], given.get("site")
    except (AttributeError, LookupError, TypeError):
        url = html = site = None
    if not (isinstance(url, str) and isinstance(html, str | bytes) and isinstance(site, str | None)):
        raise GivenPageError(
            f"meta[{PAGE_KEY!r}] is no page, but {given!r:.100}: set it to a response, or to a dict with the "
            "address in 'url' and the HTML in 'html'"
        )
    return Page.parse(url, html, site=site or site_of(url))


def _parse_body(response: Response, site_of: Callable[[str], str]) -> Page | None:
    if not isinstance(response, HtmlResponse):
        return None
    site, text = site_of(response.url), _readable_text(response)
    if text is None:
        return Page.parse(response.url, response.body, site=site)
    return Page.sharing(response.url, text, partial(_selector_root, response), site=site)


def _readable_text(response: HtmlResponse) -> str | None:
    """Return the text from which Scrapy's selectors make their tree; None if that tree must not be read."""
    body = response.body
    if len(body) > MAX_HTML_BYTES or not body.strip() or has_endless_tag(body):
        return None
    try:
        misread = response.encoding.lower() not in ("utf-8", "utf8") and is_utf8(body)
        return None if misread else response.text
    except Exception:  # a "charset" that is a Python codec for something other than text
        return None


def _selector_root(response: HtmlResponse) -> Any:
    try:
        return response.selector.root
    except Exception:  # an invalid base URL
        return parse(response.body)


# --- the page with its response, learned and judged once


@dataclass(slots=True, eq=False)
class Origin:
    """The response that items came in.

    Attributes:
        key: Identifies its request, also in later runs.
        response: The response, None where only the page is known.
        parked: The response as the store keeps it, None before an item of a page waits that is not its body.
        passed: The gates of released sites behind which its callback goes on.
    """

    key: bytes
    response: Response | None = None
    parked: ParkedResponse | None = None
    passed: set[object] = field(default_factory=set)


@dataclass(slots=True, eq=False)
class SourcePage:
    """The page that items came from. It is learned once and judged once, however many items it has.

    Attributes:
        page: The page; an empty one where the items have none, as those of a JSON response.
        origin: The response it came in.
        has_page: Whether there is a page.
        html: The HTML that the items carry, None where they carry none.
        learned: Whether the page was learned.
        is_strange: Whether it has hardly a text where known pages of its site have text.
        failed: Whether the page could not be cleaned. It is not tried again; its items go on without its text.
        error: What was raised when the page first failed, in one line; None if it did not. It was reported.
        cleaned: The cleaned page, None until an item needs it.
        parked: The page as the store keeps it, None before an item waits.
    """

    page: Page
    origin: Origin
    has_page: bool = True
    html: str | bytes | None = None
    learned: bool = False
    is_strange: bool = False
    failed: bool = False
    error: str | None = None
    cleaned: Cleaned | None = None
    parked: ParkedPage | None = None

    @property
    def response(self) -> Response | None:
        """The response that the page came in.

        The item pipelines do not know it. For their items this is a response made of the page's URL and HTML.
        """
        return self.origin.response or _synthetic_response(self.page)


def source_cache(pages: int, characters: int) -> LRUCache[Any, SourcePage]:
    """Return a cache for the pages used last: so many at most, with so many characters of HTML.

    The page added last stays, whatever its size.

    Example:
        >>> cache = source_cache(pages=2, characters=100)
        >>> for number in range(3):
        ...     cache[number] = without_page("", "", Origin(b""))
        >>> list(cache)
        [1, 2]
    """
    least = characters // pages
    return LRUCache(characters, lambda source: min(max(len(source.page.source), least), characters))


def without_page(url: str, site: str, origin: Origin) -> SourcePage:
    """Return the source of items that have no page: they take their turn behind the others of their site."""
    return SourcePage(Page.parse(url, "", site=site), origin, has_page=False, learned=True)


def response_origin(response: Response, crawler: Crawler) -> Origin:
    """Return the origin of the items of ``response``. Its key is the fingerprint of the request."""
    if response.request is None:
        return Origin(response.url.encode("utf-8", "replace"), response)
    fingerprinter = crawler.request_fingerprinter
    assert fingerprinter is not None  # noqa: S101 - a crawl that has responses has one
    return Origin(bytes(fingerprinter.fingerprint(response.request)), response)


def _synthetic_response(page: Page) -> Response | None:
    try:
        request = Request(page.url)
    except ValueError:  # no valid URL
        return None
    return HtmlResponse(page.url, body=page.markup, encoding="utf-8", request=request)


# --- the pages of the items of one response


class ResponsePages:
    """Finds the page of each item of one response. Items of the same page share one :class:`SourcePage`."""

    def __init__(
        self,
        response: Response,
        crawler: Crawler,
        settings: DenoiseSettings,
        writer: ItemWriter,
        report: CrawlReport,
    ) -> None:
        self._response, self._origin = response, response_origin(response, crawler)
        self._site_of, self._writer, self._report = settings.site, writer, report
        self._last_item_page: SourcePage | None = None
        self._body_page: SourcePage | None = None
        self._given: Any = None  # the last page that the spider named, None for the body

    def of(self, item: Any) -> SourcePage | None:
        """Return the page of ``item``, None if it cannot be read."""
        try:
            html = self._writer.html_of(item)
            return self._from_body() if html is None else self._from_html(html, self._writer.url_of(item))
        except GivenPageError as error:
            message, url = "%s: %s. Its items pass unchanged.", printable(self._response.url)
            self._report.first("wrong_pages", message, url, printable(error), level=logging.ERROR)
        except Exception:  # a page that fails loses its text, but no item
            self._report.page_failed(self._response.url)
        return None

    def _from_html(self, html: str | bytes, url: str) -> SourcePage:
        url = url or self._response.url
        last = self._last_item_page
        if last is None or last.page.url != url or last.html != html:
            last = SourcePage(Page.parse(url, html, site=self._site_of(url)), self._origin, html=html)
            self._last_item_page = last
        return last

    def _from_body(self) -> SourcePage:
        response, given = self._response, given_page(self._response)
        if self._body_page is None or given is not self._given:
            self._given, page = given, page_of_response(response, self._site_of)
            if page is None:
                site = self._site_of(response.url)
                self._body_page = without_page(response.url, site, self._origin)
            else:
                self._body_page = SourcePage(page, self._origin)
        return self._body_page
