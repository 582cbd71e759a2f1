"""Log odds by word, one vote a site: that the text below a class or id is content; of what kind a page is."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from math import fsum, log
from typing import TypeAlias

import numpy as np

from denoise_crawler.evaluation.training.examples import LabelledPage
from denoise_crawler.methods.fusion.kinds import KINDS
from denoise_crawler.methods.fusion.names import words_of

Voices: TypeAlias = dict[str, frozenset[str]]

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


MIN_SITES_OF_KIND = 5
_LEAST = 0.7  # a word that says less of every kind is left out
_PRIOR = 0.5


def voices(site: Sequence[LabelledPage]) -> Voices:
    """Return by kind the words that its pages of the site have."""
    found: dict[str, set[str]] = {}
    for one in site:
        if one.kind in KINDS:
            found.setdefault(one.kind, set()).update(one.kind_words)
    return {kind: frozenset(words) for kind, words in found.items()}


def kind_odds(sites: Iterable[Voices]) -> dict[str, list[float]]:
    """Return by word the log odds of each kind."""
    sites_with: dict[str, Counter[str]] = {kind: Counter() for kind in KINDS}
    sites_of: Counter[str] = Counter()
    for site in sites:
        for kind, words in site.items():
            sites_of[kind] += 1
            sites_with[kind].update(words)
    everywhere: Counter[str] = Counter()
    for counted in sites_with.values():
        everywhere.update(counted)
    result: dict[str, list[float]] = {}
    for word, count in sorted(everywhere.items()):
        if count < MIN_SITES_OF_KIND:
            continue
        odds = [_log_ratio(sites_with[kind][word], sites_of[kind], count, sites_of.total()) for kind in KINDS]
        if max(odds) >= _LEAST:
            result[word] = [round(one, 1) for one in odds]
    return result


def _log_ratio(of_kind: int, kind: int, of_all: int, everything: int) -> float:
    """Return the log of how much more often pages of a kind have a word than the others do, smoothed."""
    usual = (of_all + _PRIOR) / (everything + 2 * _PRIOR)
    own = (of_kind + 4 * usual) / (kind + 4)
    others = (of_all - of_kind + 4 * usual) / (everything - kind + 4)
    return log(own / others)
