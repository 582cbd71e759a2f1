"""What a crawl says about itself: counts in Scrapy's stats, lines in the log, and the last line of all."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from time import perf_counter

from pydispatch.dispatcher import getAllReceivers  # type: ignore[import-untyped]
from scrapy.crawler import Crawler
from scrapy.exceptions import DropItem

from denoise_crawler.denoiser import Cleaned
from denoise_crawler.output.clean_page import CleanPage
from denoise_crawler.output.clean_text import noise_ratio
from denoise_crawler.output.writing import Writing
from denoise_crawler.page import MAX_ATTRIBUTES, MAX_ELEMENTS, MAX_HTML_BYTES, MAX_TEXT_BYTES
from denoise_crawler.page.text import counted, printable

logger = logging.getLogger(__name__)

_PREFIX = "denoise/"
_MAX_KEYS = 1_000  # of one message
SKIPPED = ("consent", "empty", "frameset", "too_large")
_RENDERING = "denoise_crawler.contrib.rendering.Rendering"
_WHY_SKIPPED = {
    "consent": "it shows nothing but a dialog that asks for consent; send a cookie of a session that accepted it",
    "too_large": f"it has more than {MAX_HTML_BYTES:,} bytes of HTML, {MAX_TEXT_BYTES:,} bytes of text, "
    f"{MAX_ELEMENTS:,} tags or {MAX_ATTRIBUTES:,} attributes; to have it cleaned, yield it in parts, an item each "
    "with its own HTML",
}

page_cleaned = object()
"""A signal: a page was cleaned. Its receivers get ``page`` and ``cleaned``."""


class CrawlReport:
    """Counts what happens in a crawl, in its stats under ``denoise/``, and logs the first time of each kind.

    ``docs/stats.md`` explains each count.
    """

    def __init__(self, crawler: Crawler) -> None:
        self._crawler = crawler
        # looked up in the class: what Scrapy's collectors give by name checks its arguments, which takes as long
        self._add_to_stat = partial(type(crawler.stats).inc_value, crawler.stats)
        self._counts: dict[str, int] = {}
        self._logged: dict[str, set[str]] = {}

    def count(self, name: str, by: int = 1) -> None:
        """Add ``by`` to the count ``denoise/NAME``."""
        if by:
            self._counts[name] = self._counts.get(name, 0) + by
            self._add_to_stat(_PREFIX + name, by)

    def of(self, name: str) -> int:
        """Return a count."""
        return self._counts.get(name, 0)

    def first(self, name: str, message: str, *values: object, level: int = logging.WARNING, key: str = "") -> None:
        """Count, and log a message the first time.

        Args:
            name: The count, without ``denoise/``.
            message: The message, with a place for each of ``values``.
            values: Strings of pages among them are made printable by the caller.
            level: The level of the message.
            key: What the message is about, such as a class of items: the first time of each key is logged.
        """
        self.count(name)
        self.once(name, message, *values, level=level, key=key)

    def once(self, about: str, message: str, *values: object, level: int = logging.WARNING, key: str = "") -> None:
        """Log a message the first time that it comes with its key; of at most 1,000 keys."""
        keys = self._logged.setdefault(about, set())
        if key not in keys and len(keys) < _MAX_KEYS:
            keys.add(key)
            logger.log(level, message, *values)

    @contextmanager
    def timed(self, stage: str) -> Iterator[None]:
        """Add the seconds that the block takes to ``denoise/seconds/STAGE``."""
        start = perf_counter()
        try:
            yield
        finally:
            seconds = perf_counter() - start
            self._add_to_stat(f"{_PREFIX}seconds/{stage}", seconds)  # type: ignore[arg-type]

    # --- items and pages

    def item_left(self, *, has_text: bool, wrote: bool = False) -> None:
        """Count an item that goes on; ``wrote`` says that its text was written here."""
        self.count("items")
        self.count("with_text", int(has_text))
        self.count("own_text", int(has_text and not wrote))

    def unknown_item(self, output: object) -> None:
        """Count what a spider yields that is neither a request nor an item that itemadapter knows."""
        message, kind = "itemadapter knows no items of the class %s: they go on without a clean text", type(output)
        self.first("unknown_items", message, printable(class_path(kind)), key=class_path(kind))

    def page_skipped(self, url: str, why: str) -> None:
        """Count an item of a page with nothing to read, and log the first for each reason."""
        message = "Nothing to read at %s: %s. Its items pass unchanged."
        self.first(f"skipped/{why}", message, printable(url), _WHY_SKIPPED.get(why, why))

    def page_cleaned(self, cleaned: Cleaned, writing: Writing, method: str) -> None:
        """Count a cleaned page, and send the signal :data:`page_cleaned`."""
        clean_page, url, judgement = cleaned.clean_page, printable(cleaned.clean_page.url), cleaned.judgement
        self.count("characters_before", cleaned.visible)
        self.count("characters_after", cleaned.kept)
        self.count("unsure", int(bool(clean_page.low_confidence)))
        self.count("guarded", int(judgement.guarded))
        self.count("rules_applied", int(bool(judgement.rules_applied)))
        if file := judgement.passed_over:
            message = "%s leaves next to nothing of %s: its rules are passed over on such pages"
            self.first("rules_passed_over", message, printable(file), url, key=file)
        if writing.extractor and clean_page.text and clean_page.method == method:
            message = "%s wrote nothing of %s: our own text takes its place"
            self.first("extractor_fallbacks", message, writing.extractor, url)
        if next(getAllReceivers(self._crawler, page_cleaned), None):
            _ = cleaned.page.root  # they may keep the page, so it keeps its elements
            self._crawler.signals.send_catch_log(page_cleaned, page=cleaned.page, cleaned=cleaned)

    def pace(self, shortest: float, longest: float, quota: int) -> None:
        """Log how long a polite crawl takes to know a site, or a silent crawl looks as if it hung.

        Args:
            shortest: The seconds between two pages of a host, at least.
            longest: The same, at most.
            quota: How many pages make a site known; 0 if none wait for that.
        """
        line = f"{shortest:g} to {longest:g} s between two pages of a host (DENOISE_DELAY_MIN, DENOISE_DELAY_MAX)"
        if quota:
            seconds = quota * (shortest + longest) / 2
            time = f"{seconds / 60:.0f} minutes" if seconds > 100 else f"{seconds:.0f} s"
            line += f"; {quota} pages until a new site is known: about {time}, while its items wait"
        logger.info(line)

    # --- failures: the crawl goes on

    def store_failed(self, path: Path, error: Exception) -> None:
        """Count an error of the store; log the first one."""
        self.first(
            "store_errors",
            "The store %s cannot be read or written: %s. Items that cannot wait are cleaned at once; those that "
            "wait are released as soon as it works, in this run or the next.",
            path,
            printable(error),
            level=logging.ERROR,
        )

    def page_failed(self, url: str) -> None:
        """Count and log, inside an ``except`` block, that a page cannot be cleaned."""
        self.count("failed")
        logger.exception(
            "%s cannot be cleaned because of a bug in denoise_crawler; its items go on as they are", printable(url)
        )

    def release_failed(self) -> None:
        """Count and log, inside an ``except`` block, that waiting items could not be released."""
        self.count("failed")
        logger.exception("Some waiting items could not be released because of a bug in denoise_crawler; they stay")

    @contextmanager
    def isolate_step(self, what: str) -> Iterator[None]:
        """Log an error inside the block ("denoise_crawler cannot WHAT") and go on behind it."""
        try:
            yield
        except Exception:
            self.count("failed")
            message = "denoise_crawler cannot %s because of a bug; the crawl goes on and no item is lost"
            logger.exception(message, what)

    # --- the end

    def log_summary(self) -> None:
        """Log one line for people that says what happened to the items: a warning if no page has a text."""
        in_vain = self.of("items") > self.of("untouched") and not self.of("with_text")
        logger.log(logging.WARNING if in_vain else logging.INFO, self._summary())

    def _summary(self) -> str:
        items = self.of("items")
        line = f"{counted(items, 'item')}, {self.of('with_text'):,} with text"
        if before := self.of("characters_before"):
            line += f", {noise_ratio(before, self.of('characters_after')):.0%} noise removed"
        others = {
            "kept their own text": self.of("own_text"),
            "had no page": self.of("untouched"),
            "were of pages with nothing to read": sum(self.of(f"skipped/{why}") for why in SKIPPED),
            "have no field for the text": self.of("unfilled"),
            "were opted out": self.of("opted_out"),
            "were dropped, as too little was known of their site": self.of("dropped"),
            "were dropped, as their text was not sure enough": self.of("unsure_dropped"),
        }
        parts = [line, *(f"{number:,} {what}" for what, number in others.items() if number)]
        if scripts := self._crawler.stats.get_value("denoise/script_pages"):
            need = "needs" if scripts == 1 else "need"
            parts.append(f"{counted(scripts, 'page')} {need} a browser (add {_RENDERING} to ADDONS)")
        if early := self.of("sites_overdue") + (0 if self.of("dropped") else self.of("sites_short")):
            parts.append(f"{counted(early, 'site')} went on before enough was known")
        return "; ".join(parts)


def class_path(kind: type) -> str:
    """Return the name of a class with its module."""
    return f"{kind.__module__}.{kind.__qualname__}"


class LowConfidenceItem(DropItem):
    """The text of the item's page is less sure than DENOISE_MIN_CONFIDENCE, and such items are to be dropped."""

    def __init__(self, clean_page: CleanPage) -> None:
        super().__init__(f"confidence {clean_page.confidence} of {printable(clean_page.url)}", log_level="DEBUG")
