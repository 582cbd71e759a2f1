"""The item pipelines: one learns the page that an item carries and parks the item, one fills it."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any, ClassVar
from weakref import WeakKeyDictionary

from itemadapter import ItemAdapter, is_item
from scrapy.crawler import Crawler
from scrapy.exceptions import DropItem, NotConfigured
from scrapy.settings import BaseSettings
from scrapy.utils.conf import build_component_list
from scrapy.utils.misc import load_object

from denoise_crawler.crawl.item_fields import keep_text_column
from denoise_crawler.crawl.settings import abort_on_setup_error, is_off
from denoise_crawler.crawl.source_page import Origin, SourcePage, source_cache, without_page
from denoise_crawler.crawl.warmup import WarmupQueue
from denoise_crawler.page import Page

if TYPE_CHECKING:
    from typing_extensions import Self


_MAX_CACHED_PAGES = 32
_MAX_CACHED_CHARACTERS = 8_000_000


class ItemPages:
    """Finds the page of an item. Items with the same URL and HTML share a page, which is parsed once."""

    _of_crawler: ClassVar[WeakKeyDictionary[Crawler, ItemPages]] = WeakKeyDictionary()

    def __init__(self, crawler: Crawler) -> None:
        with abort_on_setup_error(crawler):
            self.warmup = WarmupQueue.of(crawler)
        self.denoiser = self.warmup.denoiser
        keep_text_column(crawler)
        if not self.denoiser.by_addon:
            check_order(crawler.settings)
        self._last: SourcePage | None = None  # of the last item that had a page
        self._sources = source_cache(_MAX_CACHED_PAGES, _MAX_CACHED_CHARACTERS)

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
        return self.denoiser.by_addon or self.warmup.was_released(item)

    def source_of(self, item: Any) -> SourcePage | None:
        """Return the page in the HTML field of ``item``.

        An item without HTML has no page, and its turn is behind the last item that had one. Return None if none
        had, or if the page cannot be read.
        """
        writer = self.denoiser.writer
        html, url = writer.html_of(item), writer.url_of(item)
        if html is None:
            self._warn_of_other_field(item)
            return None if self._last is None else without_page(url, self._last.page.site, self._last.origin)
        if not url:
            kind, settings = type(item).__qualname__, self.denoiser.settings
            self.denoiser.report.once("no address", _NO_ADDRESS, kind, settings.html_field, settings.url_field)
        self._last = self._sources.get((url, html))
        if self._last is None:
            try:
                page = Page.parse(url, html, site=self.denoiser.settings.site(url))
            except Exception:  # a page that fails loses its text, but no item
                self.denoiser.report.page_failed(url)
                return None
            self._last = SourcePage(page, Origin(page.key.to_bytes(8, "big")), html=html)
            self._sources[url, html] = self._last
        return self._last

    def _warn_of_other_field(self, item: Any) -> None:
        """Warn, once, if an item without HTML has a page in another field than DENOISE_HTML_FIELD."""
        kind, field = type(item).__qualname__, self.denoiser.settings.html_field
        for name, value in ItemAdapter(item).items() if is_item(item) else ():
            if isinstance(value, str | bytes) and _looks_like_page(value):
                self.denoiser.report.once("other field", _OTHER_FIELD, kind, name, field, name)


logger = logging.getLogger(__name__)

_LEARNER, _CLEANER = "denoise_crawler.pipelines.StyleTreePipeline", "denoise_crawler.pipelines.DenoisePipeline"
_MAX_PREFIX_CHARACTERS = 2_000
_OTHER_FIELD = "%s items have a page in %r, but nothing in %r: set DENOISE_HTML_FIELD = %r."
_NO_ADDRESS = (
    "%s items have HTML in %r and no address in %r: pages without an address are taken for one site, and for one "
    "page. Add the address, or name the field that has it in DENOISE_URL_FIELD."
)


def check_order(settings: BaseSettings) -> None:
    """Warn if one of the two pipelines is missing, or if their order is wrong."""
    enabled = build_component_list(settings.get_component_priority_dict_with_base("ITEM_PIPELINES"))
    classes = [load_object(component) for component in enabled]
    learners, cleaners = (
        [index for index, kind in enumerate(classes) if isinstance(kind, type) and issubclass(kind, wanted)]
        for wanted in (load_object(_LEARNER), load_object(_CLEANER))
    )
    if not cleaners:
        logger.warning("%s is enabled without %s: only items that wait get text. Enable both.", _LEARNER, _CLEANER)
    elif not learners:
        logger.warning(
            "%s is enabled without %s: no page is learned, and each is judged by what the store knows already. "
            "Enable both.",
            *(_CLEANER, _LEARNER),
        )
    elif learners[0] > cleaners[0]:
        logger.warning(
            "%s stands behind %s: pages are judged before they are learned. Give it the lower number.",
            *(_LEARNER, _CLEANER),
        )


def _looks_like_page(value: str | bytes) -> bool:
    prefix = value[:_MAX_PREFIX_CHARACTERS]
    text = prefix.decode("latin-1") if isinstance(prefix, bytes) else prefix
    return text.lstrip("\ufeff \n\r\t").startswith("<") and any(
        tag in text.lower() for tag in ("<html", "<head", "<body")
    )


# --- ``StyleTreePipeline`` learns the pages of a site and decides which items wait


class ParkedItem(DropItem):
    """The item waits in the store; it comes back when its site is known."""

    def __init__(self, site: str) -> None:
        super().__init__(f"waits until {site} is known", log_level="DEBUG")


class _Pipeline:
    """A pipeline for items that carry their page."""

    def __init__(self, crawler: Crawler) -> None:
        self._pages = ItemPages.of(crawler)

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Make the pipeline; raise what :meth:`ItemPages.of` raises."""
        return cls(crawler)


class StyleTreePipeline(_Pipeline):
    """Learns the page that an item carries in its HTML field (``DENOISE_HTML_FIELD``).

    The items of a site wait in the store until the site is known. For Scrapy they are dropped, and pass through
    the pipelines a second time when the quota of pages is reached or before the crawl ends. So put this pipeline
    before all others. If the add-on is enabled, the pipeline does nothing.
    """

    async def process_item(self, item: Any) -> Any:
        """Learn the page of an item.

        Returns:
            The item, if its site is known.

        Raises:
            ParkedItem: The item waits.
        """
        if self._pages.passes_by(item):
            return item
        source = self._pages.source_of(item)
        if source is not None and await self._pages.warmup.waits(item, source):
            raise ParkedItem(source.page.site)
        return item


class DenoisePipeline(_Pipeline):
    """Writes the clean text into the text field of an item (``DENOISE_TEXT_FIELD``), if that is empty.

    Put it behind :class:`StyleTreePipeline`. Without that pipeline, pages are judged by what the store already
    knows.
    """

    async def process_item(self, item: Any) -> Any:
        """Return ``item`` filled; as it is if it has no page. Raise what :meth:`CrawlDenoiser.fill` raises."""
        if self._pages.passes_by(item):
            return item
        [filled] = self._pages.denoiser.fill(item, self._pages.source_of(item))
        return filled
