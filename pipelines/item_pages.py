"""The pages that items carry in their HTML field, shared by the two pipelines of a crawl."""

from __future__ import annotations

from collections import OrderedDict
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, ClassVar
from weakref import WeakKeyDictionary

from denoise_crawler.crawl.csv_columns import keep_text_column
from denoise_crawler.crawl.item_processor import FlushingItemProcessor
from denoise_crawler.crawl.starting import in_one_line
from denoise_crawler.crawl.warmup import Warmup
from denoise_crawler.page import Page

if TYPE_CHECKING:
    from collections.abc import Iterator

    from scrapy.crawler import Crawler

_KEPT = 32


class ItemPages:
    """Parses an item's page once for both pipelines, and knows which items come from the store."""

    _of_crawler: ClassVar[WeakKeyDictionary[Crawler, ItemPages]] = WeakKeyDictionary()

    def __init__(self, crawler: Crawler) -> None:
        with in_one_line(crawler):
            self.warmup = Warmup.of(crawler)
        keep_text_column(crawler)
        self.by_addon = crawler.settings["ITEM_PROCESSOR"] is FlushingItemProcessor
        self._pages: OrderedDict[int, tuple[Any, Page]] = OrderedDict()
        self._replayed: dict[int, Any] = {}

    @classmethod
    def of(cls, crawler: Crawler) -> ItemPages:
        """Return the one of ``crawler``."""
        if crawler not in cls._of_crawler:
            cls._of_crawler[crawler] = cls(crawler)
        return cls._of_crawler[crawler]

    def page_of(self, item: Any) -> Page | None:
        """Return the page in the item's HTML field, None if there is none."""
        known = self._pages.get(id(item))
        if known is not None and known[0] is item:
            return known[1]
        html = self.warmup.filler.html_of(item)
        if html is None:
            return None
        url = self.warmup.filler.url_of(item)
        page = Page.parse(url, html, site=self.warmup.settings.site(url))
        self._pages[id(item)] = (item, page)
        while len(self._pages) > _KEPT:
            self._pages.popitem(last=False)
        return page

    def forget(self, item: Any) -> None:
        """Let go of the item's page."""
        self._pages.pop(id(item), None)

    @contextmanager
    def replaying(self, item: Any) -> Iterator[None]:
        """Mark ``item`` as coming from the store, cleaned already."""
        self._replayed[id(item)] = item
        try:
            yield
        finally:
            del self._replayed[id(item)]

    def is_replayed(self, item: Any) -> bool:
        """Tell whether ``item`` comes from the store."""
        return id(item) in self._replayed
