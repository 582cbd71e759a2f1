"""Files as streams of bytes, decompressed; what is before and after damage in a compressed file is still read."""

from __future__ import annotations

import bz2
import lzma
import re
import zlib
from collections import Counter, deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import IO, Any, NamedTuple
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
    """The account of :func:`read_pages` so far.

    ``damage`` counts what is broken, by kind, with a few ``examples`` each. ``skipped`` counts what is intact but
    no page (pictures, error pages …). ``bytes_read`` is the progress in the files.
    """

    pages: int = 0
    bytes_read: int = 0
    damage: Counter[str] = field(default_factory=Counter)
    skipped: Counter[str] = field(default_factory=Counter)
    examples: dict[str, list[DamageExample]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Notes:
    """The account of one file, for its reader."""

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
        return f"https://{quote(self.path.name, safe='')}/{quote(str(name), safe='')}"


CHUNK_BYTES = 1 << 16
_MAX_PATTERN_BYTES = 512
GZIP = b"\x1f\x8b\x08"
SUFFIXES = (".gz", ".xz", ".bz2")
_PIECE_BYTES = 256  # damage costs one piece
_FAST_PIECE_BYTES = 4096  # as long as there is no damage
_GAP = b""
_MAX_XZ_MEMORY_BYTES = 128 << 20  # xz -9 takes 65 MB


class _Compression(NamedTuple):
    """A format of compressed files: its name, how a member begins, and what unpacks one."""

    name: str
    magic: re.Pattern[bytes]
    unpacker: Callable[[], Any]


_COMPRESSIONS = (
    _Compression("gzip", re.compile(re.escape(GZIP)), partial(zlib.decompressobj, 31)),
    _Compression("xz", re.compile(b"\xfd7zXZ\0"), partial(lzma.LZMADecompressor, memlimit=_MAX_XZ_MEMORY_BYTES)),
    _Compression("bzip2", re.compile(b"BZh"), bz2.BZ2Decompressor),
)
_DAMAGE_ERRORS = (zlib.error, lzma.LZMAError, OSError, ValueError)


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
        """Read the next ``size`` bytes, fewer only at the end."""
        data = self.peek(size)
        del self._data[: len(data)]
        self.offset += len(data)
        return data

    def put_back(self, data: bytes) -> None:
        """Put ``data`` back, to be read again."""
        self._data[:0] = data
        self.offset -= len(data)

    def line(self, limit: int) -> bytes:
        """Read one line with its line end, at most ``limit`` bytes."""
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
    raw = Window(_read_chunks(file, notes))
    for compression in _COMPRESSIONS:
        if compression.magic.match(raw.peek(CHUNK_BYTES)):
            yield from _unpack(raw, compression, notes)
            return
    while data := raw.take(CHUNK_BYTES):
        yield data


def _read_chunks(file: IO[bytes], notes: Notes) -> Iterator[bytes]:
    while data := file.read(CHUNK_BYTES):
        notes.reading.bytes_read += len(data)
        yield data


def _unpack(raw: Window, compression: _Compression, notes: Notes) -> Iterator[bytes]:
    """Yield the content of a compressed file; after damage a gap, then the next member."""
    offset, is_lost = 0, False
    while raw.peek(1):
        garbage = raw.skip_to(compression.magic).strip(b"\0")
        if garbage and not is_lost:
            notes.note_damage("damaged compression", offset, f"{compression.name}: something else between members")
        if not raw.peek(1):
            return
        member = _Member(raw, compression.unpacker())
        for content in member:
            offset += len(content)
            yield content
        # while the next member is looked for, a false start is no new damage
        if member.problem and (member.has_content or not is_lost):
            notes.note_damage("damaged compression", offset, f"{compression.name}: {member.problem}")
            yield _GAP
        is_lost = bool(member.problem)


class _Member:
    """One member of a compressed file: yields its content, and leaves ``raw`` behind it."""

    def __init__(self, raw: Window, unpacker: Any) -> None:
        self._raw, self._unpacker = raw, unpacker
        self.problem, self.has_content = "", False

    def __iter__(self) -> Iterator[bytes]:
        pieces: deque[bytes] = deque(maxlen=CHUNK_BYTES // _PIECE_BYTES)
        size = _FAST_PIECE_BYTES if hasattr(self._unpacker, "copy") else _PIECE_BYTES
        while piece := self._raw.take(size):
            pieces.append(piece)
            before = self._unpacker.copy() if size > _PIECE_BYTES else None
            try:
                content = self._unpacker.decompress(piece)
            except _DAMAGE_ERRORS as error:
                if before is not None:
                    self._raw.put_back(pieces.pop())
                    self._unpacker, size = before, _PIECE_BYTES
                    continue
                self.problem = str(error)
                break
            if content:
                self.has_content = True
                yield content
            if self._unpacker.eof:
                self._raw.put_back(self._unpacker.unused_data)
                return
        self.problem = self.problem or "cut off"
        self._raw.put_back(b"".join(pieces)[1:])  # a cut member runs into the next one


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
