"""Works with the event loop of Scrapy, asyncio's or Twisted's."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Iterable

from scrapy import signals
from scrapy.crawler import Crawler
from scrapy.utils.asyncio import call_later, create_looping_call, is_asyncio_available
from scrapy.utils.defer import deferred_from_coro, maybe_deferred_to_future
from twisted.internet.defer import Deferred

logger = logging.getLogger(__name__)


class Gate:
    """Closed when it is made; whoever waits goes on when it is opened, in the order of arrival.

    Attributes:
        is_open: Whether it was opened.
        is_free: Whether all who waited have gone on.
    """

    def __init__(self) -> None:
        self._waiting: list[Deferred[None]] = []
        self.is_open = self.is_free = False

    async def wait(self) -> None:
        """Wait until the gate is opened, and until those who came before have gone on."""
        if not self.is_free:
            turn: Deferred[None] = Deferred()
            self._waiting.append(turn)
            await maybe_deferred_to_future(turn)

    def open(self) -> None:
        """Wake all who wait."""
        self.is_open = True
        waiting, self._waiting = self._waiting, []
        for turn in waiting:
            turn.callback(None)
        if waiting:  # with asyncio they go on a moment later
            call_later(0, self.open)
        else:
            self.is_free = True


async def sleep(seconds: float) -> None:
    """Wait for so many seconds without blocking the event loop."""
    passed: Deferred[None] = Deferred()
    call_later(seconds, passed.callback, None)
    await maybe_deferred_to_future(passed)


class Concurrently:
    """Runs coroutines, a bounded number at a time; without an asyncio loop one after the other.

    Args:
        limit: How many run at a time.
        patience: After so many seconds without an end of any of them, no more are waited for.
    """

    def __init__(self, limit: int, patience: float) -> None:
        self._limit, self._patience = max(limit, 1), patience
        self._late: set[asyncio.Future[None]] = set()

    async def run(self, calls: Iterable[Awaitable[None]]) -> bool:
        """Start coroutines in order and wait for their ends; return False if some take too long and still run."""
        if not is_asyncio_available():
            for call in calls:
                await call
            return True
        running: set[asyncio.Future[None]] = set()
        try:
            for call in calls:
                running.add(asyncio.ensure_future(call))
                if len(running) >= self._limit:
                    running = await self._wait_for_one(running)
        finally:
            while running:
                running = await self._wait_for_one(running)
        return not self._late

    async def _wait_for_one(self, running: set[asyncio.Future[None]]) -> set[asyncio.Future[None]]:
        """Return those that still run when one has ended; none if that takes too long."""
        done, left = await asyncio.wait(running, timeout=self._patience, return_when=asyncio.FIRST_COMPLETED)
        if done:
            return left
        self._late.update(left)
        return set()

    async def wait_for_late(self) -> None:
        """Wait for those that took too long."""
        if late := {future for future in self._late if not future.done()}:
            await asyncio.wait(late)
        self._late.clear()


# --- a task once a second, also when no item arrives

_INTERVAL_SECONDS = 1.0


class PeriodicTask:
    """Calls ``work`` once a second while the spider is open, and never twice at the same time.

    If it raises, the error is logged and it is not called again.
    """

    def __init__(self, crawler: Crawler, work: Callable[[], Awaitable[None]]) -> None:
        self._work, self._is_running = work, False
        self._clock = create_looping_call(self._tick)
        crawler.signals.connect(self._start, signals.spider_opened)
        crawler.signals.connect(self._stop, signals.spider_closed)

    def _start(self) -> None:
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
