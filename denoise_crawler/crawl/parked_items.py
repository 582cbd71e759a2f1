"""Items as bytes, so that they can wait in the store: data only, of every kind that Scrapy takes."""

from __future__ import annotations

from datetime import date, datetime, time, timedelta
from decimal import Decimal
from enum import Enum
from typing import Any
from uuid import UUID

import msgspec
from itemadapter import ItemAdapter, is_item
from scrapy import Item
from scrapy.utils.misc import load_object

_CLASS, _FIELDS, _KIND, _VALUES = "\0class", "\0fields", "\0kind", "\0values"
_PLAIN = (str, int, float, bool, bytes, type(None))
# Types that msgpack would not give back as they were, with the way to and from a plain value.
_WRITTEN: dict[type, tuple[Any, Any]] = {
    tuple: (list, tuple),
    set: (list, set),
    frozenset: (list, frozenset),
    datetime: (datetime.isoformat, datetime.fromisoformat),
    date: (date.isoformat, date.fromisoformat),
    time: (time.isoformat, time.fromisoformat),
    timedelta: (lambda value: [value.days, value.seconds, value.microseconds], lambda parts: timedelta(*parts)),
    Decimal: (str, Decimal),
    UUID: (str, UUID),
}
_KINDS = {kind.__name__: kind for kind in _WRITTEN}


class UnparkableError(ValueError):
    """An item holds something that cannot be written; the message names it."""


def pack(item: object) -> bytes:
    """Write ``item`` (dict, Item, dataclass, attrs, pydantic; nested too); raise :class:`UnparkableError`."""
    try:
        return msgspec.msgpack.encode(_plain(item, "item"))
    except (OverflowError, RecursionError, UnicodeEncodeError) as error:
        raise UnparkableError(f"a {type(item).__name__} item that cannot be written: {error}") from error


def unpack(data: bytes) -> Any:
    """Read what :func:`pack` wrote. Of the class only its fields are set: no code of it runs."""
    return _restored(msgspec.msgpack.decode(data))


def _plain(value: Any, where: str) -> Any:
    if type(value) in _PLAIN:
        return value
    if isinstance(value, str) and not isinstance(value, Enum):
        return str.__str__(value)  # lxml's strings, which hold their whole page
    if type(value) is list:
        return [_plain(each, where) for each in value]
    if type(value) is dict:
        pairs = [[_plain(name, where), _plain(each, f"{where}[{name!r}]")] for name, each in value.items()]
        return {_KIND: "dict", _VALUES: pairs}
    if type(value) in _WRITTEN:
        write, _ = _WRITTEN[type(value)]
        return {_KIND: type(value).__name__, _VALUES: _plain(write(value), where)}
    if is_item(value) and not isinstance(value, dict):
        return _plain_item(value, where)
    raise UnparkableError(f"{where} is a {type(value).__name__}, which cannot wait in the store")


def _plain_item(item: Any, where: str) -> Any:
    kind = type(item)
    path = f"{kind.__module__}.{kind.__qualname__}"
    try:
        found = load_object(path)
    except (ImportError, NameError, ValueError):
        found = None
    if found is not kind:
        raise UnparkableError(f"{where} is of class {path}, which cannot be imported by that name")
    fields = [[name, _plain(value, f"{where}[{name!r}]")] for name, value in ItemAdapter(item).items()]
    return {_CLASS: path, _FIELDS: fields}


def _restored(value: Any) -> Any:
    if isinstance(value, list):
        return [_restored(each) for each in value]
    if not isinstance(value, dict):
        return value
    if _CLASS in value:
        return _restored_item(value[_CLASS], {name: _restored(each) for name, each in value[_FIELDS]})
    if value.get(_KIND) == "dict":
        return {_restored(name): _restored(each) for name, each in value[_VALUES]}
    if _KIND in value:
        _, read = _WRITTEN[_KINDS[value[_KIND]]]
        return read(_restored(value[_VALUES]))
    return value


def _restored_item(path: str, fields: dict[str, Any]) -> Any:
    kind = load_object(path)
    if not (isinstance(kind, type) and ItemAdapter.is_item_class(kind)):
        raise UnparkableError(f"{path} is not an item class")
    if issubclass(kind, Item):
        return kind(fields)
    if hasattr(kind, "model_construct"):
        return kind.model_construct(**fields)
    item = object.__new__(kind)
    for name, value in fields.items():
        object.__setattr__(item, name, value)
    return item
