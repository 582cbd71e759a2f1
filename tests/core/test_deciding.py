"""What is taken of a page, on both roads, and what becomes of nodes by it."""

from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from denoise_crawler import core
from denoise_crawler.methods.fusion.blocks import blocks_of
from denoise_crawler.methods.fusion.decision import joint_chances, most_f1, parts_of, take
from denoise_crawler.methods.fusion.method import Fusion
from denoise_crawler.page import Page
from tests.core.test_known import ROADS, copied
from tests.strategies import html_pages

pytestmark = pytest.mark.skipif(core.why_not() is not None, reason="the core is not built")
any_road = settings(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


@any_road
@given(html=html_pages())
def test_each_node_of_any_page_has_the_same_verdict_and_score(monkeypatch: pytest.MonkeyPatch, html: str) -> None:
    judged = []
    for mode in ROADS:
        monkeypatch.setattr(core.chosen, "mode", mode)
        judgement = Fusion().judge(Page.parse("https://a.example/", html))
        judged.append((judgement.noise, judgement.scores, judgement.confidence))
    assert judged[0] == judged[1]


@any_road
@given(html=html_pages(), data=st.data(), shift=st.floats(-2, 2), repeating=st.booleans())
def test_of_any_chances_the_same_blocks_are_taken(
    monkeypatch: pytest.MonkeyPatch, html: str, data: st.DataObject, shift: float, *, repeating: bool
) -> None:
    count = len(blocks_of(Page.parse("https://a.example/", html)))
    own = np.array(data.draw(st.lists(st.floats(0, 1), min_size=count, max_size=count)), float)
    wanted = np.array(data.draw(st.lists(st.booleans(), min_size=count, max_size=count)), bool)
    found = []
    for mode in ROADS:
        monkeypatch.setattr(core.chosen, "mode", mode)
        page = Page.parse("https://a.example/", html)
        blocks, parts = blocks_of(page), parts_of(page)
        chances = joint_chances(own, blocks.tokens, parts)
        likely, *rest = most_f1(chances, blocks.tokens, shift)
        steps = take(blocks, parts, likely, wanted, chances, title=count - 1, repeating=repeating)
        found.append([column.tolist() for column in (chances, likely, *steps)] + rest)
    assert found[0] == found[1]


@given(chances=st.lists(st.sampled_from([0.0, 0.25, 0.5, 1.0]), min_size=3, max_size=3))
def test_an_element_has_the_highest_score_of_its_text_and_is_kept_with_any_of_it(chances: list[float]) -> None:
    page = Page.parse("https://a.example/", "<div><p>One</p><p>Two</p></div><p>Three</p><hr>")
    taken, scores = np.array([False, True, False]), np.array(chances)
    marks = taken.view(np.uint8), scores, scores.tolist()
    found = core.loops.blocks.judged(page.nodes.columns.parents, page.once(blocks_of).nodes, *marks)
    one, two, three = chances
    assert page.nodes.tags[1:3] == ["div", "p"]
    assert found[0] == [False, False, True, True, False, False, True, True, False]
    assert found[1] == [max(chances), max(one, two), one, one, two, two, three, three, 0.0]


NUMBERS, INDICES, TAGS = np.ones(3), np.arange(3), np.zeros(3, np.int32)
MARKS, HASHES, HALF = np.ones(3, np.uint8), np.arange(3, dtype=np.uint32), np.full(3, 0.5)
UNITS, LISTS, HEADINGS = np.array([[0, 1, 2]]), np.array([[1, 3]]), np.array([[0, 1, 3]])
BLOCKS, ELEMENTS = (NUMBERS, NUMBERS, HASHES, INDICES), (INDICES, HASHES, INDICES)
PARTS = UNITS, LISTS, HEADINGS
SHORT: tuple[Any, ...] = NUMBERS[:2], NUMBERS[:2], HASHES[:2], INDICES[:2]
GIVEN: dict[str, tuple[Any, ...]] = {
    "chances": (NUMBERS, (NUMBERS, NUMBERS), 0.5, 1, True, HALF),
    "of_units": (HALF, NUMBERS, UNITS, INDICES, NUMBERS),
    "most_f1": (HALF, NUMBERS, 0.5, MARKS),
    "take": (BLOCKS, ELEMENTS, PARTS, HALF, MARKS, 1, False, (MARKS,) * 4),
    "with_sections": (HEADINGS, HALF, MARKS, MARKS, MARKS),
    "headings": (TAGS, INDICES, (INDICES, INDICES, INDICES + 1, INDICES), (NUMBERS, NUMBERS), (0, 2)),
}


def beside(columns: tuple[Any, ...], at: int, column: Any) -> tuple[Any, ...]:
    return (*columns[:at], column, *columns[at + 1 :])


@pytest.mark.parametrize("mode", ROADS)
@pytest.mark.parametrize(
    ("name", "at", "changed"),
    [
        ("chances", 0, NUMBERS[:2]), ("chances", 5, HALF[:2]), ("chances", 3, 3),
        *(("chances", 1, beside((NUMBERS, NUMBERS), at, NUMBERS[:2])) for at in range(2)),
        *(("of_units", at, HALF[:2]) for at in (0, 1, 4)),
        *(("of_units", 3, INDICES + by) for by in (1, -1)),
        *(("of_units", 2, np.array([row])) for row in ([0, -1, 2], [0, 2, 4], [0, 2, 1], [0, 1])),
        *(("most_f1", at, column[:2]) for at, column in ((0, HALF), (1, HALF), (3, MARKS))),
        *(("take", 0, beside(BLOCKS, at, SHORT[at])) for at in range(4)),
        *(("take", 0, beside(BLOCKS, 3, INDICES + by)) for by in (1, -1)),
        *(("take", 1, beside(ELEMENTS, at, (INDICES, HASHES, INDICES)[at][:2])) for at in range(3)),
        *(("take", 2, beside(PARTS, at, PARTS[at] + by)) for at in range(3) for by in (3, -2)),
        *(("take", at, column) for at, column in ((3, HALF[:2]), (4, MARKS[:2]), (5, 3))),
        *(("take", 7, beside((MARKS,) * 4, at, MARKS[:2])) for at in range(4)),
        *(("with_sections", at, column[:2]) for at, column in ((1, HALF), (2, MARKS), (3, MARKS), (4, MARKS))),
        *(("with_sections", 0, np.array([row])) for row in ([-1, 1, 3], [0, 4, 4], [0, 2, 1], [0, 1])),
        *(("headings", 0, strange) for strange in (TAGS + 3, TAGS - 1, TAGS[:2])), ("headings", 1, INDICES + 6),
        *(("headings", 2, beside(GIVEN["headings"][2], at, INDICES[:2])) for at in range(4)),
        *(("headings", 2, beside(GIVEN["headings"][2], at, INDICES + by)) for at, by in ((0, 1), (1, -1), (2, 2))),
        ("headings", 3, (NUMBERS[:2], NUMBERS)), ("headings", 3, (NUMBERS, NUMBERS[:2])),
    ],
)  # fmt: skip
def test_columns_that_do_not_fit_the_page_are_an_error(
    monkeypatch: pytest.MonkeyPatch, mode: str, name: str, at: int, changed: Any
) -> None:
    monkeypatch.setattr(core.chosen, "mode", mode)
    loop = getattr(core.loops.deciding, name)
    loop(*copied(GIVEN[name]))
    with pytest.raises(ValueError, match=r"fit|not of this page|not there"):
        loop(*copied(beside(GIVEN[name], at, changed)))
