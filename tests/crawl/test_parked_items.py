from __future__ import annotations

import sys
from collections import Counter, OrderedDict, defaultdict
from dataclasses import FrozenInstanceError
from datetime import date, datetime, time, timedelta, timezone
from decimal import Decimal
from typing import Any
from uuid import UUID
from zoneinfo import ZoneInfo

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from lxml import html

from denoise_crawler import CleanPage
from denoise_crawler.crawl.item_codec import pack, unpack
from denoise_crawler.errors import UnparkableError
from tests.item_kinds import (
    CODE_THAT_RAN,
    AliasedModel,
    Attrs,
    AttrsWithCode,
    Colour,
    DataclassWithCode,
    Frozen,
    FrozenAndSlotted,
    FrozenAttrs,
    Model,
    ModelWithCode,
    OpenModel,
    Plain,
    Point,
    ScrapyItem,
    ScrapyItemWithCode,
    Size,
    Slotted,
    Unfinished,
    back,
    single_values,
    state,
    storable_data,
    unwatched,
    with_private_state,
)

# --- what comes back


@given(st.dictionaries(st.text(), storable_data(), max_size=4))
def test_data_comes_back_as_it_was_in_value_and_type(item: dict[str, Any]) -> None:
    item = unwatched(item)
    assert state(back(item)) == state(item)


@given(
    st.dictionaries(
        st.text(), st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), st.text()), max_size=4
    )
)
def test_a_dict_of_single_values_gives_the_bytes_that_it_gives_inside_of_another(item: dict[str, Any]) -> None:
    inner = msgspec.msgpack.encode(msgspec.msgpack.decode(pack({"": item}))["dict"][""])
    assert pack(item) == inner


@given(
    storable_data(),
    st.sampled_from([Plain, Frozen, Slotted, FrozenAndSlotted, Attrs, FrozenAttrs, Model, ScrapyItem]),
)
def test_items_of_every_kind_come_back_with_their_values(value: Any, kind: type) -> None:
    item = kind(url="https://a.example/", more=unwatched(value))
    found = back(item)
    assert type(found) is kind
    assert state(found) == state(item)


@given(
    st.recursive(
        single_values() | st.sampled_from([object(), len, Colour, ValueError("x"), range(3), list, ...]),
        lambda inner: st.one_of(
            st.lists(inner, max_size=3),
            st.dictionaries(st.text() | st.builds(Frozen, st.text()), inner, max_size=3),
            st.builds(with_private_state, inner),
            st.builds(Plain, more=inner),
        ),
        max_leaves=6,
    )
)
def test_what_is_accepted_comes_back_as_it_was_whatever_else_is_refused(value: Any) -> None:
    value = unwatched(value)
    try:
        packed = pack({"value": value})
    except UnparkableError:
        return
    assert state(unpack(packed)) == state({"value": value})
    assert pack(unpack(packed)) == packed


@pytest.mark.parametrize(
    "item",
    [
        {},
        {"url": "u", 1: "one", None: "nothing", (1, "a"): {2.5: b"\xff"}},
        {"object": [["os", "system"], {"command": "true"}, None, None]},
        {"set": [1]},
        {"dict": {"\ud800": 1}},
        {
            "at": datetime(2026, 2, 3, 4, 5, 6, 7, timezone(timedelta(hours=8))),
            "on": date(2026, 2, 3),
            "daily": time(6, 30, tzinfo=timezone.utc),
            "took": timedelta(days=-1, microseconds=3),
            "price": Decimal("9.90"),
            "id": UUID(int=7),
        },
        {"sizes": [Size.LARGE, {Colour.RED: 2**70, Size.LARGE: -(2**64)}], "at": Point(1, 2), "ratio": 1 + 2j},
        {"counts": Counter("abca"), "ordered": OrderedDict(b=1, a=2), "lists": defaultdict(list, a=[1])},
        OrderedDict(url="u"),
        ScrapyItem(url="u", more={"inner": ScrapyItem(text="t")}),
        Plain("u", None, ["a"], more=(Frozen("v"), {FrozenAndSlotted("w", 1)})),
        Frozen("u", [Slotted("v", {"w": Attrs("x", hidden=3)})]),
        FrozenAttrs("u", Model(url="v", more=None)),
        Model(url="u", more=[Model(url="v"), ScrapyItem(url="w"), Plain("x")]),
        AliasedModel(link="u", url="v"),
        CleanPage(url="u", text="t", noise_ratio=0.25),
    ],
    ids=lambda item: type(item).__name__,
)
def test_an_item_comes_back_equal(item: object) -> None:
    found = back(item)
    assert type(found) is type(item)
    assert found == item
    assert repr(found) == repr(item)


