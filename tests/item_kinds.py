"""Items of every kind, data for their fields, and what such an item holds."""

from __future__ import annotations

from collections import OrderedDict, defaultdict
from dataclasses import dataclass, field
from datetime import datetime, time, timedelta, timezone
from decimal import Decimal
from enum import Enum
from typing import Any, NamedTuple
from uuid import UUID, SafeUUID
from zoneinfo import ZoneInfo

import attrs
import scrapy
from hypothesis import strategies as st
from pydantic import BaseModel, ConfigDict, Field, PrivateAttr

from denoise_crawler.crawl.pickled import pack, unpack


class ScrapyItem(scrapy.Item):
    url = scrapy.Field()
    text = scrapy.Field()
    more = scrapy.Field()


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


@attrs.define
class Attrs:
    url: str
    more: Any = None
    _hidden: int = 0


@attrs.frozen
class FrozenAttrs:
    url: str
    more: Any = None


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


class Colour(Enum):
    RED = "red"


class Size(str, Enum):
    LARGE = "l"


class Point(NamedTuple):
    x: int
    y: int


def back(item: object) -> Any:
    return unpack(pack(item))


def with_private_state(value: Any) -> Any:
    item = ScrapyItem(url="u")
    item._private = value
    return item


def zones() -> st.SearchStrategy[Any]:
    offsets = st.timedeltas(timedelta(hours=-23, minutes=-59), timedelta(hours=23, minutes=59))
    fixed = st.builds(timezone, offsets) | st.builds(timezone, offsets, st.text(max_size=5))
    return st.one_of(st.none(), fixed, st.sampled_from(["Asia/Shanghai", "Europe/Berlin"]).map(ZoneInfo))


def single_values() -> st.SearchStrategy[Any]:
    return st.one_of(
        st.none(),
        st.booleans(),
        st.integers() | st.integers(2**62, 2**70).flatmap(lambda number: st.sampled_from([number, -number])),
        st.floats(),
        st.complex_numbers(),
        st.text(st.characters(exclude_categories=())),  # lone surrogates among them
        st.binary(),
        st.dates(),
        st.builds(datetime.replace, st.datetimes(timezones=zones()), fold=st.integers(0, 1)),
        st.builds(time.replace, st.times(timezones=zones()), fold=st.integers(0, 1)),
        st.timedeltas(),
        st.decimals(),
        st.uuids(),
        st.sampled_from(
            [Colour.RED, Size.LARGE, ZoneInfo("Asia/Tokyo"), timezone.utc, UUID(int=1, is_safe=SafeUUID.safe)]
        ),
    )


def storable_data() -> st.SearchStrategy[Any]:
    hashable = single_values().filter(lambda value: not (isinstance(value, Decimal) and value.is_snan()))
    keys = hashable | st.tuples(hashable, hashable) | st.frozensets(hashable, max_size=3)
    return st.recursive(
        single_values() | keys,
        lambda inner: st.one_of(
            st.lists(inner, max_size=4),
            st.lists(inner, max_size=4).map(tuple),
            st.sets(keys, max_size=4),
            st.dictionaries(keys, inner, max_size=4),
            st.dictionaries(keys, inner, max_size=4).map(OrderedDict),
            st.dictionaries(keys, inner, max_size=4).map(lambda found: defaultdict(list, found)),
            st.builds(Point, inner, inner),
            st.builds(Frozen, st.text(), inner),
            st.builds(Slotted, st.text(), inner),
            st.builds(lambda more: ScrapyItem(more=more), inner),
        ),
        max_leaves=12,
    )


def state(value: Any) -> Any:
    """Everything that ``value`` holds with the types of it, found in another way than :func:`pack` does."""
    kind = type(value)
    if isinstance(value, (set, frozenset)):
        return [kind, *sorted(repr(state(each)) for each in value)]
    if kind in (list, tuple):
        return [kind, *map(state, value)]
    if kind is dict:
        return [kind, *((state(name), state(each)) for name, each in value.items())]
    if isinstance(value, UUID):
        return [kind, value.int, value.is_safe]
    if isinstance(value, Enum) or kind.__module__ in ("builtins", "datetime", "decimal", "zoneinfo"):
        return [kind, repr(value)]
    _, arguments, attributes, listed, named = [*value.__reduce_ex__(2), None, None, None][:5]
    return [
        kind,
        *(state(list(part or [])) for part in (arguments[1:], attributes and [attributes], listed, named)),
    ]
