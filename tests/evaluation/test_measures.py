"""Measures of clean text, and gold pages that the demo's planted noise makes."""

from collections import Counter
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from denoise_crawler.evaluation import (
    Score,
    characters,
    grade,
    grade_shares,
    mean,
    score,
    score_by_characters,
    tokens,
)

TEXTS = st.text(st.sampled_from("abB 港湾ニュ。.1\n")) | st.text()


def test_tokens_are_words_lower_cased_and_single_characters_of_chinese_and_japanese() -> None:
    assert tokens("The ferry, the FERRY: 2 of 3!") == Counter(the=2, ferry=2, of=1, **{"2": 1, "3": 1})
    assert tokens("港湾纪事 2026，港") == Counter({"港": 2, "湾": 1, "纪": 1, "事": 1, "2026": 1})
    assert tokens("フェリーはA港へ") == Counter("フェリーは港へa")
    assert tokens("新闻news新闻") == Counter({"新": 2, "闻": 2, "news": 1})
    assert tokens(" \n…—!") == Counter()


@pytest.mark.parametrize(
    ("extracted", "gold", "precision", "recall", "f1"),
    [
        ("a b c d", "a b c d", 1.0, 1.0, 1.0),
        ("d C b A", "a b c d", 1.0, 1.0, 1.0),
        ("a b c d e f g h", "a b", 1 / 4, 1.0, 2 / 5),
        ("a b", "a b c d e f g h", 1.0, 1 / 4, 2 / 5),
        ("a x y z", "a b", 1 / 4, 1 / 2, 1 / 3),
        ("a a a", "a", 1 / 3, 1.0, 1 / 2),
        ("a", "a a a", 1.0, 1 / 3, 1 / 2),
        ("x", "a", 0.0, 0.0, 0.0),
        ("", "a", 0.0, 0.0, 0.0),
        ("a", "", 0.0, 0.0, 0.0),
        ("", "", 1.0, 1.0, 1.0),
        ("…", "\n", 1.0, 1.0, 1.0),
        ("港湾", "港湾纪事", 1.0, 1 / 2, 2 / 3),
        ("事纪湾港首页", "港湾纪事", 2 / 3, 1.0, 4 / 5),
    ],
)
def test_a_score_is_that_worked_out_by_hand(
    extracted: str, gold: str, precision: float, recall: float, f1: float
) -> None:
    found = score(extracted, gold)
    assert (found.precision, found.recall, found.f1) == pytest.approx((precision, recall, f1))


def test_characters_are_all_but_white_space_with_their_case() -> None:
    assert characters("Aa a.\n\u3000港 港\xa0") == Counter({"A": 1, "a": 2, ".": 1, "港": 2})


@pytest.mark.parametrize(
    ("extracted", "gold", "precision", "recall", "f1"),
    [
        ("港湾纪事", "港 湾\n纪事", 1.0, 1.0, 1.0),
        ("ab cd", "dc ba", 1.0, 1.0, 1.0),
        ("港湾首页", "港湾纪事今日", 1 / 2, 1 / 3, 2 / 5),
        ("aab", "abbb", 2 / 3, 1 / 2, 4 / 7),
        ("A", "a", 0.0, 0.0, 0.0),
        ("…", "…!", 1.0, 1 / 2, 2 / 3),
        ("", "a", 0.0, 0.0, 0.0),
        (" \n", "", 1.0, 1.0, 1.0),
    ],
)
def test_a_score_by_characters_is_that_worked_out_by_hand(
    extracted: str, gold: str, precision: float, recall: float, f1: float
) -> None:
    found = score_by_characters(extracted, gold)
    assert (found.precision, found.recall, found.f1) == pytest.approx((precision, recall, f1))


@pytest.mark.parametrize(
    ("f1", "name"),
    [
        (1.0, "优"),
        (0.95, "优"),
        (0.9499, "良"),
        (0.85, "良"),
        (0.8499, "中"),
        (0.6, "中"),
        (0.5999, "差"),
        (0.0, "差"),
    ],
)
def test_a_grade_reaches_down_to_its_bound(f1: float, name: str) -> None:
    assert grade(f1) == name


def test_shares_of_grades_are_counted_by_page() -> None:
    assert grade_shares([1.0, 0.9, 0.9, 0.7, 0.1, 0.2, 0.0, 0.3]) == (1 / 8, 2 / 8, 1 / 8, 4 / 8)
    assert grade_shares([]) == (0.0, 0.0, 0.0, 0.0)


@pytest.mark.parametrize("score", [score, score_by_characters])
@given(TEXTS, TEXTS)
def test_precision_and_recall_change_places_with_the_texts(
    score: Callable[[str, str], Score], one: str, two: str
) -> None:
    there, back = score(one, two), score(two, one)
    assert (there.precision, there.recall) == (back.recall, back.precision)
    assert there.f1 == pytest.approx(back.f1)


def test_a_mean_counts_each_page_the_same() -> None:
    found = mean(iter([Score(1.0, 0.5, 0.6), Score(0.0, 0.5, 0.0), Score(0.5, 0.5, 0.3)]))
    assert (found.precision, found.recall, found.f1) == pytest.approx((0.5, 0.5, 0.3))
