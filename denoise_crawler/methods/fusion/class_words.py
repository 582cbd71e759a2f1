"""What the words of a class or id say of the text below: log odds, learned from gold pages."""

from __future__ import annotations

import re
from functools import lru_cache
from math import fsum
from typing import TYPE_CHECKING

import numpy as np

from denoise_crawler.core import loops

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

_WORD = re.compile(r"[A-Z]?[a-z]{2,}|[A-Z]{2,}")
_LIMIT = 6.0
_REMEMBERED = 16_384


@lru_cache(maxsize=16_384)
def words_of(names: str) -> tuple[str, ...]:
    """Return the words of a class and id, split at camelCase, lower-cased, each once."""
    return tuple(sorted({word.lower() for word in _WORD.findall(names)}))


class ClassWords(dict[str, float]):
    """Log odds by word. What names are worth is remembered, since a site has few and they come back."""

    def __init__(self, log_odds: Mapping[str, float]) -> None:
        super().__init__(log_odds)
        self._worth: dict[str, float] = {}

    def worth(self, names: list[str]) -> NDArray[np.float64]:
        """Return for each element's names the sum of their words' log odds, within ±6; 0 for words not known."""
        if len(self._worth) > _REMEMBERED:
            self._worth.clear()
        worth = np.empty(len(names))
        loops("texts").worth_of(self._worth, names, self._found, worth)
        return worth

    def _found(self, names: str) -> float:
        total = fsum(self.get(word, 0.0) for word in words_of(names))
        self._worth[names] = max(-_LIMIT, min(_LIMIT, total))
        return self._worth[names]
