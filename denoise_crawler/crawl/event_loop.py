"""Shares Scrapy's event loop, which nothing blocks longer than a page."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Iterable
from time import perf_counter

from scrapy import signals
from scrapy.crawler import Crawler
from scrapy.utils.asyncio import create_looping_call, is_asyncio_available
from scrapy.utils.defer import deferred_from_coro

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
