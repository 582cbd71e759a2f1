"""Which blocks to take, given how likely each is content."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from denoise_crawler.methods.fusion.blocks import Hashes, Numbers

REPEATED_CHARACTERS = 40


def most_f1(chances: Numbers, tokens: Numbers) -> NDArray[np.bool_]:
    """Take the likeliest blocks, as many as make the expected F1 of the text largest.

    With p the chance and n the tokens of a block that is 2·Σ p·n over those taken, by Σ n over those taken plus
    Σ p·n over all.
    """
    order = np.argsort(-chances, kind="stable")
    expected = chances * tokens
    hits = np.cumsum(expected[order])
    f1 = 2 * hits / np.maximum(np.cumsum(tokens[order]) + expected.sum(), 1e-9)
    taken = np.zeros(len(chances), bool)
    if len(order):
        taken[order[: int(f1.argmax()) + 1]] = True
    return taken


def first_of_each(taken: NDArray[np.bool_], texts: Hashes, characters: Numbers) -> NDArray[np.bool_]:
    """Leave out blocks of some length whose text is taken already."""
    result = taken.copy()
    long = np.flatnonzero(taken & (characters >= REPEATED_CHARACTERS))
    _, first = np.unique(texts[long], return_index=True)
    result[np.delete(long, first)] = False
    return result
