"""Where items come from: a page, and the response that it came in."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from scrapy.http import HtmlResponse, Request

from denoise_crawler.crawl.pages import given_page, page_of_response
from denoise_crawler.crawl.stored_response import response_as_bytes, response_from_bytes
from denoise_crawler.page import Page
from denoise_crawler.store.parked import ParkedPage, ParkedResponse

if TYPE_CHECKING:
    from collections.abc import Callable

    from scrapy.crawler import Crawler
    from scrapy.http import Response

    from denoise_crawler.denoiser import Cleaned


class Origin:
    """A response that yields items: what it is known by, and its place in the store once an item of it waits."""

    def __init__(self, key: bytes, response: Response | None = None) -> None:
        self.key, self.response = key, response
        self._parked: dict[bool, ParkedResponse] = {}

    def parked(self, body: str | None) -> ParkedResponse | None:
        """Return the response as the store keeps it, None where there is no response.

        Args:
            body: The body as text where the page is the body: it is stored with the page, and not twice.
        """
        if self.response is None:
            return None
        whole = body is None
        if whole not in self._parked:
            self._parked[whole] = ParkedResponse(response_as_bytes(self.response, body))
        return self._parked[whole]


@dataclass(slots=True, eq=False)
class Source:
    """The page that items come from.

    ``is_body`` says that the page is the body of its response. ``html`` is the HTML
    that the items carry, None where they carry none. ``met`` says that the page was learned, ``cleaned`` is what
    came of judging it: both happen once a page, however many items it has.
    """

    page: Page
    origin: Origin
    is_body: bool = False
    html: str | bytes | None = None
    met: bool = False
    cleaned: Cleaned | None = None
    _parked: ParkedPage | None = None

    @property
    def response(self) -> Response | None:
        """The response that the page came in.

        The pipelines do not know it: for their items it is one that has the address and the page of the item.
        """
        return self.origin.response or _made_up_response(self.page)

    @property
    def is_parked(self) -> bool:
        """Whether items of the page were to wait."""
        return self._parked is not None

    def parked(self) -> ParkedPage:
        """Return the page as the store keeps it."""
        if self._parked is None:
            page, html = self.page, self.page.markup
            response = self.origin.parked(html if self.is_body else None)
            self._parked = ParkedPage(page.site, page.url, html, self.origin.key, response)
        return self._parked


def key_of_response(response: Response, crawler: Crawler) -> bytes:
    """Return what tells, in a later run too, that a response is of the same request."""
    if response.request is None:
        return response.url.encode("utf-8", "replace")
    fingerprinter = crawler.request_fingerprinter
    assert fingerprinter is not None  # noqa: S101 - a crawl that has responses has one
    return bytes(fingerprinter.fingerprint(response.request))


def origin_of(response: Response, crawler: Crawler) -> Origin:
    """Return ``response`` as the origin of items."""
    return Origin(key_of_response(response, crawler), response)


def source_of_response(response: Response, site_of: Callable[[str], str], origin: Origin) -> Source | None:
    """Return the page of ``response`` as a source of items, None if it is none.

    Raises:
        GivenPageError: the spider named something else as its page.
    """
    page = page_of_response(response, site_of)
    return None if page is None else Source(page, origin, is_body=given_page(response) is None)


def source_of_parked(parked: ParkedPage) -> Source:
    """Return the source of items that waited, with a response rebuilt from what was stored.

    Raises:
        DamagedRowError: what was stored of the response cannot be read.
    """
    response = None
    if parked.response is not None:
        response = response_from_bytes(parked.response.data, parked.html)
    page = Page.parse(parked.url, parked.html, site=parked.site)
    return Source(page, Origin(parked.origin, response), met=True, _parked=parked)


def _made_up_response(page: Page) -> Response | None:
    try:
        request = Request(page.url)
    except ValueError:  # no address
        return None
    return HtmlResponse(page.url, body=page.markup, encoding="utf-8", request=request)
