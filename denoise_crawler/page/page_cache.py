"""Pages that are read twice stay parsed in between, while there is room; what was made of those used last."""

from __future__ import annotations

import pickle
from collections import deque
from collections.abc import Iterator
from typing import TYPE_CHECKING, Generic, TypeVar

from cachetools import LRUCache

from denoise_crawler.page.page import Page

if TYPE_CHECKING:
    from typing_extensions import Self

Key = TypeVar("Key")
T = TypeVar("T")

_SPOOLED_BYTES = 64 << 20
_BYTES_OF_CHARACTER = 15  # of a parsed page, with its tree and what was worked out of it
MAX_BYTES = 360_000_000
WINDOW_PAGES = 64
WINDOW_CHARACTERS = 4_000_000


class ParsedPages:
    """Pages up to a bound of memory. Each is given back once.

    Example:
        >>> pages, html = ParsedPages(), "<title>One</title>"
        >>> pages.keep(Page.parse("https://a.example/", html), html)
        >>> pages.take("a.example", "https://a.example/", html).title
        'One'
        >>> pages.take("a.example", "https://a.example/", html)
    """

    def __init__(self) -> None:
        self._pages: dict[tuple[str, str, int], Page] = {}
        self._room = MAX_BYTES // _BYTES_OF_CHARACTER

    def keep(self, page: Page, html: str | bytes) -> None:
        """Keep a page that was made of ``html``, if there is room."""
        key = page.site, page.url, hash(html)
        if len(html) <= self._room and key not in self._pages:
            self._pages[key] = page
            self._room -= len(html)

    def take(self, site: str, url: str, html: str | bytes) -> Page | None:
        """Remove the page and return it; None if it is not kept, or was made of other HTML than ``html``."""
        page = self._pages.pop((site, url, hash(html)), None)
        if page is not None:
            self._room += len(html)
        return page


class PageCache(Generic[Key, T]):
    """A cache of what was made of pages: those used last. At least one stays, whatever its size.

    Args:
        pages: How many there may be.
        characters: How many characters of HTML they may have.

    Example:
        >>> cache = PageCache()
        >>> cache.add(1, 3_000_000, "one")
        >>> cache.add(2, 3_000_000, "two")
        >>> cache.get(1), cache.get(2)
        (None, 'two')
        >>> cache.has(2)
        True
    """

    def __init__(self, pages: int = WINDOW_PAGES, characters: int = WINDOW_CHARACTERS) -> None:
        self._cache: LRUCache[Key, tuple[int, T]] = LRUCache(characters, lambda entry: entry[0])
        self._least, self._most = characters // pages, characters

    def get(self, key: Key) -> T | None:
        """Return what is kept of a page, None if it was dropped or never added."""
        entry = self._cache.get(key)
        return None if entry is None else entry[1]

    def has(self, key: Key) -> bool:
        """Return True if a page is there; then it has been used now."""
        return self._cache.get(key) is not None

    def add(self, key: Key, characters: int, value: T) -> None:
        """Add a page that is not there; drop the oldest pages that are too many."""
        self._cache[key] = min(max(characters, self._least), self._most), value


class PageSpool:
    """Pages that are read twice, in order: the first stay parsed, the others lie in a temporary file.

    Example:
        >>> with PageSpool() as spool:
        ...     first = spool.add("https://a.example/", "<title>One</title>")
        ...     [page.title for page in spool]
        ['One']
    """

    def __init__(self) -> None:
        self._parsed = deque[Page]()
        self._room = MAX_BYTES // _BYTES_OF_CHARACTER
        from tempfile import SpooledTemporaryFile  # late: most processes hold none

        self._spooled = 0
        self._spool = SpooledTemporaryFile(max_size=_SPOOLED_BYTES)  # noqa: SIM115 - closed by __exit__

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._spool.close()

    def add(self, url: str, html: str | bytes) -> Page:
        """Remove a page and return it."""
        page = Page.parse(url, html)
        if not self._spooled and len(html) <= self._room:
            self._parsed.append(page)
            self._room -= len(html)
        else:
            pickle.dump((url[:], html[:]), self._spool)  # sliced: not a subclass, as lxml gives
            self._spooled += 1
        return page

    def __iter__(self) -> Iterator[Page]:
        """Yield the pages in order; each is forgotten when it was yielded."""
        while self._parsed:
            yield self._parsed.popleft()
        self._spool.seek(0)
        for _ in range(self._spooled):
            url, html = pickle.load(self._spool)  # noqa: S301 - a file of our own, without a name
            yield Page.parse(url, html)
