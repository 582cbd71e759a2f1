"""Items of every kind that people yield; the state of some is more than their fields."""

from __future__ import annotations

import enum
import os
from collections.abc import Callable, Iterator, KeysView
from dataclasses import dataclass, field
from datetime import date, datetime
from decimal import Decimal
from typing import Any, ClassVar
from uuid import UUID
from zoneinfo import ZoneInfo

import attrs
import django
import pydantic
import scrapy
from django.conf import settings as django_settings
from itemadapter import ItemAdapter
from itemadapter.adapter import AdapterInterface
from order import ORDER
from scrapy_djangoitem import DjangoItem
from sqlalchemy import inspect
from sqlalchemy.orm import DeclarativeBase, Mapped, MappedAsDataclass, mapped_column

os.environ["DJANGO_ALLOW_ASYNC_UNSAFE"] = "1"
django_settings.configure(
    INSTALLED_APPS=[],
    DATABASES={"default": {"ENGINE": "django.db.backends.sqlite3", "NAME": "django-" + ORDER["rows"]}},
    DEFAULT_AUTO_FIELD="django.db.models.BigAutoField",
)
django.setup()

from django.db import models  # noqa: E402

# --- no more than their fields


class PlainItem(scrapy.Item):
    url = scrapy.Field()
    kind = scrapy.Field()
    number = scrapy.Field()
    html = scrapy.Field()
    text = scrapy.Field()
    image_urls = scrapy.Field()
    images = scrapy.Field()
    extra_url = scrapy.Field()
    extra = scrapy.Field()
    remembered = scrapy.Field()
    inner = scrapy.Field()


@dataclass
class PlainDataclass:
    url: str
    kind: str
    number: int
    html: str = ""
    text: str = ""
    image_urls: list[str] = field(default_factory=list)
    images: list[Any] = field(default_factory=list)
    extra_url: str = ""
    extra: str = ""


@dataclass(slots=True)
class SlotsDataclass:
    url: str
    kind: str
    number: int
    html: str = ""
    text: str | None = None


@dataclass(frozen=True)
class FrozenDataclass:
    url: str
    kind: str
    number: int
    html: str = ""
    text: str | None = None


@attrs.define
class PlainAttrs:
    url: str
    kind: str
    number: int
    html: str = ""
    text: str = ""
    image_urls: list[str] = attrs.Factory(list)
    images: list[Any] = attrs.Factory(list)


@attrs.frozen
class FrozenAttrs:
    url: str
    kind: str
    number: int
    html: str = ""
    text: str = ""


class PydanticModel(pydantic.BaseModel):
    url: str
    kind: str
    number: int
    html: str = ""
    text: str = ""
    when: datetime | None = None


# --- more than their fields: a pipeline lets them remember, which needs what only their __init__ has made


class ItemWithState(PlainItem):
    def __init__(self, *arguments: Any, **values: Any) -> None:
        super().__init__(*arguments, **values)
        self._seen: list[str] = ["made"]

    def remember(self) -> None:
        self._seen.append("remembered")
        self["remembered"] = len(self._seen)


@dataclass
class PostInitDataclass:
    url: str
    kind: str
    number: int
    html: str = ""
    text: str = ""
    image_urls: list[str] = field(default_factory=list)
    images: list[Any] = field(default_factory=list)
    remembered: int = 0

    def __post_init__(self) -> None:
        self._seen = ["made"]

    def remember(self) -> None:
        self._seen.append("remembered")
        self.remembered = len(self._seen)


@attrs.define(slots=False)
class AttrsWithState:
    url: str
    kind: str
    number: int
    html: str = ""
    text: str = ""
    remembered: int = 0

    def __attrs_post_init__(self) -> None:
        self._seen = ["made"]

    def remember(self) -> None:
        self._seen.append("remembered")
        self.remembered = len(self._seen)


class PydanticWithState(PydanticModel):
    remembered: int = 0
    _seen: list[str] = pydantic.PrivateAttr(default_factory=lambda: ["made"])

    def remember(self) -> None:
        self._seen.append("remembered")
        self.remembered = len(self._seen)


class DictWithState(dict[str, Any]):
    def __init__(self, **values: Any) -> None:
        super().__init__(**values)
        self.seen = ["made"]

    def remember(self) -> None:
        self.seen.append("remembered")
        self["remembered"] = len(self.seen)


# --- rows of databases


class MappedBase(MappedAsDataclass, DeclarativeBase):
    pass


