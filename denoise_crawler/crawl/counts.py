"""The stats of a crawl that are ours: all stand under ``denoise/``."""

from __future__ import annotations

from contextlib import contextmanager
from time import perf_counter
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from scrapy.crawler import Crawler


class Counts:
    """Counts what happens in a crawl. ``docs/stats.md`` says what each name means."""

    def __init__(self, crawler: Crawler) -> None:
        self._crawler = crawler

    def add(self, name: str, by: int = 1) -> int:
        """Add to a count.

        Args:
            name: The stat, without ``denoise/``.
            by: How much to add.

        Returns:
            What the count was before.
        """
        before = self.of(name)
        self._crawler.stats.inc_value(f"denoise/{name}", by)
        return before

    def of(self, name: str) -> int:
        """Return a count."""
        return int(self._crawler.stats.get_value(f"denoise/{name}", 0))

    @contextmanager
    def timed(self, name: str) -> Iterator[None]:
        """Add the seconds that pass inside to ``denoise/seconds/NAME``."""
        start = perf_counter()
        try:
            yield
        finally:
            self._crawler.stats.inc_value(f"denoise/seconds/{name}", perf_counter() - start)  # type: ignore[arg-type]
