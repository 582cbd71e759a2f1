"""How likely each block is content, from the trees, the site's styles and what is wished."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from denoise_crawler.methods.fusion.look import chances_of
from denoise_crawler.methods.fusion.wishes import KEEP

if TYPE_CHECKING:
    from denoise_crawler.methods.fusion.blocks import Numbers
    from denoise_crawler.methods.fusion.evidence import Evidence
    from denoise_crawler.methods.fusion.look import Look
    from denoise_crawler.methods.fusion.standing import Standing
    from denoise_crawler.methods.fusion.wishes import Wishes

_TITLE_CHANCE = 0.9
STYLE_SHARE, STYLE_PRIOR = 0.4, 30.0  # of what is said of a block by its style, at most; tokens


def content_chances(look: Look, wishes: Wishes) -> Numbers:
    """Return by block how likely it is content that is wished."""
    scores, evidence = look.scores, look.evidence
    if evidence.standing is not None:
        scores = with_style(scores, evidence.standing)
    return with_title(chances_of(scores + wishes.shift), evidence, wishes)


def with_title(chances: Numbers, evidence: Evidence, wishes: Wishes) -> Numbers:
    """Return ``chances`` with that of the page's title, if it is sure which block is the title.

    Other pages may list it, which says nothing against it.
    """
    if (title := evidence.headline.sure) < 0:
        return chances
    result = chances.copy()
    result[title] = max(chances[title], _TITLE_CHANCE) if wishes.title == KEEP else 0.0
    return result


def shifted(chances: Numbers, shift: float) -> Numbers:
    """Return ``chances`` with ``shift`` added to their log odds."""
    if not shift:
        return chances
    odds = chances * np.exp(shift)
    moved: Numbers = odds / (1.0 - chances + odds)
    return moved


def with_style(scores: Numbers, standing: Standing) -> Numbers:
    """Return the ``scores`` of blocks, drawn towards the mean of their style on the site's other pages.

    The more tokens of that style the other pages have, the more they say.
    """
    share = STYLE_SHARE * standing.style_tokens / (standing.style_tokens + STYLE_PRIOR)
    drawn: Numbers = (1.0 - share) * scores + share * standing.style_scores
    return drawn
