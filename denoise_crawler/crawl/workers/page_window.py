"""The last pages that a worker has got. Both ends keep the same window, so a page is handed over only once."""

from __future__ import annotations

from collections import OrderedDict
from typing import Generic, TypeVar

T = TypeVar("T")

_MAX_PAGES = 64
_MAX_CHARACTERS = 4_000_000


class PageWindow(Generic[T]):
    """The pages used last, by number.

    The crawl and its worker make the same calls in the same order. So the crawl knows what the worker still has.

    Example:
        >>> window = PageWindow()
        >>> window.add(1, 3_000_000, "one")
        >>> window.add(2, 3_000_000, "two")
        >>> window.get(1), window.get(2)
        (None, 'two')
        >>> window.has(2)
        True
    """

    def __init__(self) -> None:
        self._pages: OrderedDict[int, tuple[int, T]] = OrderedDict()
        self._characters = 0

    def get(self, number: int) -> T | None:
        """Return what is kept of a page, None if it was dropped or never added."""
        return self._pages[number][1] if self.has(number) else None

    def has(self, number: int) -> bool:
        """Tell whether a page is there; if so it has been used now."""
        if number not in self._pages:
            return False
        self._pages.move_to_end(number)
        return True

    def add(self, number: int, characters: int, value: T) -> None:
        """Add a page that is not there; drop the oldest pages that are too many."""
        self._pages[number] = characters, value
        self._characters += characters
        while len(self._pages) > 1 and (len(self._pages) > _MAX_PAGES or self._characters > _MAX_CHARACTERS):
            _, (dropped, _) = self._pages.popitem(last=False)
            self._characters -= dropped
