from __future__ import annotations

import logging
from dataclasses import dataclass, field
from typing import Any

import attrs
import pytest
import scrapy
from itemadapter import ItemAdapter
from pydantic import BaseModel
from scrapy.utils.test import get_crawler

from denoise_crawler import CleanPage
from denoise_crawler.crawl.filling import FillResult, ItemFiller
from denoise_crawler.crawl.report import CrawlReport
from denoise_crawler.crawl.settings import DenoiseSettings

PAGE = CleanPage(
    url="https://a.example/1",
    site="a.example",
    title="The title",
    text="The clean text",
    language="en",
    method="style_tree",
    warm=True,
    noise_ratio=0.5,
)
FULL = {"url": "https://a.example/1", "html": "<p>page</p>"}


class ScrapyItem(scrapy.Item):
    url = scrapy.Field()
    html = scrapy.Field()
    text = scrapy.Field()
    headline = scrapy.Field()


@dataclass
class Dataclass:
    url: str = ""
    html: str = ""
    text: str | None = None
    headline: str = ""


@dataclass
class Later:
    url: str = field(init=False)
    html: str = field(init=False)
    text: str = field(init=False)


@attrs.define
class Attrs:
    url: str = ""
    html: str = ""
    text: str = ""
    headline: str = ""


class Model(BaseModel):
    url: str = ""
    html: str = ""
    text: str | None = None
    headline: str = ""


@dataclass
class NoText:
    url: str = ""
    html: str = ""


@attrs.define
class NoTextAttrs:
    url: str = ""


class NoTextItem(scrapy.Item):
    url = scrapy.Field()


class NoTextModel(BaseModel):
    url: str = ""


@dataclass(frozen=True)
class FrozenNoText:
    url: str = ""


KINDS = pytest.mark.parametrize("kind", [dict, ScrapyItem, Dataclass, Attrs, Model])


def filler(**changed: Any) -> ItemFiller:
    return ItemFiller(DenoiseSettings(**changed), CrawlReport(get_crawler()))


def text_of(item: object, name: str = "text") -> Any:
    return ItemAdapter(item).get(name)


@KINDS
def test_the_html_and_address_of_an_item_are_read_from_its_fields(kind: type) -> None:
    assert filler().html_of(kind(**FULL)) == "<p>page</p>"
    assert filler().url_of(kind(**FULL)) == "https://a.example/1"
    swapped = filler(html_field="url", url_field="html")
    assert swapped.html_of(kind(**FULL)) == "https://a.example/1"
    assert swapped.url_of(kind(**FULL)) == "<p>page</p>"


@KINDS
def test_an_item_without_html_or_address_has_none(kind: type) -> None:
    assert filler().html_of(kind()) is None
    assert filler().url_of(kind()) == ""
    assert filler(html_field="none").html_of(kind(**FULL)) is None
    assert filler(url_field="none").url_of(kind(**FULL)) == ""


def test_html_may_be_bytes_and_what_is_no_markup_is_none() -> None:
    assert filler().html_of({"html": b"<p>page</p>"}) == b"<p>page</p>"
    assert filler().html_of({"html": ["<p>page</p>"]}) is None
    assert filler().html_of({"html": b""}) is None
    assert filler().url_of({"url": b"https://a.example/"}) == ""


@pytest.mark.parametrize("item", [None, "an item", 7, [FULL]])
def test_what_is_no_item_has_neither_html_nor_address(item: object) -> None:
    assert filler().html_of(item) is None
    assert filler().url_of(item) == ""


@KINDS
def test_an_empty_or_missing_text_field_is_filled(kind: type) -> None:
    for item in (kind(**FULL), kind(text="")):
        assert filler().fill(item, PAGE) == FillResult(item, has_text=True, wrote=True)
        assert text_of(item) == "The clean text"
        assert text_of(item, "headline") in (None, "")


@KINDS
def test_a_field_that_holds_something_is_left_as_it_is(kind: type) -> None:
    item = kind(text="mine", headline="mine too")
    filled = filler(extra_fields={"title": "headline"}).fill(item, PAGE)
    assert filled == FillResult(item, has_text=True, wrote=False)
    assert text_of(item) == "mine"
    assert text_of(item, "headline") == "mine too"


@KINDS
def test_the_text_field_and_extra_fields_go_by_the_names_of_the_settings(kind: type) -> None:
    item = kind(**FULL)
    assert filler(text_field="headline", extra_fields={"title": "text"}).fill(item, PAGE).has_text
    assert text_of(item, "headline") == "The clean text"
    assert text_of(item, "text") == "The title"
    assert text_of(item, "html") == "<p>page</p>"


def test_every_part_of_a_clean_page_can_be_an_extra_field() -> None:
    names = [name for name in CleanPage.__dataclass_fields__ if name != "text"]
    item: dict[str, object] = {}
    assert filler(extra_fields={name: f"clean_{name}" for name in names}).fill(item, PAGE).has_text
    assert item == {"text": PAGE.text, **{f"clean_{name}": getattr(PAGE, name) for name in names}}


def test_a_clean_page_gets_all_its_own_fields_whatever_the_settings_say() -> None:
    item = CleanPage(url="https://a.example/other", fetched_at="2026-02-03T04:05:06+00:00")
    assert filler(text_field="body", extra_fields={"title": "headline"}).fill(item, PAGE).has_text
    expected = CleanPage(**{**vars(PAGE), "url": "https://a.example/other", "fetched_at": item.fetched_at})
    assert item == expected
    assert item.fetched_at == "2026-02-03T04:05:06+00:00"


def test_fields_that_were_never_set_can_be_read_and_filled() -> None:
    item = Later()
    assert filler().html_of(item) is None
    assert filler().url_of(item) == ""
    assert filler().fill(item, PAGE).has_text
    assert item.text == "The clean text"


@pytest.mark.parametrize("kind", [NoText, NoTextAttrs, NoTextItem, NoTextModel, FrozenNoText])
def test_an_item_without_a_place_for_the_text_stays_as_it_is_and_its_class_is_told_of_once(
    kind: type, caplog: pytest.LogCaptureFixture
) -> None:
    filling = filler()
    for _ in range(3):
        item = kind(url="https://a.example/1")
        before = repr(item)
        assert not filling.fill(item, PAGE).has_text
        assert repr(item) == before
    [record] = caplog.records
    assert record.levelno == logging.WARNING
    assert kind.__qualname__ in record.getMessage()
    assert "'text'" in record.getMessage()
    assert "DENOISE_TEXT_FIELD" in record.getMessage()


def test_each_class_without_a_place_is_told_of(caplog: pytest.LogCaptureFixture) -> None:
    filling = filler()
    for item in (NoText(), FrozenNoText(), NoText(), NoTextModel()):
        assert not filling.fill(item, PAGE).has_text
    assert [record.getMessage().split()[0] for record in caplog.records] == [
        "NoText",
        "FrozenNoText",
        "NoTextModel",
    ]


@pytest.mark.parametrize("kind", [ScrapyItem, Dataclass, Attrs, Model])
def test_a_missing_extra_field_is_told_of_and_the_text_is_filled(
    kind: type, caplog: pytest.LogCaptureFixture
) -> None:
    filling = filler(extra_fields={"title": "no_such_field"})
    for _ in range(2):
        item = kind()
        assert filling.fill(item, PAGE).has_text
        assert text_of(item) == "The clean text"
    [record] = caplog.records
    assert "'no_such_field'" in record.getMessage()
    assert "DENOISE_EXTRA_FIELDS" in record.getMessage()
