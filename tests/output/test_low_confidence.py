from __future__ import annotations

import pytest

from denoise_crawler import denoise_pages
from denoise_crawler.batch import Tally, clean_pages
from denoise_crawler.errors import LowConfidenceError
from denoise_crawler.output.writing import Writing

STORY = (
    "<p>" + "The ferry ran aground on the sandbank off the point, and its passengers came ashore by night. " * 6
)
PAGES = [
    ("https://a.example/story", f"<h1>Ferry aground</h1>{STORY * 4}"),
    ("https://a.example/scraps", "".join(f"<div><a href=/{n}>Offer {n}</a> now {n}.99</div>" for n in range(40))),
]


def shout(url: str, html: str) -> str:
    return f"{url} has {len(html)} characters"


def fail(url: str, html: str) -> str:
    raise RuntimeError(url + html)


def none(*_: str) -> None:
    pass


def unsure(action: str, minimum: float = 0.85) -> Writing:
    return Writing(min_confidence=minimum, low_confidence=action)


def test_only_pages_below_are_marked_and_their_text_is_as_without() -> None:
    plain, marked = list(denoise_pages(PAGES)), list(denoise_pages(PAGES, writing=unsure("mark")))
    assert [one.low_confidence for one in plain] == [None, None]
    assert [one.low_confidence for one in marked] == [False, True]
    assert [one.text for one in marked] == [one.text for one in plain]
    for one in marked:
        assert one.confidence is not None
        assert one.low_confidence == (one.confidence < 0.85)


def test_a_method_that_cannot_tell_marks_nothing() -> None:
    cleaned = denoise_pages(PAGES, method="link_ratio", writing=unsure("drop", 1.0))
    assert [one.low_confidence for one in cleaned] == [None, None]


def test_dropped_pages_do_not_come_out_and_a_batch_counts_them() -> None:
    assert [one.url for one in denoise_pages(PAGES, writing=unsure("drop"))] == [PAGES[0][0]]
    tally = Tally()
    results = list(clean_pages(lambda: PAGES, workers=1, writing=unsure("drop"), tally=tally))
    assert [result.dropped for result in results] == [False, True]
    assert (tally.unsure, tally.dropped) == (1, 1)


def test_a_function_or_an_extractor_writes_unsure_pages_and_the_method_says_so() -> None:
    story, scraps = denoise_pages(PAGES, writing=unsure(f"{__name__}:shout"))
    assert (story.method, scraps.method) == ("fusion", f"fusion/{__name__}:shout")
    assert scraps.text == f"{PAGES[1][0]} has {len(PAGES[1][1])} characters"
    _, scraps = denoise_pages(PAGES, writing=unsure("html_text"))
    assert scraps.method == "fusion/html_text"
    assert "Offer 39" in scraps.text


@pytest.mark.parametrize("name", ["fail", "none"])
def test_a_fallback_that_fails_or_has_nothing_leaves_our_own_text(name: str) -> None:
    plain = list(denoise_pages(PAGES))
    cleaned = list(denoise_pages(PAGES, writing=unsure(f"{__name__}:{name}")))
    assert [(one.text, one.method) for one in cleaned] == [(one.text, "fusion") for one in plain]
    assert cleaned[1].low_confidence


@pytest.mark.parametrize(
    ("minimum", "action", "said"),
    [
        (1.5, "mark", "the least confidence is 1.5"),
        (float("nan"), "mark", "the least confidence is nan"),
        (0.5, "marks", "'marks' is not known: it can be mark, drop, render, trafilatura"),
        (0.5, "no_such_module:f", "'no_such_module:f' cannot be loaded"),
        (0.5, f"{__name__}:no_such", "cannot be loaded"),
        (0.5, f"{__name__}:PAGES", "is no function"),
    ],
)
def test_wrong_values_are_refused_at_once(minimum: float, action: str, said: str) -> None:
    with pytest.raises(LowConfidenceError, match=said):
        denoise_pages([], writing=unsure(action, minimum))
