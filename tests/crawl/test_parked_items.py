"""Items that wait come back with all they hold; one that cannot come back does not wait."""

from __future__ import annotations

import importlib
import sys
import threading
from collections import Counter, OrderedDict, defaultdict
from collections.abc import Iterable
from dataclasses import FrozenInstanceError, dataclass
from datetime import datetime, timedelta, timezone
from decimal import Decimal
from functools import cached_property
from pathlib import Path
from typing import Any
from uuid import UUID
from zoneinfo import ZoneInfo

import attrs
import pytest
import scrapy
from hypothesis import given
from hypothesis import strategies as st
from lxml import html
from pydantic import BaseModel, PrivateAttr
from scrapy.utils.test import get_crawler

from denoise_crawler import CleanPage
from denoise_crawler.crawl.pickled import class_path, pack, unpack
from denoise_crawler.crawl.report import CrawlReport
from denoise_crawler.errors import UnparkableError
from tests.item_kinds import (
    AliasedModel,
    Attrs,
    Colour,
    Frozen,
    FrozenAndSlotted,
    FrozenAttrs,
    Model,
    OpenModel,
    Plain,
    Point,
    ScrapyItem,
    Size,
    Slotted,
    Unfinished,
    back,
    state,
    storable_data,
)

# --- what comes back


@given(st.dictionaries(st.text(), storable_data(), max_size=4))
def test_data_comes_back_as_it_was_in_value_and_type(item: dict[str, Any]) -> None:
    assert state(back(item)) == state(item)


@given(
    storable_data(),
    st.sampled_from([Plain, Frozen, Slotted, FrozenAndSlotted, Attrs, FrozenAttrs, Model, ScrapyItem]),
)
def test_items_of_every_kind_come_back_with_their_values(value: Any, kind: type) -> None:
    item = kind(url="https://a.example/", more=value)
    found = back(item)
    assert type(found) is kind
    assert state(found) == state(item)


@pytest.mark.parametrize(
    "item",
    [
        {},
        {"url": "u", 1: "one", None: "nothing", (1, "a"): {2.5: b"\xff"}},
        {"dict": {"\ud800": 1}},
        {
            "at": datetime(2026, 2, 3, 4, 5, 6, 7, timezone(timedelta(hours=8))),
            "daily": datetime(2026, 10, 25, 2, 30, tzinfo=ZoneInfo("Europe/Berlin"), fold=1),
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


@pytest.mark.skipif(sys.version_info >= (3, 14), reason="version 1 of pydantic does not work there")
def test_a_model_of_pydantic_1_comes_back_whole() -> None:
    found = back(OLD_MODEL(url="u"))
    assert found == OLD_MODEL(url="u")
    assert found.dict(exclude_unset=True) == {"url": "u"}


if sys.version_info < (3, 14):
    from pydantic import v1

    class OLD_MODEL(v1.BaseModel):  # type: ignore[misc]  # noqa: N801
        url: str
        text: str = ""


def test_an_item_that_came_back_can_be_filled() -> None:
    found = [back(item) for item in (ScrapyItem(url="u"), Plain("u"), Model(url="u"))]
    found[0]["text"] = found[1].text = found[2].text = "clean"
    assert found == [ScrapyItem(url="u", text="clean"), Plain("u", "clean"), Model(url="u", text="clean")]
    with pytest.raises(FrozenInstanceError):
        back(Frozen("u")).url = "v"


def test_an_item_that_holds_itself_comes_back_so() -> None:
    item = Plain("u")
    item.more = {"parent": [item]}
    found = back(item)
    assert found.more["parent"][0] is found


def test_the_strings_of_lxml_come_back_with_their_text() -> None:
    [text] = html.fromstring("<p>港湾</p>").xpath("//text()")
    assert back({"text": text})["text"] == "港湾"


class ItemWithState(scrapy.Item):
    url = scrapy.Field()

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._seen = ["before"]


@dataclass
class PostInit:
    url: str

    def __post_init__(self) -> None:
        self._words = {"a", "b"}


@dataclass
class Cached:
    url: str

    @cached_property
    def words(self) -> list[str]:
        return self.url.split("/")


@attrs.define(slots=False)
class AttrsWithState:
    url: str

    def __attrs_post_init__(self) -> None:
        self.note = "by hand"


class ModelWithState(BaseModel):
    url: str
    _visits: list[int] = PrivateAttr(default_factory=lambda: [1])


class DictWithState(dict[str, Any]):
    """An item of a project of its own."""


class Spider(scrapy.Spider):
    @dataclass
    class Product:
        url: str


def with_attribute(item: Any, name: str, value: Any) -> Any:
    object.__setattr__(item, name, value)
    return item


def use_item(item: Any) -> Any:
    assert item.words
    return item


@pytest.mark.parametrize(
    "item",
    [
        ItemWithState(url="u"),
        with_attribute(ItemWithState(url="u"), "_price", {"eur": 3}),
        PostInit("u"),
        with_attribute(PostInit("u"), "note", "by hand"),
        use_item(Cached("a/b")),
        AttrsWithState("u"),
        ModelWithState(url="u"),
        with_attribute(DictWithState(url="u"), "_note", ItemWithState(url="v")),
        Spider.Product("u"),
        {"inner": [PostInit("u"), ItemWithState(url="v")]},
    ],
    ids=lambda item: type(item).__name__,
)
def test_what_an_item_holds_beside_its_fields_comes_back(item: Any) -> None:
    found = back(item)
    assert type(found) is type(item)
    assert state(found) == state(item)


# --- what cannot wait


def nested(levels: int) -> Any:
    value: Any = "inside"
    for _ in range(levels):
        value = {"deeper": (value,)}
    return value


def local_item() -> object:
    @dataclass
    class Local:
        url: str = ""

    return Local()


class UnreadableError(Exception):
    """Pickled with one argument, made with two, as some exceptions of libraries are."""

    def __init__(self, one: str, two: str) -> None:
        super().__init__(one + two)


@pytest.mark.parametrize(
    ("item", "kind"),
    [
        ({"a": {"b": lambda: 0}}, "dict"),
        (with_attribute(ItemWithState(url="u"), "_lock", threading.Lock()), "ItemWithState"),
        ({"a": nested(50_000)}, "dict"),
        (local_item(), "local_item.<locals>.Local"),
        ({"a": UnreadableError("one", "two")}, "dict"),
    ],
    ids=["function", "lock", "too deep", "class of a function", "cannot be read back"],
)
def test_what_cannot_be_pickled_and_read_back_is_refused_by_the_name_of_its_class(item: object, kind: str) -> None:
    with pytest.raises(UnparkableError, match=kind):
        pack(item)


def test_an_item_of_a_class_that_was_loaded_anew_since_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "reloaded_items.py").write_text("from scrapy import Item\nclass Product(Item):\n    pass\n")
    monkeypatch.syspath_prepend(tmp_path)
    module = importlib.import_module("reloaded_items")
    item = module.Product()
    assert type(unpack(pack(item))) is module.Product
    importlib.reload(module)
    with pytest.raises(UnparkableError, match=r"reloaded_items\.Product"):
        pack(item)
    del sys.modules["reloaded_items"]


def test_an_item_whose_class_is_gone_is_named_when_it_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "gone_items.py").write_text("class Product(dict):\n    pass\n")
    monkeypatch.syspath_prepend(tmp_path)
    packed = pack(importlib.import_module("gone_items").Product())
    del sys.modules["gone_items"].Product
    with pytest.raises(UnparkableError, match="Product"):
        unpack(packed)
    del sys.modules["gone_items"]


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
