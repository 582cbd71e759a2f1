"""Waiting items as bytes, their pages, and the responses of these."""

from __future__ import annotations

from dataclasses import dataclass

from denoise_crawler.methods.versioned_format import MAX_BYTES


@dataclass(slots=True, eq=False)
class ParkedResponse:
    """A response as bytes that only the caller reads; ``row`` is its row id, 0 before it is stored."""

    data: bytes
    row: int = 0


@dataclass(slots=True, eq=False)
class ParkedPage:
    """A page with waiting items; ``row`` is its row id, 0 before it is stored.

    Pages with the same ``origin`` are the same page. ``response`` is None if it is unknown.
    """

    site: str
    url: str
    html: str
    origin: bytes
    response: ParkedResponse | None = None
    row: int = 0

    def is_storable(self) -> bool:
        """Return True if the HTML and the response are small enough to be read back."""
        others = len(self.response.data) if self.response is not None else 0
        return max(others, len(self.html)) <= MAX_BYTES and len(self.html.encode("utf-8", "replace")) <= MAX_BYTES


@dataclass(frozen=True, slots=True)
class Parked:
    """A waiting item as bytes; ``id`` is its row id, ``page`` that of its page (see :meth:`Store.page`)."""

    id: int
    site: str
    page: int
    item: bytes
    origin: bytes
    inherited: bool = False
