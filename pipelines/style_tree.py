"""``StyleTreePipeline``: accumulates the pages of a site and decides what must wait."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from scrapy import Request, signals
from scrapy.exceptions import DontCloseSpider, DropItem

from denoise_crawler.pipelines.item_pages import ItemPages

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from scrapy.crawler import Crawler
    from scrapy.http import Response
    from typing_extensions import Self

_SLOT = "denoise-replay"


class ParkedItem(DropItem):
    """The item waits in the store; it will come again when its site is known."""

    def __init__(self, site: str) -> None:
        super().__init__(f"waits until {site} is known", log_level="DEBUG")


class StyleTreePipeline:
    """Learns the page that an item carries in its HTML field (``DENOISE_HTML_FIELD``).

    Until the site is known its items wait in the store: Scrapy sees them dropped, and later sees them a
    second time, so this pipeline stands before all others. They come again when the quota is reached, or
    when the spider is idle. After Ctrl-C or CloseSpider they stay in the store and come in the next run.
    With the add-on in force it lets everything pass.
    """

    def __init__(self, crawler: Crawler) -> None:
        self._crawler = crawler
        self._pages = ItemPages.of(crawler)
        self._unreadable = 0
        if not self._pages.by_addon:
            crawler.signals.connect(self._idle, signals.spider_idle)

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Set up; raise SettingError or StoreError."""
        return cls(crawler)

    async def process_item(self, item: Any) -> Any:
        """Learn the item's page; return the item if its site is known, else let it wait."""
        if self._pages.by_addon or self._pages.is_replayed(item):
            return item
        warmup = self._pages.warmup
        page = self._pages.page_of(item)
        if warmup.skipped(page) or page is None:
            return item
        origin = page.key.to_bytes(8, "big")
        warmup.meet(page, origin)
        await self._send(warmup.release(page.site))
        if warmup.must_wait(page) and warmup.park(item, page, origin):
            self._pages.forget(item)
            raise ParkedItem(page.site)
        return item

    async def _send(self, items: Iterator[Any]) -> None:
        """Send ``items`` through all pipelines, awaited, so that no shutdown overtakes them."""
        engine = self._crawler.engine
        assert engine is not None  # noqa: S101
        for item in items:
            with self._pages.replaying(item):
                await engine.scraper.start_itemproc_async(item, response=None)

    def _idle(self) -> None:
        waiting = self._pages.warmup.waiting_count()
        if waiting == self._unreadable:
            return
        # a callback, since items sent from anywhere else may be overtaken by the spider's closing
        request = Request("data:,", callback=self._replay_rest, dont_filter=True, meta={"download_slot": _SLOT})
        engine = self._crawler.engine
        assert engine is not None  # noqa: S101
        engine.crawl(request)
        raise DontCloseSpider

    async def _replay_rest(self, _: Response) -> Iterable[Any]:
        await self._send(self._pages.warmup.finish())
        self._unreadable = self._pages.warmup.waiting_count()
        return ()
