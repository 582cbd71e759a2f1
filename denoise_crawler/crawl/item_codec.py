"""Items as bytes, so that they can wait in the store: data only, of every kind that Scrapy takes.

MessagePack holds numbers, strings, bytes and lists as they are. All else is a map with one key, which says how to
read the value: ``{"tuple": [1, 2]}``. Of an instance the name of its class is written and everything that it
holds: ``__dict__``, slots and, if it is a dict or a tuple, its content. So an item comes back with what its class
keeps beside the fields, or :func:`pack` refuses it.
"""

from __future__ import annotations

from enum import Enum
from types import WrapperDescriptorType
from typing import TYPE_CHECKING, Any
from uuid import UUID

import msgspec
from itemadapter import ItemAdapter

from denoise_crawler.crawl.item_classes import describe_item_class, enum_name, load_enum, load_item_class
from denoise_crawler.crawl.plain_values import VALUE_KINDS, VALUE_TYPES
from denoise_crawler.crawl.unparkable import UnstorableError, class_path
from denoise_crawler.errors import UnparkableError
from denoise_crawler.methods.versioned_format import decoded

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

__all__ = ["UnparkableError", "pack", "unpack"]

_AS_THEY_ARE = frozenset({float, bool, bytes, type(None)})
_ITEM_TAGS = frozenset({"dict", "object"})
_DEEPEST = 100  # deeper items would need more of Python's stack than a crawl has left
_MOST_VALUES = 1_000_000  # an item that holds the same lists again and again may have endlessly many
_FIELDS_OF_ITEM = "._values"  # where Scrapy's Item keeps its fields: no place that a user knows
_STDLIB_HASHES = (Enum.__hash__, UUID.__hash__)


def pack(item: object) -> bytes:
    """Write ``item`` as bytes from which :func:`unpack` makes the same item.

    What is written is read and written again before it is returned: so what cannot come back is found out here.
    An object that stands in two places of the item comes back as two equal ones.

    Args:
        item: A dict, Item, dataclass, attrs object or pydantic model; they may hold each other.

    Returns:
        The bytes, which hold data only.

    Raises:
        UnparkableError: Something of the item cannot be written, or would not come back as it is. The message
            names the class and the place.

    Example:
        >>> unpack(pack({"url": "https://example.com/", "tags": {"a"}}))
        {'url': 'https://example.com/', 'tags': {'a'}}

    """
    try:
        written = _written(item)
        found = unpack(written)
        if type(found) is not type(item) or _written(found) != written:
            raise UnstorableError("would come back changed")
    except (UnparkableError, UnstorableError) as error:
        raise UnparkableError(f"{class_path(type(item))}: {error}") from error
    except Exception as error:  # the classes are strangers': they may raise anything
        why = f"{type(error).__name__}: {error}"
        raise UnparkableError(f"{class_path(type(item))}: the item cannot be stored ({why})") from error
    return written


def unpack(data: bytes) -> Any:
    """Read what :func:`pack` wrote. No code of the item's class runs.

    No module is imported that the program has not loaded by itself: to import is to run.

    Args:
        data: The bytes.

    Returns:
        The item.

    Raises:
        UnparkableError: The class is there no longer, belongs to another script or is no class of items; or
            :func:`pack` did not write the bytes.

    """
    try:
        written = decoded(data)
        if type(written) is not dict or not _ITEM_TAGS.issuperset(written):
            raise UnparkableError("the item is damaged: it is no item")
        return _read(written)
    except UnparkableError:
        raise
    except Exception as error:
        raise UnparkableError(f"the item is damaged: {type(error).__name__}: {error}") from error


# --- writing


def _written(item: Any) -> bytes:
    return msgspec.msgpack.encode(_Writer().write(item, 0))


