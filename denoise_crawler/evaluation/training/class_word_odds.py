"""The log odds that the text below a class or id word is content, one vote a site."""

from __future__ import annotations

from collections import defaultdict
from math import fsum, log
from typing import TYPE_CHECKING

import numpy as np

from denoise_crawler.methods.fusion.class_words import words_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from denoise_crawler.evaluation.training.examples import LabelledPage

MIN_SITES = 4
_BASE = 0.4
_PRIOR_VOTES = 2.0


def votes(site: Sequence[LabelledPage]) -> dict[str, float]:
    """Return by word the share of content among the tokens below elements named so, on one site."""
    sums: dict[str, list[float]] = defaultdict(lambda: [0.0, 0.0])
    for one in site:
        around, tokens = one.blocks.around, one.blocks.tokens
        content = np.concatenate(([0.0], np.cumsum(tokens * one.content)))
        every = np.concatenate(([0.0], np.cumsum(tokens)))
        for names, first, last in zip(around.names, around.first.tolist(), around.last.tolist(), strict=True):
            for word in words_of(names):
                sums[word][0] += content[last] - content[first]
                sums[word][1] += every[last] - every[first]
    return {word: content / every for word, (content, every) in sums.items() if every}


def log_odds(sites: Iterable[dict[str, float]]) -> dict[str, float]:
    """Join the votes of ``sites`` for words that ``MIN_SITES`` of them have, smoothed towards the usual share."""
    shares: dict[str, list[float]] = defaultdict(list)
    for site in sites:
        for word, share in site.items():
            shares[word].append(share)
    usual = log(_BASE / (1 - _BASE))
    result = {}
    for word, found in sorted(shares.items()):
        if len(found) >= MIN_SITES:
            content = fsum(found) + _PRIOR_VOTES * _BASE
            result[word] = round(log(content / (len(found) + _PRIOR_VOTES - content)) - usual, 3)
    return result
