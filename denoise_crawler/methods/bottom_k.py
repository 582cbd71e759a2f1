"""A bottom-k sample: of all values that ever came, those with the lowest keys."""

from __future__ import annotations

from heapq import heappop, heappush
from typing import TYPE_CHECKING, Generic, Protocol, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator


class Keyed(Protocol):
    """Has the key it is sampled by: a hash, so that the sample is uniform."""

    @property
    def key(self) -> int:
        """The key."""


V = TypeVar("V", bound=Keyed)


class BottomK(Generic[V]):
    """At most ``limit`` (1 or more) values: those with the lowest keys, the same in any order of coming.

    Of two values with one key, the one with the lower ``encoded`` bytes stays, so that a union of samples is
    associative, commutative and idempotent; without ``encoded``, the one that came first.
    """

    def __init__(self, limit: int, encoded: Callable[[V], bytes] | None = None) -> None:
        self._limit = limit
        self._encoded = encoded
        self._values: dict[int, V] = {}
        self._highest: list[int] = []  # negated keys, so that the heap's first is the highest key

    @property
    def limit(self) -> int:
        """How many values there may be."""
        return self._limit

    def __len__(self) -> int:
        return len(self._values)

    def __contains__(self, key: int) -> bool:
        return key in self._values

    def __iter__(self) -> Iterator[V]:
        """Yield the values in the order of their keys."""
        return iter([self._values[key] for key in sorted(self._values)])

    def get(self, key: int) -> V | None:
        """Return the value with ``key``, None if there is none."""
        return self._values.get(key)

    def wants(self, key: int) -> bool:
        """Tell whether ``key`` is new and among the lowest."""
        return key not in self._values and (len(self) < self._limit or key < -self._highest[0])

    def add(self, value: V) -> list[V]:
        """Put ``value`` in, if it belongs there; return what had to leave for it."""
        known = self._values.get(value.key)
        if known is not None:
            if not self._replaces(value, known):
                return []
            self._values[value.key] = value
            return [known]
        if not self.wants(value.key):
            return []
        self._values[value.key] = value
        heappush(self._highest, -value.key)
        return self._surplus()

    def merge(self, values: Iterable[V]) -> list[V]:
        """Add ``values``, for example those of another sample; return what had to leave."""
        return [gone for value in values for gone in self.add(value)]

    def shrink(self, limit: int) -> list[V]:
        """Lower the limit to ``limit`` and return what had to leave; a limit is never raised again."""
        self._limit = min(self._limit, limit)
        return self._surplus()

    def _replaces(self, value: V, known: V) -> bool:
        return self._encoded is not None and value is not known and self._encoded(value) < self._encoded(known)

    def _surplus(self) -> list[V]:
        return [self._values.pop(-heappop(self._highest)) for _ in range(len(self) - self._limit)]
