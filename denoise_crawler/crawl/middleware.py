"""The spider middleware: every spider's items get the text of the page they came from."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from itemadapter import is_item

from denoise_crawler.crawl.csv_columns import keep_text_column
from denoise_crawler.crawl.pages import given_page, is_opted_out
from denoise_crawler.crawl.source import Source, origin_of, source_of_response
from denoise_crawler.crawl.starting import in_one_line
from denoise_crawler.crawl.warmup import Warmup
from denoise_crawler.errors import GivenPageError
from denoise_crawler.page import Page

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from scrapy.crawler import Crawler
    from scrapy.http import Response
    from typing_extensions import Self

    from denoise_crawler.crawl.batches import Waited


_UNREAD = object()


class WarmupMiddleware:
    """Learns the page of each response that yields items, holds the items back, cleans them.

    It stands nearest to the engine, behind all other spider middlewares: each of these sees an item once, with
    the response it came from. Items that waited go from here to the item pipelines, with their own response.
    """

    def __init__(self, crawler: Crawler) -> None:
        self._crawler = crawler
        with in_one_line(crawler):
            self._warmup = Warmup.of(crawler)
        self._warmup.by_addon = True
        keep_text_column(crawler)

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Set up; raise SettingError or StoreError."""
        return cls(crawler)

    async def process_spider_output(self, response: Response, result: AsyncIterator[Any]) -> AsyncIterator[Any]:
        """Pass requests on; let items wait or clean them."""
        sources, opted_out = SourcesOfResponse(self._warmup, response, self._crawler), is_opted_out(response)
        refused: list[Waited] = []
        try:
            async for output in result:
                taken = output
                if is_item(output):
                    taken = await self._take(output, None if opted_out else sources, refused)
                for item in self._warmup.refused(refused):
                    yield item
                if taken is not None:
                    yield taken
        except Exception:
            for item in self._warmup.refused_at_last(refused):
                yield item
            raise
        for item in self._warmup.refused_at_last(refused):
            yield item

    async def _take(self, item: Any, sources: SourcesOfResponse | None, refused: list[Waited]) -> Any | None:
        """Return the item that goes on now, None if it waits; without ``sources`` it is opted out."""
        if sources is None:
            self._warmup.counts.add("opted_out")
            return item
        return await self._warmup.take(item, sources.of(item), refused)


class SourcesOfResponse:
    """Tells the source of each item of one response: items of the same page have the same source."""

    def __init__(self, warmup: Warmup, response: Response, crawler: Crawler) -> None:
        self._warmup, self._filler, self._site_of = warmup, warmup.filler, warmup.settings.site
        self._response, self._origin = response, origin_of(response, crawler)
        self._own: Source | None = None  # the last page that an item carried with it
        self._body: Source | None = None
        self._given: Any = _UNREAD  # the page that the spider named last, None for the body

    def of(self, item: Any) -> Source | None:
        """Return where ``item`` came from, None if there is no page or it cannot be read."""
        try:
            html = self._filler.html_of(item)
            return (
                self._source_of_body() if html is None else self._source_of_html(html, self._filler.url_of(item))
            )
        except GivenPageError as error:
            self._warmup.outcomes.wrong_page(self._response, error)
            return None
        except Exception:  # a page that breaks us costs its own text, no item
            self._warmup.page_failed(self._response.url)
            return None

    def _source_of_html(self, html: str | bytes, url: str) -> Source:
        url = url or self._response.url
        if self._own is None or self._own.page.url != url or self._own.html != html:
            self._own = Source(Page.parse(url, html, site=self._site_of(url)), self._origin, html=html)
        return self._own

    def _source_of_body(self) -> Source | None:
        given = given_page(self._response)
        if given is not self._given:
            self._given, self._body = given, None
            self._body = source_of_response(self._response, self._site_of, self._origin)
        return self._body
