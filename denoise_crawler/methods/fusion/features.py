"""The evidence for each block of a page, page and site, as one table of numbers."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from denoise_crawler.core import loops
from denoise_crawler.methods.fusion.declared_text import DECLARED
from denoise_crawler.methods.fusion.kinds import KINDS
from denoise_crawler.methods.fusion.places import PLACES
from denoise_crawler.methods.fusion.title import begins
from denoise_crawler.methods.fusion.wishes import WISH_COLUMNS

if TYPE_CHECKING:
    from denoise_crawler.methods.fusion.evidence import Evidence
    from denoise_crawler.methods.fusion.trees import Table

# made by Python, of texts and words; all other features are made by the loops
_SAID = "title overlap", "first heading", "begins description", *DECLARED


@lru_cache(maxsize=1)
def page_names() -> tuple[str, ...]:
    """Return the names of the features that the page alone says."""
    kinds = (f"page kind {kind}" for kind in KINDS)
    return (*loops("features").PAGE, *(f"in {place}" for place in PLACES), *kinds, *_SAID)


@lru_cache(maxsize=1)
def block_names() -> tuple[str, ...]:
    """Return the names of all features: those of the page, those that the site changes, and what is wished."""
    return (*page_names(), *loops("features").SITE, *WISH_COLUMNS)


def fill_page(rows: Table, evidence: Evidence) -> None:
    """Fill the ``rows`` of ``page_names``, a number for each block."""
    headline, around = evidence.headline, evidence.blocks.around
    said = headline.overlap, headline.first_heading, begins(evidence.description, evidence.blocks)
    places = around.places, len(PLACES)
    loops("features").page(rows, *evidence.columns, evidence.named, headline.best, *places, evidence.kinds, said)
    rows[-len(DECLARED) :] = evidence.declared


def fill_site(rows: Table, evidence: Evidence) -> None:
    """Fill the rows of the features that depend on what is known of the site."""
    standing, scores = evidence.standing, np.empty(len(evidence.blocks.around))
    said, pages = ((), 0.0) if standing is None else (standing.columns, float(standing.pages))
    given = evidence.named, evidence.blocks.link_hashes, pages, said, scores
    loops("features").site_rows(rows, *evidence.columns, *given)


def table_of(evidence: Evidence, wishes: tuple[float, float], of_page: Table | None = None) -> Table:
    """Return all features as a table, a row for each block.

    Args:
        evidence: What is known of the page.
        wishes: Whether title and comments are wished: 1, 0, or ``UNSAID``.
        of_page: The features that the page alone says, by feature, where they are known.

    """
    by_feature = np.empty((len(block_names()), len(evidence.blocks)), np.float32)
    own = len(page_names())
    if of_page is None:
        fill_page(by_feature[:own], evidence)
    else:
        by_feature[:own] = of_page
    fill_site(by_feature[own:-2], evidence)
    by_feature[-2], by_feature[-1] = wishes
    return by_feature.T
