"""How a crawl that cannot begin ends: in one line, not in a page of Scrapy's and asyncio's internals."""

from __future__ import annotations

import logging
from contextlib import contextmanager
from typing import TYPE_CHECKING
from weakref import WeakSet

from denoise_crawler.store import StoreError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from scrapy.crawler import Crawler

logger = logging.getLogger(__name__)
_begun: WeakSet[Crawler] = WeakSet()


@contextmanager
def in_one_line(crawler: Crawler) -> Iterator[None]:
    """End the program with status 1 and one line where a setting (ValueError) or the store cannot be used.

    While another crawl runs in this process the error goes on as it is: that crawl must end in its own way.
    """
    try:
        yield
    except (ValueError, StoreError) as error:
        if any(other.crawling for other in _begun if other is not crawler):
            raise
        message = f"The crawl cannot begin: {error}"
        if crawler.settings.get("LOG_FILE"):  # stderr may lead nowhere then
            logger.error(message)
        raise SystemExit(message) from None
    _begun.add(crawler)
