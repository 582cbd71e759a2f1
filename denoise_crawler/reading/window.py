"""A stream of bytes that is read forwards and can be looked ahead into, within bounds."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import re
    from collections.abc import Iterator

STEP = 1 << 16
_OVERLAP = 512  # no pattern that is searched for is longer


class Window:
    """The bytes of ``chunks`` up to its end or its first empty chunk, which stands for a gap.

    ``offset`` is the position of the next byte. ``gap`` is set when a gap was met: another window on the
    same chunks gives what follows it.
    """

    def __init__(self, chunks: Iterator[bytes], offset: int = 0) -> None:
        self.offset = offset
        self.gap = False
        self._chunks = chunks
        self._ended = False
        self._data = bytearray()

    def peek(self, size: int) -> bytes:
        """Return the next ``size`` bytes, fewer only where the stream ends, without passing over them."""
        self._fill(size)
        return bytes(self._data[:size])

    def take(self, size: int) -> bytes:
        """Return the next ``size`` bytes and pass over them."""
        taken = self.peek(size)
        del self._data[: len(taken)]
        self.offset += len(taken)
        return taken

    def line(self, limit: int) -> bytes:
        """Take one line with its end; only ``limit`` bytes of a longer one."""
        start = 0
        while (end := self._data.find(b"\n", start, limit)) < 0 and len(self._data) < limit and not self._ended:
            start = len(self._data)
            self._fill(start + 1)
        return self.take(end + 1 if end >= 0 else min(limit, len(self._data)))

    def find(self, pattern: re.Pattern[bytes], limit: int) -> int:
        """Return how far ahead ``pattern`` first matches, -1 if it does not within ``limit`` bytes."""
        start = 0
        while True:
            match = pattern.search(self._data, start)
            if match is not None and match.start() < limit:
                return match.start()
            if self._ended or len(self._data) >= limit + _OVERLAP:
                return -1
            start = max(0, len(self._data) - _OVERLAP)
            self._fill(len(self._data) + STEP)

    def skip_to(self, pattern: re.Pattern[bytes]) -> bytes:
        """Pass over all that comes before ``pattern``; return the beginning of it, without white space."""
        first = b""
        while (found := self.find(pattern, STEP)) < 0:
            # never cut inside a line: what follows would look like the start of one
            passed = self.take(self._data.rfind(b"\n", 0, STEP) + 1 or STEP)
            if not passed:
                return first
            first = first or passed.strip()[:40]
        passed = self.take(found)
        return first or passed.strip()[:40]

    def skip(self, size: int) -> int:
        """Pass over ``size`` bytes and return how many there were."""
        start = self.offset
        while size > 0 and (passed := len(self.take(min(size, STEP)))):
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
