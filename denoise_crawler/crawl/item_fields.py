"""Fills the fields of items with what was found on their page, whatever their class, and counts them."""

from __future__ import annotations

import dataclasses
import logging
import re
import sys
from collections.abc import MutableSequence, Sequence
from contextlib import suppress
from copy import copy
from dataclasses import fields
from functools import lru_cache
from inspect import get_annotations
from types import UnionType
from typing import IO, TYPE_CHECKING, Any, NamedTuple, Union, get_args, get_origin, get_type_hints

from itemadapter import ItemAdapter
from scrapy import Item
from scrapy.crawler import Crawler
from scrapy.exporters import CsvItemExporter

from denoise_crawler.crawl.report import CrawlReport, class_path
from denoise_crawler.crawl.scrapy_internals import replace_exporter
from denoise_crawler.crawl.settings import DenoiseSettings
from denoise_crawler.output.clean_page import CleanPage, by_record

if TYPE_CHECKING:
    from typing_extensions import Self


class FillResult(NamedTuple):
    """An item after filling.

    Attributes:
        item: The item to pass on: the same object, or a filled copy if its class is frozen.
        has_text: Whether the item has a text now, its own or that of its page.
        wrote: Whether the text was written here.
    """

    item: Any
    has_text: bool
    wrote: bool


class ItemWriter:
    """Fills the empty fields of items. The settings name the fields; values that an item has stay."""

    def __init__(self, settings: DenoiseSettings, report: CrawlReport) -> None:
        self._report, self._by_record = report, settings.by_record
        self._asked: set[str] = set()  # the fields that a class lacked
        self._html_field, self._url_field = settings.html_field, settings.url_field
        self._targets = {"text": settings.text_field, **settings.extra_fields}
        self._clean_page_targets = {field.name: field.name for field in fields(CleanPage)}

    def html_of(self, item: Any) -> str | bytes | None:
        """Return the HTML in the HTML field of ``item``, None if there is none."""
        html = self._value(item, self._html_field)
        return html if isinstance(html, (str, bytes)) and html else None

    def url_of(self, item: Any) -> str:
        """Return the URL in the URL field of ``item``, an empty string if there is none."""
        url = self._value(item, self._url_field)
        return url if isinstance(url, str) else ""

    def has_text(self, item: Any) -> bool:
        """Return True if ``item`` has a text."""
        return not _is_empty(self._value(item, self._targets_of(item)["text"]))

    def can_fill(self, item: Any) -> bool:
        """Return True if ``item`` has an empty field to fill. Log once if its class has none for the text."""
        targets = self._targets_of(item)
        if type(item) is dict and _is_empty(item.get(targets["text"])):  # the most common kind
            return True
        names = None if isinstance(item, dict) else set(ItemAdapter(item).field_names())
        if any(_is_empty(self._value(item, to)) for to in targets.values() if names is None or to in names):
            return True
        if names is not None and targets["text"] not in names:
            self._report_refusal(item, "text", targets["text"], KeyError(targets["text"]))
        return False

    def _targets_of(self, item: Any) -> dict[str, str]:
        return self._clean_page_targets if isinstance(item, CleanPage) else self._targets

    def fill(self, item: Any, clean_page: CleanPage) -> FillResult:
        """Fill the empty fields of an item: those that are None, an empty string or an empty list.

        A field that holds an empty list, or is declared as a list, gets a list. If the class refuses a value, this
        is logged once per class, and the item goes on without the value.
        """
        has_text = wrote = False
        for source, target in self._targets_of(item).items():
            before = self._value(item, target)
            is_filled = not _is_empty(before)
            if not is_filled:
                item, is_filled = self._set(item, source, target, getattr(clean_page, source), before)
                wrote = wrote or (is_filled and source == "text")
            has_text = has_text or (is_filled and source == "text")
        return FillResult(item, has_text, wrote)

    def _set(self, item: Any, source: str, target: str, value: Any, before: Any) -> tuple[Any, bool]:
        """Return the item with a field set, and whether its class took the value."""
        try:
            return _with_field(item, target, _fit_list(value, type(item), target, before)), True
        except Exception as error:  # setters and validators of users may raise anything
            self._report_refusal(item, source, target, error)
            return item, False

    # --- items that go on, counted

    def fill_each(self, item: Any, clean_page: CleanPage, *, whole: bool) -> list[Any]:
        """Fill an item; if the settings say so and it stands for its ``whole`` page, a copy for each record."""
        if whole and self._by_record and clean_page.records:
            results = [self.fill(_copy(item), record) for record in by_record(clean_page)]
        else:
            results = [self.fill(item, clean_page)]
        for result in results:
            self._report.count("unfilled", int(not result.has_text))
            self._report.item_left(has_text=self.has_text(result.item), wrote=result.wrote)
        return [result.item for result in results]

    def complete(self, item: Any) -> list[Any]:
        """Return an item with nothing to fill: it has its own text, or its class has no field for one."""
        if self.has_text(item):
            self._report.once(
                "own text",
                "%s items have a text of their own and pass as they are",
                type(item).__qualname__,
                level=logging.INFO,
                key=class_path(type(item)),
            )
        else:
            self._report.count("unfilled")
        return self.as_it_came(item)

    def as_it_came(self, item: Any) -> list[Any]:
        """Return an item without the text of a page."""
        self._report.item_left(has_text=self.has_text(item))
        return [item]

    def unfilled(self, item: Any, error: str | None) -> list[Any]:
        """Return an item whose page failed as it came, but for a field that wants the ``error``."""
        with suppress(Exception):  # a strange class of items must not cost the item
            self.as_it_came(item)
        with suppress(Exception):
            target = self._targets_of(item).get("error")
            if error and target and _is_empty(before := self._value(item, target)):
                return [self._set(item, "error", target, error, before)[0]]
        return [item]

    def _value(self, item: Any, name: str) -> Any:
        if type(item) is dict:
            return item.get(name)
        try:
            return ItemAdapter(item).get(name)
        except (AttributeError, TypeError):  # a field that was never set, or no item
            return None

    def _report_refusal(self, item: Any, source: str, target: str, error: Exception) -> None:
        setting = "DENOISE_TEXT_FIELD" if source == "text" else "DENOISE_EXTRA_FIELDS"
        name, rest = type(item).__qualname__, f"name another field in {setting}. Its items go on without it."
        if target in ItemAdapter(item).field_names():
            message = (
                f"%s items do not take the clean {source} in their field %r (%s): change the class, or {rest}"
            )
            values, level = (name, target, " ".join(str(error).split())), logging.ERROR
        else:  # on purpose, maybe, so one class is enough to ask
            add = f"{target} = scrapy.Field()" if isinstance(item, Item) else f'{target}: str = ""'
            message = f"%s items have no field %r for the clean {source}: add it to the class (%s), or {rest}"
            values, level = (name, target, add), logging.DEBUG if target in self._asked else logging.WARNING
            self._asked.add(target)
        self._report.once("refusal", message, *values, level=level, key=class_path(type(item)))


