"""Files as streams of bytes, decompressed; what is before and after damage in a compressed file is still read."""

from __future__ import annotations

import bz2
import lzma
import re
import zlib
from collections import Counter
from collections.abc import Generator, Iterable, Iterator
from dataclasses import dataclass, field
from functools import partial
from importlib import import_module
from itertools import chain
from pathlib import Path
from typing import IO, NamedTuple
from urllib.parse import quote

from denoise_crawler.page.text import printable

# --- what reading is asked for and what it finds: pages, damage and what is skipped, by kind

_MAX_EXAMPLES, _MAX_EXAMPLE_CHARACTERS = 3, 200


@dataclass(frozen=True, slots=True)
class ReadOptions:
    """The options of :func:`read_pages`."""

    base: str | None
    url_field: str
    html_field: str
    file_format: str | None


class DamageExample(NamedTuple):
    """One place of damage; ``offset`` is in bytes of the file, decompressed."""

    file: str
    offset: int
    what: str


@dataclass
class Reading:
    """What :func:`read_pages` has found so far.

    ``damage`` counts what is broken, by kind, with a few ``examples`` each. ``skipped`` counts what is intact but
    no page (pictures, error pages …). ``bytes_read`` is the progress in the files. ``made_up_url`` is the last
    address that was made up for a page without one.
    """

    pages: int = 0
    bytes_read: int = 0
    damage: Counter[str] = field(default_factory=Counter)
    skipped: Counter[str] = field(default_factory=Counter)
    examples: dict[str, list[DamageExample]] = field(default_factory=dict)
    made_up_url: str = ""


@dataclass(frozen=True, slots=True)
class Notes:
    """Where the reader of one file notes what it finds."""

    path: Path
    reading: Reading
    top: Path | None = None  # the folder that was given to be read, or the file's own

    def note_damage(self, kind: str, offset: int, what: str = "") -> None:
        """Count damage of a ``kind`` at ``offset``; ``what``, which may quote the file, is shortened."""
        self.reading.damage[kind] += 1
        examples = self.reading.examples.setdefault(kind, [])
        if len(examples) < _MAX_EXAMPLES:
            examples.append(DamageExample(str(self.path), offset, printable(what, _MAX_EXAMPLE_CHARACTERS)))

    def note_skipped(self, kind: str) -> None:
        """Count something that is no page; ``kind`` must not quote the file, so that kinds stay few."""
        self.reading.skipped[kind] += 1

    def placeholder_url(self, name: int | str) -> str:
        """Return a URL for a page without one, unique in the file."""
        return self.note_made_up(f"https://{quote(self.path.name, safe='')}/{quote(str(name), safe='')}")

    def note_made_up(self, url: str) -> str:
        """Note that the page that is read next has no address of its own, and is given this one."""
        self.reading.made_up_url = url
        return url


CHUNK_BYTES = 1 << 16
_MAX_PATTERN_BYTES = 512
GZIP, XZ, BZIP2 = b"\x1f\x8b\x08", b"\xfd7zXZ\x00", b"BZh"
SUFFIXES = (".gz", ".xz", ".bz2")
_DAMAGE = "damaged compression"
_PIECE_BYTES = 256  # damage costs one piece
_GAP = b""
_MAX_XZ_MEMORY_BYTES = 128 << 20  # xz -9 takes 65 MB


