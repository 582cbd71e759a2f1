"""What the words of a class or id say of the text below: log odds, learned from gold pages."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from denoise_crawler.fusion.blocks import Numbers

_WORD = re.compile(r"[A-Z]?[a-z]{2,}|[A-Z]{2,}")
_LIMIT = 6.0


@lru_cache(maxsize=16_384)
def words_of(names: str) -> tuple[str, ...]:
    """Return the words of a class and id, split at camelCase, lower-cased, each once."""
    return tuple(sorted({word.lower() for word in _WORD.findall(names)}))


def named_content(names: Sequence[str], class_words: Mapping[str, float]) -> Numbers:
    """Return for each element's names the sum of their words' log odds, within ±6; 0 for words not known."""
    known: dict[str, float] = {"": 0.0}
    for one in names:
        if one not in known:
            total = sum(class_words.get(word, 0.0) for word in words_of(one))
            known[one] = max(-_LIMIT, min(_LIMIT, total))
    return np.array([known[one] for one in names])
