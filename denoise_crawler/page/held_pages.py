"""Pages that are read twice: the first of them stay parsed in memory, the others wait in a temporary file."""

from __future__ import annotations

import pickle
from tempfile import SpooledTemporaryFile
from typing import TYPE_CHECKING

from denoise_crawler.page.page import Page

if TYPE_CHECKING:
    from collections.abc import Iterator

    from typing_extensions import Self

_SPOOLED_BYTES = 64 << 20
_MAX_PARSED_CHARACTERS = 8_000_000


class HeldPages:
    """Takes pages, and gives each back once, in order.

    Example:
        >>> with HeldPages() as held:
        ...     first = held.add("https://a.example/", "<title>One</title>")
        ...     [page.title for page in held]
        ['One']

    """

    def __init__(self) -> None:
        self._parsed: list[Page] = []
        self._room, self._spooled = _MAX_PARSED_CHARACTERS, 0
        self._spool = SpooledTemporaryFile(max_size=_SPOOLED_BYTES)  # noqa: SIM115 - closed by __exit__

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._spool.close()

    def add(self, url: str, html: str | bytes) -> Page:
        """Take a page and return it."""
        page = Page.parse(url, html)
        self._room -= len(html)
        if self._room >= 0:
            self._parsed.append(page)
        else:
            pickle.dump((url[:], html[:]), self._spool)  # sliced: not a subclass, as lxml gives
            self._spooled += 1
        return page

    def __iter__(self) -> Iterator[Page]:
        """Yield the pages in order; each is forgotten when it was yielded."""
        self._parsed.reverse()
        while self._parsed:
            yield self._parsed.pop()
        self._spool.seek(0)
        for _ in range(self._spooled):
            url, html = pickle.load(self._spool)  # noqa: S301 - a file of our own, without a name
            yield Page.parse(url, html)
