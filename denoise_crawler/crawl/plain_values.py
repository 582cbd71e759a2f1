"""Single values as MessagePack has them: numbers, strings, lists. Each comes back exactly, in type and value."""

from __future__ import annotations

from datetime import date, datetime, time, timedelta, timezone, tzinfo
from decimal import Decimal
from typing import TYPE_CHECKING, Any, NamedTuple
from uuid import UUID, SafeUUID
from zoneinfo import ZoneInfo

from denoise_crawler.crawl.unparkable import UnstorableError, class_path

if TYPE_CHECKING:
    from collections.abc import Callable

# What a defaultdict may call for a missing key.
_BUILTIN_TYPES: dict[str, type] = {
    kind.__name__: kind for kind in (bool, bytes, dict, float, frozenset, int, list, set, str, tuple)
}


class ValueKind(NamedTuple):
    """How values of one type are written and read."""

    write: Callable[[Any], Any]
    read: Callable[[Any], Any]


def _surrogates_written(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


def _surrogates_read(data: bytes) -> str:
    return data.decode("utf-8", "surrogatepass")


def _delta_written(delta: timedelta) -> list[int]:
    return [delta.days, delta.seconds, delta.microseconds]


def _delta_read(parts: list[int]) -> timedelta:
    return timedelta(*parts)


def _offset_written(zone: timezone) -> list[Any]:
    offset, *name = zone.__getinitargs__()  # type: ignore[attr-defined]
    return [_delta_written(offset), *name]


def _offset_read(parts: list[Any]) -> timezone:
    return timezone(_delta_read(parts[0]), *parts[1:])


def _zone_written(zone: ZoneInfo) -> str:
    if zone.key is None or ZoneInfo(zone.key) is not zone:
        raise UnstorableError(f"is the time zone {zone}, which is not the one of that name")
    return zone.key


def _tz_written(zone: tzinfo | None) -> list[Any] | None:
    if zone is None:
        return None
    if type(zone) not in (timezone, ZoneInfo):
        raise UnstorableError(f"has a time zone of class {class_path(type(zone))}, which cannot be stored")
    name = type(zone).__name__
    return [name, VALUE_KINDS[name].write(zone)]


def _tz_read(written: list[Any] | None) -> tzinfo | None:
    if written is None:
        return None
    name, value = written
    zone: tzinfo = VALUE_KINDS[name].read(value)
    return zone


def _time_written(value: datetime | time) -> list[Any]:
    return [value.replace(tzinfo=None).isoformat(), value.fold, _tz_written(value.tzinfo)]


def _datetime_read(parts: list[Any]) -> datetime:
    text, fold, zone = parts
    return datetime.fromisoformat(text).replace(tzinfo=_tz_read(zone), fold=fold)


def _time_read(parts: list[Any]) -> time:
    text, fold, zone = parts
    return time.fromisoformat(text).replace(tzinfo=_tz_read(zone), fold=fold)


def _type_written(kind: type) -> str:
    if _BUILTIN_TYPES.get(kind.__name__) is not kind:
        raise UnstorableError(f"is the class {class_path(kind)}, which cannot be stored")
    return kind.__name__


# Of str and int only what MessagePack does not take: lone surrogates, and numbers of more than 64 bits.
VALUE_KINDS: dict[str, ValueKind] = {
    "str": ValueKind(_surrogates_written, _surrogates_read),
    "int": ValueKind(hex, lambda text: int(text, 16)),
    "complex": ValueKind(lambda value: [value.real, value.imag], lambda parts: complex(*parts)),
    "Decimal": ValueKind(str, Decimal),
    "UUID": ValueKind(
        lambda value: [value.hex, value.is_safe.value], lambda parts: UUID(parts[0], is_safe=SafeUUID(parts[1]))
    ),
    "timedelta": ValueKind(_delta_written, _delta_read),
    "date": ValueKind(date.isoformat, date.fromisoformat),
    "time": ValueKind(_time_written, _time_read),
    "datetime": ValueKind(_time_written, _datetime_read),
    "timezone": ValueKind(_offset_written, _offset_read),
    "ZoneInfo": ValueKind(_zone_written, ZoneInfo),
    "type": ValueKind(_type_written, _BUILTIN_TYPES.__getitem__),
}
VALUE_TYPES: dict[type, str] = {
    kind: kind.__name__
    for kind in (complex, Decimal, UUID, timedelta, date, time, datetime, timezone, ZoneInfo, type)
}
