"""The interface of stored knowledge about sites, and knowledge in memory."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Mapping


class Knowledge(Protocol):
    """What one method knows of sites, as bytes by site."""

    def get(self, site: str) -> bytes | None:
        """Return what is known of ``site``, or None."""

    def put(self, site: str, known: bytes) -> bool:
        """Store what is ``known`` of ``site``; return whether it is stored, else it is handed over again."""


class InMemoryKnowledge(dict[str, bytes]):
    """Knowledge in memory.

    Args:
        known: What is known at first, by site.
        below: Read, but never written, for sites without knowledge of their own.

    Example:
        >>> knowledge = InMemoryKnowledge(below=InMemoryKnowledge({"a.example": b"old", "b.example": b"old"}))
        >>> knowledge.put("a.example", b"new")
        True
        >>> knowledge.get("a.example"), knowledge.get("b.example")
        (b'new', b'old')

    """

    def __init__(self, known: Mapping[str, bytes] | None = None, *, below: Knowledge | None = None) -> None:
        super().__init__(known or {})
        self._below = below

    def get(self, site: str) -> bytes | None:  # type: ignore[override]
        """Return what is known of ``site``, or None."""
        if site in self or self._below is None:
            return super().get(site)
        return self._below.get(site)

    def put(self, site: str, known: bytes) -> bool:
        """Store what is ``known`` of ``site``."""
        self[site] = known
        return True
