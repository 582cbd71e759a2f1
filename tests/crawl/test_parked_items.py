"""Items that wait come back with all they hold, or are refused before they wait."""

from __future__ import annotations

import importlib
import sys
import threading
import weakref
from collections import Counter, OrderedDict, defaultdict
from collections.abc import Iterable
from dataclasses import FrozenInstanceError, dataclass, field
from datetime import date, datetime, time, timedelta, timezone, tzinfo
from decimal import Decimal
from functools import cached_property
from pathlib import Path
from typing import Any
from uuid import UUID
from zoneinfo import ZoneInfo

import attrs
import msgspec
import pytest
import scrapy
from hypothesis import given
from hypothesis import strategies as st
from lxml import html
from pydantic import BaseModel, PrivateAttr
from scrapy.utils.test import get_crawler

from denoise_crawler import CleanPage
from denoise_crawler.crawl.item_codec import pack, unpack
from denoise_crawler.crawl.report import CrawlReport
from denoise_crawler.crawl.stored_values import class_path
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
    Hashed,
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
    items = [ScrapyItemWithCode(url="u"), DataclassWithCode("u"), AttrsWithCode("u"), ModelWithCode(url="https")]
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


# --- what cannot wait


class Node:
    """No item."""

    def __init__(self) -> None:
        CODE_THAT_RAN.append("no item")


def nested(levels: int) -> Any:
    value: Any = "inside"
    for _ in range(levels):
        value = {"deeper": (value,)}
    return value


def endless() -> dict[str, Any]:
    item: dict[str, Any] = {"list": []}
    item["list"].append(item["list"])
    return item


def its_own_child() -> Plain:
    item = Plain("u")
    item.more = {"parent": (item,)}
    return item


def a_thousand_times_a_thousand() -> dict[str, Any]:
    value: list[Any] = []
    for _ in range(20):
        value = [value] * 10
    return {"a": value}


class Title(str):
    """A string with more behind it."""

    __slots__ = ()


class OwnZone(tzinfo):
    """No zone that the store knows."""


def local_item() -> object:
    @dataclass
    class Local:
        url: str = ""

    return Local()


