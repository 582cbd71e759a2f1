"""Items as bytes, so that they can wait in the store: data only, of every kind that Scrapy takes."""

from __future__ import annotations

import sys
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
_PLAIN = (int, float, bool, bytes, type(None))
_DEEPEST = 100  # deeper items would need more of Python's stack than a crawl has left
# What a pydantic model holds besides its fields, and one of pydantic 1.
_PYDANTIC = ("__pydantic_fields_set__", "__pydantic_extra__", "__pydantic_private__")
_PYDANTIC_1 = ("__fields_set__",)
# Types that msgpack would not give back as they were, with the way to and from a plain value.
_WRITTEN: dict[type, tuple[Any, Any]] = {
    str: (
        lambda value: value.encode("utf-8", "surrogatepass"),
        lambda data: data.decode("utf-8", "surrogatepass"),
    ),
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
    return msgspec.msgpack.encode(_plain(item, ("item",)))


def unpack(data: bytes) -> Any:
    """Read what :func:`pack` wrote. Of the class only its fields are set: no code of it runs.

    No package is imported that the program has not loaded by itself: to import is to run.

    Raises :class:`UnparkableError` if the class is there no longer, or is no class of items, and for bytes that
    :func:`pack` did not write.
    """
    try:
        return _restored(msgspec.msgpack.decode(data))
    except UnparkableError:
        raise
    except (ArithmeticError, LookupError, RecursionError, TypeError, ValueError) as error:
        raise UnparkableError(f"the item is damaged: {type(error).__name__}: {error}") from error


def _plain(value: Any, where: tuple[str, ...]) -> Any:
    if isinstance(value, str) and not isinstance(value, Enum):
        value = str.__str__(value)  # lxml's strings, which hold their whole page
        if _is_utf8(value):
            return value
    if type(value) in _PLAIN:
        return _checked(value, where)
    if len(where) > _DEEPEST:
        raise UnparkableError(f"{''.join(where[:4])}… is nested over {_DEEPEST} deep and cannot wait in the store")
    if type(value) is list:
        return [_plain(each, (*where, f"[{index}]")) for index, each in enumerate(value)]
    if type(value) is dict:
        return {_KIND: "dict", _VALUES: [_plain_pair(name, each, where) for name, each in value.items()]}
    if type(value) in _WRITTEN:
        write, _ = _WRITTEN[type(value)]
        return {_KIND: type(value).__name__, _VALUES: _plain(write(value), where)}
    if is_item(value) and not isinstance(value, dict):
        return _plain_item(value, where)
    raise UnparkableError(f"{''.join(where)} is a {type(value).__name__}, which cannot wait in the store")


def _is_utf8(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:  # a lone surrogate, as JSON may have it
        return False
    return True


def _checked(value: Any, where: tuple[str, ...]) -> Any:
    if type(value) is int and not -(1 << 63) <= value < 1 << 64:
        raise UnparkableError(f"{''.join(where)} is an int of over 64 bits, which cannot wait in the store")
    return value


def _plain_pair(name: Any, value: Any, where: tuple[str, ...]) -> list[Any]:
    inside = (*where, f"[{name!r}]")
    return [_plain(name, inside), _plain(value, inside)]


def _plain_item(item: Any, where: tuple[str, ...]) -> Any:
    kind = type(item)
    path = f"{kind.__module__}.{kind.__qualname__}"
    try:
        found = load_object(path)
    except (ImportError, NameError, ValueError):
        found = None
    if found is not kind:
        raise UnparkableError(f"{''.join(where)} is of class {path}, which cannot be imported by that name")
    values = dict(ItemAdapter(item))
    besides = _PYDANTIC if hasattr(kind, _PYDANTIC[0]) else _PYDANTIC_1
    values.update((name, getattr(item, name)) for name in besides if hasattr(kind, name) and hasattr(item, name))
    return {_CLASS: path, _FIELDS: [_plain_pair(name, value, where) for name, value in values.items()]}


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
    try:
        if path.partition(".")[0] not in sys.modules or "__main__" in path:
            raise ImportError("nothing has loaded its package; import it in the spider")
        kind = load_object(path)
    except (ImportError, NameError, ValueError) as error:
        raise UnparkableError(f"an item of class {path} waits, which cannot be imported: {error}") from error
    if not (isinstance(kind, type) and ItemAdapter.is_item_class(kind)):
        raise UnparkableError(f"{path} is not an item class")
    item: Any = Item.__new__(kind) if issubclass(kind, Item) else object.__new__(kind)
    state = {"_values": fields} if issubclass(kind, Item) else fields
    try:
        for name, value in state.items():
            object.__setattr__(item, name, value)
    except AttributeError as error:
        raise UnparkableError(f"an item of class {path} waits, which is not as it was: {error}") from error
    return item
