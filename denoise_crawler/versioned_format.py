"""Bytes to be stored: a magic number with a version, then compressed MessagePack. Data only."""

from __future__ import annotations

import zlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

import msgspec

if TYPE_CHECKING:
    from collections.abc import Callable

R = TypeVar("R")
T = TypeVar("T")

_MAX_BYTES = 64 << 20
_FAST = 1  # the level of zlib: a third of the time of its default, for a tenth more bytes
_AS_IT_IS = b"\0"  # what zlib writes begins with another byte


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
            return build(msgspec.msgpack.decode(unpacked(data[len(self.magic) :]), type=kind))
        except (zlib.error, msgspec.MsgspecError, IndexError, OverflowError, ValueError) as error:
            raise self.error(f"damaged {self.what}: {error}") from error


def packed(data: bytes) -> bytes:
    """Return ``data`` packed by zlib, or as it is behind a zero byte where that is shorter."""
    shorter = zlib.compress(data, _FAST)
    return shorter if len(shorter) <= len(data) else _AS_IT_IS + data


def unpacked(data: bytes) -> bytes:
    """Return what :func:`packed` or zlib packed.

    Raises:
        zlib.error: it is damaged.
        ValueError: it is cut off, or over 64 MB when unpacked.
    """
    if data[:1] == _AS_IT_IS:
        return data[1:]
    unpacker = zlib.decompressobj()
    plain = unpacker.decompress(data, _MAX_BYTES)
    if not unpacker.eof:
        raise ValueError("cut off or too large")
    return plain
