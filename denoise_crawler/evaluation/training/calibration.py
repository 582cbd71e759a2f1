"""How good the text is that comes out where a certain F1 is expected: measured on pages of sites not seen."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

import numpy as np

from denoise_crawler.evaluation.measures import score
from denoise_crawler.evaluation.training.examples import MAX_KNOWN, LabelledPage, known_site
from denoise_crawler.methods.fusion.decision import content_chances, most_f1
from denoise_crawler.methods.fusion.features import KEEP, LEAVE, Wishes
from denoise_crawler.methods.fusion.look import Look
from denoise_crawler.methods.fusion.site_sums import Standing
from denoise_crawler.page.text import hash64

BINS = 12


def expected_and_found(
    site: Sequence[LabelledPage], looks: Mapping[LabelledPage, Look]
) -> Iterator[tuple[float, float]]:
    """Yield what F1 is expected of each page of a site and what comes of it, cold and knowing the other pages.

    ``looks`` at the pages alone are by trees that saw no page of the site.
    """
    scores = {page: look.scores for page, look in looks.items()}
    for one in site:
        others = [other for other in site if other.key != one.key]
        for known in sorted({0, min(len(others), MAX_KNOWN)}):
            standing = known_site(one, others, known, scores).standing(one.key, one.blocks)
            yield _measured(one, looks[one], standing)


def _measured(page: LabelledPage, alone: Look, standing: Standing | None) -> tuple[float, float]:
    blocks, best = page.blocks, alone.evidence.headline.best
    wishes = Wishes(title=KEEP if best >= 0 and page.content[best] else LEAVE)
    chances = content_chances(alone.knowing(standing, wishes.columns), wishes)
    taken, expected, _ = most_f1(chances, blocks.tokens)
    text = "\n".join(blocks.texts[block] for block in np.flatnonzero(taken))
    return expected, score(text, page.gold).f1


def knots(pairs: Iterable[tuple[float, float]]) -> list[list[float]]:
    """Return the mean expected and the mean found F1 of as many pages each, neither ever falling."""
    ascending = np.array(sorted(pairs)).reshape(-1, 2)
    means = np.array([part.mean(axis=0) for part in np.array_split(ascending, BINS) if len(part)]).reshape(-1, 2)
    return [[round(float(value), 4) for value in knot] for knot in np.maximum.accumulate(means, axis=0)]


FOLDS = 5


def fold(site: str) -> int:
    """Return the fold of a site, the same for ever."""
    return (hash64(site) >> 1) % FOLDS


def fold_file(of: int) -> str:
    """Return the name of the file with the weights that were made without a fold of sites."""
    return f"without-{of}.json"
