"""Bytes to be stored: a magic number with a version, then compressed MessagePack. Data only."""

from __future__ import annotations

import zlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

import msgspec

if TYPE_CHECKING:
    from collections.abc import Callable

R = TypeVar("R")
T = TypeVar("T")

MAX_BYTES = 64 << 20  # of what is stored, before it is packed
_AS_IT_IS = b"\0"  # what zlib writes begins with another byte
_MOST_VALUES = 2_000_000
# MessagePack: how many bytes stand behind the first one of a value; where its length stands, how many that takes
_BEHIND = [0] * 0xA0 + list(range(32)) + [0] * 64
_BEHIND[0xCA:0xD4] = [4, 8, 1, 2, 4, 8, 1, 2, 4, 8]
_BEHIND[0xD4:0xD9] = [2, 3, 5, 9, 17]
_BEHIND[0xDC:0xE0] = [2, 4, 2, 4]
_LENGTHS = {0xC4: 1, 0xC5: 2, 0xC6: 4, 0xC7: 1, 0xC8: 2, 0xC9: 4, 0xD9: 1, 0xDA: 2, 0xDB: 4}
_EXTENSIONS = (0xC7, 0xC8, 0xC9)


@dataclass(frozen=True, slots=True)
class VersionedFormat:
    """How one kind of data is written: ``magic`` is three bytes and the version, ``what`` names it in messages.

    ``error`` is raised for bytes that are not of this kind, of another version, cut off, damaged or of more
    than 64 MB when unpacked.
    """

    magic: bytes
    what: str
    error: type[ValueError]

    def write(self, record: object) -> bytes:
        """Return the bytes of ``record``."""
        return self.magic + zlib.compress(msgspec.msgpack.encode(record))

    def read(self, data: bytes, kind: type[R], build: Callable[[R], T]) -> T:
        """Return what ``build`` makes of the record in ``data``, which is of ``kind``.

        A ValueError, IndexError or OverflowError in ``build`` says that the record does not fit together.
        """
        name, version = self.magic[:-1], self.magic[-1]
        if not data.startswith(name) or len(data) == len(name):
            raise self.error(f"these bytes are no {self.what}")
        if data[len(name)] != version:
            raise self.error(f"{self.what} of version {data[len(name)]}; this release reads version {version}")
        try:
            return build(decoded(unpacked(data[len(self.magic) :]), kind))
        except (zlib.error, msgspec.MsgspecError, IndexError, OverflowError, ValueError) as error:
            raise self.error(f"damaged {self.what}: {error}") from error


def packed(plain: bytes, level: int = -1) -> bytes:
    """Return ``plain`` packed by zlib, or as it is behind a zero byte where that is shorter.

    Raises:
        ValueError: there is more of it than :func:`unpacked` takes.
    """
    if len(plain) > MAX_BYTES:
        raise ValueError(f"{len(plain):,} bytes: more than {MAX_BYTES >> 20} MB are not stored")
    shorter = zlib.compress(plain, level)
    return shorter if len(shorter) <= len(plain) else _AS_IT_IS + plain


def unpacked(data: bytes) -> bytes:
    """Return what :func:`packed` or zlib packed.

    Raises:
        zlib.error: it is damaged.
        ValueError: it is cut off, or over 64 MB when unpacked.
    """
    if data[:1] == _AS_IT_IS:
        return data[1:]
    unpacker = zlib.decompressobj()
    plain = unpacker.decompress(data, MAX_BYTES)
    if not unpacker.eof:
        raise ValueError("cut off or too large")
    return plain


def decoded(data: bytes, kind: Any = Any) -> Any:
    """Return what MessagePack's ``data`` say, as ``kind``.

    Raises ValueError for other bytes, and for more than two million values: an empty one is a single byte there,
    and a hundred in memory.
    """
    if len(data) > _MOST_VALUES and _values(data) > _MOST_VALUES:
        raise ValueError(f"more than {_MOST_VALUES:,} values")
    return msgspec.msgpack.decode(data, type=kind)


def _values(data: bytes) -> int:
    """Return how many values ``data`` begin with, counted no further than one above the limit."""
    place = values = 0
    while place < len(data) and values <= _MOST_VALUES:
        first = data[place]
        width = _LENGTHS.get(first, 0)
        length = int.from_bytes(data[place + 1 : place + 1 + width], "big") + (first in _EXTENSIONS)
        place += 1 + _BEHIND[first] + width + length
        values += 1
    return values
