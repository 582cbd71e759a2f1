"""How much more often the pages of a kind have a word in their markup, one vote a site and kind."""

from __future__ import annotations

from collections import Counter
from math import log
from typing import TYPE_CHECKING, TypeAlias

from denoise_crawler.methods.fusion.kinds import KINDS

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from denoise_crawler.evaluation.training.examples import LabelledPage

    Voices: TypeAlias = dict[str, frozenset[str]]

MIN_SITES = 5
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
        if count < MIN_SITES:
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
