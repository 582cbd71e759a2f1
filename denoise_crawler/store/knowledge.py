"""What a store knows of sites by one method."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Callable

    from denoise_crawler.methods import MethodChoice


class KnowledgeStore(Protocol):
    """A store that keeps knowledge by site and method: an SQLite file, or a folder that crawlers share."""

    def knowledge(self, site: str, method: str) -> list[bytes]:
        """Return what is known of a site: parts to be merged, none if nothing is."""

    def save_knowledge(self, site: str, method: str, known: bytes, merge: Callable[[list[bytes]], bytes]) -> None:
        """Keep what is known of a site; ``merge`` makes one of the parts that are there and this one."""


class StoredKnowledge:
    """What a store knows of sites by a method.

    Args:
        store: The store.
        choice: The method, which merges what several crawls learned of a site.

    """

    def __init__(self, store: KnowledgeStore, choice: MethodChoice) -> None:
        self._store, self._choice, self._key = store, choice, choice.key
        self._read: dict[str, int] = {}  # by site, the hash of what was there when it was last read or written

    def get(self, site: str) -> bytes | None:
        """Return what is known of ``site``, None if nothing is."""
        parts = self._store.knowledge(site, self._key)
        self._read[site] = hash(tuple(parts))
        if len(parts) < 2:
            return parts[0] if parts else None
        return self._choice.knowing(parts, site).to_bytes()

    def put(self, site: str, known: bytes) -> None:
        """Keep what is ``known`` of ``site``, merged with what others stored since it was read."""

        def merge(parts: list[bytes]) -> bytes:
            if hash(tuple(parts[:-1])) == self._read.get(site):
                return parts[-1]  # the others were read before, so it holds what they say
            return self._choice.knowing(parts, site).to_bytes()

        self._store.save_knowledge(site, self._key, known, merge)
        self._read[site] = hash((known,))
