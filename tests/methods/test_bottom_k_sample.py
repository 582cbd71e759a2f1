"""A sample of the values with the lowest keys."""

from itertools import permutations
from typing import NamedTuple

from hypothesis import given
from hypothesis import strategies as st

from denoise_crawler.methods.bottom_k_sample import BottomKSample


class Value(NamedTuple):
    key: int
    body: bytes = b""


def body(value: Value) -> bytes:
    return value.body


VALUES = st.lists(st.builds(Value, st.integers(0, 9), st.binary(max_size=1)), max_size=12)


def sample(values: list[Value], limit: int = 3) -> BottomKSample[Value]:
    made = BottomKSample(limit, body)
    made.merge(values)
    return made


@given(values=VALUES, limit=st.integers(1, 5))
def test_the_lowest_keys_stay_each_with_the_lowest_bytes(values: list[Value], limit: int) -> None:
    lowest = sorted({value.key for value in values})[:limit]
    expected = [min(value for value in values if value.key == key) for key in lowest]
    assert list(sample(values, limit)) == expected


@given(parts=st.tuples(VALUES, VALUES, VALUES))
def test_merging_samples_in_any_order_equals_one_sample_of_all(parts: tuple[list[Value], ...]) -> None:
    whole = list(sample([value for part in parts for value in part]))
    for ordered in permutations(parts):
        united: BottomKSample[Value] = BottomKSample(3, body)
        for part in ordered:
            united.merge(sample(part))
        assert united.merge(united) == []
        assert list(united) == whole


@given(values=VALUES, limit=st.integers(1, 5))
def test_what_leaves_and_what_stays_are_all_that_came_in(values: list[Value], limit: int) -> None:
    found, inside = BottomKSample[Value](limit, body), list[Value]()
    for value in values:
        wanted = found.wants(value.key)
        gone = found.add(value)
        if wanted or found.get(value.key) is value:
            inside = [one for one in [*inside, value] if not any(one is left for left in gone)]
        assert not wanted or value.key in found
        assert sorted(inside) == list(found)
    assert sorted(inside) == list(found)


def test_without_bytes_to_compare_the_first_value_of_a_key_stays() -> None:
    found: BottomKSample[Value] = BottomKSample(2)
    assert found.merge([Value(1, b"b"), Value(1, b"a")]) == []
    assert list(found) == [Value(1, b"b")]
    assert (found.get(1), found.get(2)) == (Value(1, b"b"), None)
