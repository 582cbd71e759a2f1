"""Writes single values as numbers, strings and lists, each read back exactly; says what cannot be stored."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date, datetime, time, timedelta, timezone, tzinfo
from decimal import Decimal
from functools import partial
from typing import Any, NamedTuple
from uuid import UUID, SafeUUID
from zoneinfo import ZoneInfo

from denoise_crawler.errors import DenoiseError

_MAX_STEPS_SHOWN = 4


class UnstorableError(DenoiseError, ValueError):
    """A value inside an item cannot be stored. Each function that passes the error on adds where the value is."""

    def __init__(self, why: str) -> None:
        super().__init__(why)
        self._steps: list[tuple[int, str]] = []

    def inside(self, holder: Any, step: str) -> UnstorableError:
        """Add how to get from its holder to the value, such as ``[0]`` or ``.name``; return this error."""
        self._steps.append((id(holder), step))
        return self

    def __str__(self) -> str:
        steps = self._steps[::-1]
        holders: set[int] = set()
        for depth, (holder, _) in enumerate(steps):
            if holder in holders:
                return f"item{''.join(step for _, step in steps[:depth])} holds itself"
            holders.add(holder)
        shown = "".join(step for _, step in steps[:_MAX_STEPS_SHOWN])
        return f"item{shown}{'…' if len(steps) > _MAX_STEPS_SHOWN else ''} {self.args[0]}"


def class_path(kind: type) -> str:
    """Return the name of ``kind`` with its module; without it for a built-in class.

    Example:
        >>> class_path(dict)
        'dict'
    """
    return kind.__qualname__ if kind.__module__ == "builtins" else f"{kind.__module__}.{kind.__qualname__}"


# Possible factories of a defaultdict.
_BUILTIN_TYPES: dict[str, type] = {
    kind.__name__: kind for kind in (bool, bytes, dict, float, frozenset, int, list, set, str, tuple)
}


class ValueKind(NamedTuple):
    """How values of one type are written and read."""

    write: Callable[[Any], Any]
    read: Callable[[Any], Any]


def _write_delta(delta: timedelta) -> list[int]:
    return [delta.days, delta.seconds, delta.microseconds]


def _read_delta(parts: list[int]) -> timedelta:
    return timedelta(*parts)


def _write_offset(zone: timezone) -> list[Any]:
    offset, *name = zone.__getinitargs__()  # type: ignore[attr-defined]
    return [_write_delta(offset), *name]


def _read_offset(parts: list[Any]) -> timezone:
    return timezone(_read_delta(parts[0]), *parts[1:])


def _write_zone(zone: ZoneInfo) -> str:
    if zone.key is None or ZoneInfo(zone.key) is not zone:
        raise UnstorableError(f"is the time zone {zone}, which is not the one of that name")
    return zone.key


def _write_tz(zone: tzinfo | None) -> list[Any] | None:
    if zone is None:
        return None
    if type(zone) not in (timezone, ZoneInfo):
        raise UnstorableError(f"has a time zone of class {class_path(type(zone))}, which cannot be stored")
    name = type(zone).__name__
    return [name, VALUE_KINDS[name].write(zone)]


def _read_tz(written: list[Any] | None) -> tzinfo | None:
    if written is None:
        return None
    name, value = written
    zone: tzinfo = VALUE_KINDS[name].read(value)
    return zone


def _write_time(value: datetime | time) -> list[Any]:
    return [value.replace(tzinfo=None).isoformat(), value.fold, _write_tz(value.tzinfo)]


def _read_time(kind: type[datetime | time], parts: list[Any]) -> datetime | time:
    text, fold, zone = parts
    return kind.fromisoformat(text).replace(tzinfo=_read_tz(zone), fold=fold)


def _write_type(kind: type) -> str:
    if _BUILTIN_TYPES.get(kind.__name__) is not kind:
        raise UnstorableError(f"is the class {class_path(kind)}, which cannot be stored")
    return kind.__name__


# For str and int only what MessagePack does not take: lone surrogates, and numbers of more than 64 bits.
VALUE_KINDS: dict[str, ValueKind] = {
    "str": ValueKind(
        lambda text: text.encode("utf-8", "surrogatepass"), lambda data: data.decode("utf-8", "surrogatepass")
    ),
    "int": ValueKind(hex, lambda text: int(text, 16)),
    "complex": ValueKind(lambda value: [value.real, value.imag], lambda parts: complex(*parts)),
    "Decimal": ValueKind(str, Decimal),
    "UUID": ValueKind(
        lambda value: [value.hex, value.is_safe.value], lambda parts: UUID(parts[0], is_safe=SafeUUID(parts[1]))
    ),
    "timedelta": ValueKind(_write_delta, _read_delta),
    "date": ValueKind(date.isoformat, date.fromisoformat),
    "time": ValueKind(_write_time, partial(_read_time, time)),
    "datetime": ValueKind(_write_time, partial(_read_time, datetime)),
    "timezone": ValueKind(_write_offset, _read_offset),
    "ZoneInfo": ValueKind(_write_zone, ZoneInfo),
    "type": ValueKind(_write_type, _BUILTIN_TYPES.__getitem__),
}
VALUE_TYPES: dict[type, str] = {
    kind: kind.__name__
    for kind in (complex, Decimal, UUID, timedelta, date, time, datetime, timezone, ZoneInfo, type)
}
