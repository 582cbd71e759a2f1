"""Worker processes of a crawl."""

from __future__ import annotations

from denoise_crawler.page.text import hash64
from denoise_crawler.workers.process import Limits

__all__ = ["Limits", "worker_number"]


def worker_number(name: str, workers: int) -> int:
    """Return the number of the worker that handles a site."""
    return hash64(name) % workers
