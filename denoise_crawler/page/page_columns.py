"""What is known of a page, kept without its tree: a tenth of the memory, and none of the second parse."""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from sys import getsizeof
from typing import TYPE_CHECKING, overload

from denoise_crawler.page.nodes import Nodes
from denoise_crawler.page.page import Page

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from denoise_crawler.page.nodes import Element

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
