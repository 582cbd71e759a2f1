"""The items that wait in the store until their site is known: parked, counted, read back page by page."""

from __future__ import annotations

import json
import logging
from base64 import b64encode
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from functools import cached_property
from pathlib import Path
from typing import Any, Concatenate, NamedTuple, ParamSpec, TypeVar

from cachetools import LRUCache
from scrapy.crawler import Crawler
from scrapy.extensions.closespider import CloseSpider

from denoise_crawler.crawl.pickled import is_body, pack, response_as_bytes, response_from_bytes, unpack
from denoise_crawler.crawl.report import CrawlReport, class_path
from denoise_crawler.crawl.source_page import Origin, SourcePage, source_cache
from denoise_crawler.errors import DamagedRowError, UnparkableError
from denoise_crawler.methods.stored_bytes import MAX_BYTES
from denoise_crawler.page import Page
from denoise_crawler.page.text import printable
from denoise_crawler.store import Store
from denoise_crawler.store.file import is_private
from denoise_crawler.store.store import Parked, ParkedPage, ParkedResponse, WaitingPage

logger = logging.getLogger(__name__)

_CACHED_PAGES, _CACHED_CHARACTERS = 64, 4_000_000  # in memory besides the store
P = ParamSpec("P")
T = TypeVar("T")


class GuardedStore:
    """The store as a crawl uses it: when it fails, the error is reported, the crawl goes on, no item is lost."""

    def __init__(self, store: Store, report: Callable[[Exception], None]) -> None:
        self.store, self.report = store, report

    def safely(
        self, default: T, call: Callable[Concatenate[Store, P], T], *values: P.args, **named: P.kwargs
    ) -> T:
        """Return what a method of the store returns, such as ``Store.inherit``; ``default`` if it raises."""
        try:
            return call(self.store, *values, **named)
        except Exception as error:  # no error of the store costs an item
            self.report(error)
            return default

    @contextmanager
    def together(self) -> Iterator[None]:
        """Commit at once all that is written inside the block."""
        transaction = ExitStack()
        self.safely(None, lambda store: transaction.enter_context(store.together()))
        try:
            yield
        finally:
            self.safely(None, lambda _: transaction.close())


class WaitingItem(NamedTuple):
    """An item that waited, with the page it came from."""

    item: Any
    source: SourcePage


