from __future__ import annotations

import sys
from collections import defaultdict
from dataclasses import dataclass
from datetime import datetime, tzinfo
from typing import Any
from zoneinfo import ZoneInfo

import msgspec
import pytest

from denoise_crawler.crawl.item_codec import pack, unpack
from denoise_crawler.errors import UnparkableError
from tests.item_kinds import CODE_THAT_RAN, Hashed, Plain, ScrapyItem, Slotted

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
        ({"a": [1, Node()]}, "item['a'][1] is a tests.crawl.test_unparkable_items.Node, which cannot be stored"),
        (ScrapyItem(more=len), "tests.item_kinds.ScrapyItem: item['more'] is a builtin_function"),
        (Plain("u", more=(0, OwnZone())), "tests.item_kinds.Plain: item.more[1] is a tests.crawl.test_unp"),
        ({"a": datetime(2026, 1, 1, tzinfo=OwnZone())}, "item['a'] has a time zone of class tests.crawl.test_unp"),
        ({"a": ZoneInfo.no_cache("Asia/Tokyo")}, "item['a'] is the time zone Asia/Tokyo, which is not the one"),
        ({"a": Title("t")}, "item['a'] is a tests.crawl.test_unparkable_items.Title, which cannot be stored"),
        (
            {"a": defaultdict(Node)},
            "item['a'].default_factory is the class tests.crawl.test_unparkable_items.Node",
        ),
        ({"a": {Hashed("u")}}, "a tests.item_kinds.Hashed is a key or in a set"),
        (endless(), "item['list'][0] holds itself"),
        (its_own_child(), "item.more['parent'][0] holds itself"),
        (a_thousand_times_a_thousand(), "holds more than 1,000,000 values"),
        ({"a": nested(5_000)}, "item['a']['deeper'][0]['deeper']… is nested over 100 deep"),
        (
            local_item(),
            "item is of class tests.crawl.test_unparkable_items.local_item.<locals>.Local, which is not",
        ),
        ({"a": local_item()}, "item['a'] is of class"),
        ({"a": range(3)}, "item['a'] is a range"),
        ([{"a": 1}], "it is no item"),
    ],
    ids=[
        "lambda",
        "object",
        "field of an Item",
        "zone",
        "zone of a time",
        "zone of no name",
        "string",
        "default",
        "key",
        "self",
        "self in itself",
        "large",
        "deep",
        "class",
        "inner class",
        "range",
        "list",
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
