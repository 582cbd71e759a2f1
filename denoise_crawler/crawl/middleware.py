"""The spider middleware: every spider's items get the text of the page they came from."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from itemadapter import is_item

from denoise_crawler.crawl.csv_columns import keep_text_column
from denoise_crawler.crawl.event_loop import let_others_work
from denoise_crawler.crawl.pages import page_of_response
from denoise_crawler.crawl.starting import in_one_line
from denoise_crawler.crawl.warmup import Warmup
from denoise_crawler.page import Page

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from scrapy.crawler import Crawler
    from scrapy.http import Response
    from typing_extensions import Self


class WarmupMiddleware:
    """Learns the page of each response that yields items, holds them back, cleans them.

    Items that waited go on inside the callback that made their site ready: so each passes the pipelines
    once, in order, and Scrapy's own limits on items in flight hold.
    """

    def __init__(self, crawler: Crawler) -> None:
        self._crawler = crawler
        with in_one_line(crawler):
            self._warmup = Warmup.of(crawler)
        keep_text_column(crawler)

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Set up; raise SettingError or StoreError."""
        return cls(crawler)

    async def process_spider_output(self, response: Response, result: AsyncIterator[Any]) -> AsyncIterator[Any]:
        """Pass requests on; let items wait or clean them."""
        warmup = self._warmup
        met: Page | None = None
        async for output in result:
            if not is_item(output):
                yield output
                continue
            page = self._page(output, response, met)
            if warmup.skipped(page) or page is None:
                yield output
                continue
            origin = self._origin(response, page)
            if page is not met:
                warmup.meet(page, origin)
                met = page
                await let_others_work()
            for item in warmup.release(page.site):
                yield item
                await let_others_work()
            if warmup.must_wait(page) and warmup.park(output, page, origin):
                continue
            yield warmup.clean(output, page)

    def _page(self, item: Any, response: Response, met: Page | None) -> Page | None:
        """Return the page that ``item`` came from: the one met before where it is the same."""
        html = self._warmup.filler.html_of(item)
        site_of = self._warmup.settings.site
        if html is not None:
            url = self._warmup.filler.url_of(item) or response.url
            return Page.parse(url, html, site=site_of(url))
        return met if met is not None else page_of_response(response, site_of)

    def _origin(self, response: Response, page: Page) -> bytes:
        if response.request is not None:
            fingerprinter = self._crawler.request_fingerprinter
            assert fingerprinter is not None  # noqa: S101
            return bytes(fingerprinter.fingerprint(response.request))
        return page.key.to_bytes(8, "big")
