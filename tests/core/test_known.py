"""What is kept of a site is the same on both roads."""

import resource
import sys
from dataclasses import astuple
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from denoise_crawler import core
from denoise_crawler.methods.fusion.method import Fusion
from denoise_crawler.methods.fusion.sketch import Numbered, distinct, groups_of
from denoise_crawler.page import Page
from tests.strategies import html_pages

pytestmark = pytest.mark.skipif(core.why_not() is not None, reason=f"no compiled core: {core.why_not()}")
ROADS = "require", "off"
any_road = settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
few_hashes = st.lists(st.one_of(st.integers(0, 2**32 - 1), st.integers(0, 20)), max_size=60, unique=True)


@any_road
@given(st.lists(few_hashes, max_size=12))
def test_any_hashes_are_numbered_in_the_order_of_their_coming(
    monkeypatch: pytest.MonkeyPatch, batches: list[list[int]]
) -> None:
    for mode in ROADS:
        monkeypatch.setattr(core.chosen, "mode", mode)
        table, expected = Numbered(), dict[int, int]()
        for batch in batches:
            hashes = np.array(batch, np.uint32)
            assert table.find(hashes).tolist() == [expected.get(one, 0) for one in batch]
            for one in batch:
                expected.setdefault(one, len(expected) + 1)
            assert table.add(hashes).tolist() == [expected[one] for one in batch]
        assert len(table) == len(expected)


