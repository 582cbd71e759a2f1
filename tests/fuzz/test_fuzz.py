"""A short run of the fuzz suite; ``python -m benchmarks.fuzz`` is the long one."""

from __future__ import annotations

from pathlib import Path
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from denoise_crawler.methods import METHODS
from denoise_crawler.page import Page
from denoise_crawler.workers import Limits, side_by_side
from tests.fuzz.fuzz_process import Chunk, Result, methods_of, run
from tests.fuzz.inputs import numbered
from tests.fuzz.markup import encoded, page, repeated
from tests.fuzz.mutations import changed, mutated
from tests.fuzz.road import Road, write_all_in_a_report

BUILT = st.builds(
    encoded, st.randoms(), st.one_of(st.builds(page, st.randoms(), st.just(25)), st.builds(repeated, st.randoms()))
)
CHANGED = st.builds(mutated, st.randoms())


@settings(max_examples=40)
@given(sources=st.lists(BUILT, min_size=1, max_size=3))
def test_no_page_that_is_built_raises_or_loses_its_text(sources: list[str | bytes]) -> None:
    road = Road()
    for source in sources:
        road.travel(source)


@settings(max_examples=40)
@given(source=CHANGED)
def test_no_real_page_with_changed_bytes_raises_or_loses_its_text(source: bytes) -> None:
    Road().travel(source)


@pytest.mark.parametrize("seed", range(3))
def test_what_is_known_of_a_site_of_hostile_pages_is_read_as_it_was_written(seed: int) -> None:
    road = Road()
    for number in range(40):
        road.travel(numbered(seed, number))
    for number in range(20):
        road.keep_and_learn_again(Random(number))


@pytest.mark.parametrize("method", ["fusion", "style_tree"])
def test_a_report_shows_hostile_pages_whatever_they_are(method: str, tmp_path: Path) -> None:
    write_all_in_a_report([numbered(6, number) for number in range(20)], method, tmp_path)


@settings(max_examples=25)
@given(random=st.randoms())
def test_damaged_knowledge_is_refused_or_can_be_used(random: Random) -> None:
    one = Page.parse("https://fuzz.example/1", numbered(1, 3))
    for name in METHODS:
        road = Road([name])
        road.travel(numbered(1, 2))
        method = road.methods[name]
        if method.learns:
            try:
                method.merge_bytes(changed(random, method.to_bytes()))
            except ValueError:
                continue
            method.judge(one)


def test_an_input_is_the_same_in_every_process_and_all_methods_take_turns() -> None:
    assert [numbered(5, number) for number in range(50)] == [numbered(5, number) for number in range(50)]
    assert {*methods_of(0), *methods_of(1)} == set(METHODS)


def test_the_long_run_counts_its_inputs_and_keeps_no_failures_where_there_are_none(tmp_path: Path) -> None:
    result = Result()
    side_by_side([run(Chunk(seed=3, first=0, end=25, failures=tmp_path / "failures"), result)], 1)
    assert (result.inputs, sum(result.sizes.values()), result.failures) == (25, 25, [])
    assert not (tmp_path / "failures").exists()


def test_an_input_that_takes_too_long_is_a_failure_that_is_kept_and_the_run_goes_on(tmp_path: Path) -> None:
    result, numbers = Result(), range(40, 43)
    side_by_side([run(Chunk(3, 40, 43, tmp_path), result, Limits(seconds=0.001))], 1)
    assert [failure.number for failure in result.failures] == list(numbers)
    assert {failure.error for failure in result.failures} == {"took more than 0.001 s of CPU time"}
    assert {Path(failure.file) for failure in result.failures} == set(tmp_path.glob("*.html"))
