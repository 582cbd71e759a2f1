"""The items that wait in the store until their site is known: packed, counted, read back."""

from __future__ import annotations

import logging
from collections import Counter, deque
from collections.abc import Iterator
from functools import cached_property
from typing import Any, NamedTuple

import msgspec
from scrapy.crawler import Crawler
from scrapy.extensions.closespider import CloseSpider

from denoise_crawler.crawl.guarded_store import GuardedStore
from denoise_crawler.crawl.report import CrawlReport
from denoise_crawler.crawl.source_page import SourcePage, source_of_parked
from denoise_crawler.crawl.stored_items import class_path, pack, unpack
from denoise_crawler.errors import UnparkableError
from denoise_crawler.methods.keeping import MAX_BYTES, decode_msgpack
from denoise_crawler.page.held_pages import PageWindow
from denoise_crawler.page.text import printable
from denoise_crawler.store import Store
from denoise_crawler.store.parked_rows import Parked

logger = logging.getLogger(__name__)

MIN_SHARED_CHARACTERS = 1_000
_ROW_OVERHEAD_BYTES = 16

_encode = msgspec.msgpack.Encoder().encode


class WaitingItem(NamedTuple):
    """An item that waited, with the page it came from."""

    item: Any
    source: SourcePage


class WaitingItems:
    """Parks items in the store and reads them back. Items of one page share its :class:`SourcePage`."""

    def __init__(self, crawler: Crawler, store: GuardedStore, report: CrawlReport) -> None:
        self._store, self._report = store, report
        self._limits = ItemLimits(crawler)
        # Items of pages that were crawled at the same time alternate in the store.
        self._sources: PageWindow[int, SourcePage] = PageWindow()
        self._items_of_page: Counter[int] = Counter()
        self._leaving: Counter[int] = Counter()  # released items in the pipelines, by page

    def park(self, item: Any, source: SourcePage) -> bool:
        """Let an item wait: it is in the file of the store when this returns.

        Return False if it cannot be stored, and must go on now.
        """
        try:
            data = _pack(item, source)
        except UnparkableError as error:
            self._report.first(
                "unparkable",
                "Items of this class cannot wait until their site is known and are cleaned at once: %s",
                error,
                key=class_path(type(item)),
            )
            return False
        parked = self._store.park(source.to_parked(), data)
        if parked:
            with self._report.isolate_step("count an item that waits"):
                self._count(item, source)
        return parked

    def _count(self, item: Any, source: SourcePage) -> None:
        row = source.row
        self._items_of_page[row] += 1
        self._report.count("parked")
        self._limits.count_waiting(item)
        self._cache(row, source)

    def release(self, site: str | None = None, *, inherited: bool = True) -> Iterator[WaitingItem]:
        """Release waiting items in order, also those that are parked meanwhile.

        Yields:
            The items with their pages. A yielded item waits no longer. One that cannot be read stays in the store.
        """
        for batch in self._store.waiting(site, inherited=inherited):
            for several in _released_together(batch):
                yield from self._release(several)

    def _release(self, batch: list[Parked]) -> Iterator[WaitingItem]:
        """Release a batch; what cannot be read, or was not yielded when the caller stops, waits again."""
        left = deque(self._store.release(batch))
        unread: list[Parked] = []
        try:
            while left:
                parked = left.popleft()
                if (waiting := self._read(parked)) is None:
                    unread.append(parked)
                    continue
                self._store.note_gone(parked)
                with self._report.isolate_step("count an item that waits no longer"):
                    self._count_released(parked.page)
                yield waiting
        finally:
            if kept := [*unread, *left]:
                self._store.safely(None, Store.keep_waiting, kept)

    def _count_released(self, page: int) -> None:
        self._leaving[page] += 1
        if page in self._items_of_page:
            self._items_of_page[page] -= 1
            if not self._items_of_page[page]:
                del self._items_of_page[page]
        self._limits.uncount_released()

    def has_items_of(self, source: SourcePage) -> bool:
        """Return True if items of the page wait that this run got, or are on their way through the pipelines."""
        row = source.row
        return row > 0 and (row in self._items_of_page or row in self._leaving)

    def has_left(self, source: SourcePage) -> None:
        """Note that an item of the page, released before, has gone through the pipelines."""
        row = source.row
        self._leaving[row] -= 1
        if self._leaving[row] <= 0:
            del self._leaving[row]

    def inherit(self) -> int:
        """Take over the items that earlier runs left; return how many."""
        inherited = self._store.safely(0, Store.inherit)
        if inherited:
            self._report.count("inherited", inherited)
            logger.info("%d items wait from an earlier run", inherited)
        return inherited

    def supersede(self, source: SourcePage) -> None:
        """Drop the items that an earlier run parked from a page that this run has fetched again."""
        with self._report.isolate_step("drop the items of a page that was fetched again"):
            self._report.count("superseded", self._store.supersede(source.origin.key))

    def sources(self, site: str | None = None) -> Iterator[SourcePage]:
        """Yield each page that has waiting items; of ``site`` also each that had some in this run."""
        for _, page in self._store.safely([], Store.pages_waiting, site):
            try:
                yield self._source(page)
            except Exception as error:
                self._report_unreadable(error)

    def count(self, site: str | None = None, *, inherited: bool = True) -> int:
        """Return how many items of ``site`` wait, None: of all sites; with or without those of earlier runs."""
        return self._store.safely(0, Store.waiting_count, site, inherited=inherited)

    def _read(self, parked: Parked) -> WaitingItem | None:
        try:
            source = self._source(parked.page)
            return WaitingItem(unpack(paste_html(parked.item, source.to_parked().html)), source)
        except Exception as error:  # another program may have written the row
            self._report_unreadable(error)
            return None

    def _source(self, page: int) -> SourcePage:
        """Return the page with this row number, from the cache if possible, so that it is judged only once."""
        source = self._sources.get(page)
        if source is None:
            source = source_of_parked(self._store.page(page))
            with self._report.isolate_step("keep a page at hand"):
                self._cache(page, source)
        return source

    def _cache(self, page: int, source: SourcePage) -> None:
        if not self._sources.has(page):
            self._sources.add(page, len(source.to_parked().html), source)

    def _report_unreadable(self, error: Exception) -> None:
        self._report.first("unreadable", "An item stays in the store: %s", printable(error), level=logging.ERROR)


