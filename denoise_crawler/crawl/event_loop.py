"""Scrapy's event loop: nothing of ours keeps it from other work for longer than one step of one page."""

from __future__ import annotations

import asyncio
from time import perf_counter
from typing import TYPE_CHECKING

from scrapy.utils.asyncio import is_asyncio_available

_TURN_SECONDS = 0.005
_BEGUN_AT_ONCE = 10  # calls

if TYPE_CHECKING:
    from collections.abc import Awaitable, Iterable


class Turns:
    """Gives the event loop back to others after a while."""

    def __init__(self) -> None:
        self._began = perf_counter()

    async def let_others_work(self) -> None:
        """Let the loop do what waits, if our turn is over; with another reactor than asyncio's, go on at once."""
        if perf_counter() - self._began > _TURN_SECONDS and is_asyncio_available():
            await asyncio.sleep(0)
            self._began = perf_counter()


async def pause() -> None:
    """Let the loop do once what waits; with another reactor than asyncio's, go on at once."""
    if is_asyncio_available():
        await asyncio.sleep(0)


async def in_parallel(calls: Iterable[Awaitable[None]], limit: int) -> None:
    """Begin the calls in order, and wait until all are done.

    Args:
        calls: Coroutines, taken one by one.
        limit: How many may be under way at a time. With another reactor than asyncio's it is one.
    """
    if not is_asyncio_available():
        for call in calls:
            await call
        return
    under_way: set[asyncio.Future[None]] = set()
    turns, begun = Turns(), 0
    try:
        for call in calls:
            future = asyncio.ensure_future(call)
            under_way.add(future)
            future.add_done_callback(under_way.discard)
            begun += 1
            if len(under_way) >= limit:
                await asyncio.wait(under_way, return_when=asyncio.FIRST_COMPLETED)
            elif begun % _BEGUN_AT_ONCE == 0:
                await asyncio.sleep(0)
            else:
                await turns.let_others_work()
    finally:
        if under_way:
            await asyncio.wait(under_way)
