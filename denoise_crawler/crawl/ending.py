"""The end of a crawl: items that wait go on while requests can still be made."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

from scrapy import Request, signals
from scrapy.pipelines.media import MediaPipeline
from scrapy.utils.asyncio import is_asyncio_available
from scrapy.utils.defer import deferred_from_coro, maybe_deferred_to_future
from twisted.internet.defer import Deferred

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from scrapy.core.engine import ExecutionEngine
    from scrapy.crawler import Crawler

_POLL_SECONDS = 0.02


class Ending:
    """Lets what waits go on before the engine closes the spider, however the crawl ends.

    Scrapy has no signal for this moment. At ``spider_idle`` another handler may still keep the spider open, and
    Ctrl-C and CloseSpider do not send it. When pipelines are closed, the engine takes no requests any more, and
    pipelines that download files fail. So ``engine.close_spider_async`` is wrapped:

    * When the spider is idle and nobody kept it open, what waits goes on first. If that brought new requests, the
      spider stays open; it will be idle again.
    * In every other end (Ctrl-C, CloseSpider) Scrapy starts nothing new and waits for the requests in progress.
      A request of ours, which is never sent, is the last of them: what waits goes on before it is taken away.

    Args:
        crawler: The crawl.
        release: Lets what waits go on; called once an end.
        keep: Tells whether what waits is to stay in the store, because a later run goes on with the crawl.
    """

    def __init__(self, crawler: Crawler, release: Callable[[], Awaitable[None]], keep: Callable[[], bool]) -> None:
        self._crawler, self._release, self._keep = crawler, release, keep
        self._releasing: Deferred[None] | None = None
        crawler.signals.connect(self._wrap, signals.spider_opened)

    def is_too_late(self) -> bool:
        """Tell whether items that wait have to stay in the store: the crawl stops, and pipelines download files.

        With a polite gap between requests, the files of what waits may take an hour; who stops a crawl does not
        wait for that, and no item may come out without its files.
        """
        engine: Any = self._crawler.engine
        slot = engine._slot if engine is not None else None
        stops = slot is not None and (slot.closing is not None or not engine.running)
        return stops and _downloads_files(engine)

    async def put_off(self, release: Callable[[], Awaitable[None]]) -> None:
        """Let items go on in the midst of the crawl, which does not end before ``release`` is done.

        Where it ends already, nothing is done: what waits goes on then.
        """
        engine: Any = self._crawler.engine
        slot = engine._slot if engine is not None else None
        if slot is None or slot.closing is not None or self._releasing is not None:
            return
        busy, under_way = Request("data:,items-that-wait"), engine.scraper.slot.active
        under_way.add(busy)  # as if a callback ran
        try:
            await release()
        finally:
            under_way.discard(busy)
            slot.nextcall.schedule()

    def _wrap(self) -> None:
        engine = self._crawler.engine
        assert engine is not None  # noqa: S101 - it opens the spider
        self._close = engine.close_spider_async
        engine.close_spider_async = self._close_spider  # type: ignore[method-assign]

    async def _close_spider(self, *, reason: str = "cancelled") -> None:
        engine: Any = self._crawler.engine
        slot = engine._slot
        if slot is None or slot.closing is not None:
            await self._close(reason=reason)
        elif engine.running and engine.spider_is_idle():
            await self._release_once()
            if reason != "finished" or not engine.running or engine.spider_is_idle():
                await self._close(reason=reason)
        else:
            await self._close_while_busy(engine, reason)

    async def _close_while_busy(self, engine: ExecutionEngine, reason: str) -> None:
        """Close the spider as Scrapy does; before its slot is closed, let go on what waits."""
        slot: Any = engine._slot
        last = Request("data:,items-that-wait")
        slot.add_request(last)
        closed = deferred_from_coro(self._close(reason=reason))
        try:
            while slot.inprogress != {last} or not engine.scraper.slot.is_idle():  # type: ignore[union-attr]
                await _sleep(_POLL_SECONDS)
            if not self.is_too_late():
                await self._release_once()
        finally:
            slot.remove_request(last)
        await maybe_deferred_to_future(closed)

    async def _release_once(self) -> None:
        """Let what waits go on; who asks meanwhile waits for the same."""
        if self._releasing is not None:
            await maybe_deferred_to_future(_follow(self._releasing))
            return
        if self._keep():
            return
        self._releasing = Deferred()
        try:
            await self._release()
        finally:
            done, self._releasing = self._releasing, None
            done.callback(None)


def _downloads_files(engine: ExecutionEngine) -> bool:
    """Tell whether a pipeline downloads files (ImagesPipeline, FilesPipeline and those like them)."""
    pipelines = getattr(engine.scraper.itemproc, "middlewares", ())
    return any(isinstance(pipeline, MediaPipeline) for pipeline in pipelines)


def _follow(first: Deferred[None]) -> Deferred[None]:
    """Return a Deferred of its own that fires when ``first`` does."""
    follower: Deferred[None] = Deferred()

    def fire(result: Any) -> Any:
        follower.callback(None)
        return result

    first.addBoth(fire)
    return follower


async def _sleep(seconds: float) -> None:
    if is_asyncio_available():
        await asyncio.sleep(seconds)
        return
    from twisted.internet import reactor
    from twisted.internet.task import deferLater

    await deferLater(reactor, seconds)