def test_a_table_grows_to_many_hashes_in_some_bytes_each() -> None:
    table = Numbered()
    hashes = np.arange(0, 2**32, 2**32 // 100_000, dtype=np.uint32)
    assert table.add(hashes).tolist() == list(range(1, len(hashes) + 1))
    assert table.find(hashes[::-1]).tolist() == list(range(len(hashes), 0, -1))
    assert 8 * len(hashes) <= table.nbytes <= 20 * len(hashes)


@any_road
@given(st.lists(st.one_of(st.integers(-(2**63), 2**63 - 1), st.integers(0, 9)), max_size=60))
def test_any_keys_have_the_same_groups(monkeypatch: pytest.MonkeyPatch, keys: list[int]) -> None:
    found = []
    for mode in ROADS:
        monkeypatch.setattr(core.chosen, "mode", mode)
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
        monkeypatch.setattr(core.chosen, "mode", mode)
        said.append(
            what_is_said([Page.parse(f"https://a.example/{at}", html) for at, html in enumerate(found)], limit)
        )
    assert said[0] == said[1]


def what_is_said(pages: list[Page], limit: int) -> list[object]:
    method = Fusion(max_pages=limit)
    said: list[object] = []
    for page in pages:
        method.observe(page)
        blocks = page.once(method.model.alone).evidence.blocks
        standing = method.evidence.standing(page.key, blocks)
        columns = () if standing is None else (*astuple(standing), *standing.places)
        said += [column.tolist() for column in columns if isinstance(column, np.ndarray)]
        said.append(method.novelty(page))
    return [*said, method.to_bytes()]


NUMBERS, INDICES, MARKS, SUMS = np.arange(3), np.arange(3, dtype=np.int32), np.ones(3, np.uint8), np.zeros(3)
HASHES, ROOM, SLOTS = np.arange(3, dtype=np.uint32), np.zeros(12, np.uint32), np.zeros(16, np.int32)
TABLE, THREE, SITE = (ROOM, SLOTS, 4), np.zeros((3, 3)), 11
# What the pages of a site say of a page of three blocks and elements, as the loop takes it.
SAID: tuple[Any, ...] = (
    (*[HASHES] * 5, NUMBERS, SUMS, SUMS), (HASHES, NUMBERS, NUMBERS + 1), ((*TABLE, SUMS),) * 4,
    (TABLE, np.zeros((3, 4)), SUMS, TABLE, np.zeros((3, 2)), MARKS), (INDICES, THREE, THREE),
    (INDICES, INDICES, NUMBERS, THREE, -1, 0.5), ((INDICES,) * 4,),
    (INDICES, np.zeros((3, 4)), INDICES, np.zeros((3, 2)), INDICES, INDICES, INDICES, np.zeros(3, np.int64)), 7,
    ((SUMS,) * 4, np.zeros((2, 3)), THREE), (NUMBERS, np.zeros((4, 3)), SUMS), SUMS,
)  # fmt: skip


@pytest.mark.parametrize("mode", ROADS)
@pytest.mark.parametrize(
    ("module", "name", "columns"),
    [
        ("keys", "group", (NUMBERS, NUMBERS, NUMBERS[:2])),
        ("keys", "group", (NUMBERS, NUMBERS[:2], NUMBERS)),
        ("keys", "find", (ROOM, SLOTS, 4, HASHES, NUMBERS[:2])),
        ("keys", "find", (ROOM, SLOTS, 5, HASHES, NUMBERS)),
        ("keys", "find", (np.zeros(16, np.uint32), SLOTS, 4, HASHES, NUMBERS)),
        ("keys", "add", (ROOM, SLOTS, 4, 0, HASHES, NUMBERS[:2], 0)),
        ("keys", "add", (ROOM, SLOTS, 4, 0, HASHES, NUMBERS, -1)),
        ("keys", "add", (ROOM, SLOTS, 4, 13, HASHES, NUMBERS, 0)),
        ("keys", "fill_slots", (ROOM, SLOTS, 0, 0)),
        ("site", "add_below", (SUMS[:2], NUMBERS)),
        ("site", "add_below", (SUMS, np.array([0, 0, 3]))),
        ("site", "add_below", (SUMS, np.array([0, -1, 0]))),
        ("site", "add_repeated", (MARKS, INDICES, INDICES[:2], INDICES, SUMS)),
        ("site", "add_repeated", (MARKS, INDICES + 1, INDICES, INDICES, SUMS)),
        ("site", "add_repeated", (MARKS, INDICES, INDICES - 1, INDICES, SUMS)),
    ],
)
def test_columns_that_do_not_fit_are_an_error(
    monkeypatch: pytest.MonkeyPatch, mode: str, module: str, name: str, columns: tuple[object, ...]
) -> None:
    monkeypatch.setattr(core.chosen, "mode", mode)
    copies = (column.copy() if isinstance(column, np.ndarray) else column for column in columns)
    with pytest.raises(ValueError, match=r"fit|not there|no paths"):
        getattr(getattr(core.loops, module), name)(*copies)


@pytest.mark.parametrize("mode", ROADS)
@pytest.mark.parametrize(
    ("part", "column", "changed"),
    [
        *((0, column, HASHES[:2]) for column in range(5)),
        *((0, 5, strange) for strange in (NUMBERS[:2], NUMBERS + 1, NUMBERS - 1)),
        *((0, column, SUMS[:2]) for column in (6, 7)),
        *((1, column, strange) for column, strange in ((0, HASHES[:2]), (1, NUMBERS[:2]), (2, NUMBERS[:2]))),
        *((2, column, (*TABLE, SUMS[:0])) for column in range(4)),
        *((3, column, np.zeros((3, 3))) for column in (1, 4)),
        *((3, column, np.zeros((0, 4))) for column in (1, 4)),
        (3, 2, SUMS[:0]),
        (3, 5, MARKS[:2]),
        *((4, 0, strange) for strange in (INDICES[:2], INDICES + 1, INDICES - 1)),
        *((4, column, strange) for column in (1, 2) for strange in (THREE[:2], np.zeros((3, 0)))),
        *((5, 0, strange) for strange in (INDICES - 1, INDICES[:1])),
        *((5, 1, strange) for strange in (INDICES - 1, INDICES + 2, INDICES[::-1].copy())),
        *((5, 2, strange) for strange in (NUMBERS + 1, NUMBERS - 1)),
        *((5, 3, strange) for strange in (THREE[:2], np.zeros((3, 2)))),
        *((6, 0, (*[INDICES] * at, strange, *[INDICES] * (3 - at)))
          for at in range(4) for strange in (INDICES + 1, INDICES - 1)),
        *((7, column, strange) for column in (0, 2, 4, 5) for strange in (INDICES[:2], INDICES + 1, INDICES - 1)),
        *((7, column, strange) for column in (1, 3) for strange in (np.zeros((2, 4)), np.zeros((3, 3)))),
        (7, 6, INDICES[:2]),
        *((7, 7, strange) for strange in (np.arange(4), NUMBERS + 1, NUMBERS - 2)),
        (9, 0, (SUMS[:2], *[SUMS] * 3)),
        *((9, column, np.zeros((3, 2))) for column in (1, 2)),
        *((10, column, strange) for column, strange in ((0, NUMBERS[:2]), (1, np.zeros((4, 2))), (2, SUMS[:2]))),
        (SITE, None, SUMS[:2]),
    ],
)  # fmt: skip
def test_what_is_said_of_a_page_of_another_size_is_an_error(
    monkeypatch: pytest.MonkeyPatch, mode: str, part: int, column: int | None, changed: object
) -> None:
    monkeypatch.setattr(core.chosen, "mode", mode)
    said = core.loops.site.said_of_page
    given: list[Any] = list(copied(SAID))
    said(*given)
    given[part] = changed if column is None else (*given[part][:column], changed, *given[part][column + 1 :])
    with pytest.raises(ValueError, match=r"fit|not there|no such|no paths|no count"):
        said(*copied(tuple(given)))


def copied(given: Any) -> Any:
    """Return the same with columns of its own: the loop fills some."""
    if isinstance(given, tuple):
        return tuple(map(copied, given))
    return given.copy() if isinstance(given, np.ndarray) else given


@pytest.mark.skipif(sys.platform != "linux", reason="memory is measured by /proc")
def test_columns_of_another_page_are_an_error_and_leave_no_memory_behind() -> None:
    page = Page.parse("https://a.example/1", "<p>One<b>two</b>" * 12_000)
    columns = page.once(Fusion().model.alone).evidence.columns
    row = np.empty(len(core.loops.features.PAGE_TYPE), np.float32)
    wrong, before = np.zeros(3), held_bytes()
    for _ in range(200):
        with pytest.raises(ValueError, match="do not fit"):
            core.loops.features.page_type(row, *columns, wrong, wrong)
    assert held_bytes() - before < 20_000_000


def held_bytes() -> int:
    """Return the size of the address space: memory that was never written to counts."""
    return int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
