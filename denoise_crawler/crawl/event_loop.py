"""Scrapy's event loop: nothing of ours keeps it from other work for longer than one step of one page."""

from __future__ import annotations

import asyncio

from scrapy.utils.asyncio import is_asyncio_available


async def let_others_work() -> None:
    """Let the event loop do what waits before going on; with another reactor than asyncio's, go on at once."""
    if is_asyncio_available():
        await asyncio.sleep(0)