class WaitingItems:
    """Parks items in the store and reads them back. Items of one page share its :class:`SourcePage`.

    Items are pickled. So a file that other users own, or can write, is not read, and nothing waits in it.
    """

    def __init__(self, crawler: Crawler, store: GuardedStore, report: CrawlReport) -> None:
        self._store, self._path, self._report = store, store.store.path, report
        self._limits = ItemLimits(crawler)
        self._has_inherited = False
        self._hidden_origins: set[bytes] = set()  # of inherited items that could not be dropped
        # By row of the page. One that is released leaves: what is read back from the store meanwhile must not push
        # out those whose turn comes later.
        self._sources = source_cache(_CACHED_PAGES, _CACHED_CHARACTERS)

    @cached_property
    def _is_private(self) -> bool:
        """True if no other user can write the file."""
        if is_private(self._path):
            return True
        self._report.once(
            "private",
            "%s belongs to another user, or others can write it: no item waits in it, and none of it is read. To "
            "share what is known of sites, set DENOISE_SHARED_STORE",
            self._path,
        )
        return False

    def park(self, item: Any, source: SourcePage) -> bool:
        """Let an item wait: it is in the file of the store when this returns.

        Return False if it cannot be stored, and must go on now.
        """
        try:
            page = _parked_page(source)
            data = pack(item, page.html)
            if not page.is_storable() or len(data) > MAX_BYTES:
                raise UnparkableError(f"with its page and response it has more than {MAX_BYTES >> 20} MB")
        except UnparkableError as error:
            self._report.first(
                "unparkable",
                "Items of this class cannot wait until their site is known and are cleaned at once: %s",
                error,
                key=class_path(type(item)),
            )
            return False
        row = self._store.safely(0, Store.park, page, data) if self._is_private else 0
        if row:
            with self._report.isolate_step("count an item that waits"):
                self._report.count("parked")
                self._limits.count_waiting(item)
                self._sources[row] = source
        return bool(row)

    def release(
        self, site: str | None = None, origin: bytes | None = None, *, inherited: bool = True
    ) -> Iterator[Iterator[WaitingItem]]:
        """Release waiting items page by page, in the order in which their first items came.

        Args:
            site: The site; None for all.
            origin: The key of a page, for its items only.
            inherited: Whether items of earlier runs are released too.

        Yields:
            For each page its items, in order. An item that was taken waits no longer.
        """
        last = -1
        while pages := self._store.safely([], Store.next_pages, site, last, inherited=inherited):
            last = pages[-1].first
            for page in pages:
                if origin in (None, page.origin):
                    yield self._release_page(page, inherited)

    def _release_page(self, page: WaitingPage, inherited: bool) -> Iterator[WaitingItem]:
        sources, last = source_cache(_CACHED_PAGES, _CACHED_CHARACTERS), -1  # items may have pages of their own
        while batch := self._next_items(page, last, inherited):
            last = batch[-1].id
            if self._store.safely(0, Store.release, [parked.id for parked in batch]):
                yield from self._take_each(batch, sources)

    def _next_items(self, page: WaitingPage, last: int, inherited: bool) -> list[Parked]:
        if inherited and page.origin in self._hidden_origins:
            inherited = False
        return self._store.safely([], Store.next_items, page, last, inherited=inherited)

    def _take_each(self, batch: list[Parked], sources: LRUCache[Any, SourcePage]) -> Iterator[WaitingItem]:
        """Yield released items; those that the caller does not take wait again."""
        left = {parked.id for parked in batch}
        try:
            for parked in batch:
                try:
                    waiting = self._read(parked, sources)
                except Exception as error:  # of another release, or its class is gone
                    if self._set_aside(parked, error):
                        left.remove(parked.id)
                    continue
                left.remove(parked.id)
                with self._report.isolate_step("count an item that waits no longer"):
                    self._limits.uncount_released()
                yield waiting
        finally:
            if left:
                self._store.safely(0, Store.release, left, released=False)

    def _read(self, parked: Parked, sources: LRUCache[Any, SourcePage]) -> WaitingItem:
        source = sources.get(parked.page) or self._sources.pop(parked.page, None)
        if source is None:
            source = _source_of(self._store.store.page(parked.page))
        sources[parked.page] = source  # its other items share it, so that it is judged only once
        return WaitingItem(unpack(parked.item, _parked_page(source).html), source)

    def _set_aside(self, parked: Parked, error: Exception) -> bool:
        """Write an item that cannot be read into a file beside the store; return False if that fails."""
        if not isinstance(error, ValueError | DamagedRowError):  # the store, not the item
            self._store.report(error)
            return False
        message = "An item that waited cannot be read and is kept in %s: %s"
        self._report.first("unreadable", message, self.unreadable, printable(error), level=logging.ERROR)
        row = {"site": parked.site, "error": str(error), "item": b64encode(parked.item).decode("ascii")}
        try:
            self.unreadable.touch(0o600)
            with self.unreadable.open("a") as lines:
                lines.write(json.dumps(row) + "\n")
        except OSError as failure:
            self._store.report(failure)
            return False
        return True

    @property
    def unreadable(self) -> Path:
        """The file for items that cannot be read."""
        return self._path.with_name(f"{self._path.name}-unreadable.jsonl")

    def inherit(self) -> int:
        """Take over the items that earlier runs left; return how many."""
        inherited = self._store.safely(0, Store.inherit) if self._is_private else 0
        if inherited:
            self._has_inherited = True
            self._report.count("inherited", inherited)
            logger.info("%d items wait from an earlier run", inherited)
        return inherited

    def supersede(self, source: SourcePage) -> None:
        """Drop the items that an earlier run parked from a page that this run has fetched again."""
        if not self._has_inherited:
            return
        with self._report.isolate_step("drop the items of a page that was fetched again"):
            dropped = self._store.safely(-1, Store.supersede, source.origin.key)
            if dropped < 0:
                self._hidden_origins.add(source.origin.key)  # at least this run does not release them
            self._report.count("superseded", max(dropped, 0))

    def sites(self) -> set[str]:
        """Return the sites of which items wait."""
        return {site for site, _ in self._store.safely([], Store.pages_waiting)}

    def sources(self) -> Iterator[SourcePage]:
        """Yield each page that has waiting items."""
        for _, page in self._store.safely([], Store.pages_waiting):
            with suppress(Exception):  # it is reported when its items are released
                yield _source_of(self._store.store.page(page))

    def count(self, site: str | None = None, *, inherited: bool = True) -> int:
        """Return how many items of ``site`` wait, None: of all sites; with or without those of earlier runs."""
        return self._store.safely(0, Store.waiting_count, site, inherited=inherited)


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
        """Uncount a released item, because the extension counts it when it is scraped."""
        limits = self._extension
        if limits is not None and limits.counter.get("itemcount"):
            limits.counter["itemcount"] -= 1


def _parked_page(source: SourcePage) -> ParkedPage:
    """Return a page as the store keeps it."""
    if source.parked is None:
        page, origin = source.page, source.origin
        response, html = origin.response, page.markup
        if response is None:
            parked = None
        elif is_body(html, response):
            parked = ParkedResponse(response_as_bytes(response, with_body=False))
        else:  # all such pages share the response
            parked = origin.parked = origin.parked or ParkedResponse(response_as_bytes(response))
        source.parked = ParkedPage(page.site, page.url, html, origin.key, parked)
    return source.parked


def _source_of(parked: ParkedPage) -> SourcePage:
    """Return the page of items that waited, learned, with its response rebuilt from the store."""
    response = None if parked.response is None else response_from_bytes(parked.response.data, parked.html)
    page = Page.parse(parked.url, parked.html, site=parked.site)
    origin = Origin(parked.origin, response)
    return SourcePage(page, origin, has_page=bool(parked.html), learned=True, parked=parked)