def _copy(item: Any) -> Any:
    """Return a copy of an item with fields of its own."""
    return item.copy() if isinstance(item, dict | Item) else copy(item)


def _is_empty(value: Any) -> bool:
    return value is None or (isinstance(value, (str, list)) and not value)


def _fit_list(value: Any, kind: type, name: str, before: Any) -> Any:
    """Return ``value`` as a list if the field wants one; the value of the field if there is no new one."""
    if isinstance(value, list) or not (isinstance(before, list) or takes_list(kind, name)):
        return value
    return before if value in (None, "") else [value]


def _with_field(item: Any, name: str, value: Any) -> Any:
    """Return ``item`` with the field set, or a copy if it is frozen. Raise what its class raises."""
    if type(item) is dict:
        item[name] = value
        return item
    try:
        ItemAdapter(item)[name] = value
    except Exception as error:
        if _is_frozen_model(item, name):
            copied = item.model_copy if hasattr(item, "model_copy") else item.copy
            return copied(update={name: value})
        if not _is_frozen_error(error):
            raise
    else:
        return item
    return _replace_field(item, name, value)


def _is_frozen_error(error: Exception) -> bool:
    if isinstance(error, dataclasses.FrozenInstanceError):
        return True
    attr = sys.modules.get("attr")
    return attr is not None and isinstance(error, attr.exceptions.FrozenError)


