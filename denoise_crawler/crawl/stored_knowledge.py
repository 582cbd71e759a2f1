"""What crawls know of sites, to be read alone."""

from __future__ import annotations

from contextlib import closing
from typing import TYPE_CHECKING

from denoise_crawler.store import Store

if TYPE_CHECKING:
    from pathlib import Path


class StoredKnowledge:
    """A store's file (None: there is none) as the shelf of a denoiser that teaches it nothing."""

    def __init__(self, path: Path | None, key: str) -> None:
        self._path, self._key = path, key

    def get(self, site: str) -> bytes | None:
        """Return what is known of ``site``; raise StoreError."""
        if self._path is None:
            return None
        with closing(Store(self._path, read_only=True)) as store:
            return store.knowledge(site, self._key)

    def put(self, site: str, knowledge: bytes) -> None:
        """Keep nothing."""
