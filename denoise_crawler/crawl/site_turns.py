"""The order in which pages are learned and judged: those of a site one after the other, as they came."""

from __future__ import annotations

import asyncio
from collections import defaultdict, deque
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from scrapy.utils.asyncio import is_asyncio_available

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from denoise_crawler.crawl.source_page import SourcePage


@dataclass(slots=True)
class _Queue:
    """The pages of a site that wait for their turn, and the page that had the last one."""

    waiting: deque[tuple[asyncio.Future[None], SourcePage]] = field(default_factory=deque)
    is_taken: bool = False
    last: SourcePage | None = None


class Turn:
    """The turn of a page, until :meth:`end`."""

    def __init__(self, turns: SiteTurns, site: str) -> None:
        self._turns, self._site = turns, site
        self.is_over = False

    def end(self) -> None:
        """Let the next page have its turn; a second call does nothing."""
        if not self.is_over:
            self.is_over = True
            self._turns.pass_on(self._site)


class SiteTurns:
    """Gives the pages of a site their turns, in the order in which they ask.

    A page is learned and judged in its turn. So it is judged by what is known of its site when it came, wherever
    that is done and however long it takes. The page that had the last turn goes before those that wait as long as
    nothing else has run since: what a callback yields in one go is of one turn.
    """

    def __init__(self) -> None:
        self._queues: dict[str, _Queue] = {}

    @asynccontextmanager
    async def of(self, source: SourcePage) -> AsyncIterator[Turn]:
        """Wait for the turn of a page, and end it with the block at the latest."""
        turn = await self._begin(source)
        try:
            yield turn
        finally:
            turn.end()

    async def _begin(self, source: SourcePage) -> Turn:
        site = source.page.site
        turn, queue = Turn(self, site), self._queues.setdefault(site, _Queue())
        if queue.is_taken or (queue.waiting and queue.last is not source):
            future = asyncio.get_running_loop().create_future()
            queue.waiting.append((future, source))
            try:
                await future
            except BaseException:
                if future.done() and not future.cancelled():
                    turn.end()
                raise
        queue.is_taken, queue.last = True, source
        return turn

    def pass_on(self, site: str) -> None:
        """End the turn that is taken now."""
        queue = self._queues[site]
        queue.is_taken = False
        if queue.waiting:
            asyncio.get_running_loop().call_soon(self._begin_next, site)
        else:
            del self._queues[site]

    def _begin_next(self, site: str) -> None:
        queue = self._queues.get(site)
        if queue is None or queue.is_taken:
            return
        while queue.waiting:
            future, _ = queue.waiting.popleft()
            if not future.done():
                queue.is_taken = True
                future.set_result(None)
                return
        del self._queues[site]


class SharedTurn:
    """A turn that is over when all the items that were released in it are judged.

    Without the event loop of asyncio it is over at once: there items are sent one after the other, and nobody can
    wait for a turn.

    Args:
        turn: The turn; None if each item has its own.
    """

    def __init__(self, turn: Turn | None) -> None:
        self._turn, self._left = turn, 1
        self._preparing: defaultdict[str, asyncio.Lock] = defaultdict(asyncio.Lock)
        if not is_asyncio_available():
            self.end()

    @property
    def is_over(self) -> bool:
        """Whether each item needs a turn of its own."""
        return self._turn is None or self._turn.is_over

    def begin_item(self) -> None:
        """Note that one more item is to be judged."""
        self._left += 1

    @asynccontextmanager
    async def item(self, site: str) -> AsyncIterator[None]:
        """Judge and fill an item inside the block, after those of its site that began before."""
        try:
            async with self._preparing[site]:
                yield
        finally:
            self.end_item()

    def end_item(self) -> None:
        """Note that an item is judged, or that no more will begin."""
        self._left -= 1
        if not self._left:
            self.end()

    def end(self) -> None:
        """End the turn."""
        if self._turn is not None:
            self._turn.end()
