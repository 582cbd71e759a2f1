"""Which blocks of a page belong to its gold text."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from denoise_crawler.evaluation.measures import token_sequence

LONG = 6
_GRAM = 4
_FOUND = 0.5
_UNUSED = 0.6


def labels(texts: Sequence[str], gold: str) -> NDArray[np.bool_]:
    """Tell which of a page's block ``texts`` are in its ``gold`` text, using each of its tokens once.

    Blocks of ``LONG`` tokens or more belong if half of their 4-grams do, the longest first; then shorter ones
    that stand there word for word, those nearest to the long ones first. A block whose tokens are mostly used
    up by others does not belong.
    """
    wanted = token_sequence(gold)
    unused = Counter(wanted)
    grams = set(_grams(wanted))
    whole = f" {' '.join(wanted)} "
    blocks = [token_sequence(text) for text in texts]
    belongs = np.zeros(len(blocks), bool)

    def take(index: int) -> None:
        used = Counter(blocks[index]) & unused
        if used.total() >= _UNUSED * len(blocks[index]):
            unused.subtract(used)
            belongs[index] = True

    long = [index for index, block in enumerate(blocks) if len(block) >= LONG]
    for index in sorted(long, key=lambda index: -len(blocks[index])):
        own = _grams(blocks[index])
        if sum(gram in grams for gram in own) >= _FOUND * len(own):
            take(index)
    found = np.flatnonzero(belongs)
    short = [
        index for index, block in enumerate(blocks) if 0 < len(block) < LONG and f" {' '.join(block)} " in whole
    ]
    if len(found):
        short.sort(key=lambda index: int(np.abs(found - index).min()))
    for index in short:
        take(index)
    return belongs


def _grams(tokens: Sequence[str]) -> list[tuple[str, ...]]:
    return [tuple(tokens[start : start + _GRAM]) for start in range(len(tokens) - _GRAM + 1)]