@pytest.mark.parametrize(
    ("item", "place"),
    [
        ({"a": {"b": lambda: 0}}, "dict: item['a']['b'] is a function"),
        ({"a": [1, Node()]}, "item['a'][1] is a tests.crawl.test_parked_items.Node, which cannot be stored"),
        (ScrapyItem(more=len), "tests.item_kinds.ScrapyItem: item['more'] is a builtin_function"),
        (Plain("u", more=(0, OwnZone())), "tests.item_kinds.Plain: item.more[1] is a tests.crawl.test_parked_"),
        (
            {"a": datetime(2026, 1, 1, tzinfo=OwnZone())},
            "item['a'] has a time zone of class tests.crawl.test_parked_",
        ),
        ({"a": ZoneInfo.no_cache("Asia/Tokyo")}, "item['a'] is the time zone Asia/Tokyo, which is not the one"),
        ({"a": Title("t")}, "item['a'] is a tests.crawl.test_parked_items.Title, which cannot be stored"),
        (
            {"a": defaultdict(Node)},
            "item['a'].default_factory is the class tests.crawl.test_parked_items.Node",
        ),
        ({"a": {Hashed("u")}}, "a tests.item_kinds.Hashed is a key or in a set"),
        (endless(), "item['list'][0] holds itself"),
        (its_own_child(), "item.more['parent'][0] holds itself"),
        (a_thousand_times_a_thousand(), "holds more than 1,000,000 values"),
        ({"a": nested(5_000)}, "item['a']['deeper'][0]['deeper']… is nested over 100 deep"),
        (
            local_item(),
            "item is of class tests.crawl.test_parked_items.local_item.<locals>.Local, which is not",
        ),
        ({"a": local_item()}, "item['a'] is of class"),
        ({"a": range(3)}, "item['a'] is a range"),
        ([{"a": 1}], "it is no item"),
    ],
    ids=[
        *("lambda", "object", "field of an Item", "zone", "zone of a time", "zone of no name", "string"),
        *("default", "key", "self", "self in itself", "large", "deep", "class", "inner class", "range", "list"),
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
    return msgspec.msgpack.encode({"object": [path.rsplit(".", 1), {"url": "u"}, None, None]})


@pytest.mark.parametrize(
    "path", ["os.system", "subprocess.Popen", f"{__name__}.Node", f"{__name__}.endless", "builtins.print"]
)
def test_bytes_that_name_no_class_of_items_are_refused_and_nothing_is_called(path: str) -> None:
    CODE_THAT_RAN.clear()
    with pytest.raises(UnparkableError, match="not an item class"):
        unpack(bytes_naming(path))
    assert CODE_THAT_RAN == []


@pytest.mark.parametrize("path", ["antigravity.fly", "scrapy.__main__.execute", "idlelib.idle.main"])
def test_bytes_that_name_a_module_nobody_has_loaded_import_nothing(path: str) -> None:
    module = path.rpartition(".")[0]
    with pytest.raises(UnparkableError, match="its module is not loaded; import it in the spider"):
        unpack(bytes_naming(path))
    assert module not in sys.modules


@pytest.mark.parametrize("path", [f"{__name__}.Gone", "no_such_package.Item"])
def test_an_item_whose_class_is_gone_is_refused_by_its_name(path: str) -> None:
    with pytest.raises(UnparkableError, match=path):
        unpack(bytes_naming(path))


def test_an_item_whose_class_has_lost_a_field_is_refused_by_its_name() -> None:
    packed = msgspec.msgpack.encode({"object": [[Slotted.__module__, "Slotted"], None, {"title": "t"}, None]})
    with pytest.raises(UnparkableError, match=r"Slotted waits, which is not as it was"):
        unpack(packed)


class ItemWithState(scrapy.Item):
    url = scrapy.Field()

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._seen = ["before"]


class WithPostInit:
    def __post_init__(self) -> None:
        object.__setattr__(self, "_words", {"a", "b"})


@dataclass
class PostInit(WithPostInit):
    url: str
    made: int = field(init=False, default=3)


@dataclass(frozen=True)
class FrozenPostInit(WithPostInit):
    url: str


@dataclass
class SlotsBesidesFields:
    __slots__ = ("_hidden", "_never_set", "url")
    url: str

    def __post_init__(self) -> None:
        self._hidden = (1, 2)


@dataclass
class Cached:
    url: str

    @cached_property
    def words(self) -> list[str]:
        return self.url.split("/")


@attrs.define(slots=False)
class AttrsWithState:
    url: str
    _counter: int = attrs.field(init=False, default=0)

    def __attrs_post_init__(self) -> None:
        self.note = "by hand"


@attrs.define
class CachedAttrs:
    url: str

    @cached_property
    def words(self) -> list[str]:
        return self.url.split("/")


class ModelWithState(BaseModel):
    url: str
    _visits: list[int] = PrivateAttr(default_factory=lambda: [1])


class DictWithState(dict[str, Any]):
    """An item of a project of its own."""


class Spider(scrapy.Spider):
    @dataclass
    class Product:
        url: str


class AttributeDict(dict[str, Any]):
    def __init__(self, **values: Any) -> None:
        super().__init__(values)
        self.__dict__ = self


@dataclass
class WithEnd:
    url: str

    def __del__(self) -> None:
        pass


@dataclass(eq=False)
class Anything:
    url: str
    more: Any = None


def with_attribute(item: Any, name: str, value: Any) -> Any:
    object.__setattr__(item, name, value)
    return item


def model_with(visits: Any) -> ModelWithState:
    model = ModelWithState(url="u")
    model._visits = visits
    return model


def use_item(item: Any) -> Any:
    assert item.words
    return item


@pytest.mark.parametrize(
    "item",
    [
        ItemWithState(url="u"),
        with_attribute(ItemWithState(url="u"), "_price", {"eur": 3}),
        PostInit("u"),
        FrozenPostInit("u"),
        with_attribute(PostInit("u"), "note", "by hand"),
        SlotsBesidesFields("u"),
        use_item(Cached("a/b")),
        AttrsWithState("u"),
        use_item(CachedAttrs("a/b")),
        ModelWithState(url="u"),
        with_attribute(DictWithState(url="u"), "_note", ItemWithState(url="v")),
        Spider.Product("u"),
        {"inner": [PostInit("u"), ItemWithState(url="v")]},
    ],
    ids=lambda item: type(item).__name__,
)
def test_what_an_item_holds_beside_its_fields_comes_back(item: Any) -> None:
    found = unpack(pack(item))
    assert type(found) is type(item)
    assert state(found) == state(item)
    assert pack(found) == pack(item)


def test_the_kinds_above_do_hold_something_beside_their_fields() -> None:
    assert unpack(pack(ItemWithState(url="u")))._seen == ["before"]
    assert unpack(pack(PostInit("u")))._words == {"a", "b"}
    assert unpack(pack(SlotsBesidesFields("u")))._hidden == (1, 2)
    assert not hasattr(unpack(pack(SlotsBesidesFields("u"))), "_never_set")
    assert unpack(pack(AttrsWithState("u"))).note == "by hand"
    assert unpack(pack(ModelWithState(url="u")))._visits == [1]


LOCK = threading.Lock()
HELD = Anything("held")


@pytest.mark.parametrize(
    ("item", "what"),
    [
        (with_attribute(ItemWithState(url="u"), "_lock", LOCK), "ItemWithState: item._lock is a _thread.lock"),
        (with_attribute(PostInit("u"), "_lock", LOCK), "PostInit: item._lock is a _thread.lock"),
        (with_attribute(SlotsBesidesFields("u"), "_never_set", LOCK), "item._never_set is a _thread.lock"),
        (with_attribute(AttrsWithState("u"), "_lock", [LOCK]), "AttrsWithState: item._lock[0] is a _thread.lock"),
        (model_with(LOCK), "item.__pydantic_private__['_visits'] is a _th"),
        (with_attribute(DictWithState(), "_lock", LOCK), "DictWithState: item._lock is a _thread.lock"),
        ({"inner": with_attribute(PostInit("u"), "_lock", LOCK)}, "dict: item['inner']._lock is a _thread.lock"),
        (Anything("u", weakref.ref(HELD)), "item.more is a weakref.ReferenceType"),
        (HELD, "Anything: item is known elsewhere by a weak reference"),
        (AttributeDict(url="u"), "AttributeDict as its __dict__"),
        (WithEnd("u"), "whose __del__ would run on copies"),
        (Anything("u", defaultdict(lambda: 0)), "item.more.default_factory is a function"),
    ],
)
def test_what_cannot_come_back_is_refused_and_named(item: Any, what: str) -> None:
    with pytest.raises(UnparkableError) as error:
        pack(item)
    assert what in str(error.value)


def test_an_item_that_a_weak_dictionary_knows_is_refused_as_long_as_it_does() -> None:
    item = ItemWithState(url="u")
    notes = weakref.WeakKeyDictionary({item: "mine"})
    with pytest.raises(UnparkableError, match="by a weak reference"):
        pack(item)
    del notes[item]
    assert unpack(pack(item))["url"] == "u"


def test_an_item_of_a_class_that_was_loaded_anew_since_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "reloaded_items.py").write_text("from scrapy import Item\nclass Product(Item):\n    pass\n")
    monkeypatch.syspath_prepend(tmp_path)
    module = importlib.import_module("reloaded_items")
    item = module.Product()
    assert type(unpack(pack(item))) is module.Product
    importlib.reload(module)
    with pytest.raises(UnparkableError, match=r"reloaded_items\.Product, which is not found by that name"):
        pack(item)
    del sys.modules["reloaded_items"]


def test_a_module_that_nobody_has_loaded_is_not_imported_and_its_item_comes_back_when_somebody_has(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    package = tmp_path / "lazy_shop"
    package.mkdir()
    (package / "__init__.py").touch()
    (package / "items.py").write_text("from scrapy import Item\nclass Product(Item):\n    pass\n")
    monkeypatch.syspath_prepend(tmp_path)
    packed = pack(importlib.import_module("lazy_shop.items").Product())
    del sys.modules["lazy_shop.items"]
    with pytest.raises(UnparkableError, match=r"lazy_shop\.items\.Product waits.*import it in the spider"):
        unpack(packed)
    assert "lazy_shop.items" not in sys.modules
    importlib.import_module("lazy_shop.items")
    assert type(unpack(packed)).__name__ == "Product"


def said(kinds: Iterable[type], caplog: pytest.LogCaptureFixture) -> list[str]:
    """Return what is logged of classes, as a crawl does with those whose items cannot wait."""
    report = CrawlReport(get_crawler())
    for kind in kinds:
        report.first("unparkable", "%s cannot wait", kind.__name__, key=class_path(kind))
    return [record.getMessage() for record in caplog.records]


def test_a_class_is_reported_once_and_classes_of_one_name_count_as_one(caplog: pytest.LogCaptureFixture) -> None:
    made = [type("Made", (), {}) for _ in range(3)]
    assert said((PostInit, dict, PostInit, dict, Cached, *made), caplog) == [
        f"{name} cannot wait" for name in ("PostInit", "dict", "Cached", "Made")
    ]


def test_the_classes_that_are_reported_are_bounded(caplog: pytest.LogCaptureFixture) -> None:
    assert len(said((type(f"Made{number}", (), {}) for number in range(2_000)), caplog)) == 1_000
