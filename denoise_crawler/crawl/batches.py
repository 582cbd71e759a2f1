"""Items that are to wait, kept for a moment so that those of one page are written together."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any, NamedTuple

from scrapy.utils.asyncio import is_asyncio_available

if TYPE_CHECKING:
    from collections.abc import Callable

    from denoise_crawler.crawl.source import Source

_MOST_ITEMS = 100
_MOST_BYTES = 1 << 18


class Waited(NamedTuple):
    """An item that is to wait or has waited, with the page it came from."""

    item: Any
    source: Source


class Batch:
    """The items of one page that are to be written together.

    Attributes:
        source: The page.
        data: The items as bytes.
        items: The same items, as they came.
        refused: For each item the list it is appended to if it cannot be written.

    """

    __slots__ = ("data", "items", "refused", "size", "source")

    def __init__(self, source: Source) -> None:
        self.source = source
        self.data: list[bytes] = []
        self.items: list[Any] = []
        self.refused: list[list[Waited]] = []
        self.size = 0

    def give_back(self) -> None:
        """Put each item into the list of who brought it."""
        for item, refused in zip(self.items, self.refused, strict=True):
            refused.append(Waited(item, self.source))


class Batches:
    """Keeps items until they are written: before the event loop turns to other work, or when there are many.

    Args:
        write: Writes a batch, and tells whether that worked; else the items go back to who brought them.
    """

    def __init__(self, write: Callable[[Batch], bool]) -> None:
        self._write = write
        self._batches: dict[Source, Batch] = {}
        self._is_scheduled = False

    def add(self, item: Any, data: bytes, source: Source, refused: list[Waited]) -> None:
        """Keep an item until it is written.

        Args:
            item: The item.
            data: The item as bytes.
            source: Its page.
            refused: A list that gets the item if it cannot be written.
        """
        batch = self._batches.get(source)
        if batch is not None and batch.size + len(data) > _MOST_BYTES:
            self._finish(batch)
            batch = None
        if batch is None:
            batch = self._batches[source] = Batch(source)
        batch.data.append(data)
        batch.items.append(item)
        batch.refused.append(refused)
        batch.size += len(data)
        if len(batch.items) >= _MOST_ITEMS or not is_asyncio_available():
            self._finish(batch)
        elif not self._is_scheduled:
            self._is_scheduled = True
            asyncio.get_running_loop().call_soon(self._turn_ends)

    def hold(self, source: Source) -> bool:
        """Tell whether items of a page are kept here."""
        return source in self._batches

    def write(self) -> None:
        """Write all that is kept."""
        while self._batches:
            self._finish(next(iter(self._batches.values())))

    def _turn_ends(self) -> None:
        self._is_scheduled = False
        self.write()

    def _finish(self, batch: Batch) -> None:
        del self._batches[batch.source]
        written = False
        try:
            written = self._write(batch)
        finally:
            if not written:
                batch.give_back()
