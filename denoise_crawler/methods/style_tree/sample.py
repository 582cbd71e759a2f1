"""The pages that a tree is made of: a compressed sample of the site's pages."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from denoise_crawler.methods.bottom_k import BottomK
from denoise_crawler.methods.style_tree.codec import PageRecord, pack_page, page_of, record_of, unpack_page
from denoise_crawler.page import TEXT

if TYPE_CHECKING:
    from collections.abc import Iterator

    from denoise_crawler.methods.style_tree.digest import PageDigest

_MAX_UNPACKED_PAGES = 2  # the page that was learned last is judged next
_MAX_LABELS = 100_000


@dataclass(frozen=True, slots=True)
class _PackedPage:
    key: int
    data: bytes


class PageSample:
    """At most ``limit`` pages of a site: those with the lowest hash of their URL.

    A page takes some 7 kB. It is unpacked, in a fraction of a millisecond, when a node needs it.
    """

    def __init__(self, limit: int) -> None:
        self._pages: BottomK[_PackedPage] = BottomK(limit)
        self._cache: dict[int, PageDigest] = {}
        self._numbers: dict[str, int] = {TEXT: 0}
        self._labels = [TEXT]

    @property
    def limit(self) -> int:
        """The most pages to keep."""
        return self._pages.limit

    def __len__(self) -> int:
        return len(self._pages)

    def __contains__(self, key: int) -> bool:
        return key in self._pages

    def __iter__(self) -> Iterator[PageDigest]:
        """Yield the pages in the order of their keys."""
        for one in self._pages:
            yield self._unpack(one)

    def __getitem__(self, key: int) -> PageDigest:
        if (page := self._cache.get(key)) is None:
            one = self._pages.get(key)
            if one is None:
                raise KeyError(key)
            page = self._remember(self._unpack(one))
        return page

    @property
    def labels(self) -> list[str]:
        """The labels by their number in :meth:`records`."""
        return self._labels

    def records(self) -> Iterator[PageRecord]:
        """Yield the pages as they are stored, in the order of their keys."""
        for one in self._pages:
            yield unpack_page(one.data)

    def wants(self, key: int) -> bool:
        """Tell whether the page with ``key`` is new and belongs here."""
        return self._pages.wants(key)

    def add(self, page: PageDigest) -> tuple[PageDigest, list[PageDigest]]:
        """Add ``page``; return it with shared label strings, and the pages it displaces."""
        page.labels = [self._labels[self._number(label)] for label in page.labels]
        displaced = self._pages.add(self._pack(page))
        return self._remember(page), self._unpack_removed(displaced)

    def shrink(self, limit: int) -> list[PageDigest]:
        """Lower the limit; return the pages that are dropped."""
        return self._unpack_removed(self._pages.shrink(limit))

    def _number(self, label: str) -> int:
        if (number := self._numbers.get(label)) is None:
            number = self._numbers[label] = len(self._labels)
            self._labels.append(label)
        return number

    def _pack(self, page: PageDigest) -> _PackedPage:
        return _PackedPage(page.key, pack_page(record_of(page, self._numbers)))

    def _unpack(self, one: _PackedPage) -> PageDigest:
        return page_of(unpack_page(one.data), self._labels)

    def _remember(self, page: PageDigest) -> PageDigest:
        self._cache[page.key] = page
        while len(self._cache) > _MAX_UNPACKED_PAGES:
            del self._cache[next(iter(self._cache))]
        return page

    def _unpack_removed(self, removed: list[_PackedPage]) -> list[PageDigest]:
        pages = [self._unpack(one) for one in removed]
        for page in pages:
            self._cache.pop(page.key, None)
        if len(self._labels) > _MAX_LABELS:
            self._forget_labels()
        return pages

    def _forget_labels(self) -> None:
        """Drop the labels of removed pages and renumber the others."""
        kept = list(self)
        self._numbers, self._labels = {}, []
        self._number(TEXT)
        for label in {label for page in kept for label in page.labels}:
            self._number(label)
        pages: BottomK[_PackedPage] = BottomK(self.limit)
        for page in kept:
            pages.add(self._pack(page))
        self._pages = pages
