"""Which pages of a site are copies of one another; the one with the lowest key stands for all."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator


class Copies:
    """Keys of pages by what they have in common."""

    def __init__(self) -> None:
        self._keys: dict[bytes, set[int]] = {}

    def first(self, common: bytes) -> int | None:
        """Return the lowest key of the pages with this in common, None without any."""
        return min(self._keys.get(common, ()), default=None)

    def firsts(self) -> Iterator[int]:
        """Yield the lowest key of each kind of page."""
        return map(min, self._keys.values())

    def add(self, common: bytes, key: int) -> int:
        """Note a page; return the lowest key of its kind."""
        keys = self._keys.setdefault(common, set())
        keys.add(key)
        return min(keys)

    def discard(self, common: bytes, key: int) -> int | None:
        """Forget a page; return the lowest key left of its kind, None if none is."""
        keys = self._keys[common]
        keys.discard(key)
        if not keys:
            del self._keys[common]
        return min(keys, default=None)
