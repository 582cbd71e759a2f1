"""Input ``number`` of a seed: the same on every machine that has the same pages to start from."""

from __future__ import annotations

from random import Random

from tests.fuzz.markup import encoded, page, repeated
from tests.fuzz.mutations import mutated

_MOST_PIECES = (4, 12, 40, 120, 400)
_OFTEN = (3, 4, 4, 2, 1)


def an_input(random: Random) -> str | bytes:
    """Return a page: half of them built, half of them real ones with some bytes changed."""
    kind = random.random()
    if kind < 0.5:
        return mutated(random)
    most = random.choices(_MOST_PIECES, _OFTEN)[0]
    return encoded(random, page(random, most) if kind < 0.85 else repeated(random, most))


def numbered(seed: int, number: int) -> str | bytes:
    """Return input ``number`` of ``seed``."""
    return an_input(Random(f"{seed}:{number}"))
