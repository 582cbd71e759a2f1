"""The items that wait in the store until their site is known."""

from __future__ import annotations

import logging
from collections import Counter, OrderedDict
from itertools import groupby
from operator import attrgetter
from typing import TYPE_CHECKING, Any

from denoise_crawler.crawl.html_sharing import cut_html, paste_html
from denoise_crawler.crawl.item_batches import ItemBatches, WaitingItem
from denoise_crawler.crawl.item_codec import pack, unpack
from denoise_crawler.crawl.item_limits import ItemLimits
from denoise_crawler.crawl.source_page import source_of_parked
from denoise_crawler.crawl.unparkable import FirstOfClass
from denoise_crawler.errors import UnparkableError
from denoise_crawler.methods.versioned_format import MAX_BYTES
from denoise_crawler.page.text import printable

if TYPE_CHECKING:
    from collections.abc import Iterator

    from scrapy.crawler import Crawler

    from denoise_crawler.crawl.counts import Counts
    from denoise_crawler.crawl.failure_log import FailureLog
    from denoise_crawler.crawl.guarded_store import GuardedStore
    from denoise_crawler.crawl.item_batches import ItemBatch
    from denoise_crawler.crawl.source_page import SourcePage
    from denoise_crawler.store.parked import Parked

logger = logging.getLogger(__name__)

# Items of pages that were crawled at the same time alternate in the store.
_MAX_CACHED_PAGES = 64
_MAX_CACHED_CHARACTERS = 4_000_000
_ROW_OVERHEAD_BYTES = 16


