"""What the pages of a site say of one of them: which texts come back, what each path holds."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from denoise_crawler import kernel
from denoise_crawler.methods.bottom_k_sample import BottomKSample
from denoise_crawler.methods.fusion import sketch as codec
from denoise_crawler.methods.fusion.sketch import MAX_BLOCKS, Copies, distinct, sketch, texts_digest

if TYPE_CHECKING:
    from denoise_crawler.kernel.columns import Blocks, Numbers, Sketch, Standing


class SiteEvidence:
    """The sketches of at most ``max_pages`` pages of a site: those with the lowest hash of their address.

    So they are a uniform random sample, the same in any order of learning, and ``merge`` is a union of which
    the lowest stay: exact, associative, commutative and idempotent. A page is learned once; of two sketches of
    one address the one with the lower bytes stays. Of pages with the same texts, numbers in them alike, only the
    one with the lowest hash is counted, so that a page that comes back under a thousand addresses says no more
    than once.
    """

    def __init__(self, max_pages: int) -> None:
        if max_pages < 1:
            raise ValueError(f"max_pages must be at least 1, not {max_pages}")
        self._sketches: BottomKSample[Sketch] = BottomKSample(max_pages, _encoded)
        self._copies = Copies()
        self._sums: Any = kernel.active.SiteSums()
        self._removed = 0  # pages whose texts and paths the sums still number

    def __len__(self) -> int:
        return len(self._sketches)

    def __contains__(self, key: int) -> bool:
        return key in self._sketches

    @property
    def max_pages(self) -> int:
        """How many pages are kept."""
        return self._sketches.limit

    @property
    def repeated(self) -> int:
        """How many texts come back on the pages of the site."""
        repeated: int = self._sums.repeated
        return repeated

    def wants(self, key: int) -> bool:
        """Return True if learning the page with this key would change anything."""
        return self._sketches.wants(key)

    def add(self, key: int, blocks: Blocks, scores: Numbers) -> None:
        """Learn a page by its ``blocks`` and the ``scores`` they have without its site."""
        if self.wants(key):
            self._unite([sketch(key, blocks, scores)])

    def merge(self, other: SiteEvidence) -> None:
        """Learn the pages of ``other``."""
        self._unite(list(other._sketches))

    def merge_bytes(self, data: bytes) -> None:
        """Learn pages that :meth:`to_bytes` wrote; raise :class:`codec.EvidenceFormatError` for other bytes."""
        self._unite(codec.decode(data))

    def to_bytes(self) -> bytes:
        """Write the sketches: equal sets give equal bytes."""
        return codec.encode(list(self._sketches))

    def standing(self, key: int, blocks: Blocks) -> Standing | None:
        """Return what the other pages say of the page with this key; None if there are none.

        A page with the same texts is no other page, and one with most of the same running text says nothing of
        that: it is a copy of the article.
        """
        own = key if key in self._sums else None
        if own is None:
            own = self._copies.first(texts_digest(distinct(blocks.masked_hashes[:MAX_BLOCKS])))
        if len(self._sums) == (own is not None):
            return None
        standing: Standing = self._sums.standing(blocks, own)
        return standing

    def novelty(self, blocks: Blocks) -> float:
        """Return the share of the characters of ``blocks`` that stand where no page of the site has any."""
        novelty: float = self._sums.novelty(blocks)
        return novelty

    def _unite(self, sketches: Sequence[Sketch]) -> None:
        for one in sketches:
            gone = self._sketches.add(one)
            for old in gone:
                self._leave(old)
            if self._sketches.get(one.key) is one:
                self._enter(one)
        if self._removed > self.max_pages // 2:
            self._sums, self._removed = kernel.active.SiteSums(), 0
            for key in self._copies.firsts():
                self._count(key)

    def _enter(self, one: Sketch) -> None:
        texts = texts_digest(one.masked)
        first = self._copies.first(texts)
        if first != self._copies.add(texts, one.key):
            if first is not None:
                self._uncount(first)
            self._count(one.key)

    def _leave(self, old: Sketch) -> None:
        first = self._copies.discard(texts_digest(old.masked), old.key)
        if old.key in self._sums:
            self._uncount(old.key)
            if first is not None:
                self._count(first)

    def _count(self, key: int) -> None:
        one = self._sketches.get(key)
        assert one is not None  # noqa: S101 - what is noted as a copy is in the sample
        self._sums.add(one)

    def _uncount(self, key: int) -> None:
        self._sums.remove(key)
        self._removed += 1


def _encoded(one: Sketch) -> bytes:
    return codec.encode([one])
