"""The knowledge in a store of one method."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Callable

    from denoise_crawler.methods import MethodChoice


class KnowledgeStore(Protocol):
    """A store of knowledge by site and method: an SQLite file, or a folder that crawls share."""

    def knowledge(self, site: str, method: str) -> list[bytes]:
        """Return the knowledge of a site in parts to merge; none if there is nothing."""

    def save_knowledge(self, site: str, method: str, known: bytes, merge: Callable[[list[bytes]], bytes]) -> None:
        """Keep knowledge of a site; ``merge`` makes one of the parts that are there and ``known``."""


class StoredKnowledge:
    """The knowledge of one method in a store.

    Args:
        store: The store.
        choice: The method, which merges what several crawls learned of a site.

    """

    def __init__(self, store: KnowledgeStore, choice: MethodChoice) -> None:
        self._store, self._choice, self._key = store, choice, choice.key
        self._read: dict[str, int] = {}  # by site, the hash of the parts last read or written

    def get(self, site: str) -> bytes | None:
        """Return the knowledge of ``site``, None if there is none."""
        parts = self._store.knowledge(site, self._key)
        self._read[site] = hash(tuple(parts))
        if len(parts) < 2:
            return parts[0] if parts else None
        return self._choice.knowing(parts, site).to_bytes()

    def put(self, site: str, known: bytes) -> bool:
        """Keep knowledge of ``site``, merged with what others have stored since it was read."""

        def merge(parts: list[bytes]) -> bytes:
            if hash(tuple(parts[:-1])) == self._read.get(site):
                return parts[-1]  # it includes the others, which were read before
            return self._choice.knowing(parts, site).to_bytes()

        self._store.save_knowledge(site, self._key, known, merge)
        self._read[site] = hash((known,))
        return True
