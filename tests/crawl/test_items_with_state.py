"""Items that are more than their fields: they come back with all they hold, or are refused before they wait."""

from __future__ import annotations

import importlib
import sys
import threading
import weakref
from collections import defaultdict
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import attrs
import pytest
import scrapy
from pydantic import BaseModel, PrivateAttr
from scrapy.utils.test import get_crawler

from denoise_crawler.crawl.item_codec import pack, unpack
from denoise_crawler.crawl.report import CrawlReport
from denoise_crawler.crawl.stored_values import class_path
from denoise_crawler.errors import UnparkableError
from tests.item_kinds import state

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path


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
