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

from denoise_crawler.crawl.item_fields import keep_text_column
from denoise_crawler.crawl.settings import abort_on_setup_error, is_off
from denoise_crawler.crawl.source_page import is_opted_out
from denoise_crawler.crawl.warmup import WarmupQueue
from denoise_crawler.page import MAX_HTML_BYTES
from denoise_crawler.page.script_pages import has_enough_text
from denoise_crawler.page.text import printable

if TYPE_CHECKING:
    from typing_extensions import Self


logger = logging.getLogger(__name__)


class WarmupMiddleware:
    """Learns the page of each response that yields items, holds the items back, and cleans them.

    It is the middleware nearest to the engine. So every other spider middleware sees each item once, with its own
    response. Items that waited go from here to the item pipelines, also with their own response.
    """

    def __init__(self, crawler: Crawler) -> None:
        with abort_on_setup_error(crawler):
            self._warmup = WarmupQueue.of(crawler)
        self._denoiser = self._warmup.denoiser
        self._denoiser.by_addon = True
        keep_text_column(crawler)

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Make the middleware; raise SettingError or StoreError."""
        return cls(crawler)

    async def process_spider_output(self, response: Response, result: AsyncIterator[Any]) -> AsyncIterator[Any]:
        """Pass on the requests, and the items that do not wait, cleaned."""
        pages = None if is_opted_out(response) else self._denoiser.pages_of(response)
        async for output in result:
            if type(output) is not dict and not is_item(output):
                if not isinstance(output, scrapy.Request):
                    self._denoiser.report.unknown_item(output)
                yield output
            elif pages is None:
                self._denoiser.report.count("opted_out")
                yield output
            elif not await self._warmup.waits(output, page := pages.of(output)):
                for item in self._denoiser.fill_or_drop(output, page):
                    yield item


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

    def update_settings(self, settings: BaseSettings) -> None:
        """Add the components. Values of the project and the spider win."""
        if is_off(settings):
            return
        settings.setdefault_in_component_priority_dict("SPIDER_MIDDLEWARES", WarmupMiddleware, MIDDLEWARE_ORDER)
        settings.setdefault_in_component_priority_dict(
            "SPIDER_MIDDLEWARES", ScriptPagesMiddleware, SCRIPT_PAGES_ORDER
        )
