"""A bottom-k sample: of all values ever added, those with the lowest keys."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from heapq import heappop, heappush
from typing import Generic, Protocol, TypeVar


class Keyed(Protocol):
    """A value with the key it is sampled by: a hash, so that the sample is uniform."""

    @property
    def key(self) -> int:
        """The key."""


V = TypeVar("V", bound=Keyed)


class BottomKSample(Generic[V]):
    """The values with the lowest keys, in whatever order they are added.

    Args:
        limit: The most values to keep, at least 1.
        encoded: Returns the bytes of a value. Of two values with the same key the one with the lower bytes stays,
            so that a union of samples is associative, commutative and idempotent. Without it the first one stays.

    Example:
        >>> from denoise_crawler import Page
        >>> pages = [Page.parse(f"https://a.test/{number}", "") for number in range(9)]
        >>> sample = BottomKSample(3)
        >>> displaced = sample.merge(pages)
        >>> [page.key for page in sample] == sorted(page.key for page in pages)[:3]
        True
    """

    def __init__(self, limit: int, encoded: Callable[[V], bytes] | None = None) -> None:
        self.limit = limit
        self._encoded = encoded
        self._values: dict[int, V] = {}
        self._negated_keys: list[int] = []  # a heap, so that the highest key comes first

    def __len__(self) -> int:
        return len(self._values)

    def __contains__(self, key: int) -> bool:
        return key in self._values

    def __iter__(self) -> Iterator[V]:
        """Yield the values in the order of their keys."""
        return iter([self._values[key] for key in sorted(self._values)])

    def __getitem__(self, key: int) -> V:
        return self._values[key]

    def get(self, key: int) -> V | None:
        """Return the value with ``key``, or None."""
        return self._values.get(key)

    def wants(self, key: int) -> bool:
        """Return True if ``key`` is new and among the lowest."""
        return key not in self._values and (len(self) < self.limit or key < -self._negated_keys[0])

    def add(self, value: V) -> list[V]:
        """Add ``value`` if its key is low enough; return the values it displaces."""
        known = self._values.get(value.key)
        if known is not None:
            if not self._replaces(value, known):
                return []
            self._values[value.key] = value
            return [known]
        if not self.wants(value.key):
            return []
        self._values[value.key] = value
        heappush(self._negated_keys, -value.key)
        if len(self) <= self.limit:
            return []
        return [self._values.pop(-heappop(self._negated_keys))]

    def merge(self, values: Iterable[V]) -> list[V]:
        """Add ``values``, for example those of another sample; return the values they displace."""
        return [displaced for value in values for displaced in self.add(value)]

    def _replaces(self, value: V, known: V) -> bool:
        return self._encoded is not None and value is not known and self._encoded(value) < self._encoded(known)
