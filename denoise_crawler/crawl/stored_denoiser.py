"""A denoiser that knows what earlier crawls learned."""

from __future__ import annotations

from contextlib import closing, contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING

from denoise_crawler.denoiser import Denoiser
from denoise_crawler.methods.site_knowledge import InMemoryKnowledge
from denoise_crawler.rules import NO_RULES, SiteRules
from denoise_crawler.store import Store
from denoise_crawler.store.stored_knowledge import StoredKnowledge

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from denoise_crawler.methods import MethodChoice
    from denoise_crawler.output.writing import Writing


@contextmanager
def open_denoiser(
    path: Path | None, choice: MethodChoice, writing: Writing, rules: SiteRules = NO_RULES
) -> Iterator[Denoiser]:
    """Open the store of a crawl, read-only, and make a denoiser that knows its sites.

    Args:
        path: The file of the store, None if there is none.
        choice: The method.
        writing: How text is written.
        rules: The site rules that are obeyed.

    Yields:
        The denoiser. What it learns stays in memory.

    Raises:
        StoreError: The file cannot be read.
    """
    writing = replace(writing, history=None)  # to look at a page is no visit
    if path is None:
        yield Denoiser(choice, writing=writing, rules=rules)
        return
    with closing(Store(path, read_only=True)) as store:
        stored = InMemoryKnowledge(below=StoredKnowledge(store, choice))
        yield Denoiser(choice, knowledge=stored, writing=writing, rules=rules)
