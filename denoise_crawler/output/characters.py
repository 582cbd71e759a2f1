"""Counts how much of a page is noise, in visible characters, for stats, reports and the live page."""

from __future__ import annotations

from itertools import compress
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from denoise_crawler.page import Page


def count_characters(page: Page, noise: list[bool] | None) -> tuple[int, int]:
    """Count the visible characters of ``page``, which are those other than white space.

    Args:
        page: The page.
        noise: Whether each node is noise; None if all is kept.

    Returns:
        The numbers of visible and of kept characters.

    Example:
        >>> from denoise_crawler import Page
        >>> count_characters(Page.parse("", "<p>One.<p>A two."), [False, True, True, False, False])
        (9, 5)

    """
    if (columns := page.nodes.compiled) is not None:
        visible, _, kept, _ = columns.counts(noise)
        return visible, kept
    visible = sum(page.characters)
    return visible, visible if noise is None else visible - sum(compress(page.characters, noise))


def noise_ratio(visible: int, kept: int) -> float:
    """Return the share (0 to 1) of the ``visible`` characters that were not ``kept``; 0 if none are visible."""
    return (visible - kept) / visible if visible else 0.0