class Window:
    r"""The bytes of ``chunks`` up to the end or the first empty chunk, which marks a gap.

    ``offset`` is the position of the next byte. ``gap`` is set at a gap: another window on the same chunks gives
    what follows.

    Example:
        >>> window = Window(iter([b"one\ntw", b"o"]))
        >>> window.peek(2), window.line(limit=100), window.take(9), window.offset
        (b'on', b'one\n', b'two', 7)
    """

    def __init__(self, chunks: Iterator[bytes], offset: int = 0) -> None:
        self.offset = offset
        self.gap = False
        self._chunks = chunks
        self._ended = False
        self._data = bytearray()

    def peek(self, size: int) -> bytes:
        """Return the next ``size`` bytes, fewer only at the end, without taking them."""
        self._fill(size)
        return bytes(self._data[:size])

    def take(self, size: int) -> bytes:
        """Take the next ``size`` bytes, fewer only at the end."""
        taken = self.peek(size)
        del self._data[: len(taken)]
        self.offset += len(taken)
        return taken

    def line(self, limit: int) -> bytes:
        """Take one line with its line end, at most ``limit`` bytes."""
        start = 0
        while (end := self._data.find(b"\n", start, limit)) < 0 and len(self._data) < limit and not self._ended:
            start = len(self._data)
            self._fill(start + 1)
        return self.take(end + 1 if end >= 0 else min(limit, len(self._data)))

    def find(self, pattern: re.Pattern[bytes], limit: int) -> int:
        """Return how many bytes ahead ``pattern`` first matches; -1 if it does not within ``limit`` bytes."""
        start = 0
        while True:
            match = pattern.search(self._data, start)
            if match is not None and match.start() < limit:
                return match.start()
            if self._ended or len(self._data) >= limit + _MAX_PATTERN_BYTES:
                return -1
            start = max(0, len(self._data) - _MAX_PATTERN_BYTES)
            self._fill(len(self._data) + CHUNK_BYTES)

    def skip_to(self, pattern: re.Pattern[bytes]) -> bytes:
        """Skip everything before ``pattern``; return the first bytes of what was skipped, stripped."""
        first = b""
        while (ahead := self.find(pattern, CHUNK_BYTES)) < 0:
            # never cut inside a line: the rest would look like the start of a line
            passed = self.take(self._data.rfind(b"\n", 0, CHUNK_BYTES) + 1 or CHUNK_BYTES)
            if not passed:
                return first
            first = first or passed.strip()[:40]
        passed = self.take(ahead)
        return first or passed.strip()[:40]

    def skip(self, size: int) -> int:
        """Skip ``size`` bytes; return how many there were."""
        start = self.offset
        while size > 0 and (passed := len(self.take(min(size, CHUNK_BYTES)))):
            size -= passed
        return self.offset - start

    def _fill(self, size: int) -> None:
        while len(self._data) < size and not self._ended:
            chunk = next(self._chunks, None)
            if chunk:
                self._data += chunk
            else:
                self._ended = True
                self.gap = chunk is not None


def windows(notes: Notes) -> Iterator[Window]:
    """Yield the content of a file as windows without gaps; only damaged compression leads to several.

    Raises:
        OSError: The file cannot be read.
    """
    with notes.path.open("rb") as file:
        chunks, offset = _chunks(file, notes), 0
        while True:
            window = Window(chunks, offset)
            yield window
            while window.take(CHUNK_BYTES):
                pass
            if not window.gap:
                return
            offset = window.offset


def _chunks(file: IO[bytes], notes: Notes) -> Iterator[bytes]:
    """Yield the file's content in chunks, an empty one for a gap."""
    raw = _read_chunks(file, notes)
    first = next(raw, b"")
    if first.startswith(GZIP):
        yield from _Gunzip(raw, first, notes)
    elif first.startswith((XZ, BZIP2)):
        yield from _decompress_stream(raw, first, notes)
    elif first:
        yield first
        yield from raw


def _read_chunks(file: IO[bytes], notes: Notes) -> Iterator[bytes]:
    while data := file.read(CHUNK_BYTES):
        notes.reading.bytes_read += len(data)
        yield data


class _Gunzip:
    """The members of a gzip file in order; after damage it continues with the next member."""

    def __init__(self, raw: Iterator[bytes], first: bytes, notes: Notes) -> None:
        self._raw, self._data, self._notes = raw, first, notes
        self._offset = 0

    def __iter__(self) -> Iterator[bytes]:
        seeking = False
        while self._to_member(seeking):
            start = self._offset
            problem = yield from self._member()
            # while seeking a member, a false start is no new damage
            if problem and (self._offset > start or not seeking):
                self._notes.note_damage(_DAMAGE, self._offset, f"gzip: {problem}")
                yield _GAP
            seeking = bool(problem)

    def _to_member(self, seeking: bool) -> bool:
        """Skip to the next member; return whether there is one."""
        garbage = False
        while (at := self._data.find(GZIP)) < 0:
            garbage = garbage or bool(self._data[:-2].strip(b"\0"))
            more = next(self._raw, b"")
            if not more:
                at = len(self._data)
                break
            self._data = self._data[-2:] + more
        if not seeking and (garbage or self._data[:at].strip(b"\0")):
            self._notes.note_damage(_DAMAGE, self._offset, "gzip: something else between the members")
        self._data = self._data[at:]
        return bool(self._data)

    def _member(self) -> Generator[bytes, None, str]:
        """Yield one member's content and return the problem with it; ``_data`` is then what follows."""
        inflater = zlib.decompressobj(31)
        before, data = b"", self._data
        behind_start = data[1:]  # a cut member runs into the next one: seek from here
        while data:
            for at in range(0, len(data), _PIECE_BYTES):
                try:
                    content = inflater.decompress(data[at : at + _PIECE_BYTES])
                except zlib.error as error:
                    self._data = before + behind_start
                    return str(error)
                if content:
                    self._offset += len(content)
                    yield content
                if inflater.eof:
                    self._data = inflater.unused_data + data[at + _PIECE_BYTES :]
                    return ""
            before, data = behind_start[-CHUNK_BYTES:], next(self._raw, b"")
            behind_start = data
        self._data = before
        return "cut off"


