"""F1 of other extractors on the pages of ``benchmarks.text``, which see one page at a time."""

from __future__ import annotations

from statistics import fmean
from typing import TYPE_CHECKING

from benchmarks.bench import say, table
from denoise_crawler.evaluation.contenders import PageSource
from denoise_crawler.evaluation.measures import score
from denoise_crawler.evaluation.peers import PEERS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from benchmarks.text import Group
    from denoise_crawler.evaluation.gold import GoldPage


def f1_of_peers(names: Sequence[str], pages: Sequence[GoldPage]) -> dict[str, dict[str, float]]:
    """Return by extractor and id of the page its F1; 0 where it fails. one that is missing is left out."""
    sources = [PageSource(page.address, page.html, page.lang) for page in pages]
    found: dict[str, dict[str, float]] = {}
    for name in names:
        say(f"  {name}")
        try:
            extract = PEERS[name].load()
        except ImportError as error:
            say(f"  left out: {error}")
            continue
        found[name] = {
            page.id: score(text, page.gold or "").f1 if isinstance(text, str) else 0.0
            for page, text in zip(pages, extract(sources), strict=True)
        }
    return found


def table_of_peers(groups: Sequence[Group], found: dict[str, dict[str, float]]) -> str:
    """Return the mean F1 of ``fusion`` and of each extractor on each group."""
    names = list(found)
    lines = [
        [
            group.name,
            f"{fmean(row.warm.f1 for row in group.rows):.3f}",
            *(f"{fmean(found[name][row.page.id] for row in group.rows):.3f}" for name in names),
        ]
        for group in groups
    ]
    return table(["F1", "fusion", *names], lines)
