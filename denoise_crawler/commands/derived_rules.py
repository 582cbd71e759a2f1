"""The rules of a site, derived from pages of it that are at hand."""

from __future__ import annotations

from typing import TYPE_CHECKING

from denoise_crawler.commands.page_input import report_failure
from denoise_crawler.rules.derive import JudgedPage, derive_rules

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from denoise_crawler.denoiser import Denoiser
    from denoise_crawler.page import Page
    from denoise_crawler.rules.learned import LearnedRules


def derived_rules(site: str, pages: Sequence[Page], denoiser: Denoiser) -> LearnedRules:
    """Return the rules of a site. If ``denoiser`` does not know it, it learns ``pages`` first."""
    if not denoiser.method_for(site).pages_known:
        for page in pages:
            with report_failure(page.url, "learned"):
                denoiser.learn(page)
    return derive_rules(site, list(judged_pages(denoiser, pages)))


def judged_pages(denoiser: Denoiser, pages: Iterable[Page]) -> Iterator[JudgedPage]:
    """Yield ``pages`` with their verdicts; one that cannot be judged is named and left out."""
    for page in pages:
        with report_failure(page.url, "judged"):
            yield JudgedPage(page, denoiser.judge(page).noise)
