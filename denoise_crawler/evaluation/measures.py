"""Scores and grades of a text against its gold text."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from statistics import fmean

_CJK = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
_TOKEN = re.compile(rf"[{_CJK}]|[^\W{_CJK}]+")

# From the report of the frame-and-rules method, whose authors graded by hand; the bounds on F1 are this package's.
GRADES = ("优", "良", "中", "差")
GRADES_IN_ENGLISH = ("excellent", "good", "fair", "poor")
MIN_F1 = (0.95, 0.85, 0.6, 0.0)


@dataclass(frozen=True, slots=True)
class Score:
    """Precision, recall and F1 of a page, or their means over pages."""

    precision: float
    recall: float
    f1: float


def token_sequence(text: str) -> list[str]:
    """Return the lower-cased tokens of ``text``: characters of Chinese and Japanese, words of other languages."""
    return _TOKEN.findall(text.lower())


def tokens(text: str) -> Counter[str]:
    """Count the tokens of ``text``."""
    return Counter(token_sequence(text))


def characters(text: str) -> Counter[str]:
    """Count the characters of ``text`` without white space."""
    return Counter("".join(text.split()))


def score(extracted: str, gold: str) -> Score:
    """Compare two texts as bags of tokens; two empty texts agree.

    Example:
        >>> score("a story and noise", "a story")
        Score(precision=0.5, recall=1.0, f1=0.6666666666666666)

    """
    return _compare(tokens(extracted), tokens(gold))


def score_by_characters(extracted: str, gold: str) -> Score:
    """Compare two texts as bags of characters, the measure of the node-type-annotation paper (NTA)."""
    return _compare(characters(extracted), characters(gold))


def _compare(got: Counter[str], want: Counter[str]) -> Score:
    if not got and not want:
        return Score(1.0, 1.0, 1.0)
    hits = (got & want).total()
    precision = hits / got.total() if got else 0.0
    recall = hits / want.total() if want else 0.0
    f1 = 2 * precision * recall / (precision + recall) if hits else 0.0
    return Score(precision, recall, f1)


def mean(scores: Iterable[Score]) -> Score:
    """Return the mean over pages of equal weight, 0 without pages."""
    rows = [(one.precision, one.recall, one.f1) for one in scores]
    return Score(*map(fmean, zip(*rows, strict=True))) if rows else Score(0.0, 0.0, 0.0)


def grade(f1: float) -> str:
    """Return the grade of a page: the first of ``GRADES`` whose ``MIN_F1`` it reaches."""
    return next(name for name, least in zip(GRADES, MIN_F1, strict=True) if f1 >= least)


def grade_shares(f1s: Sequence[float]) -> tuple[float, ...]:
    """Return the share of pages with each of ``GRADES``; all are 0 without pages."""
    grades = Counter(map(grade, f1s))
    return tuple(grades[name] / len(f1s) if f1s else 0.0 for name in GRADES)