class ItemLimits:
    """Tells Scrapy's CloseSpider extension, if a limit is set, which items wait.

    For CLOSESPIDER_ITEMCOUNT and …_NO_ITEM a waiting item counts like one that was scraped.
    """

    def __init__(self, crawler: Crawler) -> None:
        self._crawler = crawler

    @cached_property
    def _extension(self) -> CloseSpider | None:
        return self._crawler.get_extension(CloseSpider)

    def count_waiting(self, item: Any) -> None:
        """Count ``item`` when it begins to wait: the crawl is alive, and closer to its item limit."""
        limits, spider = self._extension, self._crawler.spider
        if limits is None or spider is None:
            return
        if limits.close_on.get("timeout_no_item"):
            limits.item_scraped_no_item(item, spider)
        if limits.close_on.get("itemcount") or limits.close_on.get("pagecount_no_item"):
            limits.item_scraped(item, spider)

    def uncount_released(self) -> None:
        """Take a released item out of the count, because the extension counts it when it is scraped."""
        limits = self._extension
        if limits is not None and limits.counter.get("itemcount"):
            limits.counter["itemcount"] -= 1


def _released_together(batch: list[Parked]) -> list[list[Parked]]:
    """Split a batch: items of earlier runs are released singly, as each is dropped if its page comes."""
    own = [parked for parked in batch if not parked.inherited]
    return [*([parked] for parked in batch if parked.inherited), *([own] if own else [])]


# --- the bytes of an item, in which the HTML of its page is not repeated


def _pack(item: Any, source: SourcePage) -> bytes:
    """Return an item as bytes; raise UnparkableError if it cannot be stored, or not with its page."""
    packed, page = pack(item), source.to_parked()
    data = cut_html(packed, page.html)
    if not page.is_storable() or len(data) > MAX_BYTES - _ROW_OVERHEAD_BYTES:
        raise UnparkableError(f"with its page and response it has more than {MAX_BYTES >> 20} MB")
    return data


def cut_html(item: bytes, html: str) -> bytes:
    """Cut the HTML of a page out of the bytes of an item; :func:`paste_html` puts it back.

    Example:
        >>> packed = b"before " + 400 * b"<p>" + b" after"
        >>> len(cut_html(packed, 400 * "<p>"))
        18
        >>> paste_html(cut_html(packed, 400 * "<p>"), 400 * "<p>") == packed
        True
    """
    if len(html) < MIN_SHARED_CHARACTERS or len(html) > len(item):
        return _encode([item])
    try:
        return _encode(item.split(html.encode()))
    except UnicodeEncodeError:  # a lone surrogate: the store would change the HTML
        return _encode([item])


def paste_html(data: bytes, html: str) -> bytes:
    """Return the bytes of an item as they were before :func:`cut_html`.

    Raises:
        ValueError: ``data`` is damaged, or the item has more than 64 MB.
    """
    parts: list[bytes] = decode_msgpack(data, list[bytes])
    if len(parts) == 1:
        return parts[0]
    own = html.encode()
    if len(data) + len(parts) * len(own) > MAX_BYTES:  # manipulated bytes may repeat the HTML any number of times
        raise ValueError("the item is too large")
    return own.join(parts)
