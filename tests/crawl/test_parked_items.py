"""Items that wait come back with all they hold; one that cannot come back does not wait."""

from __future__ import annotations

import importlib
import sys
import threading
from collections import OrderedDict
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from functools import cached_property
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import attrs
import pytest
import scrapy
from lxml import html
from pydantic import BaseModel, PrivateAttr
from scrapy.utils.test import get_crawler

from denoise_crawler import CleanPage
from denoise_crawler.crawl.parked_items import GuardedStore, WaitingItems, _parked_page, _source_of
from denoise_crawler.crawl.pickled import pack, unpack
from denoise_crawler.crawl.report import CrawlReport
from denoise_crawler.crawl.source_page import Origin, SourcePage, page_of_response
from denoise_crawler.errors import UnparkableError
from denoise_crawler.page import Page
from denoise_crawler.page.site import site_of
from denoise_crawler.store import Store
from denoise_crawler.store.store import ParkedPage


class ItemWithState(scrapy.Item):
    url = scrapy.Field()
    text = scrapy.Field()

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._seen = ["before"]


@dataclass
class PostInit:
    url: str

    def __post_init__(self) -> None:
        self._words = {"a", "b"}


@dataclass(frozen=True, slots=True)
class FrozenAndSlotted:
    url: str
    more: Any = None


@dataclass
class Cached:
    url: str

    @cached_property
    def words(self) -> list[str]:
        return self.url.split("/")


@attrs.define
class Attrs:
    url: str
    _hidden: int = 0


class ModelWithState(BaseModel):
    url: str
    _visits: list[int] = PrivateAttr(default_factory=lambda: [1])


class Spider(scrapy.Spider):
    @dataclass
    class Product:
        url: str


def use_item(item: Any) -> Any:
    assert item.words
    return item


def back(item: object) -> Any:
    return unpack(pack(item))


# --- what comes back


@pytest.mark.parametrize(
    "item",
    [
        {"url": "u", 1: "\ud800", None: {"price": Decimal("9.90"), (1, "a"): b"\xff"}},
        {"at": datetime(2026, 10, 25, 2, 30, tzinfo=ZoneInfo("Europe/Berlin"), fold=1)},
        OrderedDict(url="u"),
        ItemWithState(url="u"),
        PostInit("u"),
        use_item(Cached("a/b")),
        FrozenAndSlotted("u", (FrozenAndSlotted("v"), [ItemWithState(url="w")])),
        Attrs("u", hidden=3),
        ModelWithState(url="u"),
        CleanPage(url="u", text="t", noise_ratio=0.25),
        Spider.Product("u"),
    ],
    ids=lambda item: type(item).__name__,
)
def test_an_item_comes_back_with_its_fields_and_all_that_it_holds_beside_them(item: Any) -> None:
    found = back(item)
    assert type(found) is type(item)
    assert found == item
    assert getattr(found, "__dict__", None) == getattr(item, "__dict__", None)


def test_fields_that_were_never_set_stay_unset_and_can_be_filled() -> None:
    found = back(ItemWithState(url="u"))
    assert dict(found) == {"url": "u"}
    found["text"] = "clean"
    assert found == ItemWithState(url="u", text="clean")


@pytest.mark.parametrize("html", ["<p>" * 400, "港<b>" * 400, "\ud800<b>" * 400, "<p>short"])
def test_the_html_of_its_page_comes_back_with_an_item_that_does_not_repeat_it(html: str) -> None:
    item = {"html": html, "body": html.encode("utf-8", "surrogatepass"), "more": f"{html}."}
    packed = pack(item, html)
    assert unpack(packed, html) == item
    assert (len(packed) < 2 * len(html.encode("utf-8", "replace"))) == (len(html) > 1_000 and "\ud800" not in html)


def test_the_strings_of_lxml_come_back_with_their_text() -> None:
    [text] = html.fromstring("<p>港湾</p>").xpath("//text()")
    assert back({"text": text})["text"] == "港湾"


@pytest.mark.parametrize(
    ("body", "encoding", "most"),
    [
        ("<p>港湾 ".encode() * 999, "utf-8", 0.6),
        ("<p>港湾 ".encode("gb18030") * 999, "gb18030", 0.6),
        ("<p>Zürich ".encode("latin-1") * 999, "latin-1", 0.6),
        (b"\xef\xbb\xbf<p>marked " * 999, "utf-8", 2),
        (b"<p>broken \xff\xfe " * 999, "utf-8", 2),
        (b"<p>+2AA- " * 999, "utf-7", 2),
        (b"", "utf-8", 2),
    ],
)
def test_a_response_comes_back_with_its_body_which_lies_once_in_the_store(
    body: bytes, encoding: str, most: float, tmp_path: Path
) -> None:
    response = scrapy.http.HtmlResponse("https://a.example/1", body=body, encoding=encoding)
    page = page_of_response(response, site_of)
    assert page is not None
    parked = _parked_page(SourcePage(page, Origin(b"1", response)))
    assert parked.response is not None
    assert len(parked.html.encode()) + len(parked.response.data) < 2 * most * len(page.markup.encode()) + 1_000
    store = Store(tmp_path / "crawl.sqlite")
    source = _source_of(store.page(store.park(parked, b"")))
    store.close()
    assert source.response is not None
    assert (source.response.body, source.page.markup) == (body, page.markup)


def test_pages_that_are_read_back_do_not_push_out_of_memory_those_whose_turn_comes_later(tmp_path: Path) -> None:
    read = list[int]()

    class CountingStore(Store):
        def page(self, row: int) -> ParkedPage:
            read.append(row)
            return super().page(row)

    crawler, store = get_crawler(), CountingStore(tmp_path / "crawl.sqlite")
    waiting = WaitingItems(crawler, GuardedStore(store, pytest.fail), CrawlReport(crawler))
    for number in range(70):
        source = SourcePage(Page.parse(f"https://a.example/{number}", "<p>A story."), Origin(b"%d" % number))
        assert waiting.park(number, source)
    assert [item for items in waiting.release() for item, _ in items] == list(range(70))
    assert len(read) == 70 - 64
    store.close()


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
        ({"lock": threading.Lock()}, "dict"),
        ({"a": nested(50_000)}, "dict"),
        (local_item(), "local_item.<locals>.Local"),
        ({"a": UnreadableError("one", "two")}, "dict"),
    ],
    ids=["function", "lock", "too deep", "class of a function", "cannot be read back"],
)
def test_what_cannot_be_pickled_and_read_back_is_refused_by_the_name_of_its_class(item: object, kind: str) -> None:
    with pytest.raises(UnparkableError, match=kind):
        pack(item)


def test_an_item_whose_class_was_loaded_anew_is_refused_and_one_whose_class_is_gone_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "reloaded_items.py").write_text("class Product(dict):\n    pass\n")
    monkeypatch.syspath_prepend(tmp_path)
    module = importlib.import_module("reloaded_items")
    item = module.Product()
    packed = pack(item)
    assert type(unpack(packed)) is module.Product
    importlib.reload(module)
    with pytest.raises(UnparkableError, match=r"reloaded_items\.Product"):
        pack(item)
    del sys.modules["reloaded_items"].Product
    with pytest.raises(UnparkableError, match="Product"):
        unpack(packed)
    del sys.modules["reloaded_items"]
