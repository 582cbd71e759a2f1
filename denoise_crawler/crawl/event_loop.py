"""Scrapy's event loop: nothing of ours keeps it from other work for longer than one step of one page."""

from __future__ import annotations

import asyncio
import gc

from scrapy.utils.asyncio import is_asyncio_available


async def let_others_work() -> None:
    """Let the event loop do what waits before going on; with another reactor than asyncio's, go on at once."""
    if is_asyncio_available():
        await asyncio.sleep(0)


def spare_what_is_there() -> None:
    """Have the garbage collector leave alone what is in memory: else it walks all of Scrapy every few dozen pages.

    That takes a tenth of a second. What is thrown away from now on is collected as ever.
    """
    gc.unfreeze()
    gc.collect()
    gc.freeze()
