"""A Scrapy extension that learns each site while it crawls and emits clean text items."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from denoise_crawler.denoiser import Cleaned, Denoiser, denoise_pages
from denoise_crawler.errors import ExtractorError, MethodError
from denoise_crawler.output.clean_page import CleanPage, by_record
from denoise_crawler.output.writing import Writing
from denoise_crawler.page import Page

if TYPE_CHECKING:
    from denoise_crawler.crawl.middleware import Addon
    from denoise_crawler.crawl.politeness import Politeness
    from denoise_crawler.methods.style_tree import SiteStyleTree
    from denoise_crawler.output.content.chunks import Chunk, chunks

__all__ = [
    "Addon",
    "Chunk",
    "CleanPage",
    "Cleaned",
    "Denoiser",
    "ExtractorError",
    "MethodError",
    "Page",
    "Politeness",
    "SiteStyleTree",
    "Writing",
    "by_record",
    "chunks",
    "denoise_pages",
]

_LATE = {
    "Addon": "denoise_crawler.crawl.middleware",
    "Chunk": "denoise_crawler.output.content.chunks",
    "Politeness": "denoise_crawler.crawl.politeness",
    "SiteStyleTree": "denoise_crawler.methods.style_tree",
    "chunks": "denoise_crawler.output.content.chunks",
}


def __getattr__(name: str) -> Any:
    """Import a part that needs Scrapy, or that few processes use, when it is asked for."""
    if name not in _LATE:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(_LATE[name]), name)