class _Writer:
    """Writes one item. Each method takes a value and how deep in the item it stands."""

    def __init__(self) -> None:
        self._values_left = _MOST_VALUES

    def write(self, value: Any, depth: int) -> Any:
        kind = type(value)
        if kind in _AS_THEY_ARE:
            return value
        write = _WRITERS.get(kind)
        if write is not None:
            return write(self, value, depth)
        if kind in VALUE_TYPES:
            tag = VALUE_TYPES[kind]
            return {tag: VALUE_KINDS[tag].write(value)}
        if isinstance(value, Enum):
            return self._enum(value)
        if isinstance(value, str) and kind.__module__.startswith("lxml."):
            return self._str(str.__str__(value), depth)  # it leads to its whole page
        return self._object(value, depth)

    def _str(self, value: str, _: int) -> Any:
        return value if _is_utf8(value) else {"str": VALUE_KINDS["str"].write(value)}

    def _int(self, value: int, _: int) -> Any:
        return value if -(1 << 63) <= value < 1 << 64 else {"int": VALUE_KINDS["int"].write(value)}

    def _list(self, value: Iterable[Any], depth: int) -> list[Any]:
        written: list[Any] = []
        self._enter(value, depth)
        try:
            for each in value:
                written.append(self.write(each, depth + 1))
        except UnstorableError as error:
            raise error.inside(value, f"[{len(written)}]") from None
        return written

    def _tuple(self, value: tuple[Any, ...], depth: int) -> Any:
        return {"tuple": self._list(value, depth)}

    def _set(self, value: set[Any] | frozenset[Any], depth: int) -> Any:
        # in one order, so that equal sets are equal bytes
        return {type(value).__name__: sorted(self._list(value, depth), key=msgspec.msgpack.encode)}

    def _dict(self, value: dict[Any, Any], depth: int) -> Any:
        return {"dict": self._pairs(value.items(), value, depth)}

    def _pairs(self, pairs: Any, holder: Any, depth: int, place: str = "[{!r}]") -> Any:
        """Return a map, or, where not all names are plain strings, a list of names and values in turn."""
        self._enter(pairs, depth)
        name = None
        written = []
        named = True
        try:
            for name, value in pairs:
                named = named and type(name) is str and _is_utf8(name)
                written.append((self.write(name, depth + 1), self.write(value, depth + 1)))
        except UnstorableError as error:
            step = place.format(name)
            raise error.inside(holder, "" if step == _FIELDS_OF_ITEM else step) from None
        return dict(written) if named else [part for pair in written for part in pair]

    def _enum(self, value: Enum) -> Any:
        kind = type(value)
        if kind._member_map_.get(value._name_) is not value:
            raise UnstorableError(f"is {value!r}, which has no name of its own and cannot be stored")
        return {"enum": [enum_name(kind), value._name_]}

    def _object(self, value: Any, depth: int) -> Any:
        known = describe_item_class(type(value))
        attributes = known.attributes_of(value)
        if type(attributes) not in (dict, type(None)):
            raise UnstorableError(f"has a {class_path(type(attributes))} as its __dict__, which cannot be stored")
        content: Any = None
        if known.content_type is tuple:
            content = self._list(value, depth)
        elif known.content_type is not None:
            content = self._pairs(known.content_type.items(value), value, depth)
        slots = known.slots_of(value) if known.slots else None
        written = [
            known.name,
            self._attributes(value, attributes, depth),
            self._attributes(value, slots, depth),
            content,
        ]
        if known.is_watched(value):
            raise UnstorableError("is known elsewhere by a weak reference, which would not know it again")
        return {"object": written}

    def _attributes(self, holder: Any, attributes: dict[Any, Any] | None, depth: int) -> Any:
        if not attributes:
            return None
        return self._pairs(attributes.items(), holder, depth, ".{}")

    def _enter(self, values: Any, depth: int) -> None:
        self._values_left -= len(values)
        if depth >= _DEEPEST:
            raise UnstorableError(f"is nested over {_DEEPEST} deep and cannot be stored")
        if self._values_left < 0:
            raise UnstorableError(f"holds more than {_MOST_VALUES:,} values and cannot be stored")


_WRITERS: dict[type, Callable[[_Writer, Any, int], Any]] = {
    str: _Writer._str,
    int: _Writer._int,
    list: _Writer._list,
    tuple: _Writer._tuple,
    set: _Writer._set,
    frozenset: _Writer._set,
    dict: _Writer._dict,
}


def _is_utf8(text: str) -> bool:
    if text.isascii():
        return True
    try:
        text.encode()
    except UnicodeEncodeError:  # a lone surrogate, as JSON may have it
        return False
    return True


# --- reading


def _read(written: Any) -> Any:
    kind = type(written)
    if kind is dict:
        [(tag, value)] = written.items()
        return _READERS[tag](value)
    if kind is list:
        return [_read(each) for each in written]
    return written


def _read_pairs(written: Any) -> dict[Any, Any]:
    if type(written) is dict:
        return {name: _read(value) for name, value in written.items()}
    parts = iter(written)
    return {_hashable(_read(name)): _read(value) for name, value in zip(parts, parts, strict=True)}


def _hashable(value: Any) -> Any:
    """Return ``value``; raise UnparkableError if its class has a hash of its own, which would have to run.

    A hash that dataclasses or attrs generate is made of the fields' hashes, and so these are looked at.
    """
    hash_of: Any = type(value).__hash__
    parts: Iterable[Any] = value if isinstance(value, (tuple, frozenset)) else ()
    if hash_of is not None and _is_generated(hash_of):
        parts = ItemAdapter(value).values()
    elif not isinstance(hash_of, WrapperDescriptorType) and hash_of not in _STDLIB_HASHES:
        raise UnparkableError(
            f"a {class_path(type(value))} is a key or in a set: the hash of its class would have to run"
        )
    for each in parts:
        _hashable(each)
    return value


def _is_generated(function: Any) -> bool:
    return getattr(getattr(function, "__code__", None), "co_filename", "").startswith("<")


def _read_enum(written: list[Any]) -> Enum:
    name, member = written
    found: Enum = load_enum(name)._member_map_[member]
    return found


def _read_object(written: list[Any]) -> Any:
    name, attributes, slots, content = written
    known = load_item_class(name)
    item = known.new(_content(known.content_type, content))
    known.set_state(item, _read_pairs(attributes or {}), _read_pairs(slots or {}))
    return item


def _content(content_type: Any, written: Any) -> Any:
    if content_type is None:
        return None
    return _read(written) if content_type is tuple else _read_pairs(written).items()


_READERS: dict[str, Callable[[Any], Any]] = {
    **{tag: kind.read for tag, kind in VALUE_KINDS.items()},
    "tuple": lambda values: tuple(map(_read, values)),
    "set": lambda values: {_hashable(_read(each)) for each in values},
    "frozenset": lambda values: frozenset(_hashable(_read(each)) for each in values),
    "dict": _read_pairs,
    "enum": _read_enum,
    "object": _read_object,
}
