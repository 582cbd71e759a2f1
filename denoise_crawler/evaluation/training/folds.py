"""Five folds of sites: what is said of a site's pages comes from weights that saw no page of it."""

from __future__ import annotations

from denoise_crawler.page.text import hash64

FOLDS = 5


def fold(site: str) -> int:
    """Return the fold of a site, the same for ever."""
    return (hash64(site) >> 1) % FOLDS


def fold_file(of: int) -> str:
    """Return the name of the file with the weights that were made without a fold of sites."""
    return f"without-{of}.json"
