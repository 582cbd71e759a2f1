"""Counts and logs what fails in a crawl, so that nothing else fails with it."""

from __future__ import annotations

import logging
import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING

from denoise_crawler.errors import GivenUpError, WorkerError, describe_error
from denoise_crawler.page.text import printable

if TYPE_CHECKING:
    from collections.abc import Iterator

    from denoise_crawler.crawl.counts import Counts
    from denoise_crawler.crawl.inline_cleaner import CleanedPage
    from denoise_crawler.crawl.settings import DenoiseSettings
    from denoise_crawler.crawl.source_page import SourcePage

logger = logging.getLogger(__name__)


_MAX_NAMED_RULES = 100


class FailureLog:
    """Counts failures in the stats of a crawl and logs them."""

    def __init__(self, settings: DenoiseSettings, counts: Counts) -> None:
        self._settings, self._counts = settings, counts
        self._named_rules: set[str] = set()

    def report_page(self, url: str) -> None:
        """Count and log, inside an ``except`` block, that we failed on a page."""
        self._counts.add("failed")
        if isinstance(error := sys.exc_info()[1], WorkerError):
            logger.error("%s cannot be cleaned: %s; its items go on as they are", printable(url), printable(error))
            return
        logger.exception(
            "%s cannot be cleaned because of a bug in denoise_crawler; its items go on as they are",
            printable(url),
        )

    def report_source(self, source: SourcePage, error: Exception) -> None:
        """Count and log, inside an ``except`` block, that we failed on a page; once, however many items it has."""
        if source.error is not None:
            return
        source.error = describe_error(error)
        if not isinstance(error, GivenUpError):
            self.report_page(source.page.url)

    def report_extractor(self, url: str) -> None:
        """Count a page of which the extractor wrote nothing; log the first one."""
        if not self._counts.add("extractor_fallbacks"):
            extractor = self._settings.writing.extractor
            logger.warning("%s wrote nothing of %s: our own text takes its place", extractor, printable(url))

    def count_judgement(self, cleaned: CleanedPage) -> None:
        """Count a guarded page, rules that were obeyed, and those passed over, whose file is named."""
        judgement = cleaned.judgement
        if judgement is None:
            return
        self._counts.add("guarded", int(judgement.guarded))
        self._counts.add("rules_obeyed", int(bool(judgement.obeyed)))
        if file := judgement.passed_over:
            self._counts.add("rules_passed_over")
            if file not in self._named_rules and len(self._named_rules) < _MAX_NAMED_RULES:
                self._named_rules.add(file)
                logger.warning(
                    "%s leaves next to nothing of %s: its rules are passed over on such pages",
                    printable(file),
                    printable(cleaned.clean_page.url),
                )

    def report_store(self, error: Exception) -> None:
        """Count an error of the store; log the first one."""
        if not self._counts.add("store_errors"):
            logger.error(
                "The store %s cannot be read or written: %s. Items that cannot wait are cleaned at once; those "
                "that wait are released as soon as it works, in this run or the next.",
                self._settings.store,
                printable(error),
            )

    def report_release(self) -> None:
        """Count and log, inside an ``except`` block, that waiting items could not be released."""
        self._counts.add("failed")
        logger.exception("Some waiting items could not be released because of a bug in denoise_crawler; they stay")

    @contextmanager
    def isolate_step(self, what: str) -> Iterator[None]:
        """Log an error inside the block and go on behind it.

        Args:
            what: The step, as the log names it: "denoise_crawler cannot …".
        """
        try:
            yield
        except Exception:
            self._counts.add("failed")
            logger.exception(
                "denoise_crawler cannot %s because of a bug; the crawl goes on and no item is lost",
                what,
            )
