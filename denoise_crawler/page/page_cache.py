"""Pages that are read twice stay in memory in between, parsed or as columns: a tenth of the memory."""

from __future__ import annotations

import pickle
from array import array
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from sys import getsizeof
from typing import TYPE_CHECKING, Generic, TypeVar, overload

from cachetools import LRUCache

from denoise_crawler.page.nodes import Element, Nodes
from denoise_crawler.page.page import Page

if TYPE_CHECKING:
    from typing_extensions import Self

_BYTES_OF_NODE = 60  # its tag, its numbers, and what is worked out of it


class PageColumns:
    """The nodes of a page and what was worked out of it, without its tree.

    Args:
        page: The page; it must not be skipped.
        known: What to keep: functions whose results hold no element. What they return is worked out now.

    Attributes:
        size: About how many bytes it holds.

    Example:
        >>> page = Page.parse("https://a.example/", html := "<title>One</title><p>A story.")
        >>> columns = PageColumns(page, known=[])
        >>> columns.page(html).title, columns.page(html).nodes.texts[-1]
        ('One', 'A story.')
    """

    def __init__(self, page: Page, known: Iterable[Callable[[Page], object]]) -> None:
        nodes = page.nodes
        self._url, self._site, self._boxes = page.url, page.site, page.boxes
        self._tags, self._texts = nodes.tags, list(nodes.texts)
        numbers = nodes.parents, nodes.ends, nodes.links, page.characters
        self._numbers = [array("i", column) for column in numbers]
        self._read = {name: getattr(page, name) for name in ("title", "language", "base", "key", "skipped")}
        self._known = {make: page.once(make) for make in known}
        texts = sum(getsizeof(text) for text in self._texts if text)
        self.size = _BYTES_OF_NODE * len(nodes) + 2 * texts + len(page.source) // 2

    def page(self, html: str | bytes) -> Page:
        """Return the page again; ``html`` is what it was made of, and is parsed only if an element is needed."""
        whole = Page.parse(self._url, html, site=self._site, boxes=self._boxes)
        parents, ends, links, characters = (column.tolist() for column in self._numbers)
        elements = _LateElements(whole, len(self._tags))
        nodes = Nodes(self._tags, parents, ends, self._texts, links, elements)
        read = {**self._read, "characters": characters}
        return Page.of_columns(whole, nodes, read, self._known)


class _LateElements(Sequence["Element"]):
    """The elements of a page, which is parsed when the first is asked for."""

    def __init__(self, page: Page, count: int) -> None:
        self._page, self._count = page, count

    def __len__(self) -> int:
        return self._count

    @overload
    def __getitem__(self, index: int) -> Element: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Element]: ...
    def __getitem__(self, index: int | slice) -> Element | Sequence[Element]:
        return self._page.nodes.elements[index]

    def __iter__(self) -> Iterator[Element]:
        return iter(self._page.nodes.elements)


Key = TypeVar("Key")
T = TypeVar("T")

_SPOOLED_BYTES = 64 << 20
_BYTES_OF_CHARACTER = 15  # of a parsed page, with its tree and what was worked out of it
MAX_BYTES = 360_000_000
WINDOW_PAGES = 64
WINDOW_CHARACTERS = 4_000_000


class ParsedPages(Generic[Key]):
    """Pages up to a bound of memory, parsed or as columns. Each is given back once.

    Args:
        most: How many bytes they may hold, about; MAX_BYTES if not given.

    Example:
        >>> kept, html = ParsedPages(), "<title>One</title>"
        >>> kept.keep(1, Page.parse("https://a.example/", html), html)
        True
        >>> kept.take(1, html).title, kept.take(1, html)
        ('One', None)
    """

    def __init__(self, most: int | None = None) -> None:
        self._pages: dict[Key, tuple[Page | PageColumns, int, tuple[int, int]]] = {}
        self._room = MAX_BYTES if most is None else most

    def keep(self, key: Key, page: Page | PageColumns, html: str | bytes) -> bool:
        """Keep a page that was made of ``html``; return whether there is room, and nothing at this key."""
        size = page.size if isinstance(page, PageColumns) else _BYTES_OF_CHARACTER * len(html)
        if size > self._room or key in self._pages:
            return False
        self._pages[key] = page, size, _print_of(html)
        self._room -= size
        return True

    def take(self, key: Key, html: str | bytes) -> Page | None:
        """Remove the page and return it; None if it is not kept, or was made of other HTML than ``html``."""
        if key not in self._pages or self._pages[key][2] != _print_of(html):
            return None
        page, size, _ = self._pages.pop(key)
        self._room += size
        return page.page(html) if isinstance(page, PageColumns) else page


def _print_of(html: str | bytes) -> tuple[int, int]:
    """Return a hash of ``html``. It is keyed for this process, so no page can be made to collide with another."""
    return len(html), hash(html)


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
