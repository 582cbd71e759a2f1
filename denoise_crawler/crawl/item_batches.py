"""Collects items that are about to wait, so that those of one page are written together."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

from scrapy.utils.asyncio import is_asyncio_available

if TYPE_CHECKING:
    from collections.abc import Callable

    from denoise_crawler.crawl.source_page import SourcePage

_MAX_BATCH_ITEMS = 100
_MAX_BATCH_BYTES = 1 << 18


class WaitingItem(NamedTuple):
    """An item that waits or waited, with the page it came from."""

    item: Any
    source: SourcePage


@dataclass(slots=True, eq=False)
class ItemBatch:
    """Items of one page that are written together.

    Attributes:
        source: The page.
        data: The items as bytes.
        items: The same items as they came.
        refused: For each item, the list it is added to if it cannot be written.
        size: How many bytes ``data`` has.

    """

    source: SourcePage
    data: list[bytes] = field(default_factory=list)
    items: list[Any] = field(default_factory=list)
    refused: list[list[WaitingItem]] = field(default_factory=list)
    size: int = 0

    def refuse(self) -> None:
        """Add each item to its ``refused`` list."""
        for item, refused in zip(self.items, self.refused, strict=True):
            refused.append(WaitingItem(item, self.source))


class ItemBatches:
    """Collects items, and writes them when a batch is full or before the event loop turns to other work.

    Args:
        write: Writes a batch and returns whether that worked. If not, its items are refused.
    """

    def __init__(self, write: Callable[[ItemBatch], bool]) -> None:
        self._write = write
        self._batches: dict[SourcePage, ItemBatch] = {}
        self._is_scheduled = False

    def add(self, item: Any, data: bytes, source: SourcePage, refused: list[WaitingItem]) -> None:
        """Add an item to the batch of its page.

        Args:
            item: The item.
            data: The item as bytes.
            source: Its page.
            refused: The list that gets the item if it cannot be written.
        """
        batch = self._batches.get(source)
        if batch is not None and batch.size + len(data) > _MAX_BATCH_BYTES:
            self._write_batch(batch)
            batch = None
        if batch is None:
            batch = self._batches[source] = ItemBatch(source)
        batch.data.append(data)
        batch.items.append(item)
        batch.refused.append(refused)
        batch.size += len(data)
        if len(batch.items) >= _MAX_BATCH_ITEMS or not is_asyncio_available():
            self._write_batch(batch)
        elif not self._is_scheduled:
            self._is_scheduled = True
            asyncio.get_running_loop().call_soon(self._write_scheduled)

    def __contains__(self, source: SourcePage) -> bool:
        return source in self._batches

    def write(self) -> None:
        """Write all batches."""
        while self._batches:
            self._write_batch(next(iter(self._batches.values())))

    def _write_scheduled(self) -> None:
        self._is_scheduled = False
        self.write()

    def _write_batch(self, batch: ItemBatch) -> None:
        del self._batches[batch.source]
        written = False
        try:
            written = self._write(batch)
        finally:
            if not written:
                batch.refuse()
