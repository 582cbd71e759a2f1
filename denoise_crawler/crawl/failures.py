"""What fails in a crawl: counted, said, and never the end of anything else."""

from __future__ import annotations

import logging
from contextlib import contextmanager
from typing import TYPE_CHECKING

from denoise_crawler.page.text import printable

if TYPE_CHECKING:
    from collections.abc import Iterator

    from denoise_crawler.crawl.counts import Counts
    from denoise_crawler.crawl.settings import DenoiseSettings

logger = logging.getLogger(__name__)


class Failures:
    """Counts failures in the stats of a crawl and logs them."""

    def __init__(self, settings: DenoiseSettings, counts: Counts) -> None:
        self._settings, self._counts = settings, counts

    def page(self, url: str) -> None:
        """Say, inside an ``except``, that a page broke us."""
        self._counts.add("failed")
        logger.exception(
            "%s cannot be cleaned, which is a mistake of denoise_crawler; its items go on as they are",
            printable(url),
        )

    def extractor(self, url: str) -> None:
        """Say, once, that the extractor wrote nothing of a page."""
        if not self._counts.add("extractor_fallbacks"):
            extractor = self._settings.writing.extractor
            logger.warning("%s wrote nothing of %s: our own text takes its place", extractor, printable(url))

    def store(self, error: Exception) -> None:
        """Say, once, that the store failed."""
        if not self._counts.add("store_errors"):
            logger.error(
                "The store %s cannot be read or written: %s. Items that cannot wait are cleaned at once; those "
                "that wait come out as soon as it works, in this run or the next.",
                self._settings.store,
                printable(error),
            )

    @contextmanager
    def of_step(self, what: str) -> Iterator[None]:
        """Let a step of the crawl fail alone: what comes behind the block is done all the same."""
        try:
            yield
        except Exception:
            self._counts.add("failed")
            logger.exception(
                "denoise_crawler cannot %s, which is a mistake of its own; the crawl goes on and no item is lost",
                what,
            )
