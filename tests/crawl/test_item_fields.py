"""Items take the clean text and what else is known of their page, of whatever class they are; feeds in CSV too."""

from __future__ import annotations

import csv
import logging
import sys
import typing
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from typing import Annotated, Any, List, Optional  # noqa: UP035

import attrs
import numpy
import pytest
import scrapy
from itemadapter import ItemAdapter
from pydantic import BaseModel, ConfigDict, Field
from scrapy.utils.test import get_crawler

from denoise_crawler import CleanPage
from denoise_crawler.crawl.item_fields import FillResult, ItemWriter
from denoise_crawler.crawl.report import CrawlReport
from denoise_crawler.crawl.settings import DenoiseSettings
from tests.conftest import ADDON, PIPELINES, SETTINGS, Project
from tests.loopback import HTML, Answer, serving
from tests.scrapy_process import ScrapyProcess

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


def filler(**changed: Any) -> ItemWriter:
    return ItemWriter(DenoiseSettings(**changed), CrawlReport(get_crawler()))


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


def test_each_class_without_a_place_is_told_of_and_the_first_with_a_warning(
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level(logging.DEBUG, "denoise_crawler")
    filling = filler()
    for item in (NoText(), FrozenNoText(), NoText(), NoTextModel()):
        assert not filling.fill(item, PAGE).has_text
    assert [(record.levelname, record.getMessage().split()[0]) for record in caplog.records] == [
        ("WARNING", "NoText"),
        ("DEBUG", "FrozenNoText"),
        ("DEBUG", "NoTextModel"),
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


@dataclass(frozen=True)
class Frozen:
    url: str = ""
    text: str = ""
    more: Any = None


@dataclass(frozen=True, slots=True)
class FrozenSlots(Frozen):
    pass


@attrs.frozen
class FrozenAttrs:
    url: str = ""
    text: str | None = None
    more: Any = None


@attrs.define
class FrozenFieldAttrs:
    url: str = ""
    text: str = attrs.field(default="", on_setattr=attrs.setters.frozen)
    more: Any = None


class FrozenModel(BaseModel):
    model_config = ConfigDict(frozen=True)
    url: str = ""
    text: str = ""
    more: Any = None


class FrozenFieldModel(BaseModel):
    url: str = ""
    text: str = Field(default="", frozen=True)
    more: Any = None


FROZEN: list[Any] = [Frozen, FrozenSlots, FrozenAttrs, FrozenFieldAttrs, FrozenModel, FrozenFieldModel]
if sys.version_info < (3, 14):  # version 1 of pydantic does not work there
    from pydantic import v1

    class FrozenOldModel(v1.BaseModel):  # type: ignore[misc]
        url: str = ""
        text: str = ""
        more: Any = None

        class Config:
            allow_mutation = False

    FROZEN.append(FrozenOldModel)


NUMBERS = count()


@dataclass(frozen=True)
class Numbered:
    text: str = ""
    number: int = field(init=False, default_factory=lambda: next(NUMBERS))
    made: int = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "made", next(NUMBERS))
        object.__setattr__(self, "_private", next(NUMBERS))


@attrs.frozen
class Converted:
    cents: int = attrs.field(converter=lambda euros: int(euros * 100))
    _text: str = ""


@dataclass(frozen=True)
class Checked:
    text: str = ""

    def __post_init__(self) -> None:
        if len(self.text) > 3:
            raise RuntimeError("the text is too long")


@attrs.frozen
class CheckedAttrs:
    text: str = attrs.field(default="", validator=attrs.validators.max_len(3))


class CheckedModel(BaseModel):
    model_config = ConfigDict(validate_assignment=True)
    text: str = Field(default="", max_length=3)


class Unwilling(scrapy.Item):
    text = scrapy.Field()

    def __setitem__(self, name: str, value: Any) -> None:
        raise RuntimeError("no text here,\nplease")


@dataclass
class ListDataclass:
    text: list[str] | None = None
    headline: Sequence[str] = ()


@attrs.define
class ListAttrs:
    text: list[str] = attrs.Factory(list)
    headline: list[str] | None = None


class ListModel(BaseModel):
    model_config = ConfigDict(validate_assignment=True)
    text: Annotated[list[str], "the text"] = []
    headline: Optional[List[str]] = None  # noqa: UP006, UP045


@dataclass
class ListOfUnknown:
    text: list[Unknown] | None = None  # type: ignore[name-defined]  # noqa: F821
    headline: typing.List[Unknown] | None = None  # type: ignore[name-defined]  # noqa: F821, UP006


@dataclass(frozen=True)
class FrozenList:
    text: list[str] | None = None
    headline: str | list[str] | None = None


# --- frozen classes


@pytest.mark.parametrize("kind", FROZEN)
def test_a_frozen_item_stays_as_it_is_and_a_filled_copy_goes_on(kind: Any) -> None:
    more = ["mine"]
    item = kind(url="https://a.example/1", more=more)
    filled = filler().fill(item, PAGE)
    assert filled == FillResult(kind(url="https://a.example/1", text="The clean text", more=more), True, True)
    assert filled.item.more is more
    assert type(filled.item) is kind
    assert item.text in (None, "")


@pytest.mark.parametrize("kind", FROZEN)
def test_a_frozen_item_with_a_text_of_its_own_goes_on_itself(kind: Any) -> None:
    item = kind(text="mine")
    filled = filler().fill(item, PAGE)
    assert filled.item is item
    assert (filled.has_text, filled.wrote) == (True, False)


def test_what_a_frozen_class_works_out_anew_for_each_object_stays_as_it_was() -> None:
    item = Numbered()
    object.__setattr__(item, "_note", "mine")
    filled = filler().fill(item, PAGE).item
    assert vars(filled) == {**vars(item), "text": "The clean text"}
    converted = filler(text_field="_text").fill(Converted(3), PAGE).item
    assert converted == attrs.evolve(Converted(3), cents=3, text="The clean text")
    assert converted.cents == 300


@pytest.mark.parametrize(
    ("kind", "why"),
    [
        (Checked, "the text is too long"),
        (CheckedAttrs, "Length of 'text' must be <= 3"),
        (CheckedModel, "String should have at most 3 characters"),
        (Unwilling, "no text here, please"),
    ],
)
def test_a_class_that_does_not_take_the_text_is_told_of_once_and_its_items_go_on_untouched(
    kind: Any, why: str, caplog: pytest.LogCaptureFixture
) -> None:
    filling = filler()
    for _ in range(3):
        item = kind()
        filled = filling.fill(item, PAGE)
        assert filled.item is item
        assert (filled.has_text, filled.wrote) == (False, False)
        assert item == kind()
    [record] = caplog.records
    message = record.getMessage()
    assert message.startswith(f"{kind.__name__} items do not take the clean text in their field 'text' (")
    assert why in message
    assert "another field in DENOISE_TEXT_FIELD" in message
    assert "\n" not in message


def test_a_class_without_a_field_for_the_text_is_told_how_to_get_one(caplog: pytest.LogCaptureFixture) -> None:
    class Story(scrapy.Item):
        url = scrapy.Field()

    assert not filler().can_fill(Story(url="https://a.example/"))
    assert "(text = scrapy.Field()), or name another field in DENOISE_TEXT_FIELD" in caplog.text
    caplog.clear()
    filler().fill(NoText(), PAGE)
    assert '(text: str = ""), or name another field in DENOISE_TEXT_FIELD' in caplog.text


# --- lists


@KINDS
def test_an_empty_list_becomes_a_list_of_the_text(kind: Any) -> None:
    values = {"text": [], "headline": ["mine"]}
    item = kind.model_construct(**values) if kind is Model else kind(**values)
    given_list = text_of(item)
    assert filler(extra_fields={"title": "headline"}).fill(item, PAGE) == FillResult(item, True, True)
    assert text_of(item) == ["The clean text"]
    assert text_of(item, "headline") == ["mine"]
    assert given_list == []


@pytest.mark.parametrize("kind", [ListDataclass, ListAttrs, ListModel, ListOfUnknown])
def test_a_field_declared_as_a_list_gets_a_list(kind: Any, caplog: pytest.LogCaptureFixture) -> None:
    item = kind(headline=None)
    assert filler(extra_fields={"title": "headline"}).fill(item, PAGE).wrote
    assert (item.text, item.headline) == (["The clean text"], ["The title"])
    assert filler(extra_fields={"author": "headline"}).fill(kind(headline=None), PAGE).item.headline is None
    assert caplog.records == []


def test_a_frozen_item_gets_a_list_where_only_a_list_is_declared() -> None:
    filled = filler(extra_fields={"title": "headline"}).fill(FrozenList(), PAGE)
    assert filled.item == FrozenList(["The clean text"], "The title")


def test_an_array_in_a_field_is_a_text_of_its_own() -> None:
    item = {"text": numpy.zeros(3)}
    filled = filler().fill(item, PAGE)
    assert (filled.has_text, filled.wrote) == (True, False)


SPIDER = """
import scrapy


class MixedSpider(scrapy.Spider):
    name = "mixed"
    custom_settings = {"CONCURRENT_REQUESTS": 1}

    async def start(self):
        yield {"url": "no page", "html": None}
        for number in range(8):
            yield scrapy.Request(f"{self.site}/{number}")

    def parse(self, response):
        yield {"url": response.url, "html": response.text}


class OwnTextSpider(scrapy.Spider):
    name = "own"

    async def start(self):
        yield {"text": "mine", "url": "1"}
        yield {"text": "mine", "url": "2"}
"""


def page(path: str) -> Answer:
    return Answer(200, HTML, f"<html><body><p>Story {path[1:]} of the harbour.</body></html>".encode())


def lines(project: Project, spider: str, *arguments: str, feed: str = "out.csv") -> list[dict[str, str]]:
    with serving(page) as site:
        project.ended(project.start(spider, "-a", f"site={site.url}", *arguments, feed=feed))
    return read(project.folder / feed)


def read(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


@pytest.fixture
def mixed(project: Project) -> Project:
    project.write("test_spiders.py", SPIDER)
    return project


@pytest.mark.parametrize("how", [ADDON, PIPELINES], ids=["add-on", "pipelines"])
def test_the_text_has_a_column_though_the_first_item_has_no_page(mixed: Project, how: str) -> None:
    mixed.write("project_settings.py", SETTINGS + how)
    rows = lines(mixed, "mixed")
    assert list(rows[0]) == ["url", "html", "text"]
    assert (rows[0]["url"], rows[0]["text"]) == ("no page", "")
    assert sorted(row["text"] for row in rows[1:]) == [f"Story {number} of the harbour." for number in range(8)]


def test_other_fields_that_are_filled_have_columns_too_and_the_item_itself_stays_as_it_is(mixed: Project) -> None:
    own = "DENOISE_TEXT_FIELD = 'clean'\nDENOISE_EXTRA_FIELDS = {'noise_ratio': 'noise'}\n"
    also = "FEEDS = {'out.jsonl': {'format': 'jsonlines'}, 'out.csv': {'format': 'csv'}}\n"
    mixed.write("project_settings.py", SETTINGS + ADDON + own + also)
    with serving(page) as site:
        run = ScrapyProcess(
            mixed.folder, "crawl", "mixed", "-a", f"site={site.url}", out=mixed.folder / "crawl.log"
        )
        assert run.wait(timeout=120) == 0
    rows = read(mixed.folder / "out.csv")
    assert list(rows[0]) == ["url", "html", "clean", "noise"]
    assert all(row["clean"] and row["noise"] for row in rows[1:])
    assert mixed.items()[0] == {"url": "no page", "html": None}


def test_named_columns_and_items_with_a_text_of_their_own_are_written_as_without_us(mixed: Project) -> None:
    written = []
    for number, how in enumerate([ADDON, ""]):
        mixed.write("project_settings.py", SETTINGS + how)
        own = lines(mixed, "own", feed=f"own{number}.csv")
        named = lines(mixed, "mixed", "-s", "FEED_EXPORT_FIELDS=url", feed=f"named{number}.csv")
        written.append((own, list(own[0]), list(named[0]), len(named)))
    assert written[0] == written[1]


def test_an_exporter_of_the_project_stays(mixed: Project) -> None:
    mixed.write("own_exporter.py", "from scrapy.exporters import CsvItemExporter as Csv\nclass Own(Csv): pass\n")
    own = 'FEED_EXPORTERS = {"csv": "own_exporter.Own"}\n'
    mixed.write("project_settings.py", SETTINGS + ADDON + own)
    assert list(lines(mixed, "mixed")[0]) == ["url", "html"]
