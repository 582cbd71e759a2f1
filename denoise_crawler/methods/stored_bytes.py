"""Stored bytes: a magic number with a version, then compressed MessagePack. Data only."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import msgspec
import numpy as np
from numpy.typing import NDArray

from denoise_crawler.errors import KnowledgeFormatError

R = TypeVar("R")
T = TypeVar("T")

MAX_BYTES = 64 << 20  # before compression
_UNCOMPRESSED = b"\0"  # zlib's output starts with another byte
_NOT_WORTH_IT = 512  # bytes: to compress fewer saves little room and takes long
_MAX_VALUES = 2_000_000
# MessagePack: the number of bytes after the first byte of a value; for values with a length, its number of bytes.
_BYTES_AFTER = [0] * 0xA0 + list(range(32)) + [0] * 64
_BYTES_AFTER[0xCA:0xD4] = [4, 8, 1, 2, 4, 8, 1, 2, 4, 8]
_BYTES_AFTER[0xD4:0xD9] = [2, 3, 5, 9, 17]
_BYTES_AFTER[0xDC:0xE0] = [2, 4, 2, 4]
_LENGTH_BYTES = {0xC4: 1, 0xC5: 2, 0xC6: 4, 0xC7: 1, 0xC8: 2, 0xC9: 4, 0xD9: 1, 0xDA: 2, 0xDB: 4}
_EXTENSIONS = (0xC7, 0xC8, 0xC9)


@dataclass(frozen=True, slots=True)
class VersionedFormat:
    """How one kind of data is stored.

    Args:
        magic: Three bytes that name the kind, and the version.
        what: The name of the kind in messages.
        level: How much time zlib takes to write it: a crawl waits meanwhile.
    """

    magic: bytes
    what: str
    level: int = -1

    def write(self, record: object) -> bytes:
        """Return the bytes of ``record``."""
        return self.magic + zlib.compress(msgspec.msgpack.encode(record), self.level)

    def read(self, data: bytes, kind: type[R], build: Callable[[R], T]) -> T:
        """Read what :meth:`write` returned.

        Args:
            data: The bytes.
            kind: The type of the record.
            build: Makes the result of the record; a ValueError, IndexError or OverflowError says that the record
                is inconsistent.

        Raises:
            KnowledgeFormatError: The bytes are of another kind or version, cut off, damaged, or of more than 64 MB
                when decompressed.
        """
        name, version = self.magic[:-1], self.magic[-1]
        if not data.startswith(name) or len(data) == len(name):
            raise KnowledgeFormatError(f"these bytes are no {self.what}")
        if data[len(name)] != version:
            raise KnowledgeFormatError(
                f"{self.what} of version {data[len(name)]}; this release reads version {version}"
            )
        try:
            return build(decode_msgpack(inflate(data[len(self.magic) :]), kind))
        except (zlib.error, msgspec.MsgspecError, IndexError, OverflowError, ValueError) as error:
            raise KnowledgeFormatError(f"damaged {self.what}: {error}") from error


def pack_numbers(numbers: NDArray[Any] | Sequence[int]) -> bytes:
    """Return numbers (modulo 2³²) as bytes, four each."""
    return np.asarray(numbers).astype("<u4").tobytes()


def unpack_numbers(data: bytes) -> NDArray[np.int64]:
    """Return the numbers that :func:`pack_numbers` wrote."""
    return np.frombuffer(data, "<u4").astype(np.int64)


def deflate(plain: bytes, level: int = -1) -> bytes:
    r"""Compress ``plain`` by zlib, or put a zero byte before it where that is shorter, or saves next to nothing.

    Raises:
        ValueError: ``plain`` is larger than :func:`inflate` allows.

    Example:
        >>> deflate(b"short"), inflate(deflate(b"long" * 100)) == b"long" * 100
        (b'\x00short', True)
    """
    if len(plain) > MAX_BYTES:
        raise ValueError(f"{len(plain):,} bytes: more than {MAX_BYTES >> 20} MB are not stored")
    shorter = zlib.compress(plain, level) if len(plain) > _NOT_WORTH_IT else plain
    return shorter if len(shorter) < len(plain) else _UNCOMPRESSED + plain


def inflate(data: bytes) -> bytes:
    """Decompress what :func:`deflate` or zlib compressed.

    Raises:
        zlib.error: The data is damaged.
        ValueError: The data is cut off, or over 64 MB when decompressed.
    """
    if data[:1] == _UNCOMPRESSED:
        return data[1:]
    unpacker = zlib.decompressobj()
    plain = unpacker.decompress(data, MAX_BYTES)
    if not unpacker.eof:
        raise ValueError("cut off or too large")
    return plain


def decode_msgpack(data: bytes, kind: Any = Any) -> Any:
    """Decode MessagePack to a type.

    Raises:
        ValueError: The bytes are invalid, or hold more than two million values: an empty value is one byte of
            data but a hundred in memory.
    """
    if len(data) > _MAX_VALUES and _count_values(data) > _MAX_VALUES:
        raise ValueError(f"more than {_MAX_VALUES:,} values")
    return msgspec.msgpack.decode(data, type=kind)


def _count_values(data: bytes) -> int:
    """Count the values in ``data``, up to one above the limit."""
    place = values = 0
    while place < len(data) and values <= _MAX_VALUES:
        first = data[place]
        width = _LENGTH_BYTES.get(first, 0)
        length = int.from_bytes(data[place + 1 : place + 1 + width], "big") + (first in _EXTENSIONS)
        place += 1 + _BYTES_AFTER[first] + width + length
        values += 1
    return values
