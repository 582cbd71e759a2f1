"""Encodes items as bytes, so that they can wait in the store: data only, of every kind that Scrapy takes.

MessagePack holds numbers, strings, bytes and lists as they are. Everything else is a map with one key that says
how to read the value: ``{"tuple": [1, 2]}``. An instance is stored as the name of its class and all that it holds:
``__dict__``, slots and, if it is a dict or a tuple, its content. So an item comes back with everything that its
class keeps besides the fields, or :func:`pack` refuses it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from enum import Enum
from types import WrapperDescriptorType
from typing import Any
from uuid import UUID

import msgspec
from itemadapter import ItemAdapter

from denoise_crawler.crawl.stored_names import describe_item_class, enum_name, load_enum, load_item_class
from denoise_crawler.crawl.stored_values import VALUE_KINDS, VALUE_TYPES, UnstorableError, class_path
from denoise_crawler.errors import UnparkableError
from denoise_crawler.methods.keeping import decode_msgpack

__all__ = ["UnparkableError", "pack", "unpack"]

_NATIVE_TYPES = frozenset({float, bool, bytes, type(None)})
_PLAIN_TYPES = _NATIVE_TYPES | {str, int}
_MAX_PLAIN_FIELDS = 1_000
_ITEM_TAGS = frozenset({"dict", "object"})
_MAX_DEPTH = 100  # deeper items could exhaust the stack
_MAX_VALUES = 1_000_000  # nested references to the same list multiply without end
_SCRAPY_FIELDS_STEP = "._values"  # Scrapy's Item keeps its fields here; messages leave it out
_STDLIB_HASHES = (Enum.__hash__, UUID.__hash__)

_encode = msgspec.msgpack.Encoder().encode


def pack(item: object) -> bytes:
    """Encode an item as bytes, from which :func:`unpack` makes the same item.

    The bytes are decoded and encoded again before they are returned, to find out now what would not come back. An
    object that occurs twice in the item comes back as two equal objects.

    Args:
        item: A dict, Item, dataclass, attrs object or pydantic model; they may be nested.

    Returns:
        The bytes, which hold only data.

    Raises:
        UnparkableError: A part of the item cannot be stored or would change. The message names the class and the
            place.

    Example:
        >>> unpack(pack({"url": "https://example.com/", "tags": {"a"}}))
        {'url': 'https://example.com/', 'tags': {'a'}}
    """
    if type(item) is dict and (plain := _encode_plain(item)) is not None:
        return plain
    try:
        written = _encode_item(item)
        found = unpack(written)
        if type(found) is not type(item) or _encode_item(found) != written:
            raise UnstorableError("would come back changed")
    except (UnparkableError, UnstorableError) as error:
        raise UnparkableError(f"{class_path(type(item))}: {error}") from error
    except Exception as error:  # classes of users may raise anything
        why = f"{type(error).__name__}: {error}"
        raise UnparkableError(f"{class_path(type(item))}: the item cannot be stored ({why})") from error
    return written


def unpack(data: bytes) -> Any:
    """Decode what :func:`pack` returned. No code of the item's class runs.

    Modules that the program has not loaded itself are not imported, because an import runs code.

    Raises:
        UnparkableError: The class is gone, belongs to another script or is no class of items; or the bytes are
            damaged.
    """
    try:
        written = decode_msgpack(data)
        if type(written) is not dict or not _ITEM_TAGS.issuperset(written):
            raise UnparkableError("the item is damaged: it is no item")
        return _decode_value(written)
    except UnparkableError:
        raise
    except Exception as error:
        raise UnparkableError(f"the item is damaged: {type(error).__name__}: {error}") from error


# --- encoding


def _encode_plain(item: dict[Any, Any]) -> bytes | None:
    """Return the bytes of a dict of single values, which MessagePack gives back as they were; None for another."""
    if len(item) > _MAX_PLAIN_FIELDS or not _PLAIN_TYPES.issuperset(map(type, item.values())):
        return None
    if any(type(name) is not str for name in item):
        return None
    try:
        return _encode({"dict": item})
    except (UnicodeEncodeError, OverflowError):  # a lone surrogate, a number of more than 64 bits
        return None


def _encode_item(item: Any) -> bytes:
    return _encode(_ItemEncoder().encode(item, 0))


class _ItemEncoder:
    """Encodes one item. Each method takes a value and how deep in the item it is."""

    def __init__(self) -> None:
        self._values_left = _MAX_VALUES

    def encode(self, value: Any, depth: int) -> Any:
        kind = type(value)
        if kind in _NATIVE_TYPES:
            return value
        encode = _ENCODERS.get(kind)
        if encode is not None:
            return encode(self, value, depth)
        if kind in VALUE_TYPES:
            tag = VALUE_TYPES[kind]
            return {tag: VALUE_KINDS[tag].write(value)}
        if isinstance(value, Enum):
            return self._enum(value)
        if isinstance(value, str) and kind.__module__.startswith("lxml."):
            return self._str(str.__str__(value), depth)  # a plain string, without its reference to the whole page
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
                written.append(self.encode(each, depth + 1))
        except UnstorableError as error:
            raise error.inside(value, f"[{len(written)}]") from None
        return written

    def _tuple(self, value: tuple[Any, ...], depth: int) -> Any:
        return {"tuple": self._list(value, depth)}

    def _set(self, value: set[Any] | frozenset[Any], depth: int) -> Any:
        # sorted, so that equal sets give equal bytes
        return {type(value).__name__: sorted(self._list(value, depth), key=_encode)}

    def _dict(self, value: dict[Any, Any], depth: int) -> Any:
        return {"dict": self._pairs(value.items(), value, depth)}

    def _pairs(self, pairs: Any, holder: Any, depth: int, place: str = "[{!r}]") -> Any:
        """Return a map; if not all names are plain strings, a list of names and values in turn."""
        self._enter(pairs, depth)
        name = None
        written = []
        named = True
        try:
            for name, value in pairs:
                named = named and type(name) is str and _is_utf8(name)
                written.append((self.encode(name, depth + 1), self.encode(value, depth + 1)))
        except UnstorableError as error:
            step = place.format(name)
            raise error.inside(holder, "" if step == _SCRAPY_FIELDS_STEP else step) from None
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
        if depth >= _MAX_DEPTH:
            raise UnstorableError(f"is nested over {_MAX_DEPTH} deep and cannot be stored")
        if self._values_left < 0:
            raise UnstorableError(f"holds more than {_MAX_VALUES:,} values and cannot be stored")


_ENCODERS: dict[type, Callable[[_ItemEncoder, Any, int], Any]] = {
    str: _ItemEncoder._str,
    int: _ItemEncoder._int,
    list: _ItemEncoder._list,
    tuple: _ItemEncoder._tuple,
    set: _ItemEncoder._set,
    frozenset: _ItemEncoder._set,
    dict: _ItemEncoder._dict,
}


def _is_utf8(text: str) -> bool:
    if text.isascii():
        return True
    try:
        text.encode()
    except UnicodeEncodeError:  # a lone surrogate, which JSON allows
        return False
    return True


# --- decoding


def _decode_value(written: Any) -> Any:
    kind = type(written)
    if kind is dict:
        [(tag, value)] = written.items()
        return _DECODERS[tag](value)
    if kind is list:
        return [_decode_value(each) for each in written]
    return written


def _decode_pairs(written: Any) -> dict[Any, Any]:
    if type(written) is dict:
        return {name: _decode_value(value) for name, value in written.items()}
    parts = iter(written)
    return {
        _check_hash(_decode_value(name)): _decode_value(value) for name, value in zip(parts, parts, strict=True)
    }


def _check_hash(value: Any) -> Any:
    """Return ``value``; raise UnparkableError if hashing it would run code of its class.

    The hash that dataclasses or attrs generate is made of the hashes of the fields, so those are checked.
    """
    hash_of: Any = type(value).__hash__
    parts: Iterable[Any] = value if isinstance(value, (tuple, frozenset)) else ()
    if hash_of is not None and _is_generated_code(hash_of):
        parts = ItemAdapter(value).values()
    elif not isinstance(hash_of, WrapperDescriptorType) and hash_of not in _STDLIB_HASHES:
        raise UnparkableError(
            f"a {class_path(type(value))} is a key or in a set: the hash of its class would have to run"
        )
    for each in parts:
        _check_hash(each)
    return value


def _is_generated_code(function: Any) -> bool:
    return getattr(getattr(function, "__code__", None), "co_filename", "").startswith("<")


def _decode_enum(written: list[Any]) -> Enum:
    name, member = written
    found: Enum = load_enum(name)._member_map_[member]
    return found


def _decode_object(written: list[Any]) -> Any:
    name, attributes, slots, content = written
    known = load_item_class(name)
    item = known.new(_decode_content(known.content_type, content))
    known.set_state(item, _decode_pairs(attributes or {}), _decode_pairs(slots or {}))
    return item


def _decode_content(content_type: Any, written: Any) -> Any:
    if content_type is None:
        return None
    return _decode_value(written) if content_type is tuple else _decode_pairs(written).items()


_DECODERS: dict[str, Callable[[Any], Any]] = {
    **{tag: kind.read for tag, kind in VALUE_KINDS.items()},
    "tuple": lambda values: tuple(map(_decode_value, values)),
    "set": lambda values: {_check_hash(_decode_value(each)) for each in values},
    "frozenset": lambda values: frozenset(_check_hash(_decode_value(each)) for each in values),
    "dict": _decode_pairs,
    "enum": _decode_enum,
    "object": _decode_object,
}
