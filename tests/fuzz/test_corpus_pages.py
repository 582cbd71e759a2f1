"""Gold pages as they are; ``python -m benchmarks.guard`` takes all of them, ``test_guard.py`` some of others."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING

import pytest

from denoise_crawler.evaluation.gold import by_site, read_gold
from denoise_crawler.methods import METHODS
from denoise_crawler.page import Page
from tests.fuzz.outcomes import outcomes

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize("gold_set", ["wcxb", "christianbook"])
def test_no_gold_page_with_text_comes_out_empty_without_a_stated_reason(corpus: Path, gold_set: str) -> None:
    if not (corpus / f"{gold_set}.jsonl.xz").is_file():
        pytest.skip(f"the corpus has no {gold_set}")
    first = islice(read_gold(corpus, gold_set), 40)
    sites = by_site(page for page in first if (page.gold or "").strip() or page.attrs)
    for name in METHODS:
        for pages in list(sites.values())[:8]:
            assert "empty" not in dict(outcomes(pages[:4], name)).values()


def test_no_gold_page_is_taken_for_a_wall_that_asks_for_consent(corpus: Path) -> None:
    walls = []
    for file in sorted(corpus.glob("*.jsonl.xz")):
        for gold in read_gold(corpus, file.name.removesuffix(".jsonl.xz")):
            page = Page.parse(gold.url or f"https://{gold.site}/{gold.id}", gold.html)
            walls += [gold.id] if page.skipped == "consent" else []
    assert walls == []
