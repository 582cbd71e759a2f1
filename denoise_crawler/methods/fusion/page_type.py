"""What type a page is of: an article, a forum thread, a product and so on, by its own evidence and its site's."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from denoise_crawler.methods.fusion.kinds import KINDS, MOST_TYPE_SCORE
from denoise_crawler.methods.fusion.page_type_features import page_type_names, page_type_row
from denoise_crawler.methods.fusion.trees import BoostedTrees

if TYPE_CHECKING:
    from collections.abc import Sequence

    from denoise_crawler.methods.fusion.blocks import Numbers
    from denoise_crawler.methods.fusion.look import Look
    from denoise_crawler.methods.fusion.standing import Standing
    from denoise_crawler.methods.fusion.trees import Tree

MAX_SITE_SHARE = 0.8  # of what is said of a page by the pages that are built alike
# On articles the set of blocks with the best expected F1 reaches too far, on lists and manuals not far enough.
# Tuned on the tuning half of wcxb and the folds of the news; that of collections is halved, as it is least sure.
SURE = 0.5
CUT_SHIFTS = dict.fromkeys(KINDS, 0.0) | {
    "article": -0.5,
    "listing": 0.8,
    "collection": 0.3,
    "documentation": 0.8,
    "service": 0.6,
}


class PageTypeTrees:
    """Trees that score each of ``KINDS`` for a page: tree i is one of kind ``i % len(KINDS)``."""

    def __init__(self, features: Sequence[str], trees: Sequence[Tree]) -> None:
        self._at = np.array([page_type_names().index(name) for name in features], np.int64)
        self._trees = BoostedTrees(trees)

    def scores(self, traits: Sequence[float], look: Look) -> Numbers:
        """Return the score of each kind, their mean 0.

        Args:
            traits: What the page says of itself: :func:`page_type_features.traits_of`.
            look: What the trees say of its blocks.
        """
        table = page_type_row(traits, look)[self._at].reshape(1, -1)
        scores = self._trees.leaves(table)[:, 0].reshape(-1, len(KINDS)).sum(axis=0)
        centred = scores - scores.sum() / len(KINDS)
        bounded: Numbers = np.minimum(np.maximum(centred, -MOST_TYPE_SCORE), MOST_TYPE_SCORE)
        return bounded


class PageType(NamedTuple):
    """What a page is, and what is added to the log odds of its blocks before the cut."""

    name: str | None = None
    shift: float = 0.0


def page_type_of(scores: Numbers, standing: Standing | None, *, has_fields: bool) -> PageType:
    """Return the likeliest of ``KINDS``, and its shift if it is likelier than all others together.

    Args:
        scores: What the page itself says.
        standing: What the site says: pages that are built alike mostly have one type.
        has_fields: Whether the page is a filled-in form with a price near its title, as the site shows it.
    """
    if has_fields:
        return PageType("product", CUT_SHIFTS["product"])
    if standing is not None and standing.alike:
        share = MAX_SITE_SHARE * standing.alike / (standing.alike + 1.0)
        scores = (1.0 - share) * scores + share * standing.kinds
    name = KINDS[int(scores.argmax())]
    sure = 1.0 / float(np.exp(scores - scores.max()).sum()) > SURE
    return PageType(name, CUT_SHIFTS[name] if sure else 0.0)
