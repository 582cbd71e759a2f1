"""What is done to one page, in the process for pages: its knowledge taken, its text found."""

from __future__ import annotations

import pickle
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from denoise_crawler.batch.worker import BatchResult, BatchWorker, Job
from denoise_crawler.denoiser import AS_TEXT, Denoiser
from denoise_crawler.methods import MethodChoice
from denoise_crawler.methods.knowledge import InMemoryKnowledge
from denoise_crawler.page import Page
from denoise_crawler.page.site import site_of
from denoise_crawler.spark.page_process import page_process

if TYPE_CHECKING:
    from denoise_crawler.output.writing import Writing
    from denoise_crawler.spark.page_process import Limits, PageProcess


@dataclass(frozen=True, slots=True)
class Way:
    """How pages are judged and written."""

    method: str
    options: dict[str, object]
    writing: Writing = AS_TEXT


class PageHandler(BatchWorker):
    """The worker of a batch, which is told what is known of a site instead of looking it up."""

    def __init__(self, way: Way) -> None:
        super().__init__(Job(way.method, way.options, None, site_of, 0, "clean", 1, 1, way.writing), "", 0)
        self._way = way
        self._warm = True

    def one_page_tree(self, site: str, url: str, html: str | bytes) -> bytes:
        """Return what is known of the site from this page alone; nothing if the page cannot be read."""
        denoiser = Denoiser(MethodChoice(self._way.method, self._way.options))
        denoiser.learn(Page.parse(url, html, site=site))
        method = denoiser.method_for(site)
        return method.to_bytes() if method.pages_known else b""

    def enter(self, site: str, knowledge: bytes | None, warmup_pages: int) -> None:
        """Take what is known of the site whose pages come next."""
        shelf = InMemoryKnowledge(None if knowledge is None else {site: knowledge})
        self._denoiser = self._denoiser_with(shelf)
        self._warm = not self._denoiser.learns or self._denoiser.method_for(site).pages_known >= warmup_pages

    def cleaned(self, site: str, url: str, html: str | bytes) -> BatchResult:
        """Return the page cleaned; one that raises comes out with all its text and the error."""
        return self._judged(site, url, html)

    def _is_warm(self, site: str) -> bool:  # noqa: ARG002
        return self._warm


def handler_process(way: Way, limits: Limits) -> PageProcess:
    """Return the process for pages that are handled in this ``way``."""
    return page_process(partial(PageHandler, way), pickle.dumps(way), limits)
