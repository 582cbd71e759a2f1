"""A stream of bytes with bounded look-ahead."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import re
    from collections.abc import Iterator

CHUNK_BYTES = 1 << 16
_MAX_PATTERN_BYTES = 512


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
        while (found := self.find(pattern, CHUNK_BYTES)) < 0:
            # never cut inside a line: the rest would look like the start of a line
            passed = self.take(self._data.rfind(b"\n", 0, CHUNK_BYTES) + 1 or CHUNK_BYTES)
            if not passed:
                return first
            first = first or passed.strip()[:40]
        passed = self.take(found)
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
