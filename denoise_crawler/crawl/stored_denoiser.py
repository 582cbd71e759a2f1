"""A denoiser that knows what earlier crawls learned."""

from __future__ import annotations

from contextlib import closing, contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING

from denoise_crawler.methods.base import InMemoryKnowledge
from denoise_crawler.store import Store
from denoise_crawler.store.stored_knowledge import StoredKnowledge

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from denoise_crawler.denoiser import Cleaning, Denoiser


@contextmanager
def open_denoiser(path: Path | None, cleaning: Cleaning) -> Iterator[Denoiser]:
    """Open the store of a crawl, read-only, and make a denoiser that knows its sites.

    Args:
        path: The file of the store, None if there is none.
        cleaning: How pages are cleaned.

    Yields:
        The denoiser. What it learns stays in memory.

    Raises:
        StoreError: The file cannot be read.
    """
    cleaning = replace(cleaning, writing=replace(cleaning.writing, history=None))  # to look at a page is no visit
    if path is None:
        yield cleaning.denoiser()
        return
    with closing(Store(path, read_only=True)) as store:
        yield cleaning.denoiser(InMemoryKnowledge(below=StoredKnowledge(store, cleaning.choice)))
