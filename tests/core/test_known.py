"""What the compiled core keeps of a site is what the Python code keeps: that is its specification."""

from __future__ import annotations

import resource
import sys
from dataclasses import astuple
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from denoise_crawler import core
from denoise_crawler.methods.fusion.groups import distinct, groups_of
from denoise_crawler.methods.fusion.method import Fusion
from denoise_crawler.methods.fusion.numbered import numbered
from denoise_crawler.page import Page
from tests.strategies import html_pages

pytestmark = pytest.mark.skipif(core.why_not() is not None, reason=f"no compiled core: {core.why_not()}")
ROADS = "require", "off"
any_road = settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
few_hashes = st.lists(st.one_of(st.integers(0, 2**32 - 1), st.integers(0, 20)), max_size=60, unique=True)


@any_road
@given(st.lists(few_hashes, max_size=12))
def test_any_hashes_get_the_same_numbers(monkeypatch: pytest.MonkeyPatch, batches: list[list[int]]) -> None:
    found = []
    for mode in ROADS:
        monkeypatch.setenv(core.ENVIRONMENT, mode)
        table = numbered()
        for batch in batches:
            found.append(table.find(np.array(batch, np.uint32)).tolist())
            found.append(table.add(np.array(batch, np.uint32)).tolist())
        found.append([len(table)])
    assert found[: len(found) // 2] == found[len(found) // 2 :]


def test_a_table_grows_to_many_hashes_and_says_what_it_holds() -> None:
    table = core._load_modules()["known"].Table()
    hashes = np.arange(0, 2**32, 2**32 // 100_000, dtype=np.uint32)
    numbers = np.empty(len(hashes), np.int64)
    empty = sys.getsizeof(table)
    table.add(hashes, numbers)
    assert numbers.tolist() == list(range(1, len(hashes) + 1))
    assert 8 * len(hashes) <= sys.getsizeof(table) - empty <= 20 * len(hashes)


@any_road
@given(st.lists(st.one_of(st.integers(-(2**63), 2**63 - 1), st.integers(0, 9)), max_size=60))
def test_any_keys_have_the_same_groups(monkeypatch: pytest.MonkeyPatch, keys: list[int]) -> None:
    found = []
    for mode in ROADS:
        monkeypatch.setenv(core.ENVIRONMENT, mode)
        first, group = groups_of(np.array(keys, np.int64))
        found.append((first.tolist(), group.tolist()))
    order = list(dict.fromkeys(keys))
    assert found[0] == found[1] == ([keys.index(key) for key in order], [order.index(key) for key in keys])


@given(st.lists(st.integers(0, 2**32 - 1), max_size=60))
def test_distinct_hashes_ascend(hashes: list[int]) -> None:
    assert distinct(np.array(hashes, np.uint32)).tolist() == sorted(set(hashes))


@any_road
@given(st.lists(html_pages(20), min_size=2, max_size=8), st.integers(1, 4))
def test_sites_whose_pages_are_forgotten_say_the_same(
    monkeypatch: pytest.MonkeyPatch, found: list[str], limit: int
) -> None:
    said = []
    for mode in ROADS:
        monkeypatch.setenv(core.ENVIRONMENT, mode)
        said.append(
            what_is_said([Page.parse(f"https://a.example/{at}", html) for at, html in enumerate(found)], limit)
        )
    assert said[0] == said[1]


def what_is_said(pages: list[Page], limit: int) -> list[object]:
    method = Fusion(max_pages=limit)
    said: list[object] = []
    for page in pages:
        method.observe(page)
        blocks = page.once(method.model.first_look).evidence.blocks
        standing = method.evidence.standing(page.key, blocks)
        columns = () if standing is None else astuple(standing)
        said += [column.tolist() if isinstance(column, np.ndarray) else column for column in columns]
        said.append(method.novelty(page))
    return [*said, method.to_bytes()]


HASHES, NUMBERS = np.arange(3, dtype=np.uint32), np.arange(3, dtype=np.int64)
INDICES, MARKS, SUMS = np.arange(3, dtype=np.int32), np.ones(3, np.uint8), np.zeros(3)


@pytest.mark.parametrize(
    ("name", "columns"),
    [
        ("group", (NUMBERS, NUMBERS.copy(), NUMBERS[:2].copy())),
        ("add_below", (SUMS[:2].copy(), NUMBERS)),
        ("add_below", (SUMS.copy(), np.array([0, 0, 3]))),
        ("add_below", (SUMS.copy(), np.array([0, -1, 0]))),
        ("count_shared", (MARKS, INDICES, INDICES, SUMS[:2].copy())),
        ("count_shared", (MARKS, INDICES, INDICES + 2, SUMS.copy())),
        ("count_shared", (MARKS[:1], INDICES, INDICES + 1, SUMS.copy())),
        ("add_repeated", (MARKS, INDICES, INDICES[:2], INDICES, SUMS.copy())),
        ("add_repeated", (MARKS, INDICES + 1, INDICES, INDICES, SUMS.copy())),
        ("add_repeated", (MARKS, INDICES, INDICES - 1, INDICES, SUMS.copy())),
    ],
)
def test_columns_that_do_not_fit_are_an_error(name: str, columns: tuple[np.ndarray, ...]) -> None:
    with pytest.raises(ValueError, match=r"fit|not there|no paths"):
        getattr(core._load_modules()["known"], name)(*columns)


@pytest.mark.parametrize("name", ["find", "add"])
def test_a_table_refuses_columns_that_do_not_fit(name: str) -> None:
    with pytest.raises(ValueError, match="do not fit"):
        getattr(core._load_modules()["known"].Table(), name)(HASHES, NUMBERS[:2].copy())


@pytest.mark.skipif(sys.platform != "linux", reason="memory is measured by /proc")
def test_columns_of_another_page_are_an_error_and_leave_no_memory_behind() -> None:
    page = Page.parse("https://a.example/1", "<p>One<b>two</b>" * 12_000)
    evidence = page.once(Fusion().model.first_look).evidence
    largest_lists = core._load_modules()["surroundings"].largest_lists
    wrong, before = np.zeros(3), held_bytes()
    for _ in range(200):
        with pytest.raises(ValueError, match="do not fit"):
            largest_lists(evidence.compiled, wrong, wrong, 3, 2)
    assert held_bytes() - before < 20_000_000


def held_bytes() -> int:
    """Return the size of the address space: memory that was never written to counts."""
    return int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
