"""Asks a callback for its first output before Scrapy makes its tasks for the response.

Scrapy makes ``CONCURRENT_ITEMS`` tasks for each response, 100 by default, and then asks for the output. Where
that takes a while, because the page is learned or a worker process cleans it, all these tasks would wait. That
cost two to three milliseconds a page, most of it in garbage collections.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator
from typing import TYPE_CHECKING, Any, NamedTuple

from scrapy import signals
from scrapy.utils.asyncio import is_asyncio_available

from denoise_crawler.crawl.scrapy_internals import replace_output_handler

if TYPE_CHECKING:
    from scrapy.crawler import Crawler
    from typing_extensions import Self

logger = logging.getLogger(__name__)

_CONCURRENT_ITEMS = "CONCURRENT_ITEMS"
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
        if is_asyncio_available():
            self._report_cost()
            self._handle = replace_output_handler(self._crawler, self._handle_output)

    def _report_cost(self) -> None:
        settings = self._crawler.settings
        if not settings.getpriority(_CONCURRENT_ITEMS):  # nobody has set it
            logger.info(
                "Scrapy makes %d tasks for each response (%s), a twelfth of the CPU time of a crawl without "
                "delay; where a page has few items, 4 are enough",
                settings.getint(_CONCURRENT_ITEMS),
                _CONCURRENT_ITEMS,
            )

    async def _handle_output(self, result: Any, *given: Any, **named: Any) -> None:
        if isinstance(result, AsyncIterator):
            result = BegunOutput(result)
            await result.begin()
        await self._handle(result, *given, **named)


class _Step(NamedTuple):
    """An output, or the error that was raised instead."""

    output: Any
    error: BaseException | None = None


_END = _Step(None)


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
        step = None
        while step is not _END:
            try:
                step = _Step(await anext(self._output))
            except StopAsyncIteration:  # not kept: it would keep the response until garbage is collected
                step = _END
            except Exception as error:  # Scrapy asks on
                step = _Step(None, error)
            except BaseException as error:
                await self._steps.put(_Step(None, error))
                raise
            await self._steps.put(step)

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> Any:
        """Return the next output; raise what the callback raised."""
        step, self._first = self._first or await self._steps.get(), None
        if step is _END:
            raise StopAsyncIteration
        if step.error is not None:
            raise step.error
        return step.output
