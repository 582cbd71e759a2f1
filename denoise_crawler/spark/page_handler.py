"""Learns and cleans single pages in a worker process."""

from __future__ import annotations

import pickle
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from denoise_crawler.batch.worker import clean_page
from denoise_crawler.batch.workers import Worker
from denoise_crawler.denoiser import PLAIN_TEXT, Denoiser
from denoise_crawler.methods.site_knowledge import InMemoryKnowledge
from denoise_crawler.page import Page
from denoise_crawler.rules import NO_RULES, SiteRules

if TYPE_CHECKING:
    from denoise_crawler.batch import BatchResult
    from denoise_crawler.batch.workers import Limits
    from denoise_crawler.methods import MethodChoice
    from denoise_crawler.output.writing import Writing

_MAX_TRIES = 2  # so that a process killed from outside costs no page


@dataclass(frozen=True, slots=True)
class JudgeOptions:
    """How pages are judged and written."""

    choice: MethodChoice
    writing: Writing = PLAIN_TEXT
    rules: SiteRules = NO_RULES


class PageHandler:
    """Learns and cleans pages, with the knowledge of one site at a time."""

    def __init__(self, options: JudgeOptions) -> None:
        self._options = options
        self.enter("", None, 0)

    def one_page_tree(self, site: str, url: str, html: str | bytes) -> bytes:
        """Return what this page alone teaches of its site; empty if the page cannot be read."""
        denoiser = Denoiser(self._options.choice)
        denoiser.learn(Page.parse(url, html, site=site))
        method = denoiser.method_for(site)
        return method.to_bytes() if method.pages_known else b""

    def enter(self, site: str, knowledge: bytes | None, warmup_pages: int) -> None:
        """Take the knowledge of the site whose pages come next."""
        known = InMemoryKnowledge(None if knowledge is None else {site: knowledge})
        options = self._options
        self._denoiser = Denoiser(
            options.choice, knowledge=known, sites_in_memory=1, writing=options.writing, rules=options.rules
        )
        is_warm = not self._denoiser.learns or self._denoiser.method_for(site).pages_known >= warmup_pages
        self._short = None if is_warm else "clean"

    def cleaned(self, site: str, url: str, html: str | bytes) -> BatchResult:
        """Clean a page; if that raises, it has no text and names the error."""
        return clean_page(self._denoiser, site, url, html, short=self._short)


_workers: dict[bytes, Worker[PageHandler]] = {}


def page_worker(options: JudgeOptions, limits: Limits) -> Worker[PageHandler]:
    """Return this process's worker for these options; it serves all tasks that Spark gives the process."""
    key = pickle.dumps((options, limits))
    if key not in _workers:
        for old in _workers.values():
            old.close()
        _workers.clear()
        _workers[key] = Worker(partial(PageHandler, options), limits, tries=_MAX_TRIES)
    return _workers[key]
