"""Items that wait in the store until their site is known."""

from __future__ import annotations

import logging
from collections import Counter, OrderedDict
from itertools import groupby
from operator import attrgetter
from typing import TYPE_CHECKING, Any

from denoise_crawler.crawl.batches import Batches, Waited
from denoise_crawler.crawl.item_limits import ItemLimits
from denoise_crawler.crawl.parked_items import pack, unpack
from denoise_crawler.crawl.shared_html import cut_html, paste_html
from denoise_crawler.crawl.source import source_of_parked
from denoise_crawler.crawl.unparkable import OncePerClass
from denoise_crawler.errors import UnparkableError
from denoise_crawler.methods.versioned_format import MAX_BYTES
from denoise_crawler.page.text import printable

if TYPE_CHECKING:
    from collections.abc import Iterator

    from scrapy.crawler import Crawler

    from denoise_crawler.crawl.batches import Batch
    from denoise_crawler.crawl.counts import Counts
    from denoise_crawler.crawl.guarded_store import GuardedStore
    from denoise_crawler.crawl.source import Source
    from denoise_crawler.store.parked import Parked

logger = logging.getLogger(__name__)

# Items of pages that were crawled at the same time alternate.
_PAGES_IN_MEMORY = 64
_CHARACTERS_IN_MEMORY = 4_000_000
_ROW_BYTES = 16  # a row of the store has more than its items, but not so many


class WaitingItems:
    """Lets items wait in the store and gives them back, each page and response once."""

    def __init__(self, crawler: Crawler, store: GuardedStore, counts: Counts) -> None:
        self._store, self._counts = store, counts
        self._limits = ItemLimits(crawler)
        self._unparkable = OncePerClass()
        self._sources: OrderedDict[int, Source] = OrderedDict()
        self._characters = 0
        self._items_of_page: Counter[int] = Counter()
        self._batches = Batches(self._write)
        store.write_first(self.write)

    def park(self, item: Any, source: Source, refused: list[Waited]) -> bool:
        """Let ``item`` wait, once it is written with others of its page: see :meth:`write`.

        Args:
            item: The item.
            source: Its page.
            refused: A list that gets the item if it cannot be written after all; so it has to go on.

        Returns:
            Whether it may wait.
        """
        try:
            packed, page = pack(item), source.parked()
            data = cut_html(packed, page.html)
            if not page.is_storable() or len(data) > MAX_BYTES - _ROW_BYTES:
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
        """Write all items that are to wait; this happens by itself before the event loop goes on."""
        self._batches.write()

    def _write(self, batch: Batch) -> bool:
        page = batch.source.parked()
        if not self._store.park(page, batch.data):
            return False
        self._remember(page.row, batch.source)
        self._items_of_page[page.row] += len(batch.items)
        self._counts.add("parked", len(batch.items))
        for item in batch.items:
            self._limits.waits(item)
        return True

    def of(self, site: str | None = None, *, inherited: bool = True) -> Iterator[Waited]:
        """Yield the items that wait, of ``site`` or of all, in order, those parked meanwhile too.

        An item that is yielded waits no longer. One that cannot be read stays in the store.
        """
        waiting = self._store.waiting(site, inherited=inherited)
        for _, together in groupby(waiting, key=attrgetter("row")):
            yield from self._handed_on(list(together))

    def _handed_on(self, some: list[Parked]) -> Iterator[Waited]:
        readable = [(parked, waited) for parked in some if (waited := self._read(parked)) is not None]
        if not self._store.hand_on([parked for parked, _ in readable]):
            return
        taken = 0
        try:
            for parked, waited in readable:
                taken += 1
                self._hand_on(parked.page)
                self._limits.goes_on()
                yield waited
        finally:
            if untaken := [parked for parked, _ in readable[taken:]]:
                self._store.take_back(untaken)

    def has_items_of(self, source: Source) -> bool:
        """Tell whether items of the page wait that came in this run."""
        if not source.is_parked:
            return False
        return self._batches.hold(source) or source.parked().row in self._items_of_page

    def inherit(self) -> int:
        """Take over what earlier runs left; return how many items."""
        inherited = self._store.inherit()
        if inherited:
            self._counts.add("inherited", inherited)
            logger.info("%d items wait from an earlier run", inherited)
        return inherited

    def supersede(self, source: Source) -> None:
        """Drop what an earlier run left of a page that has come again."""
        if superseded := self._store.supersede(source.origin.key):
            self._counts.add("superseded", superseded)

    def sources(self) -> Iterator[Source]:
        """Yield the page of each response of which items wait."""
        for _, page in self._store.pages_waiting():
            try:
                yield self._source(page)
            except Exception as error:
                self._unreadable(error)

    def count(self, site: str | None = None) -> int:
        """Return how many items wait."""
        return self._store.waiting_count(site)

    def _read(self, parked: Parked) -> Waited | None:
        try:
            source = self._source(parked.page)
            return Waited(unpack(paste_html(parked.item, source.parked().html)), source)
        except Exception as error:  # what is stored may be made by others
            self._unreadable(error)
            return None

    def _hand_on(self, page: int) -> None:
        if page in self._items_of_page:
            self._items_of_page[page] -= 1
            if not self._items_of_page[page]:
                del self._items_of_page[page]

    def _source(self, page: int) -> Source:
        """Return the page with this number: the one in memory, if there is one, so that it is judged once."""
        source = self._sources.get(page) or source_of_parked(self._store.page(page))
        self._remember(page, source)
        return source

    def _remember(self, page: int, source: Source) -> None:
        if page not in self._sources:
            self._sources[page] = source
            self._characters += len(source.parked().html)
        self._sources.move_to_end(page)
        while len(self._sources) > 1 and self._is_too_much():
            _, oldest = self._sources.popitem(last=False)
            self._characters -= len(oldest.parked().html)

    def _is_too_much(self) -> bool:
        return len(self._sources) > _PAGES_IN_MEMORY or self._characters > _CHARACTERS_IN_MEMORY

    def _unreadable(self, error: Exception) -> None:
        if not self._counts.add("unreadable"):
            logger.error("An item stays in the store: %s", printable(error))
