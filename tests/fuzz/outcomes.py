"""How the gold pages of a site come out."""

from __future__ import annotations

from typing import TYPE_CHECKING

from denoise_crawler.denoiser import Denoiser
from denoise_crawler.evaluation.gold import addressed
from denoise_crawler.page import Page

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from denoise_crawler.evaluation.gold import GoldPage


def outcomes(pages: Sequence[GoldPage], method: str) -> Iterator[tuple[str, str]]:
    """Yield the name of each page of a site, and how it came out: text, guarded, skipped, or empty."""
    denoiser = Denoiser(method)
    parsed = [Page.parse(url, html) for url, html in addressed(pages)]
    for page in parsed:
        denoiser.learn(page)
    for page, gold in zip(parsed, pages, strict=True):
        cleaned = denoiser.clean(page)
        if cleaned.clean_page.text:
            yield gold.id, "guarded" if cleaned.guarded else "text"
        elif page.skipped is not None:
            yield gold.id, f"skipped: {page.skipped}"
        else:
            yield gold.id, "empty"