def test_fields_that_were_never_set_stay_unset() -> None:
    assert dict(back(ScrapyItem(url="u"))) == {"url": "u"}
    assert "text" not in back(ScrapyItem())
    assert not hasattr(back(Unfinished("u")), "later")
    assert back(Model(url="u")).model_dump(exclude_unset=True) == {"url": "u"}


def test_a_pydantic_model_keeps_what_it_has_besides_its_fields() -> None:
    item = OpenModel(url="u", another="x")
    item._visits = 4
    found = back(item)
    assert (found, found.another, found._visits) == (item, "x", 4)
    assert found.model_dump() == {"url": "u", "another": "x"}


@pytest.mark.skipif(sys.version_info >= (3, 14), reason="version 1 of pydantic does not work there")
def test_a_model_of_pydantic_1_comes_back_whole() -> None:
    found = back(OLD_MODEL(url="u"))
    assert found == OLD_MODEL(url="u")
    assert found.dict(exclude_unset=True) == {"url": "u"}
    found.text = "t"
    assert found.text == "t"


if sys.version_info < (3, 14):
    from pydantic import v1

    class OLD_MODEL(v1.BaseModel):  # type: ignore[misc]  # noqa: N801
        url: str
        text: str = ""


def test_an_item_that_came_back_can_be_filled() -> None:
    found = [back(item) for item in (ScrapyItem(url="u"), Plain("u"), Model(url="u"))]
    found[0]["text"] = found[1].text = found[2].text = "clean"
    assert found == [ScrapyItem(url="u", text="clean"), Plain("u", "clean"), Model(url="u", text="clean")]
    assert found[2].model_fields_set == {"url", "text"}
    with pytest.raises(FrozenInstanceError):
        back(Frozen("u")).url = "v"


def test_no_code_of_an_items_class_runs_when_it_comes_back() -> None:
    items = [
        ScrapyItemWithCode(url="u"),
        DataclassWithCode("u"),
        AttrsWithCode("u"),
        ModelWithCode(url="https"),
    ]
    assert set(CODE_THAT_RAN) >= {"Item", "dataclass", "attrs", "pydantic"}
    CODE_THAT_RAN.clear()
    packed = [pack(item) for item in items]
    assert [unpack(data) for data in packed] == items
    assert CODE_THAT_RAN == []


@pytest.mark.parametrize(
    "value",
    [
        datetime(2026, 10, 25, 2, 30, tzinfo=ZoneInfo("Europe/Berlin")),
        datetime(2026, 10, 25, 2, 30, tzinfo=ZoneInfo("Europe/Berlin"), fold=1),
        datetime(2026, 10, 25, 2, 30, fold=1),
        time(2, 30, tzinfo=ZoneInfo("Asia/Shanghai"), fold=1),
        datetime(2026, 1, 1, tzinfo=timezone(timedelta(hours=1), "CET")),
        datetime(2026, 1, 1, tzinfo=timezone(timedelta(microseconds=1))),
        ZoneInfo("America/New_York"),
        timezone.utc,
    ],
    ids=repr,
)
def test_a_time_keeps_its_zone_by_name_and_its_fold(value: Any) -> None:
    found = back({"at": value})["at"]
    assert repr(found) == repr(value)
    assert getattr(found, "tzinfo", found) == getattr(value, "tzinfo", value)
    if isinstance(value, datetime):
        assert (found.tzname(), found.utcoffset(), found.fold) == (value.tzname(), value.utcoffset(), value.fold)


@pytest.mark.parametrize("text", ["NaN", "-NaN12", "sNaN", "-sNaN7", "-0.00", "1E+99999", "Infinity"])
def test_odd_decimals_come_back_by_every_digit(text: str) -> None:
    assert str(back({"price": Decimal(text)})["price"]) == text


def test_a_list_that_stands_in_two_places_comes_back_as_two_equal_ones() -> None:
    tags = ["a"]
    found = back({"tags": tags, "more": {"tags": tags}})
    assert found == {"tags": ["a"], "more": {"tags": ["a"]}}


def test_a_default_of_a_dict_comes_back() -> None:
    assert back({"found": defaultdict(int)})["found"]["missing"] == 0


def test_values_that_no_validator_would_let_in_come_back_too() -> None:
    item = Model.model_construct(url=7)
    assert back(item).url == 7


def test_the_strings_of_lxml_come_back_as_plain_ones() -> None:
    [text] = html.fromstring("<p>港湾</p>").xpath("//text()")
    assert type(text) is not str
    found = back({"text": text})["text"]
    assert (type(found), found) == (str, "港湾")
