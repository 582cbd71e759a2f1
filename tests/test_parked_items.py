from __future__ import annotations

import sys
from dataclasses import FrozenInstanceError, dataclass, field
from datetime import date, datetime, time, timedelta, timezone
from decimal import Decimal
from enum import Enum
from typing import Any, ClassVar
from uuid import UUID

import attrs
import msgspec
import pydantic
import pytest
import scrapy
from hypothesis import given
from hypothesis import strategies as st
from lxml import html
from pydantic import BaseModel, ConfigDict, Field, PrivateAttr

from denoise_crawler import CleanPage
from denoise_crawler.crawl.parked_items import UnparkableError, pack, unpack

CODE_THAT_RAN: list[str] = []


class ScrapyItem(scrapy.Item):
    url = scrapy.Field()
    text = scrapy.Field()
    more = scrapy.Field()


class ScrapyItemWithCode(ScrapyItem):
    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        CODE_THAT_RAN.append("Item")

    def __setitem__(self, name: str, value: Any) -> None:
        super().__setitem__(name, value)
        CODE_THAT_RAN.append("Item")


@dataclass
class Plain:
    url: str = ""
    text: str | None = None
    links: list[str] = field(default_factory=list)
    more: Any = None


@dataclass
class Unfinished:
    url: str
    later: str = field(init=False)


@dataclass(frozen=True)
class Frozen:
    url: str
    more: Any = None


@dataclass(slots=True)
class Slotted:
    url: str
    more: Any = None


@dataclass(frozen=True, slots=True)
class FrozenAndSlotted:
    url: str
    more: Any = None


@dataclass
class DataclassWithCode:
    url: str

    def __post_init__(self) -> None:
        CODE_THAT_RAN.append("dataclass")


@attrs.define
class Attrs:
    url: str
    more: Any = None
    _hidden: int = 0


@attrs.frozen
class FrozenAttrs:
    url: str
    more: Any = None


@attrs.define
class AttrsWithCode:
    url: str = attrs.field(validator=lambda *_: CODE_THAT_RAN.append("attrs"), converter=str.strip)

    def __attrs_post_init__(self) -> None:
        CODE_THAT_RAN.append("attrs")


class Model(BaseModel):
    url: str
    text: str | None = None
    more: Any = None


class AliasedModel(BaseModel):
    model_config = ConfigDict(frozen=True)
    url: str = Field(alias="link")
    link: str = Field(default="", alias="url")


class OpenModel(BaseModel):
    model_config = ConfigDict(extra="allow")
    url: str
    _visits: int = PrivateAttr(default=0)


class ModelWithCode(BaseModel):
    url: str
    wanted: ClassVar[str] = "https"

    @pydantic.field_validator("url")
    @classmethod
    def checked(cls, value: str) -> str:
        CODE_THAT_RAN.append("pydantic")
        assert value.startswith(cls.wanted)
        return value

    def model_post_init(self, _: object) -> None:
        CODE_THAT_RAN.append("pydantic")


class Colour(Enum):
    RED = "red"


class NoItem:
    def __init__(self) -> None:
        CODE_THAT_RAN.append("no item")


def back(item: object) -> Any:
    return unpack(pack(item))


def plain_data() -> st.SearchStrategy[Any]:
    text = st.text(st.characters(exclude_categories=()))  # lone surrogates among them
    # in whole seconds: Python itself reads an offset of +00:00:00.000001 as UTC
    zones = st.none() | st.integers(-86_399, 86_399).map(lambda seconds: timezone(timedelta(seconds=seconds)))
    hashable = st.one_of(
        st.none(),
        st.booleans(),
        st.integers(-(2**63), 2**64 - 1),
        st.floats(allow_nan=False),
        text,
        st.binary(),
        st.dates(),
        st.datetimes(timezones=zones),
        st.times(timezones=zones),
        st.timedeltas(),
        st.decimals(allow_nan=False),
        st.uuids(),
    )
    keys = hashable | st.tuples(hashable, hashable) | st.frozensets(hashable, max_size=3)
    return st.recursive(
        hashable | keys,
        lambda inner: st.one_of(
            st.lists(inner, max_size=4),
            st.lists(inner, max_size=4).map(tuple),
            st.sets(keys, max_size=4),
            st.dictionaries(keys, inner, max_size=4),
        ),
        max_leaves=12,
    )


def same(one: Any, two: Any) -> bool:
    return bool(one == two) and types(one) == types(two)


def types(value: Any) -> Any:
    if isinstance(value, dict):
        return [dict, *sorted((repr((types(name), types(each))) for name, each in value.items()))]
    if isinstance(value, (list, tuple)):
        return [type(value), *map(types, value)]
    if isinstance(value, (set, frozenset)):
        return [type(value), *sorted(repr(types(each)) for each in value)]
    return type(value)


# --- what comes back


@given(st.dictionaries(st.text(), plain_data(), max_size=4))
def test_plain_data_comes_back_as_it_was_in_value_and_type(item: dict[str, Any]) -> None:
    assert same(back(item), item)


