"""How good a text is against a gold text."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from statistics import fmean
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

_CJK = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
_TOKEN = re.compile(rf"[{_CJK}]|[^\W{_CJK}]+")


@dataclass(frozen=True, slots=True)
class Score:
    """Precision, recall and F1 of one page or, as their means, of many."""

    precision: float
    recall: float
    f1: float


def tokens(text: str) -> Counter[str]:
    """Count the tokens of ``text``, lower-cased: single characters of Chinese and Japanese, else words."""
    return Counter(_TOKEN.findall(text.lower()))


def score(extracted: str, gold: str) -> Score:
    """Compare two texts as bags of tokens; two texts without any agree."""
    got, want = tokens(extracted), tokens(gold)
    if not got and not want:
        return Score(1.0, 1.0, 1.0)
    hits = (got & want).total()
    precision = hits / got.total() if got else 0.0
    recall = hits / want.total() if want else 0.0
    f1 = 2 * precision * recall / (precision + recall) if hits else 0.0
    return Score(precision, recall, f1)


def mean(scores: Iterable[Score]) -> Score:
    """Return the mean over pages, each page counting the same."""
    rows = list(scores)
    if not rows:
        return Score(0.0, 0.0, 0.0)
    return Score(
        fmean(row.precision for row in rows), fmean(row.recall for row in rows), fmean(row.f1 for row in rows)
    )
