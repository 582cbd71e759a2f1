"""The pages that a tree is laid over: a sample of the site's, packed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from denoise_crawler.methods.bottom_k import BottomK
from denoise_crawler.methods.style_tree.codec import PageRecord, packed, page_of, record_of, unpacked
from denoise_crawler.page import TEXT

if TYPE_CHECKING:
    from collections.abc import Iterator

    from denoise_crawler.methods.style_tree.digest import PageDigest

_AT_HAND = 2  # pages that stay unpacked: the one that was learned last is judged next
_MOST_LABELS = 100_000


@dataclass(frozen=True, slots=True)
class _Packed:
    key: int
    data: bytes


class PageSample:
    """At most ``limit`` pages of a site, those with the lowest hash of their address.

    A page takes some 7 kB; it is unpacked, in a fraction of a millisecond, when a node asks for it.
    """

    def __init__(self, limit: int) -> None:
        self._pages: BottomK[_Packed] = BottomK(limit)
        self._at_hand: dict[int, PageDigest] = {}
        self._numbers: dict[str, int] = {TEXT: 0}
        self._labels = [TEXT]

    @property
    def limit(self) -> int:
        """How many pages there may be."""
        return self._pages.limit

    def __len__(self) -> int:
        return len(self._pages)

    def __contains__(self, key: int) -> bool:
        return key in self._pages

    def __iter__(self) -> Iterator[PageDigest]:
        """Yield the pages in the order of their keys."""
        for one in self._pages:
            yield self._unpacked(one)

    def __getitem__(self, key: int) -> PageDigest:
        if (page := self._at_hand.get(key)) is None:
            one = self._pages.get(key)
            if one is None:
                raise KeyError(key)
            page = self._keep_at_hand(self._unpacked(one))
        return page

    @property
    def labels(self) -> list[str]:
        """What the numbers in :meth:`records` stand for."""
        return self._labels

    def records(self) -> Iterator[PageRecord]:
        """Yield the pages as they are written, in the order of their keys."""
        for one in self._pages:
            yield unpacked(one.data)

    def wants(self, key: int) -> bool:
        """Tell whether the page with ``key`` is new and belongs here."""
        return self._pages.wants(key)

    def add(self, page: PageDigest) -> tuple[PageDigest, list[PageDigest]]:
        """Take ``page``; return it with the labels that are kept here anyway, and what had to leave for it."""
        page.labels = [self._labels[self._number(label)] for label in page.labels]
        gone = self._pages.add(self._packed(page))
        return self._keep_at_hand(page), self._leaving(gone)

    def shrink(self, limit: int) -> list[PageDigest]:
        """Lower the limit to ``limit`` and return what had to leave."""
        return self._leaving(self._pages.shrink(limit))

    def _number(self, label: str) -> int:
        if (number := self._numbers.get(label)) is None:
            number = self._numbers[label] = len(self._labels)
            self._labels.append(label)
        return number

    def _packed(self, page: PageDigest) -> _Packed:
        return _Packed(page.key, packed(record_of(page, self._numbers)))

    def _unpacked(self, one: _Packed) -> PageDigest:
        return page_of(unpacked(one.data), self._labels)

    def _keep_at_hand(self, page: PageDigest) -> PageDigest:
        self._at_hand[page.key] = page
        while len(self._at_hand) > _AT_HAND:
            del self._at_hand[next(iter(self._at_hand))]
        return page

    def _leaving(self, gone: list[_Packed]) -> list[PageDigest]:
        pages = [self._unpacked(one) for one in gone]
        for page in pages:
            self._at_hand.pop(page.key, None)
        if len(self._labels) > _MOST_LABELS:
            self._forget_labels()
        return pages

    def _forget_labels(self) -> None:
        """Drop the labels of pages long gone, and number the others anew."""
        kept = list(self)
        self._numbers, self._labels = {}, []
        self._number(TEXT)
        for label in {label for page in kept for label in page.labels}:
            self._number(label)
        pages: BottomK[_Packed] = BottomK(self.limit)
        for page in kept:
            pages.add(self._packed(page))
        self._pages = pages