class MappedDataclass(MappedBase):
    __tablename__ = "mapped_dataclass"
    url: Mapped[str] = mapped_column(primary_key=True)
    kind: Mapped[str]
    number: Mapped[int]
    html: Mapped[str] = mapped_column(default="")
    text: Mapped[str | None] = mapped_column(default=None)


class DeclarativeRow(DeclarativeBase):
    pass


class Declarative(DeclarativeRow):
    __tablename__ = "declarative"
    url: Mapped[str] = mapped_column(primary_key=True)
    kind: Mapped[str]
    number: Mapped[int]
    html: Mapped[str] = mapped_column(default="")
    text: Mapped[str | None] = mapped_column(default=None)


class DeclarativeAdapter(AdapterInterface):
    """What itemadapter's documentation says to write for a class that it does not know."""

    @classmethod
    def is_item_class(cls, item_class: type) -> bool:
        return issubclass(item_class, DeclarativeRow)

    @classmethod
    def get_field_names_from_class(cls, item_class: type) -> list[str]:
        return [column.key for column in inspect(item_class).columns]

    def field_names(self) -> KeysView[str]:
        return dict.fromkeys(self.get_field_names_from_class(type(self.item))).keys()

    def __getitem__(self, name: str) -> Any:
        if name in self.field_names():
            return getattr(self.item, name)
        raise KeyError(name)

    def __setitem__(self, name: str, value: Any) -> None:
        if name not in self.field_names():
            raise KeyError(name)
        setattr(self.item, name, value)

    def __delitem__(self, name: str) -> None:
        raise KeyError(name)

    def __iter__(self) -> Iterator[str]:
        return iter(self.field_names())

    def __len__(self) -> int:
        return len(self.field_names())


ItemAdapter.ADAPTER_CLASSES.appendleft(DeclarativeAdapter)


class StoryModel(models.Model):
    url = models.CharField(max_length=200, primary_key=True)
    kind = models.CharField(max_length=40)
    number = models.IntegerField()
    html = models.TextField(default="")
    text = models.TextField(null=True)

    class Meta:
        app_label = "stories"


class StoryDjangoItem(DjangoItem):
    django_model = StoryModel


# --- what stands in fields


class Mark(enum.Enum):
    GOOD = "good"


class Opaque:
    """Something that no store can know."""

    def __repr__(self) -> str:
        return "Opaque()"


RICH: dict[str, Any] = {
    "when": datetime(2031, 3, 14, 15, 9, 26, 535, tzinfo=ZoneInfo("Europe/Berlin")),
    "day": date(2031, 3, 14),
    "price": Decimal("19.90"),
    "share": float("nan"),
    "id": UUID(int=7),
    "pair": (1, "two"),
    "tags": {"b", "a"},
    "nested": {"deep": [{"er": (None, True, b"\xff")}]},
    3: "a key that is no name",
}


def _rich(values: dict[str, Any]) -> dict[str, Any]:
    return {**values, **RICH}


def _nested(values: dict[str, Any]) -> PlainItem:
    inside = [PlainAttrs(values["url"], "inside", 0), PlainDataclass(values["url"], "inside", 0)]
    return PlainItem(**values, inner=inside)


class Kinds:
    """How each kind is made from the values that all have, in the order in which a page's items come."""

    of: ClassVar[dict[str, Callable[[dict[str, Any]], Any]]] = {
        "dict": dict,
        "Item": lambda values: PlainItem(**values),
        "Item with state": lambda values: ItemWithState(**values),
        "dataclass": lambda values: PlainDataclass(**values),
        "slots dataclass": lambda values: SlotsDataclass(**values),
        "frozen dataclass": lambda values: FrozenDataclass(**values),
        "dataclass with __post_init__": lambda values: PostInitDataclass(**values),
        "rich dict": _rich,
        "Item with items inside": _nested,
        "attrs": lambda values: PlainAttrs(**values),
        "frozen attrs": lambda values: FrozenAttrs(**values),
        "attrs with state": lambda values: AttrsWithState(**values),
        "dict with an enum": lambda values: {**values, "mark": Mark.GOOD},
        "pydantic": lambda values: PydanticModel(**values),
        "pydantic with state": lambda values: PydanticWithState(**values),
        "SQLAlchemy dataclass": lambda values: MappedDataclass(**values),
        "SQLAlchemy declarative": lambda values: Declarative(**values),
        "DjangoItem": lambda values: StoryDjangoItem(**values),
        "dict with state": lambda values: DictWithState(**values),
        "dict with an object": lambda values: {**values, "object": Opaque()},
    }


WITH_IMAGES = frozenset({"dict", "Item with state", "dataclass with __post_init__"})
WITH_EXTRA = frozenset({"rich dict", "Item"})
