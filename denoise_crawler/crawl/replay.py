"""Sends items that waited through the item pipelines."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from denoise_crawler.crawl.scrapy_internals import send_through_pipelines
from denoise_crawler.crawl.time_slice import run_concurrently

if TYPE_CHECKING:
    from collections.abc import Awaitable, Iterable

    from scrapy.crawler import Crawler

    from denoise_crawler.crawl.source_page import SourcePage


class Replay:
    """Sends items that waited through the pipelines, each with the response of its page."""

    def __init__(self, crawler: Crawler) -> None:
        self._crawler = crawler
        self._in_pipelines: dict[int, Any] = {}

    def has(self, item: Any) -> bool:
        """Tell whether ``item`` waited before and is in the pipelines now."""
        return id(item) in self._in_pipelines

    async def process(self, item: Any, source: SourcePage) -> None:
        """Send an item through the pipelines."""
        self._in_pipelines[id(item)] = item
        try:
            await send_through_pipelines(self._crawler, item, source.response)
        finally:
            del self._in_pipelines[id(item)]

    async def run(self, calls: Iterable[Awaitable[None]]) -> None:
        """Await calls of :meth:`process`, as many at a time as Scrapy processes items."""
        await run_concurrently(calls, self._crawler.settings.getint("CONCURRENT_ITEMS"))
