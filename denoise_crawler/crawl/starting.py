"""How a crawl that cannot begin ends: in one line, not in a page of Scrapy's and asyncio's internals."""

from __future__ import annotations

import asyncio
import logging
import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any
from weakref import WeakSet

from scrapy.crawler import CrawlerProcessBase

from denoise_crawler.crawl.setting_names import warn_of_unknown
from denoise_crawler.errors import CrawlError, MissingExtraError, StoreError, needs

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import FrameType

    from scrapy.crawler import Crawler

logger = logging.getLogger(__name__)
_begun: WeakSet[Crawler] = WeakSet()
_BEGINNING = "The crawl cannot begin: "


@contextmanager
def in_one_line(
    crawler: Crawler, refused: tuple[type[Exception], ...] = (ValueError, StoreError)
) -> Iterator[None]:
    """Let no crawl begin for an error of ``refused``: a setting (ValueError) or the store that cannot be used.

    The program of the crawl (``scrapy crawl``, a script with a CrawlerProcess) gets a :class:`CrawlError`. In an
    event loop that belongs to others, and while another crawl runs in this process, the error goes on as it is:
    the others must end in their own way.
    """
    try:
        yield
    except refused as error:
        if crawler.settings.get("LOG_FILE"):  # stderr may lead nowhere then
            logger.error("%s%s", _BEGINNING, error)
        _refuse(error, others=any(other.crawling for other in _begun if other is not crawler))
        raise
    if crawler not in _begun:
        _begun.add(crawler)
        warn_of_unknown(crawler.settings)


@contextmanager
def extra_in_one_line(extra: str) -> Iterator[None]:
    """Import what ``extra`` brings for a component that Scrapy loads; without it no crawl begins.

    Raises:
        CrawlError: a package is missing.
        MissingExtraError: the same, where this is no program of a crawl.

    """
    try:
        with needs(extra):
            yield
    except MissingExtraError as error:
        _refuse(error, others=any(other.crawling for other in _begun))
        raise


def is_scrapy_command() -> bool:
    """Tell whether this is called by the ``scrapy`` command, not by a program that uses Scrapy."""
    command = sys.modules.get("scrapy.cmdline")
    return command is not None and any(frame.f_code is command.execute.__code__ for frame in _stack())


def _refuse(error: Exception, *, others: bool) -> None:
    """Raise the error that ends the program of the crawl; return where ``error`` has to go on as it is."""
    process = _process()
    if process is None:
        return
    refusal = CrawlError(f"{_BEGINNING}{error}")
    if not _loop_runs():
        _fail_at_the_end(process, refusal)
    elif not others:
        raise refusal from None


def _process() -> CrawlerProcessBase | None:
    """Return the process object that this crawl was given to; None if somebody else runs the event loop."""
    owners = (frame.f_locals.get("self") for frame in _stack())
    return next((owner for owner in owners if isinstance(owner, CrawlerProcessBase)), None)


def _stack() -> Iterator[FrameType]:
    frame: FrameType | None = sys._getframe(1)
    while frame is not None:
        yield frame
        frame = frame.f_back


def _loop_runs() -> bool:
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return False
    return True


def _fail_at_the_end(process: CrawlerProcessBase, refusal: CrawlError) -> None:
    """Have ``process.start()`` raise when its other crawls have ended.

    A crawl that fails before the event loop runs, as in a CrawlerProcess, leaves nothing but a page in the log.
    """
    run = process.start

    def start(*args: Any, **kwargs: Any) -> None:
        run(*args, **kwargs)
        raise refusal

    process.start = start  # type: ignore[method-assign]
