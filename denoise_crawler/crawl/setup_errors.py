"""Ends a crawl that cannot begin with one line, instead of a page of tracebacks from Scrapy and asyncio."""

from __future__ import annotations

import asyncio
import logging
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from weakref import WeakSet

from scrapy.crawler import Crawler, CrawlerProcessBase

from denoise_crawler.crawl.scrapy_internals import code_of_command, raise_after_start
from denoise_crawler.crawl.settings import warn_of_unknown
from denoise_crawler.errors import CrawlError, MissingExtraError, StoreError, needs

logger = logging.getLogger(__name__)
_started: WeakSet[Crawler] = WeakSet()
_PREFIX = "The crawl cannot begin: "


@contextmanager
def abort_on_setup_error(
    crawler: Crawler, errors: tuple[type[Exception], ...] = (ValueError, StoreError)
) -> Iterator[None]:
    """Let no crawl begin after an error inside the block.

    The program of the crawl (``scrapy crawl``, or a script with a CrawlerProcess) gets a :class:`CrawlError`. If
    somebody else runs the event loop, or another crawl runs in this process, the error is raised as it is: the
    others must end in their own way.

    Args:
        crawler: The crawl.
        errors: The errors that a user can mend. By default a wrong setting (ValueError) or an unusable store.
    """
    try:
        yield
    except errors as error:
        if crawler.settings.get("LOG_FILE"):  # stderr may go nowhere then
            logger.error("%s%s", _PREFIX, error)
        _abort(error, others=any(other.crawling for other in _started if other is not crawler))
        raise
    if crawler not in _started:
        _started.add(crawler)
        warn_of_unknown(crawler.settings)


@contextmanager
def abort_on_missing_extra(extra: str) -> Iterator[None]:
    """Let no crawl begin if a package of an extra is missing that a component imports inside the block.

    Raises:
        CrawlError: A package is missing.
        MissingExtraError: The same, where no CrawlerProcess runs the crawl.
    """
    try:
        with needs(extra):
            yield
    except MissingExtraError as error:
        _abort(error, others=any(other.crawling for other in _started))
        raise


def is_scrapy_command() -> bool:
    """Return True if the ``scrapy`` command runs this code, not a program that uses Scrapy."""
    code = code_of_command()
    return code is not None and any(frame.f_code is code for frame in _frames())


def _abort(error: Exception, *, others: bool) -> None:
    """Raise the error that ends the program of the crawl; return where ``error`` has to be raised as it is."""
    process = _find_crawler_process()
    if process is None:
        return
    abort_error = CrawlError(f"{_PREFIX}{error}")
    if not _is_loop_running():
        # otherwise a crawl that fails before the event loop runs leaves only a traceback in the log
        raise_after_start(process, abort_error)
    elif not others:
        raise abort_error from None


def _find_crawler_process() -> CrawlerProcessBase | None:
    """Return the process object that runs this crawl; None if somebody else runs the event loop."""
    owners = (frame.f_locals.get("self") for frame in _frames())
    return next((owner for owner in owners if isinstance(owner, CrawlerProcessBase)), None)


def _frames() -> Iterator[FrameType]:
    frame: FrameType | None = sys._getframe(1)
    while frame is not None:
        yield frame
        frame = frame.f_back


def _is_loop_running() -> bool:
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return False
    return True
