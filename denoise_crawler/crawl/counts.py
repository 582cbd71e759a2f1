"""The stats of a crawl under ``denoise/``."""

from __future__ import annotations

from contextlib import contextmanager
from time import perf_counter
from typing import TYPE_CHECKING

from denoise_crawler.output.characters import noise_ratio

if TYPE_CHECKING:
    from collections.abc import Iterator

    from scrapy.crawler import Crawler

_PREFIX = "denoise/"
SKIPPED = ("empty", "frameset", "too_large")


class Counts:
    """Counts what happens in a crawl. ``docs/stats.md`` explains each name."""

    def __init__(self, crawler: Crawler) -> None:
        self._crawler = crawler
        self._counts: dict[str, int] = {}

    def add(self, name: str, by: int = 1) -> int:
        """Add to a count.

        Args:
            name: The stat, without ``denoise/``.
            by: How much to add.

        Returns:
            The count before.
        """
        before = self._counts.get(name, 0)
        if by:
            self._counts[name] = before + by
            self._crawler.stats.inc_value(_PREFIX + name, by)
        return before

    def of(self, name: str) -> int:
        """Return a count."""
        return self._counts.get(name, 0)

    @contextmanager
    def timed(self, name: str) -> Iterator[None]:
        """Add the seconds that the block takes to ``denoise/seconds/NAME``."""
        start = perf_counter()
        try:
            yield
        finally:
            self.add_seconds(name, perf_counter() - start)

    def add_seconds(self, name: str, seconds: float) -> None:
        """Add to ``denoise/seconds/NAME``."""
        self._crawler.stats.inc_value(f"{_PREFIX}seconds/{name}", seconds)  # type: ignore[arg-type]


def summarize_items(counts: Counts) -> str:
    """Return one line for people that says what happened to the items of a crawl."""
    items = counts.of("items")
    line = f"{items:,} {'item' if items == 1 else 'items'}, {counts.of('with_text'):,} with text"
    if before := counts.of("characters_before"):
        line += f", {noise_ratio(before, counts.of('characters_after')):.0%} noise removed"
    others = {
        "kept their own text": counts.of("own_text"),
        "had no page": counts.of("untouched"),
        "were of pages with nothing to read": sum(counts.of(f"skipped/{why}") for why in SKIPPED),
        "have no field for the text": counts.of("unfilled"),
        "lack their part of the page": counts.of("parts_missing"),
        "were opted out": counts.of("opted_out"),
        "were dropped, as too little was known of their site": counts.of("dropped"),
        "were dropped, as their text was not sure enough": counts.of("unsure_dropped"),
        "were dropped, as their page is unchanged": counts.of("unchanged_dropped"),
    }
    parts = [line, *(f"{number:,} {what}" for what, number in others.items() if number)]
    uncleaned = counts.of("dropped") or counts.of("raw")
    if early := counts.of("sites_overdue") + (0 if uncleaned else counts.of("sites_short")):
        parts.append(f"{early:,} {'site' if early == 1 else 'sites'} went on before enough was known")
    return "; ".join(parts)
