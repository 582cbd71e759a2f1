"""Which blocks to take, given how likely each is content."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from denoise_crawler.methods.fusion.blocks import Hashes, Indices, Numbers

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


def expected_f1(chances: Numbers, tokens: Numbers, taken: NDArray[np.bool_]) -> float:
    """Return the F1 to be expected of the blocks ``taken``; 1 where there is nothing to take and nothing is."""
    expected = chances * tokens
    whole = float(tokens[taken].sum() + expected.sum())
    return 2.0 * float(expected[taken].sum()) / whole if whole else 1.0


def first_of_each(
    taken: NDArray[np.bool_], texts: Hashes, characters: Numbers, series: Sequence[Indices]
) -> NDArray[np.bool_]:
    """Leave out blocks of some length whose text is taken already, but for those in the same series.

    A refrain comes back among the lines of its song; a copy stands somewhere else, or is hidden. Blocks of the
    same series are alike in all columns of ``series``.
    """
    result = taken.copy()
    long = np.flatnonzero(taken & (characters >= REPEATED_CHARACTERS))
    if len(set(texts[long].tolist())) == len(long):
        return result
    _, first, of_text = np.unique(texts[long], return_index=True, return_inverse=True)
    original = long[first[of_text]]
    result[long] = np.all([column[long] == column[original] for column in series], axis=0)
    return result
