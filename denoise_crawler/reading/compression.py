"""Files as bytes, decompressed: what lies before and behind damage in a compressed file is still read."""

from __future__ import annotations

import bz2
import lzma
import zlib
from importlib import import_module
from itertools import chain
from typing import IO, TYPE_CHECKING

from denoise_crawler.reading.window import STEP, Window

if TYPE_CHECKING:
    from collections.abc import Generator, Iterable, Iterator

    from denoise_crawler.reading.account import Notes

GZIP, XZ, BZIP2 = b"\x1f\x8b\x08", b"\xfd7zXZ\x00", b"BZh"
SUFFIXES = (".gz", ".xz", ".bz2")
_DAMAGE = "damaged compression"
_PIECE = 256  # of data that is damaged, one piece is lost
_GAP = b""
_XZ_MEMORY = 128 << 20  # bytes, for what a file says it must look back on; xz -9 takes 65 MB


def windows(notes: Notes) -> Iterator[Window]:
    """Yield the content of a file as windows without a gap: more than one only where its compression is damaged.

    Raises OSError for a file that cannot be read.
    """
    with notes.path.open("rb") as file:
        chunks, offset = _chunks(file, notes), 0
        while True:
            window = Window(chunks, offset)
            yield window
            while window.take(STEP):
                pass
            if not window.gap:
                return
            offset = window.offset


def _chunks(file: IO[bytes], notes: Notes) -> Iterator[bytes]:
    """Yield the file's content in chunks, an empty one for a gap."""
    raw = _raw(file, notes)
    first = next(raw, b"")
    if first.startswith(GZIP):
        yield from _Gunzip(raw, first, notes)
    elif first.startswith((XZ, BZIP2)):
        yield from _unpacked(raw, first, notes)
    elif first:
        yield first
        yield from raw


def _raw(file: IO[bytes], notes: Notes) -> Iterator[bytes]:
    while data := file.read(STEP):
        notes.reading.bytes_read += len(data)
        yield data


class _Gunzip:
    """The members of a gzip file, one after the other; after damage it goes on with the next one found."""

    def __init__(self, raw: Iterator[bytes], first: bytes, notes: Notes) -> None:
        self._raw, self._data, self._notes = raw, first, notes
        self._offset = 0

    def __iter__(self) -> Iterator[bytes]:
        seeking = False
        while self._to_member(seeking):
            start = self._offset
            problem = yield from self._member()
            # a false start is no news while a member is sought
            if problem and (self._offset > start or not seeking):
                self._notes.damaged(_DAMAGE, self._offset, f"gzip: {problem}")
                yield _GAP
            seeking = bool(problem)

    def _to_member(self, seeking: bool) -> bool:
        """Pass over what is no member; return whether one follows."""
        garbage = False
        while (at := self._data.find(GZIP)) < 0:
            garbage = garbage or bool(self._data[:-2].strip(b"\0"))
            more = next(self._raw, b"")
            if not more:
                at = len(self._data)
                break
            self._data = self._data[-2:] + more
        if not seeking and (garbage or self._data[:at].strip(b"\0")):
            self._notes.damaged(_DAMAGE, self._offset, "gzip: something else between the members")
        self._data = self._data[at:]
        return bool(self._data)

    def _member(self) -> Generator[bytes, None, str]:
        """Yield one member's content and return what was wrong with it; what follows it is left in ``_data``."""
        inflater = zlib.decompressobj(31)
        before, data = b"", self._data
        behind_start = data[1:]  # a cut member runs into the next one, which is sought from here
        while data:
            for at in range(0, len(data), _PIECE):
                try:
                    content = inflater.decompress(data[at : at + _PIECE])
                except zlib.error as error:
                    self._data = before + behind_start
                    return str(error)
                if content:
                    self._offset += len(content)
                    yield content
                if inflater.eof:
                    self._data = inflater.unused_data + data[at + _PIECE :]
                    return ""
            before, data = behind_start[-STEP:], next(self._raw, b"")
            behind_start = data
        self._data = before
        return "cut off"


def _unpacked(raw: Iterator[bytes], first: bytes, notes: Notes) -> Iterator[bytes]:
    """Yield the content of an xz or bzip2 file up to its first damage."""
    name, make = ("xz", _unxz) if first.startswith(XZ) else ("bzip2", bz2.BZ2Decompressor)
    unpacker, offset = make(), 0
    try:
        for piece in _pieces(chain([first], raw)):
            rest = piece
            while rest := rest.lstrip(b"\0") if unpacker.eof else rest:
                unpacker = make() if unpacker.eof else unpacker
                content = unpacker.decompress(rest)
                rest = unpacker.unused_data
                if content:
                    offset += len(content)
                    yield content
        problem = "" if unpacker.eof else "cut off"
    except (lzma.LZMAError, OSError, ValueError) as error:
        problem = str(error)
    if problem:
        notes.damaged(_DAMAGE, offset, f"{name}: {problem}")


def _unxz() -> lzma.LZMADecompressor:
    return lzma.LZMADecompressor(memlimit=_XZ_MEMORY)


def _pieces(chunks: Iterable[bytes]) -> Iterator[bytes]:
    for chunk in chunks:
        for at in range(0, len(chunk), _PIECE):
            yield chunk[at : at + _PIECE]


def inflated(data: bytes, limit: int, *, raw_deflate: bool = False) -> tuple[bytes, str]:
    """Return ``data`` without gzip or zlib compression, and what is wrong with it; unchanged without any.

    What comes before damage is returned, at most ``limit`` bytes. ``raw_deflate`` says that it is deflated
    if it has neither header.
    """
    bits = 31 if data.startswith(GZIP) else 15 if _has_zlib_header(data) else -15 if raw_deflate else 0
    if not bits or not data:
        return data, ""
    inflater, parts, room = zlib.decompressobj(bits), list[bytes](), limit
    problem = ""
    for at in range(0, len(data), _PIECE):
        try:
            parts.append(inflater.decompress(data[at : at + _PIECE], room))
        except zlib.error as error:
            problem = str(error)
            break
        room -= len(parts[-1])
        if inflater.eof or room <= 0:
            break
    if not problem and not inflater.eof:
        problem = "compressed data cut off" if room > 0 else f"more than {limit} bytes, uncompressed"
    return b"".join(parts), problem


def inflated_brotli(data: bytes, limit: int) -> tuple[bytes, str]:
    """Return ``data`` without brotli compression, at most ``limit`` bytes, and what is wrong with it.

    A few bytes may stand for gigabytes, so it is unpacked step by step. Raises ImportError without a brotli that
    can do so (1.2), ValueError for what is no brotli.
    """
    if not data:
        return data, ""
    brotli = import_module("brotli")
    inflater, parts, room = brotli.Decompressor(), list[bytes](), limit
    if not hasattr(inflater, "can_accept_more_data"):
        raise ImportError("brotli is older than 1.2")
    try:
        while room > 0 and not inflater.is_finished():
            part = inflater.process(data, output_buffer_limit=min(room, STEP))
            data = b""
            if not part and inflater.can_accept_more_data():
                break
            parts.append(part[:room])
            room -= len(parts[-1])
    except brotli.error as error:
        if not parts:
            raise ValueError(str(error)) from None
        return b"".join(parts), str(error)
    if inflater.is_finished():
        return b"".join(parts), ""
    return b"".join(parts), "compressed data cut off" if room > 0 else f"more than {limit} bytes, uncompressed"


def _has_zlib_header(data: bytes) -> bool:
    return len(data) > 1 and data[0] == 0x78 and (data[0] << 8 | data[1]) % 31 == 0