def _is_frozen_model(item: Any, name: str) -> bool:
    """Return True if ``item`` is a pydantic model (version 2 or 1) whose field cannot be set."""
    kind = type(item)
    if hasattr(kind, "model_copy"):
        field = kind.model_fields.get(name)
        return field is not None and bool(kind.model_config.get("frozen") or field.frozen)
    config = getattr(kind, "__config__", None)
    return name in getattr(kind, "__fields__", {}) and (
        getattr(config, "frozen", False) or not getattr(config, "allow_mutation", True)
    )


def _replace_field(item: Any, name: str, value: Any) -> Any:
    """Return a copy of a frozen dataclass or attrs object with one field set, made by its class.

    All other fields keep their values, also those that the class computes for a new object, such as a time.
    """
    if dataclasses.is_dataclass(item):
        copy = dataclasses.replace(item, **{name: value})  # type: ignore[type-var]
    else:
        attr = sys.modules["attr"]
        argument = attr.fields_dict(type(item))[name]
        copy = attr.evolve(item, **{getattr(argument, "alias", None) or name.lstrip("_"): value})
    for other, kept in {**getattr(item, "__dict__", {}), **ItemAdapter(item)}.items():
        if other != name and getattr(copy, other, None) is not kept:
            object.__setattr__(copy, other, kept)
    return copy


# --- the type that a class declares for a field

_LISTS = (list, Sequence, MutableSequence)
_LIST_ANNOTATION = re.compile(r"\s*(\w+\.)*(list|List|Sequence|MutableSequence)\b")


@lru_cache(maxsize=1_024)
def takes_list(kind: type, name: str) -> bool:
    """Return True if a class declares a field as a list, or as a list or None; False if it takes a string too.

    Example:
        >>> from dataclasses import dataclass
        >>> @dataclass
        ... class Product:
        ...     text: list[str] | None = None
        >>> takes_list(Product, "text")
        True
    """
    try:
        declared = get_type_hints(kind).get(name)
    except Exception:  # an annotation names something that only type checkers import
        declared = next((found[name] for found in map(_annotations, kind.__mro__) if name in found), None)
    if isinstance(declared, str):
        return bool(_LIST_ANNOTATION.match(declared))
    options = get_args(declared) if get_origin(declared) in (Union, UnionType) else (declared,)
    fits = (each is type(None) or (get_origin(each) or each) in _LISTS for each in options)
    return declared is not None and all(fits)


def _annotations(kind: type) -> dict[str, Any]:
    try:
        return dict(get_annotations(kind))
    except Exception:  # Python 3.14 evaluates them here
        return {}


# --- CSV feeds get a column for the text, whichever item comes first


class TextCsvExporter(CsvItemExporter):
    """Scrapy's CSV exporter, with columns for the fields that are filled.

    Without ``fields``, Scrapy takes the columns of a feed from its first item and leaves out other fields of later
    items. If that item is a dict without a page, it lacks the fields that are filled; here they get columns all
    the same, and its cells are empty.
    """

    def __init__(self, file: IO[bytes], *arguments: Any, filled_fields: tuple[str, ...], **options: Any) -> None:
        super().__init__(file, *arguments, **options)  # type: ignore[arg-type]
        self._filled_fields = filled_fields
        self._has_rows = False

    @classmethod
    def from_crawler(cls, crawler: Crawler, file: IO[bytes], *arguments: Any, **options: Any) -> Self:
        """Make the exporter for the fields that this crawl fills."""
        settings = DenoiseSettings.from_settings(crawler.settings)
        filled_fields = (settings.text_field, *settings.extra_fields.values())
        return cls(file, *arguments, filled_fields=filled_fields, **options)

    def export_item(self, item: Any) -> None:
        """Write ``item`` as a row, before the first one the header."""
        if not self._has_rows and not self.fields_to_export and isinstance(item, dict):
            item = {**item, **{name: "" for name in self._filled_fields if name not in item}}
        self._has_rows = True
        super().export_item(item)


def keep_text_column(crawler: Crawler) -> None:
    """Write the CSV feeds of a crawl with :class:`TextCsvExporter`, unless the project has set another."""
    replace_exporter(crawler, "csv", new=TextCsvExporter, old=CsvItemExporter)
