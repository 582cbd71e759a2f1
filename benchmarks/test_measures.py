from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.confidence import Reliability, reliability
from benchmarks.thread import ThreadScore, in_order, score_thread
from denoise_crawler.evaluation.gold import Post

POSTS = [
    Post("The pump fails when it is cold outside, does anyone know why?", "ann", "2 May"),
    Post("Check the valve first. Mine was stuck for years before I looked.", "bob", "3 May"),
]


def test_a_post_is_found_when_nine_tenths_of_its_words_stand_together_in_order() -> None:
    whole = "\n".join(f"{post.user} {post.time}\n{post.text}" for post in POSTS)
    assert score_thread(whole, POSTS) == ThreadScore(1.0, 0.0)
    half, other = POSTS[0].text[:25], POSTS[1].text
    assert score_thread(f"{half}\n{other}", POSTS).found == 0.5
    assert score_thread(" ".join(reversed(whole.split())), POSTS).found == 0.0
    assert score_thread("", POSTS) == ThreadScore(0.0, 0.0)


def test_words_of_no_post_are_noise_and_the_writers_name_is_none() -> None:
    found = score_thread(f"ann 2 May {POSTS[0].text} Advertisement Advertisement", POSTS)
    assert found.noise == pytest.approx(2 / 17)


def test_a_confidence_that_is_the_f1_is_never_off_and_parts_the_bad_pages_from_the_good() -> None:
    f1s = [number / 100 for number in range(100)]
    assert reliability(f1s, f1s) == Reliability(1.0, 0.09, pytest.approx(0.95), 0.0)  # type: ignore[arg-type]
    assert reliability([1 - f1 for f1 in f1s], f1s).area == 0.0


def test_a_confidence_that_is_always_the_same_tells_nothing() -> None:
    found = reliability([0.95] * 4, [1.0, 0.5, 1.0, 0.5])
    assert found == Reliability(0.5, 1.0, 0.75, pytest.approx(0.25))  # type: ignore[arg-type]
    assert reliability([], []) == Reliability(0.5, 0.0, 0.0, 0.0)


def longest_common(one: str, other: str) -> int:
    lengths = [0] * (len(other) + 1)
    for left in one:
        before = lengths[:]
        for place, right in enumerate(other, 1):
            lengths[place] = before[place - 1] + 1 if left == right else max(lengths[place - 1], before[place])
    return lengths[-1]


@given(one=st.text("abc", max_size=20), other=st.text("abc", max_size=20))
def test_what_two_texts_have_in_order_is_the_longest_common_subsequence(one: str, other: str) -> None:
    assert in_order(one, other) == longest_common(one, other)
