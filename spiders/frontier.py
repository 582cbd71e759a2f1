"""The frontier: which URLs were requested, which pages came, and how many more may be requested."""

from __future__ import annotations

from collections import deque
from typing import Any

from xxhash import xxh3_64_intdigest

from denoise_crawler.spiders.links import canonical_url

_STATE_KEY = "denoise_frontier"
# How many URLs may wait. Further URLs are dropped; later pages bring them again if they are needed.
_MAX_WAITING_PER_PAGE = 20
_MIN_WAITING_LIMIT = 1000


class Frontier:
    """Returns each URL once, and never more at a time than pages are still wanted.

    Each URL that is returned may become a page. So it counts towards the limit until :meth:`mark_answered` is
    called for it. URLs are kept as 64-bit hashes; only those that wait are kept as text.

    Args:
        state: The dict that Scrapy writes to JOBDIR. It gets all that must survive a pause, as plain containers.
        limit: The number of pages, 0 for no limit.
    """

    def __init__(self, state: dict[str, Any], limit: int = 0) -> None:
        self.limit = limit
        self._state: dict[str, Any] = state.setdefault(
            _STATE_KEY, {"asked": set(), "came": set(), "pages": 0, "waiting": [deque(), deque()], "sites": []}
        )
        self._outstanding = 0

    @property
    def pages(self) -> int:
        """The number of pages that became items, also in earlier runs of the job."""
        return int(self._state["pages"])

    @property
    def sites(self) -> list[str]:
        """The sites to which start pages redirected."""
        return list(self._state["sites"])

    def add_site(self, site: str) -> None:
        """Remember a site to which a start page redirected."""
        if site not in self._state["sites"]:
            self._state["sites"].append(site)

    def offer(self, url: str, kind: str, *, page: bool, key: str = "") -> bool:
        """Add a URL unless it was added before; return whether it is new.

        Args:
            url: The URL.
            kind: Returned together with the URL.
            page: Whether the URL promises a page. Such URLs are returned first.
            key: Stands for the URL where two URLs are the same page.

        """
        waiting: deque[tuple[str, str]] = self._state["waiting"][0 if page else 1]
        if self.limit and len(waiting) >= _MIN_WAITING_LIMIT + _MAX_WAITING_PER_PAGE * self.limit:
            return False
        url_hash = _url_hash(key or url)
        if url_hash in self._state["asked"]:
            return False
        self._state["asked"].add(url_hash)
        waiting.append((url, kind))
        return True

    def take(self) -> list[tuple[str, str]]:
        """Return the (URL, kind) pairs that may be requested now."""
        first, later = self._state["waiting"]
        taken: list[tuple[str, str]] = []
        while (first or later) and (not self.limit or self.pages + self._outstanding < self.limit):
            taken.append((first or later).popleft())
            self._outstanding += 1
        return taken

    def mark_answered(self) -> None:
        """Note that a URL has its answer, of whatever kind."""
        self._outstanding = max(0, self._outstanding - 1)

    def resume(self, outstanding: int) -> None:
        """Set how many URLs are in progress: those that a job left scheduled, or none at idle."""
        self._outstanding = outstanding

    def add_page(self, url: str) -> bool:
        """Count a page; return False if the same page came before, for example by a redirect."""
        url_hash = _url_hash(url)
        if url_hash in self._state["came"]:
            return False
        self._state["came"].add(url_hash)
        self._state["pages"] += 1
        return True


def _url_hash(url: str) -> int:
    return xxh3_64_intdigest((canonical_url(url) or url).encode("utf-8", "surrogatepass"))
