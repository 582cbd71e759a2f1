"""The rows of a store: waiting items with their pages and responses, and what is known of each site."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

from denoise_crawler.methods.stored_bytes import MAX_BYTES


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
        """Return True if the HTML and the response are small enough to be read back, as those in a store are."""
        if self.row:
            return True
        others = len(self.response.data) if self.response is not None else 0
        return max(others, len(self.html)) <= MAX_BYTES and len(self.html.encode("utf-8", "replace")) <= MAX_BYTES


class Parked(NamedTuple):
    """A waiting item as bytes; ``id`` is its row id, ``page`` that of its page (see :meth:`Store.page`)."""

    id: int
    site: str
    page: int
    item: bytes
    inherited: int = 0


class WaitingPage(NamedTuple):
    """A page with waiting items: its key and its site, and the row of the first of them."""

    origin: bytes
    site: str
    first: int


@dataclass(frozen=True, slots=True)
class SiteState:
    """The progress of a site: pages seen so far, and whether its warm-up is over."""

    pages_seen: int = 0
    ready: bool = False


@dataclass(slots=True)
class StoredSite:
    """A site by all methods.

    Attributes:
        states: Its progress, by the store key of the method.
        known_by: The store keys of the methods that know it.
        waiting: How many of its items wait, of all runs.
    """

    states: dict[str, SiteState] = field(default_factory=dict)
    known_by: list[str] = field(default_factory=list)
    waiting: int = 0
