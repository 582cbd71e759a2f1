"""The knowledge in a store of one method."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol, TypeVar

from denoise_crawler.methods import MethodChoice

T = TypeVar("T")


class KnowledgeStore(Protocol):
    """A store of knowledge by site and method: an SQLite file, or a folder that crawls share."""

    def knowledge(self, site: str, method: str) -> list[bytes]:
        """Return the knowledge of a site in parts to merge; none if there is nothing."""

    def save_knowledge(self, site: str, method: str, known: bytes, merge: Callable[[list[bytes]], bytes]) -> None:
        """Keep knowledge of a site; ``merge`` makes one of the parts that are there and ``known``."""


class StoredKnowledge:
    """The knowledge of one method in a store.

    Args:
        store: The store, or a function from a site to the store that it lies in.
        choice: The method, which merges what several crawls learned of a site.
        on_error: Called with each error, which is then as if nothing were known, or nothing stored; without it,
            errors are raised.
        read_only: Whether what is put is dropped.
    """

    def __init__(
        self,
        store: KnowledgeStore | Callable[[str], KnowledgeStore],
        choice: MethodChoice,
        *,
        on_error: Callable[[Exception], None] | None = None,
        read_only: bool = False,
    ) -> None:
        self._store_of = store if callable(store) else lambda _: store
        self._choice, self._key, self._on_error, self._read_only = choice, choice.key, on_error, read_only
        self._read: dict[str, int] = {}  # by site, the hash of the parts last read or written

    def get(self, site: str) -> bytes | None:
        """Return the knowledge of ``site``, None if there is none."""
        return self._safely(self._get, None, site)

    def put(self, site: str, known: bytes) -> bool:
        """Keep knowledge of ``site``, merged with what others have stored since it was read."""
        return self._read_only or self._safely(self._put, False, site, known)

    def _get(self, site: str) -> bytes | None:
        parts = self._store_of(site).knowledge(site, self._key)
        self._read[site] = hash(tuple(parts))
        if len(parts) < 2:
            return parts[0] if parts else None
        return self._choice.knowing(parts, site).to_bytes()

    def _put(self, site: str, known: bytes) -> bool:
        def merge(parts: list[bytes]) -> bytes:
            if hash(tuple(parts[:-1])) == self._read.get(site):
                return parts[-1]  # it includes the others, which were read before
            return self._choice.knowing(parts, site).to_bytes()

        self._store_of(site).save_knowledge(site, self._key, known, merge)
        self._read[site] = hash((known,))
        return True

    def _safely(self, call: Callable[..., T], default: T, *given: str | bytes) -> T:
        try:
            return call(*given)
        except Exception as error:  # no error of a store costs an item
            if self._on_error is None:
                raise
            self._on_error(error)
            return default
