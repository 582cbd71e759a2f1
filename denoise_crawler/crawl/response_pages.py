"""Which page each item of a response came from."""

from __future__ import annotations

import logging
from typing import Any

from scrapy.crawler import Crawler
from scrapy.http import Response

from denoise_crawler.crawl.item_fields import ItemWriter
from denoise_crawler.crawl.report import CrawlReport
from denoise_crawler.crawl.settings import DenoiseSettings
from denoise_crawler.crawl.source_page import (
    SourcePage,
    given_page,
    response_origin,
    source_of_response,
    without_page,
)
from denoise_crawler.errors import GivenPageError
from denoise_crawler.page import Page
from denoise_crawler.page.text import printable

_UNREAD = object()


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
        self._given: Any = _UNREAD  # the last page that the spider named, None for the body

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
        given = given_page(self._response)
        if given is not self._given or self._body_page is None:
            self._given, url = given, self._response.url
            self._body_page = source_of_response(self._response, self._site_of, self._origin) or without_page(
                url, self._site_of(url), self._origin
            )
        return self._body_page
