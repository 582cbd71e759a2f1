"""A page of the web: its address and site, its tree, its nodes, its words, its metadata."""

from __future__ import annotations

from denoise_crawler.page.page import (
    DEEPEST,
    MAX_ATTRIBUTES,
    MAX_CHARACTERS,
    MAX_ELEMENTS,
    MAX_TEXT,
    TEXT,
    Boxes,
    Element,
    Nodes,
    Page,
)

__all__ = [
    "DEEPEST",
    "MAX_ATTRIBUTES",
    "MAX_CHARACTERS",
    "MAX_ELEMENTS",
    "MAX_TEXT",
    "TEXT",
    "Boxes",
    "Element",
    "Nodes",
    "Page",
]
