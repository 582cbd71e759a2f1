"""Shares Scrapy's event loop: we never block it for longer than one step of one page takes."""

from __future__ import annotations

import asyncio
from time import perf_counter
from typing import TYPE_CHECKING

from scrapy.utils.asyncio import is_asyncio_available

_SLICE_SECONDS = 0.005
_MAX_CALLS_PER_SLICE = 10

if TYPE_CHECKING:
    from collections.abc import Awaitable, Iterable


class TimeSlice:
    """Returns control to the event loop after a few milliseconds of our work."""

    def __init__(self) -> None:
        self._began = perf_counter()

    async def yield_if_over(self) -> None:
        """Let other tasks run if our slice is over; do nothing without an asyncio loop."""
        if perf_counter() - self._began > _SLICE_SECONDS:
            await pause()
            self._began = perf_counter()


async def pause() -> None:
    """Let other tasks run once; do nothing without an asyncio loop."""
    if is_asyncio_available():
        await asyncio.sleep(0)


async def run_concurrently(calls: Iterable[Awaitable[None]], limit: int) -> None:
    """Start calls in order and wait until all are done.

    Args:
        calls: Coroutines, taken one by one.
        limit: How many may run at a time. Without an asyncio loop it is one.
    """
    if not is_asyncio_available():
        for call in calls:
            await call
        return
    running: set[asyncio.Future[None]] = set()
    room = asyncio.Semaphore(max(limit - 1, 0))  # for calls beside the one that was started last
    time_slice, started = TimeSlice(), 0
    try:
        for call in calls:
            future = asyncio.ensure_future(call)
            running.add(future)
            future.add_done_callback(running.discard)
            future.add_done_callback(lambda _: room.release())
            started += 1
            await room.acquire()
            if started % _MAX_CALLS_PER_SLICE == 0:
                await asyncio.sleep(0)
            else:
                await time_slice.yield_if_over()
    finally:
        if running:
            await asyncio.wait(running)
