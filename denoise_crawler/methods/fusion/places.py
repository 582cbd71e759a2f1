"""What a block-level element stands in, and what its tag and attributes say of that."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

LONGEST_NAMES = 1_000  # characters of a class and id: what is remembered must be bounded
# What a block can stand in, one bit each.
PLACES = (
    "article", "main", "header", "footer", "nav", "aside", "form", "table", "list", "figure", "quote",
    "hidden", "comment", "body_role", "chrome_role", "itemprop",
)  # fmt: skip
_BITS = {place: 1 << bit for bit, place in enumerate(PLACES)}
PLACE_OF_TAG = {
    tag: _BITS[place]
    for place, tags in {
        "article": ("article",), "main": ("main",), "header": ("header",), "footer": ("footer",), "nav": ("nav",),
        "aside": ("aside",), "form": ("form",), "table": ("table",), "list": ("ul", "ol", "dl"),
        "figure": ("figure", "figcaption"), "quote": ("blockquote",),
    }.items()
    for tag in tags
}  # fmt: skip
_ROLES = dict.fromkeys(("main", "article"), _BITS["body_role"]) | dict.fromkeys(
    ("navigation", "banner", "contentinfo", "complementary", "search", "menu", "dialog"), _BITS["chrome_role"]
)
_TEXT_PROPERTIES = frozenset({"articleBody", "description", "text", "reviewBody"})
_HIDING = re.compile(r"display\s*:\s*none|visibility\s*:\s*hidden")
_DIGITS = re.compile(r"\d+")
_COMMENTS = re.compile(r"comment|disqus|respond|repl(?:y|ies)|reviews?\b|discuss", re.IGNORECASE)


def _may_hide(style: str) -> bool:
    """Tell whether a style holds a word that hides; most hold none, and a search for both patterns is slow."""
    return "none" in style or "hidden" in style


READ: dict[str, Callable[[str], int]] = {
    "style": lambda value: _BITS["hidden"] if _may_hide(value) and _HIDING.search(value) else 0,
    "hidden": lambda _: _BITS["hidden"],
    "aria-hidden": lambda value: _BITS["hidden"] if value == "true" else 0,
    "role": lambda value: _ROLES.get(value, 0),
    "itemprop": lambda value: _BITS["itemprop"] if value in _TEXT_PROPERTIES else 0,
}


@lru_cache(maxsize=16_384)
def said_by(names: str) -> tuple[int, str]:
    """Return the bit of comments for a class and id that name them, else 0; and both without digits."""
    return _BITS["comment"] if _COMMENTS.search(names) else 0, _DIGITS.sub("", names)