@given(plain_data(), st.sampled_from([Plain, Frozen, Slotted, FrozenAndSlotted, Attrs, FrozenAttrs, Model]))
def test_items_of_every_kind_come_back_with_their_values(value: Any, kind: type) -> None:
    found = back(kind(url="https://a.example/", more=value))
    assert type(found) is kind
    assert found.url == "https://a.example/"
    assert same(found.more, value)


@pytest.mark.parametrize(
    "item",
    [
        {},
        {"url": "u", 1: "one", None: "nothing", (1, "a"): {2.5: b"\xff"}},
        {"\0class": "os.system", "\0fields": [["command", "true"]], "\0kind": "set", "\0values": [1]},
        {
            "at": datetime(2026, 2, 3, 4, 5, 6, 7, timezone(timedelta(hours=8))),
            "on": date(2026, 2, 3),
            "daily": time(6, 30, tzinfo=timezone.utc),
            "took": timedelta(days=-1, microseconds=3),
            "price": Decimal("9.90"),
            "id": UUID(int=7),
        },
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
    packed = [pack(item) for item in items]
    assert len(set(CODE_THAT_RAN)) == 4
    CODE_THAT_RAN.clear()
    assert [unpack(data) for data in packed] == items
    assert CODE_THAT_RAN == []


def test_values_that_no_validator_would_let_in_come_back_too() -> None:
    item = Model.model_construct(url=7)
    assert back(item).url == 7


def test_the_strings_of_lxml_come_back_as_plain_ones() -> None:
    [text] = html.fromstring("<p>港湾</p>").xpath("//text()")
    assert type(text) is not str
    found = back({"text": text})["text"]
    assert (type(found), found) == (str, "港湾")


# --- what cannot wait


class Node:
    """No item."""


def nested(levels: int) -> Any:
    value: Any = "inside"
    for _ in range(levels):
        value = {"deeper": (value,)}
    return value


def endless() -> dict[str, Any]:
    item: dict[str, Any] = {"list": []}
    item["list"].append(item["list"])
    return item


def local_item() -> object:
    @dataclass
    class Local:
        url: str = ""

    return Local()


@pytest.mark.parametrize(
    ("item", "place"),
    [
        ({"a": {"b": lambda: 0}}, "item['a']['b'] is a function"),
        ({"a": [1, Node()]}, "item['a'][1] is a Node"),
        ({"a": 2**70}, "item['a'] is an int of over 64 bits"),
        (Plain("u", more=(0, -(2**70))), "item['more'][1] is an int of over 64 bits"),
        (ScrapyItem(more=Colour.RED), "item['more'] is a Colour"),
        ({Colour.RED: 1}, "is a Colour"),
        (endless(), r"item['list'][0][0]… is nested"),
        ({"a": nested(5_000)}, "item['a']['deeper']"),
        (local_item(), "item is of class tests.test_parked_items.local_item.<locals>.Local"),
        ({"a": local_item()}, "item['a'] is of class"),
        ({"a": range(3)}, "item['a'] is a range"),
    ],
    ids=[
        "lambda",
        "object",
        "int",
        "negative int",
        "enum",
        "key",
        "self",
        "deep",
        "class",
        "inner class",
        "range",
    ],
)
def test_what_cannot_wait_is_refused_with_its_place(item: object, place: str) -> None:
    with pytest.raises(UnparkableError) as error:
        pack(item)
    assert place in str(error.value)


def test_what_is_nested_as_deep_as_it_may_be_comes_back_from_deep_within_a_program() -> None:
    item = {"a": nested(49)}
    packed = pack(item)

    def after(calls: int) -> Any:
        return after(calls - 1) if calls else unpack(packed)

    assert after(300) == item


# --- bytes that nobody should have written


def bytes_naming(path: str) -> bytes:
    return msgspec.msgpack.encode({"\0class": path, "\0fields": [["url", "u"]]})


@pytest.mark.parametrize(
    "path", ["os.system", "subprocess.Popen", f"{__name__}.NoItem", f"{__name__}.endless", "builtins.print"]
)
def test_bytes_that_name_no_class_of_items_are_refused_and_nothing_is_called(path: str) -> None:
    CODE_THAT_RAN.clear()
    with pytest.raises(UnparkableError, match="not an item class"):
        unpack(bytes_naming(path))
    assert CODE_THAT_RAN == []


@pytest.mark.parametrize("path", ["antigravity.fly", "scrapy.__main__.execute", "idlelib.idle.main"])
def test_bytes_that_name_a_module_nobody_has_loaded_import_nothing(path: str) -> None:
    module = path.rpartition(".")[0]
    with pytest.raises(UnparkableError, match="nothing has loaded its package; import it in the spider"):
        unpack(bytes_naming(path))
    assert module not in sys.modules


@pytest.mark.parametrize("path", [f"{__name__}.Gone", "no_such_package.Item", "nodots"])
def test_an_item_whose_class_is_gone_is_refused_by_its_name(path: str) -> None:
    with pytest.raises(UnparkableError, match=path):
        unpack(bytes_naming(path))


def test_an_item_whose_class_has_lost_a_field_is_refused_by_its_name() -> None:
    packed = msgspec.msgpack.encode({"\0class": f"{__name__}.Slotted", "\0fields": [["title", "t"]]})
    with pytest.raises(UnparkableError, match=r"Slotted waits, which is not as it was"):
        unpack(packed)
