"""The page that an item came from, and the response that the page came in."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
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

    from denoise_crawler.crawl.inline_cleaner import CleanedPage


class Origin:
    """The response that items came in.

    Attributes:
        key: Identifies its request, also in later runs.
        response: The response, None where only the page is known.
    """

    def __init__(self, key: bytes, response: Response | None = None) -> None:
        self.key, self.response = key, response
        self._stored: dict[bool, ParkedResponse] = {}

    def to_parked(self, body: str | None) -> ParkedResponse | None:
        """Return the response as the store keeps it, None where there is none.

        Args:
            body: The body as text if the page is the body. The store keeps it with the page, so it is left out
                here.
        """
        if self.response is None:
            return None
        whole = body is None
        if whole not in self._stored:
            self._stored[whole] = ParkedResponse(response_as_bytes(self.response, body))
        return self._stored[whole]


@dataclass(slots=True, eq=False)
class SourcePage:
    """The page that items came from. It is learned once and judged once, however many items it has.

    Attributes:
        page: The page.
        origin: The response it came in.
        is_body: Whether the page is the body of that response.
        html: The HTML that the items carry, None where they carry none.
        learned: Whether the page was learned.
        looked_at: Whether it is known if the page has anything to read.
        skipped: Why it has not; None if it has, or that is not known.
        failed: Whether the page could not be cleaned. It is not tried again; its items go on without its text.
        error: What was raised when we first failed on the page, in one line; None if we did not. It was reported.
        cleaned: The cleaned page, None until an item needs it.
        arrivals: Held by the item that arrives now, until the items that it releases have left. So no later item
            of the page goes on before it.
        turn: Held by the item that leaves now without having waited. The others stand in line, so that they leave
            in their order. Who has the turn of the site does not wait for this one: its holder may wait for that.
    """

    page: Page
    origin: Origin
    is_body: bool = False
    html: str | bytes | None = None
    learned: bool = False
    looked_at: bool = False
    skipped: str | None = None
    failed: bool = False
    error: str | None = None
    cleaned: CleanedPage | None = None
    arrivals: asyncio.Lock = field(default_factory=asyncio.Lock)
    turn: asyncio.Lock = field(default_factory=asyncio.Lock)
    _parked: ParkedPage | None = None

    @property
    def response(self) -> Response | None:
        """The response that the page came in.

        The item pipelines do not know it. For their items this is a response made of the page's URL and HTML.
        """
        return self.origin.response or _synthetic_response(self.page)

    @property
    def is_parked(self) -> bool:
        """Whether an item of the page was parked."""
        return self._parked is not None

    def to_parked(self) -> ParkedPage:
        """Return the page as the store keeps it."""
        if self._parked is None:
            page, html = self.page, self.page.markup
            response = self.origin.to_parked(html if self.is_body else None)
            self._parked = ParkedPage(page.site, page.url, html, self.origin.key, response)
        return self._parked


def response_origin(response: Response, crawler: Crawler) -> Origin:
    """Return the origin of the items of ``response``. Its key is the fingerprint of the request."""
    if response.request is None:
        return Origin(response.url.encode("utf-8", "replace"), response)
    fingerprinter = crawler.request_fingerprinter
    assert fingerprinter is not None  # noqa: S101 - a crawl that has responses has one
    return Origin(bytes(fingerprinter.fingerprint(response.request)), response)


def source_of_response(response: Response, site_of: Callable[[str], str], origin: Origin) -> SourcePage | None:
    """Return the page that the items of a response came from.

    Args:
        response: The response.
        site_of: Returns the site of a URL.
        origin: The origin made of the response.

    Returns:
        The page, None if the response has none.

    Raises:
        GivenPageError: The spider named something else as its page.
    """
    page = page_of_response(response, site_of)
    return None if page is None else SourcePage(page, origin, is_body=given_page(response) is None)


def source_of_parked(parked: ParkedPage) -> SourcePage:
    """Return the page of items that waited, with its response rebuilt from the store.

    Args:
        parked: The page as the store keeps it.

    Returns:
        The page. It counts as learned.

    Raises:
        DamagedRowError: The stored response cannot be read.
    """
    response = None
    if parked.response is not None:
        response = response_from_bytes(parked.response.data, parked.html)
    page = Page.parse(parked.url, parked.html, site=parked.site)
    return SourcePage(page, Origin(parked.origin, response), learned=True, _parked=parked)


def _synthetic_response(page: Page) -> Response | None:
    try:
        request = Request(page.url)
    except ValueError:  # no valid URL
        return None
    return HtmlResponse(page.url, body=page.markup, encoding="utf-8", request=request)
