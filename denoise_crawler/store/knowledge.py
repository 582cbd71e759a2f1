"""What a store knows of sites by one method."""

from __future__ import annotations

from contextlib import closing, contextmanager
from typing import TYPE_CHECKING, Protocol

from denoise_crawler.methods.knowledge import InMemoryKnowledge
from denoise_crawler.store.store import Store

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from denoise_crawler.methods import MethodChoice
    from denoise_crawler.methods.knowledge import Knowledge


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


@contextmanager
def stored_knowledge(path: Path | None, choice: MethodChoice) -> Iterator[Knowledge]:
    """Open a crawl's store to read what it knows; nothing is written to it.

    Args:
        path: The file of the store, None if there is none.
        choice: The method.

    Yields:
        The knowledge; what is put there stays in memory.

    Raises:
        StoreError: The file cannot be read.

    """
    if path is None:
        yield InMemoryKnowledge()
        return
    with closing(Store(path, read_only=True)) as store:
        yield InMemoryKnowledge(below=StoredKnowledge(store, choice))
