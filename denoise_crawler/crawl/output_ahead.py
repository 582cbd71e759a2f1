"""Lets a callback's output come before Scrapy makes its tasks for it.

Scrapy makes ``CONCURRENT_ITEMS`` tasks for each response, 100 by default, and then asks for the first output. Where
that takes a while, because we learn the page or a worker process cleans it, all these tasks wait meanwhile. That
costs two milliseconds a page, most of it in garbage collections. So the output is asked for first.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import TYPE_CHECKING, Any, NamedTuple

from scrapy import signals
from scrapy.utils.asyncio import is_asyncio_available

if TYPE_CHECKING:
    from scrapy.crawler import Crawler
    from typing_extensions import Self

_MAX_OUTPUTS = 100  # that wait for Scrapy


class OutputAhead:
    """Wraps ``Scraper.handle_spider_output_async`` of a crawl. Without the event loop of asyncio it does nothing.

    Args:
        crawler: The crawl.
    """

    def __init__(self, crawler: Crawler) -> None:
        self._crawler = crawler
        crawler.signals.connect(self._wrap, signals.spider_opened)

    def _wrap(self) -> None:
        engine: Any = self._crawler.engine
        if is_asyncio_available():
            self._handle = engine.scraper.handle_spider_output_async
            engine.scraper.handle_spider_output_async = self._handle_output

    async def _handle_output(self, result: Any, *given: Any, **named: Any) -> None:
        if isinstance(result, AsyncIterator):
            result = BegunOutput(result)
            await result.begin()
        await self._handle(result, *given, **named)


class _Step(NamedTuple):
    """An output, or the error that was raised instead: StopAsyncIteration at the end."""

    output: Any
    error: BaseException | None


class BegunOutput(AsyncIterator[Any]):
    """The output of a callback. One task runs the callback from its begin to its end, as Scrapy has it.

    Args:
        output: The output.
    """

    def __init__(self, output: AsyncIterator[Any]) -> None:
        self._output = output
        self._steps: asyncio.Queue[_Step] = asyncio.Queue(_MAX_OUTPUTS)
        self._first: _Step | None = None

    async def begin(self) -> None:
        """Run the callback until its first output is there."""
        self._task = asyncio.ensure_future(self._run())
        self._first = await self._steps.get()

    async def _run(self) -> None:
        is_over = False
        while not is_over:
            output = error = None
            try:
                output = await anext(self._output)
            except BaseException as raised:  # noqa: BLE001 - Scrapy gets it, and decides
                error = raised
                is_over = isinstance(raised, StopAsyncIteration) or not isinstance(raised, Exception)
            await self._steps.put(_Step(output, error))

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> Any:
        """Return the next output; raise what the callback raised."""
        step, self._first = self._first or await self._steps.get(), None
        if step.error is not None:
            raise step.error
        return step.output
