"""What waits in the store: items as bytes, their pages, the responses that these came in."""

from __future__ import annotations

from dataclasses import dataclass

from denoise_crawler.methods.versioned_format import MAX_BYTES


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

    def is_storable(self) -> bool:
        """Tell whether neither the HTML nor the response is larger than what is read again."""
        others = len(self.response.data) if self.response is not None else 0
        return max(others, len(self.html)) <= MAX_BYTES and len(self.html.encode("utf-8", "replace")) <= MAX_BYTES


@dataclass(frozen=True, slots=True)
class Parked:
    """An item that waits, as bytes.

    ``row`` is the number of the row it was read from, ``page`` that of its page: see :meth:`Store.page`.
    """

    id: int
    row: int
    site: str
    page: int
    item: bytes
    origin: bytes
    inherited: bool = False
