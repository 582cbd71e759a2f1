from __future__ import annotations

import re
from typing import Any
from unittest.mock import patch

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from denoise_crawler.methods import versioned_format
from denoise_crawler.methods.versioned_format import VersionedFormat


class WrongError(ValueError):
    pass


NUMBERS = VersionedFormat(b"NUM\x01", "numbers", WrongError)


def read(data: bytes) -> list[int]:
    return NUMBERS.read(data, list[int], lambda found: found)


@given(numbers=st.lists(st.integers(-(1 << 63), (1 << 64) - 1)))
def test_what_is_written_is_read(numbers: list[int]) -> None:
    assert read(NUMBERS.write(numbers)) == numbers


@given(data=st.binary(max_size=40), whole_magic=st.booleans())
def test_any_bytes_are_read_or_refused_with_the_error_of_the_format(data: bytes, whole_magic: bool) -> None:
    with pytest.raises(WrongError):
        read((NUMBERS.magic if whole_magic else b"NUM") + data)


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"", "these bytes are no numbers"),
        (b"NUM", "these bytes are no numbers"),
        (b"TXT\x01", "these bytes are no numbers"),
        (b"NUM\x09", "numbers of version 9; this release reads version 1"),
        (NUMBERS.write([1, 2, 3])[:-3], "damaged numbers: cut off or too large"),
        (NUMBERS.write(["one"]), "damaged numbers: Expected `int`, got `str`"),
    ],
)
def test_what_is_wrong_is_said(data: bytes, said: str) -> None:
    with pytest.raises(WrongError, match=re.escape(said)):
        read(data)


def test_a_record_that_does_not_fit_together_is_damage() -> None:
    with pytest.raises(WrongError, match="damaged numbers: list index out of range"):
        NUMBERS.read(NUMBERS.write([1]), list[int], lambda found: found[1])


VALUES = st.recursive(
    st.one_of(
        st.none(),
        st.booleans(),
        st.integers(-(1 << 63), (1 << 64) - 1),
        st.floats(),
        st.text(),
        st.binary(max_size=300),
    ),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
)


def count(value: Any) -> int:
    if isinstance(value, list):
        return 1 + sum(map(count, value))
    return 1 + sum(1 + count(inner) for inner in value.values()) if isinstance(value, dict) else 1


@given(value=VALUES, length=st.sampled_from((0, 40, 300, 70_000)))
def test_values_are_counted_without_being_made(value: Any, length: int) -> None:
    whole = [value, "x" * length, b"x" * length, [1] * length, msgspec.msgpack.Ext(1, b"x" * length)]
    own = sum(count(one) for one in whole[:4]) + 2
    data = msgspec.msgpack.encode(whole)
    with patch.object(versioned_format, "_MAX_VALUES", own):
        versioned_format.decode_msgpack(data)
    with patch.object(versioned_format, "_MAX_VALUES", own - 1):
        if len(data) >= own:
            with pytest.raises(ValueError, match="more than"):
                versioned_format.decode_msgpack(data)
