"""Items that waited, on their way through the item pipelines."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from denoise_crawler.crawl.event_loop import in_parallel

if TYPE_CHECKING:
    from collections.abc import Awaitable, Iterable, Iterator

    from scrapy.crawler import Crawler

    from denoise_crawler.crawl.source import Source


class Replay:
    """Sends items that waited through the pipelines, each with the response of its page."""

    def __init__(self, crawler: Crawler) -> None:
        self._crawler = crawler
        self._under_way: dict[int, Any] = {}

    def has(self, item: Any) -> bool:
        """Tell whether ``item`` is on its way through the pipelines after it had waited."""
        return id(item) in self._under_way

    async def process(self, item: Any, source: Source) -> None:
        """Send an item through the pipelines."""
        engine = self._crawler.engine
        assert engine is not None  # noqa: S101
        with self._marked(item):
            await engine.scraper.start_itemproc_async(item, response=source.response)

    async def all_done(self, calls: Iterable[Awaitable[None]]) -> None:
        """Do what :meth:`process` returned, as many at a time as Scrapy does."""
        await in_parallel(calls, self._crawler.settings.getint("CONCURRENT_ITEMS"))

    @contextmanager
    def _marked(self, item: Any) -> Iterator[None]:
        self._under_way[id(item)] = item
        try:
            yield
        finally:
            del self._under_way[id(item)]
