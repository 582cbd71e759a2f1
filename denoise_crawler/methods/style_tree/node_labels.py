"""Labels: an element's (TAG, Attr) as one string, equal on all pages that share a template."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING

from denoise_crawler.page import TEXT

if TYPE_CHECKING:
    from denoise_crawler.page import Page

# The attributes that decide how an element looks. Inline ``style`` is left out: scripts and editors put positions,
# colours and images there, which would give each page a template of its own.
STYLE_ATTRIBUTES = ("class", "id", "width", "height", "align", "valign", "bgcolor", "border", "color", "size")
_NAMES = frozenset({"class", "id"})
# Digits and hashes number instances (post-1234, css-1q2w3e) rather than name a style.
_NUMBERED = re.compile(r"(?<![a-z])[0-9a-f]*\d[0-9a-f]{3,}(?![a-z])|\d+", re.IGNORECASE)


def labels_of(page: Page) -> list[str]:
    """Return the label of each node of ``page``, in document order."""
    nodes = page.nodes
    labels = [
        TEXT
        if tag is TEXT
        else _label(tag, tuple((name, value[:200]) for name, value in element.items() if name in STYLE_ATTRIBUTES))
        for tag, element in zip(nodes.tags[1:], nodes.elements[1:], strict=True)
    ]
    return ["body", *labels]


@lru_cache(maxsize=16_384)
def _label(tag: str, attributes: tuple[tuple[str, str], ...]) -> str:
    if not attributes:
        return tag
    parts = [tag]
    for name, value in sorted(attributes):
        shown = " ".join(_NUMBERED.sub("", value).split()) if name in _NAMES else value.strip()
        if shown:
            parts.append(f"{name}={shown}")
    return "|".join(parts)
