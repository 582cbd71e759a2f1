"""How much of a page is noise, in visible characters: the one count behind stats, reports and the live page."""

from __future__ import annotations

from itertools import compress
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from denoise_crawler.page import Page


def count_characters(page: Page, noise: list[bool] | None) -> tuple[int, int]:
    """Return how many visible characters ``page`` has, and how many of them are kept.

    A character is visible if it is no white space. All are kept if ``noise`` is None.
    """
    visible = sum(page.characters)
    return visible, visible if noise is None else visible - sum(compress(page.characters, noise))


def noise_ratio(visible: int, kept: int) -> float:
    """Return the share of the ``visible`` characters that were not ``kept`` (0-1); 0 without any."""
    return (visible - kept) / visible if visible else 0.0
