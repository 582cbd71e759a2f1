"""What is done once a second during a crawl, also when no item comes."""

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
_SECONDS = 1.0


class Meanwhile:
    """Calls ``work`` once a second from the start of the spider to its end, and never while it is at work.

    Args:
        crawler: The crawl.
        work: What is to be done. If it raises, the log says so, and it is not called again.
    """

    def __init__(self, crawler: Crawler, work: Callable[[], Awaitable[None]]) -> None:
        self._work, self._works = work, False
        crawler.signals.connect(self._begin, signals.spider_opened)
        crawler.signals.connect(self._end, signals.spider_closed)

    def _begin(self) -> None:
        self._clock = create_looping_call(self._tick)
        self._clock.start(_SECONDS, now=False)

    def _end(self) -> None:
        if self._clock.running:
            self._clock.stop()

    def _tick(self) -> None:
        if not self._works:
            self._works = True
            deferred_from_coro(self._done())

    async def _done(self) -> None:
        try:
            await self._work()
        except Exception:
            logger.exception("What denoise_crawler does once a second failed, and is not done again")
            self._end()
        finally:
            self._works = False
