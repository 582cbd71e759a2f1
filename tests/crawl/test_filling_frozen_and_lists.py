from __future__ import annotations

import sys
import typing
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import count
from typing import Annotated, Any, List, Optional  # noqa: UP035

import attrs
import numpy
import pytest
import scrapy
from pydantic import BaseModel, ConfigDict, Field

from denoise_crawler.crawl.filling import FillResult
from tests.crawl.test_filling import KINDS, PAGE, Model, filler, text_of


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
