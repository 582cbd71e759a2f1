"""The frontier: which addresses were asked for, which pages came, and how many more may be asked for."""

from __future__ import annotations

from collections import deque
from typing import Any

from xxhash import xxh3_64_intdigest

from denoise_crawler.spiders.links import canonical_url

_STATE = "denoise_frontier"
# So many addresses may wait per page still wanted; what is beyond is found again by later pages, if needed.
_WAITING_PER_PAGE = 20
_WAITING_AT_LEAST = 1000


class Frontier:
    """Hands out each address once and never more at a time than pages are still wanted.

    ``limit`` is the number of pages (0 = no limit). All that must outlive a pause is kept in ``state``, the
    dictionary Scrapy writes to JOBDIR, as plain containers; addresses are kept as 64-bit hashes, only those
    that wait for a place under the limit as text. Every address handed out takes a place until
    :meth:`answered` is called for it: a page may still come of it.
    """

    def __init__(self, state: dict[str, Any], limit: int = 0) -> None:
        self.limit = limit
        self._kept: dict[str, Any] = state.setdefault(
            _STATE,
            {"asked": set(), "came": set(), "pages": 0, "waiting": [deque(), deque()], "sites": []},
        )
        self._outstanding = 0

    @property
    def pages(self) -> int:
        """The number of pages that became items, earlier runs of the same job included."""
        return int(self._kept["pages"])

    @property
    def sites(self) -> list[str]:
        """The sites start pages led to by a redirect."""
        return list(self._kept["sites"])

    def add_site(self, site: str) -> None:
        """Remember a site a start page led to."""
        if site not in self._kept["sites"]:
            self._kept["sites"].append(site)

    def offer(self, url: str, kind: str, *, page: bool, key: str = "") -> bool:
        """Take an address in unless it was taken before; True if it is new.

        ``kind`` is handed back with it. Those that promise a page (``page``) go before the others. ``key``
        stands for the address where two addresses are the same page.
        """
        waiting: deque[tuple[str, str]] = self._kept["waiting"][0 if page else 1]
        if self.limit and len(waiting) >= _WAITING_AT_LEAST + _WAITING_PER_PAGE * self.limit:
            return False
        mark = _mark(key or url)
        if mark in self._kept["asked"]:
            return False
        self._kept["asked"].add(mark)
        waiting.append((url, kind))
        return True

    def take(self) -> list[tuple[str, str]]:
        """Return the (address, kind) pairs that may be asked for now."""
        first, later = self._kept["waiting"]
        taken: list[tuple[str, str]] = []
        while (first or later) and (not self.limit or self.pages + self._outstanding < self.limit):
            taken.append((first or later).popleft())
            self._outstanding += 1
        return taken

    def answered(self) -> None:
        """Say that one address handed out has its answer, of whatever kind."""
        self._outstanding = max(0, self._outstanding - 1)

    def resume(self, outstanding: int) -> None:
        """Say how many addresses are really on their way: those a job left scheduled, or none at idle."""
        self._outstanding = outstanding

    def page_came(self, url: str) -> bool:
        """Count a page; False, and not counted, if the same page came before (by a redirect)."""
        mark = _mark(url)
        if mark in self._kept["came"]:
            return False
        self._kept["came"].add(mark)
        self._kept["pages"] += 1
        return True


def _mark(url: str) -> int:
    return xxh3_64_intdigest((canonical_url(url) or url).encode("utf-8", "surrogatepass"))
