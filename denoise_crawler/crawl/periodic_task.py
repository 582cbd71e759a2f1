"""Runs a task once a second during a crawl, also when no item arrives."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from scrapy import signals
from scrapy.utils.asyncio import create_looping_call
from scrapy.utils.defer import deferred_from_coro

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from scrapy.crawler import Crawler

logger = logging.getLogger(__name__)
_INTERVAL_SECONDS = 1.0


class PeriodicTask:
    """Calls ``work`` once a second while the spider is open, and never twice at the same time.

    Args:
        crawler: The crawl.
        work: The task. If it raises, the error is logged and the task is not called again.
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