def _decompress_stream(raw: Iterator[bytes], first: bytes, notes: Notes) -> Iterator[bytes]:
    """Yield the content of an xz or bzip2 file up to its first damage."""
    unxz = partial(lzma.LZMADecompressor, memlimit=_MAX_XZ_MEMORY_BYTES)
    name, make = ("xz", unxz) if first.startswith(XZ) else ("bzip2", bz2.BZ2Decompressor)
    unpacker, offset = make(), 0
    try:
        for piece in _split_chunks(chain([first], raw)):
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
        notes.note_damage(_DAMAGE, offset, f"{name}: {problem}")


def _split_chunks(chunks: Iterable[bytes]) -> Iterator[bytes]:
    for chunk in chunks:
        for at in range(0, len(chunk), _PIECE_BYTES):
            yield chunk[at : at + _PIECE_BYTES]


def decompress(data: bytes, limit: int, *, raw_deflate: bool = False) -> tuple[bytes, str]:
    """Decompress gzip or zlib data.

    Args:
        data: The data; without a gzip or zlib header it is returned unchanged.
        limit: The most bytes to return.
        raw_deflate: Whether data without a header is raw deflate.

    Returns:
        The content up to the first damage, and the problem or "".

    Example:
        >>> decompress(zlib.compress(b"A story."), limit=7)
        (b'A story', 'more than 7 bytes, uncompressed')
    """
    has_zlib_header = data.startswith(b"\x78") and int.from_bytes(data[:2], "big") % 31 == 0
    bits = 31 if data.startswith(GZIP) else 15 if has_zlib_header else -15 if raw_deflate else 0
    if not bits or not data:
        return data, ""
    inflater, parts, room = zlib.decompressobj(bits), list[bytes](), limit
    problem = ""
    for at in range(0, len(data), _PIECE_BYTES):
        try:
            parts.append(inflater.decompress(data[at : at + _PIECE_BYTES], room))
        except zlib.error as error:
            problem = str(error)
            break
        room -= len(parts[-1])
        if inflater.eof or room <= 0:
            break
    if not problem and not inflater.eof:
        problem = _early_end(room, limit)
    return b"".join(parts), problem


def _early_end(room: int, limit: int) -> str:
    return "compressed data cut off" if room > 0 else f"more than {limit} bytes, uncompressed"


def decompress_brotli(data: bytes, limit: int) -> tuple[bytes, str]:
    """Decompress brotli data as :func:`decompress` does, step by step: a few bytes may expand to gigabytes.

    Raises:
        ImportError: brotli 1.2 or newer is not installed.
        ValueError: The data is not brotli.
    """
    if not data:
        return data, ""
    brotli = import_module("brotli")
    inflater, parts, room = brotli.Decompressor(), list[bytes](), limit
    if not hasattr(inflater, "can_accept_more_data"):
        raise ImportError("brotli is older than 1.2")
    try:
        while room > 0 and not inflater.is_finished():
            part = inflater.process(data, output_buffer_limit=min(room, CHUNK_BYTES))
            data = b""
            if not part and inflater.can_accept_more_data():
                break
            parts.append(part[:room])
            room -= len(parts[-1])
    except brotli.error as error:
        if not parts:
            raise ValueError(str(error)) from None
        return b"".join(parts), str(error)
    return b"".join(parts), "" if inflater.is_finished() else _early_end(room, limit)
