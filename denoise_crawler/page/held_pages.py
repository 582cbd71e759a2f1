"""Pages that are read twice: some stay parsed in memory in between."""

from __future__ import annotations

import pickle
from typing import TYPE_CHECKING, Generic, TypeVar

from denoise_crawler.page.page import Page

if TYPE_CHECKING:
    from collections.abc import Iterator

    from typing_extensions import Self

Key = TypeVar("Key")

_SPOOLED_BYTES = 64 << 20
_MAX_PARSED_CHARACTERS = 24_000_000  # a page takes some 15 bytes for each, with its tree and what was found in it


class ParsedPages(Generic[Key]):
    """Parsed pages up to a bound of memory. Each is given back once.

    Example:
        >>> parsed, html = ParsedPages(), "<title>One</title>"
        >>> parsed.hold(1, Page.parse("https://a.example/", html), html)
        True
        >>> parsed.take(1, html).title, parsed.take(1, html)
        ('One', None)

    """

    def __init__(self) -> None:
        self._pages: dict[Key, tuple[Page, str | bytes]] = {}
        self._room = _MAX_PARSED_CHARACTERS

    def hold(self, key: Key, page: Page, html: str | bytes) -> bool:
        """Hold the page that was made of ``html``; return whether there is room, and nothing at this key."""
        if len(html) > self._room or key in self._pages:
            return False
        self._pages[key] = page, html
        self._room -= len(html)
        return True

    def take(self, key: Key, html: str | bytes | None = None) -> Page | None:
        """Give the page back, None if it is not held, or was made of something else than ``html``."""
        page, source = self._pages.get(key, (None, ""))
        if page is None or html not in (None, source):
            return None
        del self._pages[key]
        self._room += len(source)
        return page


class HeldPages:
    """Takes pages, and gives each back once, in order: behind the parsed ones those of a temporary file.

    Example:
        >>> with HeldPages() as held:
        ...     first = held.add("https://a.example/", "<title>One</title>")
        ...     [page.title for page in held]
        ['One']

    """

    def __init__(self) -> None:
        self._parsed = ParsedPages[int]()
        from tempfile import SpooledTemporaryFile  # late: most processes hold none

        self._held = self._spooled = 0
        self._spool = SpooledTemporaryFile(max_size=_SPOOLED_BYTES)  # noqa: SIM115 - closed by __exit__

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._spool.close()

    def add(self, url: str, html: str | bytes) -> Page:
        """Take a page and return it."""
        page = Page.parse(url, html)
        if not self._spooled and self._parsed.hold(self._held, page, html):
            self._held += 1
        else:
            pickle.dump((url[:], html[:]), self._spool)  # sliced: not a subclass, as lxml gives
            self._spooled += 1
        return page

    def __iter__(self) -> Iterator[Page]:
        """Yield the pages in order; each is forgotten when it was yielded."""
        for number in range(self._held):
            if (page := self._parsed.take(number)) is not None:
                yield page
                del page
        self._spool.seek(0)
        for _ in range(self._spooled):
            url, html = pickle.load(self._spool)  # noqa: S301 - a file of our own, without a name
            yield Page.parse(url, html)
