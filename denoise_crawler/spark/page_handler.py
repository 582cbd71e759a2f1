"""Learns and cleans single pages in a worker process."""

from __future__ import annotations

import pickle
from dataclasses import replace
from functools import partial
from itertools import groupby
from operator import itemgetter
from typing import TYPE_CHECKING, Any

from denoise_crawler.batch.worker import clean_page
from denoise_crawler.batch.workers import Limits, Worker
from denoise_crawler.denoiser import Cleaning, Denoiser
from denoise_crawler.methods.base import InMemoryKnowledge
from denoise_crawler.page import Page

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import pyarrow as pa
    from pyspark.sql import Column, DataFrame

    from denoise_crawler.batch import BatchResult

_MAX_TRIES = 2  # so that a process killed from outside costs no page


class PageHandler:
    """Learns and cleans pages, with the knowledge of one site at a time."""

    def __init__(self, cleaning: Cleaning) -> None:
        self._cleaning = replace(cleaning, sites_in_memory=1)
        self.enter("", None)

    def one_page_tree(self, site: str, url: str, html: str | bytes) -> bytes:
        """Return what this page alone teaches of its site; empty if the page cannot be read."""
        denoiser = Denoiser(self._cleaning.choice)
        denoiser.learn(Page.parse(url, html, site=site))
        method = denoiser.method_for(site)
        return method.to_bytes() if method.pages_known else b""

    def enter(self, site: str, knowledge: bytes | None) -> None:
        """Take the knowledge of the site whose pages come next."""
        known = InMemoryKnowledge(None if knowledge is None else {site: knowledge})
        self._denoiser = self._cleaning.denoiser(known)
        warmup_pages = self._cleaning.warmup_pages
        is_warm = not self._denoiser.learns or self._denoiser.method_for(site).pages_known >= warmup_pages
        self._short = None if is_warm else self._cleaning.short_sites

    def cleaned(self, site: str, url: str, html: str | bytes) -> BatchResult:
        """Clean a page; if that raises, it has no text and names the error."""
        return clean_page(self._denoiser, site, url, html, short=self._short)


_workers: dict[bytes, Worker[PageHandler]] = {}


def page_worker(cleaning: Cleaning, limits: Limits) -> Worker[PageHandler]:
    """Return this process's worker for this cleaning; it serves all tasks that Spark gives the process."""
    key = pickle.dumps((cleaning, limits))
    if key not in _workers:
        for old in _workers.values():
            old.close()
        _workers.clear()
        _workers[key] = Worker(partial(PageHandler, cleaning), limits, tries=_MAX_TRIES)
    return _workers[key]


def group_and_sort(rows: DataFrame, columns: Sequence[str], then: Sequence[Column] = ()) -> DataFrame:
    """Bring rows with equal ``columns`` into one partition, next to each other, sorted by ``then``."""
    return rows.repartition(*(rows[name] for name in columns)).sortWithinPartitions(*columns, *then)


def grouped(batches: Iterator[pa.RecordBatch], column: str) -> Iterator[tuple[Any, Iterator[dict[str, Any]]]]:
    """Yield each value of ``column`` with its rows, which are adjacent; only a batch is in memory."""
    rows = (row for batch in batches for row in batch.to_pylist())
    return groupby(rows, key=itemgetter(column))
