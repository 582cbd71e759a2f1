"""A web page: its URL and site, its tree, its nodes, its words, its metadata."""

from __future__ import annotations

from denoise_crawler.page.page import (
    MAX_ATTRIBUTES,
    MAX_DEPTH,
    MAX_ELEMENTS,
    MAX_HTML_BYTES,
    MAX_TEXT_BYTES,
    TEXT,
    Boxes,
    Element,
    Nodes,
    Page,
)

__all__ = [
    "MAX_ATTRIBUTES",
    "MAX_DEPTH",
    "MAX_ELEMENTS",
    "MAX_HTML_BYTES",
    "MAX_TEXT_BYTES",
    "TEXT",
    "Boxes",
    "Element",
    "Nodes",
    "Page",
]
