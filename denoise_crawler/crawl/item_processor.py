"""The item processor that lets waiting items go on before the pipelines close, however the crawl ends."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from scrapy.utils.misc import build_from_crawler, load_object

from denoise_crawler.crawl.event_loop import let_others_work
from denoise_crawler.crawl.scrapy_versions import scheduler_of
from denoise_crawler.crawl.starting import in_one_line
from denoise_crawler.crawl.warmup import Warmup

if TYPE_CHECKING:
    from scrapy.crawler import Crawler
    from typing_extensions import Self

WRAPPED_SETTING = "DENOISE_WRAPPED_ITEM_PROCESSOR"
DEFAULT_PROCESSOR = "scrapy.pipelines.ItemPipelineManager"


class FlushingItemProcessor:
    """Wraps Scrapy's (or the project's own) item processor.

    At ``close_spider`` the pipelines and feeds are still open, and it comes at every kind of end: also at
    Ctrl-C and CloseSpider, where ``spider_idle`` does not.
    """

    def __init__(self, crawler: Crawler) -> None:
        self._crawler = crawler
        wrapped = load_object(crawler.settings.get(WRAPPED_SETTING, DEFAULT_PROCESSOR))
        self._wrapped: Any = build_from_crawler(wrapped, crawler)
        with in_one_line(crawler):
            self._warmup = Warmup.of(crawler)

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Set up around the wrapped item processor."""
        return cls(crawler)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._wrapped, name)

    async def open_spider_async(self) -> None:
        """Open the pipelines."""
        await self._wrapped.open_spider_async()

    async def process_item_async(self, item: Any) -> Any:
        """Send ``item`` through the pipelines."""
        return await self._wrapped.process_item_async(item)

    async def close_spider_async(self) -> None:
        """Let all waiting items go on, unless the crawl is only paused; then close the pipelines."""
        if not self._paused():
            engine = self._crawler.engine
            assert engine is not None  # noqa: S101
            for item in self._warmup.finish():
                await engine.scraper.start_itemproc_async(item, response=None)
                await let_others_work()
        await self._wrapped.close_spider_async()

    def _paused(self) -> bool:
        """Tell whether a job folder keeps requests for a later run, which will then release the items."""
        scheduler = scheduler_of(self._crawler)
        return bool(self._warmup.settings.job and scheduler is not None and scheduler.has_pending_requests())
