"""Knowing other pages of a site never makes the text worse, but for what is noise."""

from __future__ import annotations

from statistics import fmean
from typing import TYPE_CHECKING

import pytest

from denoise_crawler.demo.articles import article_path, articles, gold_text
from denoise_crawler.demo.feeds import article_page
from denoise_crawler.denoiser import Denoiser
from denoise_crawler.evaluation.gold import REPORTING, GoldPage, addressed, by_site, half, read_gold
from denoise_crawler.evaluation.measures import score
from denoise_crawler.page import Page

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

BASE = "https://news.example"
MOST_PAGES = 60


def warm_and_cold(sites: Iterable[list[GoldPage]]) -> tuple[float, float]:
    """Return the mean F1 of all pages knowing their site, and cold."""
    warm, cold = [], []
    for pages in sites:
        knowing = Denoiser()
        parsed = [Page.parse(url, html, site=pages[0].site) for url, html in addressed(pages)]
        for page in parsed:
            knowing.learn(page)
        for gold, page in zip(pages, parsed, strict=True):
            warm.append(score(knowing.clean(page).clean_page.text, gold.gold or "").f1)
            cold.append(score(Denoiser().clean(page).clean_page.text, gold.gold or "").f1)
    return fmean(warm), fmean(cold)


@pytest.mark.parametrize("known", [2, 3, 5, 24])
def test_the_bundled_site_is_no_worse_warm_than_cold(known: int) -> None:
    pages = [
        GoldPage(
            one.id, "news.example", article_page(one, BASE), f"{BASE}{article_path(one)}", gold=gold_text(one)
        )
        for one in articles()[:known]
    ]
    warm, cold = warm_and_cold([pages])
    assert warm >= cold - 0.002


@pytest.mark.parametrize("name", ["fundus80", "forums", "dragnet", "wcxb"])
def test_gold_sets_are_no_worse_warm_than_cold(corpus: Path, name: str) -> None:
    pages = (page for page in read_gold(corpus, name) if page.gold is not None)
    sites = [found for site, found in by_site(pages, 2).items() if name != "wcxb" or half(site) == REPORTING]
    taken, count = [], 0
    for found in sites:
        if count < MOST_PAGES:
            taken.append(found)
            count += len(found)
    warm, cold = warm_and_cold(taken)
    assert warm >= cold - 0.01