class WaitingItems:
    """Parks items in the store and reads them back. Items of one page share its :class:`SourcePage`."""

    def __init__(self, crawler: Crawler, store: GuardedStore, counts: Counts, failures: FailureLog) -> None:
        self._store, self._counts, self._failures = store, counts, failures
        self._limits = ItemLimits(crawler)
        self._unparkable = FirstOfClass()
        self._sources: OrderedDict[int, SourcePage] = OrderedDict()
        self._cached_characters = 0
        self._items_of_page: Counter[int] = Counter()
        self._leaving: Counter[int] = Counter()  # released items in the pipelines, by page
        self._batches = ItemBatches(self._write)
        store.write_first(self.write)

    def park(self, item: Any, source: SourcePage, refused: list[WaitingItem]) -> bool:
        """Let an item wait. It is written together with other items of its page: see :meth:`write`.

        Args:
            item: The item.
            source: Its page.
            refused: Gets the item if the store cannot take it after all; then it must be passed on.

        Returns:
            False if the item cannot be stored.
        """
        try:
            packed, page = pack(item), source.to_parked()
            data = cut_html(packed, page.html)
            if not page.is_storable() or len(data) > MAX_BYTES - _ROW_OVERHEAD_BYTES:
                raise UnparkableError(f"with its page and response it has more than {MAX_BYTES >> 20} MB")
        except UnparkableError as error:
            self._counts.add("unparkable")
            if self._unparkable.is_first(type(item)):
                logger.warning(
                    "Items of this class cannot wait until their site is known and are cleaned at once: %s", error
                )
            return False
        self._batches.add(item, data, source, refused)
        return True

    def write(self) -> None:
        """Write the items that were parked. This also happens before the event loop turns to other work."""
        self._batches.write()

    def _write(self, batch: ItemBatch) -> bool:
        """Write a batch; return whether its items wait now, whatever else fails."""
        written = False
        with self._failures.isolate_step("let items wait"):
            page = batch.source.to_parked()
            written = self._store.park(page, batch.data)
            if written:
                self._count(page.row, batch)
        return written

    def _count(self, row: int, batch: ItemBatch) -> None:
        self._cache(row, batch.source)
        self._items_of_page[row] += len(batch.items)
        self._counts.add("parked", len(batch.items))
        for item in batch.items:
            self._limits.count_waiting(item)

    def release(self, site: str | None = None, *, inherited: bool = True) -> Iterator[WaitingItem]:
        """Release waiting items in order, also those that are parked meanwhile.

        Args:
            site: Whose items to release, None for all.
            inherited: Whether to release the items of earlier runs too.

        Yields:
            The items with their pages. A yielded item waits no longer. One that cannot be read stays in the store.
        """
        waiting = self._store.waiting(site, inherited=inherited)
        for _, row in groupby(waiting, key=attrgetter("row")):
            yield from self._release_row(list(row))

    def _release_row(self, row: list[Parked]) -> Iterator[WaitingItem]:
        readable = [(parked, waiting) for parked in row if (waiting := self._read(parked)) is not None]
        if not self._store.hand_on([parked for parked, _ in readable]):
            return
        taken = 0
        try:
            for parked, waiting in readable:
                taken += 1
                with self._failures.isolate_step("count an item that waits no longer"):
                    self._leaving[parked.page] += 1
                    self._uncount(parked.page)
                    self._limits.uncount_released()
                yield waiting
        finally:
            if untaken := [parked for parked, _ in readable[taken:]]:
                self._store.take_back(untaken)

    def has_items_of(self, source: SourcePage) -> bool:
        """Tell whether items of the page wait that this run got, or are on their way through the pipelines."""
        if not source.is_parked:
            return False
        row = source.to_parked().row
        return source in self._batches or row in self._items_of_page or row in self._leaving

    def has_left(self, source: SourcePage) -> None:
        """Note that an item of the page, released before, has gone through the pipelines."""
        row = source.to_parked().row
        self._leaving[row] -= 1
        if self._leaving[row] <= 0:
            del self._leaving[row]

    def inherit(self) -> int:
        """Take over the items that earlier runs left; return how many."""
        inherited = self._store.inherit()
        if inherited:
            self._counts.add("inherited", inherited)
            logger.info("%d items wait from an earlier run", inherited)
        return inherited

    def supersede(self, source: SourcePage) -> None:
        """Drop the items that an earlier run parked from a page that this run has fetched again."""
        with self._failures.isolate_step("drop the items of a page that was fetched again"):
            if superseded := self._store.supersede(source.origin.key):
                self._counts.add("superseded", superseded)

    def sources(self, site: str | None = None) -> Iterator[SourcePage]:
        """Yield each page that has waiting items; of ``site`` also each that had some in this run."""
        for _, page in self._store.pages_waiting(site):
            try:
                yield self._source(page)
            except Exception as error:
                self._report_unreadable(error)

    def count(self, site: str | None = None) -> int:
        """Return how many items of ``site`` wait, None: of all sites."""
        return self._store.waiting_count(site)

    def _read(self, parked: Parked) -> WaitingItem | None:
        try:
            source = self._source(parked.page)
            return WaitingItem(unpack(paste_html(parked.item, source.to_parked().html)), source)
        except Exception as error:  # another program may have written the row
            self._report_unreadable(error)
            return None

    def _uncount(self, page: int) -> None:
        if page in self._items_of_page:
            self._items_of_page[page] -= 1
            if not self._items_of_page[page]:
                del self._items_of_page[page]

    def _source(self, page: int) -> SourcePage:
        """Return the page with this row number, from the cache if possible, so that it is judged only once."""
        source = self._sources.get(page) or source_of_parked(self._store.page(page))
        with self._failures.isolate_step("keep a page at hand"):
            self._cache(page, source)
        return source

    def _cache(self, page: int, source: SourcePage) -> None:
        if page not in self._sources:
            self._sources[page] = source
            self._cached_characters += len(source.to_parked().html)
        self._sources.move_to_end(page)
        while len(self._sources) > 1 and (
            len(self._sources) > _MAX_CACHED_PAGES or self._cached_characters > _MAX_CACHED_CHARACTERS
        ):
            _, oldest = self._sources.popitem(last=False)
            self._cached_characters -= len(oldest.to_parked().html)

    def _report_unreadable(self, error: Exception) -> None:
        if not self._counts.add("unreadable"):
            logger.error("An item stays in the store: %s", printable(error))
