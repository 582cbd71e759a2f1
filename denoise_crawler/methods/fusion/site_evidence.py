"""What the pages of a site say of one of them: which texts come back, what each path holds."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from denoise_crawler import kernel
from denoise_crawler.methods.bottom_k_sample import BottomKSample
from denoise_crawler.methods.fusion import sketch as codec
from denoise_crawler.methods.fusion.sketch import MAX_BLOCKS, distinct, sketch, texts_hash

if TYPE_CHECKING:
    from denoise_crawler.kernel.columns import Blocks, Numbers, SiteStats, Sketch


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
        self.sample: BottomKSample[Sketch] = BottomKSample(max_pages, _encoded)
        self._with_texts: dict[int, set[int]] = {}  # the keys of pages with the same texts
        self._sums: Any = kernel.active.SiteSums()
        self._removed = 0  # pages whose texts and paths the sums still number

    @property
    def repeated(self) -> int:
        """How many texts come back on the pages of the site."""
        repeated: int = self._sums.repeated
        return repeated

    def add(self, key: int, blocks: Blocks, scores: Numbers) -> None:
        """Learn a page by its ``blocks`` and the ``scores`` they have without its site."""
        if self.sample.wants(key):
            self._unite([sketch(key, blocks, scores)])

    def merge(self, other: SiteEvidence) -> None:
        """Learn the pages of ``other``."""
        self._unite(list(other.sample))

    def merge_bytes(self, data: bytes) -> None:
        """Learn pages that :meth:`to_bytes` wrote; raise :class:`codec.EvidenceFormatError` for other bytes."""
        self._unite(codec.decode(data))

    def to_bytes(self) -> bytes:
        """Write the sketches: equal sets give equal bytes."""
        return codec.encode(list(self.sample))

    def site_stats_for(self, key: int, blocks: Blocks) -> SiteStats | None:
        """Return what the other pages say of the page with this key; None if there are none.

        A page with the same texts is no other page, and one with most of the same running text says nothing of
        that: it is a copy of the article.
        """
        own = key if key in self._sums else None
        if own is None:
            texts = texts_hash(distinct(blocks.masked_hashes[:MAX_BLOCKS]))
            own = min(self._with_texts.get(texts, ()), default=None)
        if len(self._sums) == (own is not None):
            return None
        site_stats: SiteStats = self._sums.site_stats_for(blocks, own)
        return site_stats

    def novelty(self, blocks: Blocks) -> float:
        """Return the share of the characters of ``blocks`` that stand where no page of the site has any."""
        novelty: float = self._sums.novelty(blocks)
        return novelty

    def _unite(self, sketches: Sequence[Sketch]) -> None:
        for one in sketches:
            gone = self.sample.add(one)
            for old in gone:
                self._leave(old)
            if self.sample.get(one.key) is one:
                self._enter(one)
        if self._removed > self.sample.limit // 2:
            self._sums, self._removed = kernel.active.SiteSums(), 0
            for keys in self._with_texts.values():
                self._count(min(keys))

    def _enter(self, one: Sketch) -> None:
        keys = self._with_texts.setdefault(texts_hash(one.masked), set())
        if not keys or one.key < min(keys):
            if keys:
                self._uncount(min(keys))
            self._count(one.key)
        keys.add(one.key)

    def _leave(self, old: Sketch) -> None:
        keys = self._with_texts[texts := texts_hash(old.masked)]
        keys.discard(old.key)
        if not keys:
            del self._with_texts[texts]
        if old.key in self._sums:
            self._uncount(old.key)
            if keys:
                self._count(min(keys))

    def _count(self, key: int) -> None:
        self._sums.add(self.sample[key])

    def _uncount(self, key: int) -> None:
        self._sums.remove(key)
        self._removed += 1


def _encoded(one: Sketch) -> bytes:
    return codec.encode([one])
