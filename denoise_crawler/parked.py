"""What waits in the store: items as bytes, their pages, the responses that these came in."""

from __future__ import annotations

from dataclasses import dataclass

from denoise_crawler.store_file import StoreError


class DamagedRowError(StoreError):
    """A row cannot be read; the file as a whole can."""


@dataclass(slots=True, eq=False)
class ParkedResponse:
    """A response as bytes; only the caller reads them. ``row`` is its number in the file, 0 before it is there."""

    data: bytes
    row: int = 0


@dataclass(slots=True, eq=False)
class ParkedPage:
    """A page of which items wait. ``row`` is its number in the file, 0 before the first of them waits.

    ``origin`` tells whether a later page is the same one. ``response`` is None where nobody knows it.
    """

    site: str
    url: str
    html: str
    origin: bytes
    response: ParkedResponse | None = None
    row: int = 0


@dataclass(frozen=True, slots=True)
class Parked:
    """An item that waits, as bytes. ``page`` is the number of its page: see :meth:`Store.page`."""

    id: int
    site: str
    page: int
    item: bytes
    origin: bytes
    inherited: bool = False
