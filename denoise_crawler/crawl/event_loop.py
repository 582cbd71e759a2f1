"""Shares Scrapy's event loop, which nothing blocks longer than a page's step, and orders pages by site."""

from __future__ import annotations

import asyncio
import logging
from collections import defaultdict, deque
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from time import perf_counter

from scrapy import signals
from scrapy.crawler import Crawler
from scrapy.utils.asyncio import create_looping_call, is_asyncio_available
from scrapy.utils.defer import deferred_from_coro

from denoise_crawler.crawl.source_page import SourcePage

logger = logging.getLogger(__name__)

_SLICE_SECONDS = 0.005
_MAX_CALLS_PER_SLICE = 10


class TimeSlice:
    """Returns control to the event loop after a few milliseconds of work."""

    def __init__(self) -> None:
        self._began = perf_counter()

    async def yield_if_over(self) -> None:
        """Let other tasks run if this slice is over; do nothing without an asyncio loop."""
        if perf_counter() - self._began > _SLICE_SECONDS:
            await pause()
            self._began = perf_counter()


async def pause() -> None:
    """Let other tasks run once; do nothing without an asyncio loop."""
    if is_asyncio_available():
        await asyncio.sleep(0)


async def run_concurrently(calls: Iterable[Awaitable[None]], limit: int) -> None:
    """Start coroutines in order, at most ``limit`` at a time (without an asyncio loop one), and wait for all."""
    if not is_asyncio_available():
        for call in calls:
            await call
        return
    running: set[asyncio.Future[None]] = set()
    room = asyncio.Semaphore(max(limit - 1, 0))  # for calls beside the one that was started last
    time_slice, started = TimeSlice(), 0

    def ended(future: asyncio.Future[None]) -> None:
        running.discard(future)
        room.release()

    try:
        for call in calls:
            future = asyncio.ensure_future(call)
            running.add(future)
            future.add_done_callback(ended)
            started += 1
            await room.acquire()
            if started % _MAX_CALLS_PER_SLICE == 0:
                await asyncio.sleep(0)
            else:
                await time_slice.yield_if_over()
    finally:
        if running:
            await asyncio.wait(running)


# --- a task once a second, also when no item arrives

_INTERVAL_SECONDS = 1.0


class PeriodicTask:
    """Calls ``work`` once a second while the spider is open, and never twice at the same time.

    If it raises, the error is logged and it is not called again.
    """

    def __init__(self, crawler: Crawler, work: Callable[[], Awaitable[None]]) -> None:
        self._work, self._is_running = work, False
        crawler.signals.connect(self._start, signals.spider_opened)
        crawler.signals.connect(self._stop, signals.spider_closed)

    def _start(self) -> None:
        self._clock = create_looping_call(self._tick)
        self._clock.start(_INTERVAL_SECONDS, now=False)

    def _stop(self) -> None:
        if self._clock.running:
            self._clock.stop()

    def _tick(self) -> None:
        if not self._is_running:
            self._is_running = True
            deferred_from_coro(self._run())

    async def _run(self) -> None:
        try:
            await self._work()
        except Exception:
            logger.exception("A task that denoise_crawler runs once a second failed and is not run again")
            self._stop()
        finally:
            self._is_running = False


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

    def is_free(self, source: SourcePage) -> bool:
        """Return True if the turn of a page would begin at once."""
        queue = self._queues.get(source.page.site)
        return queue is None or not (queue.is_taken or (queue.waiting and queue.last is not source))

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
        turn, is_free = Turn(self, site), self.is_free(source)
        queue = self._queues.setdefault(site, _Queue())
        if not is_free:
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

    Attributes:
        of_site: Held by site while an item is judged and filled, so that those that began before go first.
    """

    def __init__(self, turn: Turn | None) -> None:
        self._turn, self._left = turn, 1
        self.of_site: defaultdict[str, asyncio.Lock] = defaultdict(asyncio.Lock)
        if not is_asyncio_available():
            self.end()

    @property
    def is_over(self) -> bool:
        """Whether each item needs a turn of its own."""
        return self._turn is None or self._turn.is_over

    def begin_item(self) -> None:
        """Note that one more item is to be judged."""
        self._left += 1

    def end_item(self) -> None:
        """Note that an item is judged, or that no more will begin."""
        self._left -= 1
        if not self._left:
            self.end()

    def end(self) -> None:
        """End the turn."""
        if self._turn is not None:
            self._turn.end()
