"""What the pages of a site say of one of them: which texts come back, what each path holds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from denoise_crawler.bottom_k import BottomK
from denoise_crawler.fusion import codec
from denoise_crawler.fusion.site_sums import SiteSums
from denoise_crawler.fusion.sketch import sketch

if TYPE_CHECKING:
    from collections.abc import Iterable

    from denoise_crawler.fusion.blocks import Blocks, Numbers
    from denoise_crawler.fusion.sketch import Sketch


@dataclass(frozen=True, slots=True, eq=False)
class Standing:
    """What ``pages`` other pages of the site say of one page.

    By block, the number of those pages that have its text, its text with every number alike, and the link it
    begins with. By block-level element, what stands on its path, summed over those pages: ``path_pages`` that
    have it, ``path_elements``, ``path_characters``, ``path_linked`` and ``path_repeated`` (characters of texts
    that come back).
    """

    pages: int
    texts: Numbers
    masked: Numbers
    links: Numbers
    path_pages: Numbers
    path_elements: Numbers
    path_characters: Numbers
    path_linked: Numbers
    path_repeated: Numbers


class SiteEvidence:
    """The sketches of at most ``max_pages`` pages of a site: those with the lowest hash of their address.

    So they are a uniform random sample, the same in any order of learning, and ``merge`` is a union of which
    the lowest stay: exact, associative, commutative and idempotent. A page is learned once; of two sketches of
    one address the one with the lower bytes stays.
    """

    def __init__(self, max_pages: int) -> None:
        if max_pages < 1:
            raise ValueError(f"max_pages must be at least 1, not {max_pages}")
        self._sketches: BottomK[Sketch] = BottomK(max_pages, _encoded)
        self._sums = SiteSums()
        self._removed = 0  # pages whose texts and paths the sums still number

    def __len__(self) -> int:
        return len(self._sketches)

    def __contains__(self, key: int) -> bool:
        return key in self._sketches

    @property
    def max_pages(self) -> int:
        """How many pages are kept."""
        return self._sketches.limit

    def wants(self, key: int) -> bool:
        """Tell whether learning the page with this key would change anything."""
        return self._sketches.wants(key)

    def add(self, key: int, blocks: Blocks) -> None:
        """Learn a page by its ``blocks``."""
        if self.wants(key):
            self._unite([sketch(key, blocks)])

    def merge(self, other: SiteEvidence) -> None:
        """Learn the pages of ``other``."""
        self._unite(other._sketches)

    def merge_bytes(self, data: bytes) -> None:
        """Learn pages that :meth:`to_bytes` wrote; raise :class:`codec.EvidenceFormatError` for other bytes."""
        self._unite(codec.decode(data))

    def to_bytes(self) -> bytes:
        """Write the sketches: equal sets give equal bytes."""
        return codec.encode(list(self._sketches))

    def standing(self, key: int, blocks: Blocks) -> Standing | None:
        """Return what the other pages say of the page with this key; None if there are none."""
        own = key if key in self._sketches else None
        pages = len(self) - (own is not None)
        return Standing(pages, *self._sums.of(blocks, own)) if pages else None

    def _unite(self, sketches: Iterable[Sketch]) -> None:
        for one in sketches:
            gone = self._sketches.add(one)
            for old in gone:
                self._sums.remove(old.key)
            if self._sketches.get(one.key) is one and one.key not in self._sums:
                self._sums.add(one)
            self._removed += len(gone)
        if self._removed > self.max_pages:
            self._sums, self._removed = SiteSums(), 0
            for one in self._sketches:
                self._sums.add(one)


def _encoded(one: Sketch) -> bytes:
    return codec.encode([one])
