"""The pages that items carry in their HTML field. The two pipelines of a crawl share them."""

from __future__ import annotations

from collections import OrderedDict
from typing import TYPE_CHECKING, Any, ClassVar
from weakref import WeakKeyDictionary

from scrapy.exceptions import NotConfigured

from denoise_crawler.crawl.filling import keep_text_column
from denoise_crawler.crawl.item_fate import ItemFate
from denoise_crawler.crawl.settings import is_off
from denoise_crawler.crawl.setup_errors import abort_on_setup_error
from denoise_crawler.crawl.source_page import Origin, SourcePage
from denoise_crawler.page import Page
from denoise_crawler.pipelines.advice import ItemAdvice, check_order

if TYPE_CHECKING:
    from scrapy.crawler import Crawler

_MAX_CACHED_PAGES = 32
_MAX_CACHED_CHARACTERS = 8_000_000


class ItemPages:
    """Finds the page of an item. Items with the same URL and HTML share a page, which is parsed once."""

    _of_crawler: ClassVar[WeakKeyDictionary[Crawler, ItemPages]] = WeakKeyDictionary()

    def __init__(self, crawler: Crawler) -> None:
        with abort_on_setup_error(crawler):
            self.fate = ItemFate.of(crawler)
        keep_text_column(crawler)
        self._advice = ItemAdvice(self.fate.settings)
        if not self.fate.by_addon:
            check_order(crawler.settings)
        self._sources: OrderedDict[tuple[str, str | bytes], SourcePage] = OrderedDict()

    @classmethod
    def of(cls, crawler: Crawler) -> ItemPages:
        """Return the pages of a crawler; the first call makes the object.

        Raises:
            NotConfigured: ``DENOISE_ENABLED`` is False.
            SettingError: A setting is wrong.
            StoreError: The store cannot be opened.
        """
        if is_off(crawler.settings):
            raise NotConfigured
        if crawler not in cls._of_crawler:
            cls._of_crawler[crawler] = cls(crawler)
        return cls._of_crawler[crawler]

    def passes_by(self, item: Any) -> bool:
        """Return True if the pipelines leave ``item`` alone: it waited before, or the add-on handles it."""
        return self.fate.by_addon or self.fate.was_released(item)

    def source_of(self, item: Any) -> SourcePage | None:
        """Return the page in the HTML field of ``item``, None if there is none."""
        html = self.fate.filler.html_of(item)
        if html is None:
            self._advice.warn_of_missing_html(item)
            return None
        url = self.fate.filler.url_of(item)
        if not url:
            self._advice.warn_of_missing_url(item)
        if (url, html) in self._sources:
            self._sources.move_to_end((url, html))
            return self._sources[url, html]
        try:
            page = Page.parse(url, html, site=self.fate.settings.site(url))
        except Exception:  # a page that fails loses its text, but no item
            self.fate.report.page_failed(url)
            return None
        source = SourcePage(page, Origin(page.key.to_bytes(8, "big")), html=html)
        self._sources[url, html] = source
        self._trim_cache()
        return source

    def _trim_cache(self) -> None:
        characters = sum(len(html) for _, html in self._sources)
        while len(self._sources) > 1 and (
            len(self._sources) > _MAX_CACHED_PAGES or characters > _MAX_CACHED_CHARACTERS
        ):
            (_, html), _ = self._sources.popitem(last=False)
            characters -= len(html)
