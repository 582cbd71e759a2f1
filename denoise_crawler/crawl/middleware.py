"""The add-on, ``ADDONS = {"denoise_crawler.Addon": 300}``, and the spider middlewares that it adds."""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator
from typing import TYPE_CHECKING, Any

import scrapy
from itemadapter import is_item
from scrapy.crawler import Crawler
from scrapy.http import HtmlResponse, Response
from scrapy.settings import BaseSettings

from denoise_crawler.crawl.filling import keep_text_column
from denoise_crawler.crawl.item_fate import ItemFate
from denoise_crawler.crawl.scrapy_internals import ignores_start_requests
from denoise_crawler.crawl.settings import (
    DenoiseSettings,
    abort_on_setup_error,
    is_off,
    is_scrapy_command,
)
from denoise_crawler.crawl.source_page import (
    SourcePage,
    given_page,
    is_opted_out,
    response_origin,
    source_of_response,
)
from denoise_crawler.errors import GivenPageError
from denoise_crawler.page import MAX_HTML_BYTES, Page
from denoise_crawler.page.script_pages import has_enough_text
from denoise_crawler.page.text import printable

if TYPE_CHECKING:
    from typing_extensions import Self


logger = logging.getLogger(__name__)

_UNREAD = object()


class WarmupMiddleware:
    """Learns the page of each response that yields items, holds the items back, and cleans them.

    It is the middleware nearest to the engine. So every other spider middleware sees each item once, with its own
    response. Items that waited go from here to the item pipelines, also with their own response.
    """

    def __init__(self, crawler: Crawler) -> None:
        self._crawler = crawler
        with abort_on_setup_error(crawler):
            self._fate = ItemFate.of(crawler)
        self._fate.by_addon = True
        keep_text_column(crawler)

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Make the middleware; raise SettingError or StoreError."""
        return cls(crawler)

    async def process_spider_output(self, response: Response, result: AsyncIterator[Any]) -> AsyncIterator[Any]:
        """Pass on the requests, and the items that do not wait, cleaned."""
        sources = None if is_opted_out(response) else ResponseSources(self._fate, response, self._crawler)
        async for output in result:
            if type(output) is not dict and not is_item(output):
                yield output
            elif sources is None:
                self._fate.report.count("opted_out")
                yield output
            else:
                for item in await self._fate.take(output, sources.source_of(output)):
                    yield item


class ResponseSources:
    """Finds the page of each item of one response. Items of the same page share one :class:`SourcePage`."""

    def __init__(self, fate: ItemFate, response: Response, crawler: Crawler) -> None:
        self._report, self._filler, self._site_of = fate.report, fate.filler, fate.settings.site
        self._response, self._origin = response, response_origin(response, crawler)
        self._last_item_page: SourcePage | None = None
        self._body_page: SourcePage | None = None
        self._given: Any = _UNREAD  # the last page that the spider named, None for the body

    def source_of(self, item: Any) -> SourcePage | None:
        """Return the page of ``item``, None if there is none or it cannot be read."""
        try:
            html = self._filler.html_of(item)
            return self._from_body() if html is None else self._from_html(html, self._filler.url_of(item))
        except GivenPageError as error:
            message, url = "%s: %s. Its items pass unchanged.", printable(self._response.url)
            self._report.first("wrong_pages", message, url, printable(error), level=logging.ERROR)
            return None
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

    def _from_body(self) -> SourcePage | None:
        given = given_page(self._response)
        if given is not self._given:
            self._given, self._body_page = given, None
            self._body_page = source_of_response(self._response, self._site_of, self._origin)
        return self._body_page


# --- finds pages whose text is built by JavaScript, counts them (``denoise/script_pages``) and warns once


def needs_script(response: HtmlResponse) -> bool:
    """Return True if ``response`` has scripts and hardly any text. Text inside ``noscript`` counts."""
    body = response.body
    # most pages write it small, and a lower-case copy of all others is expensive
    if len(body) > MAX_HTML_BYTES or not (b"<script" in body or b"<script" in body.lower()):
        return False
    try:
        root: Any = response.selector.root
    except ValueError:  # an invalid base URL
        return False
    return root is not None and not has_enough_text(root)


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
                "denoise_crawler.contrib.rendering.Rendering renders such pages",
                printable(response.url),
            )
        stats.inc_value("denoise/script_pages")


# --- the Scrapy add-on: ``ADDONS = {"denoise_crawler.Addon": 300}``

# Nearer to the engine than any middleware of a project, so that these see each item once, with its own response.
MIDDLEWARE_ORDER = -1_000_000


class Addon:
    """Fills the items of every spider of a project with clean text.

    It adds two spider middlewares. If the project configures them itself, its values win.
    """

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Make the add-on; warn if this version of Scrapy ignores how the spider starts."""
        spider = crawler.spidercls
        if ignores_start_requests(spider):
            logger.warning(
                "%s starts by start_requests, which Scrapy %s never calls: it may crawl nothing. Write "
                "`async def start(self)` in its place, or stay with an older Scrapy: pip install 'scrapy<2.16'",
                spider.__qualname__,
                scrapy.__version__,
            )
        return cls()

    @classmethod
    def update_pre_crawler_settings(cls, settings: BaseSettings) -> None:
        """Check the settings of a script as soon as it makes its CrawlerProcess.

        The ``scrapy`` command can still change settings afterwards; there they are checked when the crawl begins.

        Raises:
            SettingError: A setting is wrong.
        """
        if not is_scrapy_command():
            DenoiseSettings.from_settings(settings)

    def update_settings(self, settings: BaseSettings) -> None:
        """Add the components. Values of the project and the spider win."""
        if is_off(settings):
            return
        settings.setdefault_in_component_priority_dict("SPIDER_MIDDLEWARES", WarmupMiddleware, MIDDLEWARE_ORDER)
        settings.setdefault_in_component_priority_dict(
            "SPIDER_MIDDLEWARES", ScriptPagesMiddleware, SCRIPT_PAGES_ORDER
        )
