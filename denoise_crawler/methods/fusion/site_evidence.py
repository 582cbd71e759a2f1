"""What the pages of a site say of one of them: which texts come back, what each path holds; its sketches."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields
from typing import TYPE_CHECKING, Any

import msgspec
import numpy as np
from xxhash import xxh3_64_intdigest

from denoise_crawler import kernel
from denoise_crawler.kernel.columns import HUNDREDTHS, Sketch
from denoise_crawler.methods.bottom_k_sample import BottomKSample
from denoise_crawler.methods.stored_bytes import VersionedFormat
from denoise_crawler.page import MAX_ELEMENTS

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from denoise_crawler.kernel.columns import Blocks, Hashes, Numbers, SiteStats


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
        self.sample: BottomKSample[Sketch] = BottomKSample(max_pages, lambda one: encode([one]))
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
        """Learn pages that :meth:`to_bytes` wrote; raise :class:`KnowledgeFormatError` for other bytes."""
        self._unite(decode(data))

    def to_bytes(self) -> bytes:
        """Write the sketches: equal sets give equal bytes."""
        return encode(list(self.sample))

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


# --- what a site keeps of one page, a few kilobytes of hashes, and how it is written


def distinct(hashes: Hashes) -> Hashes:
    """Return the distinct ``hashes``, ascending."""
    ascending = hashes.copy()
    ascending.sort()
    differs = np.ones(len(ascending), np.bool_)
    np.not_equal(ascending[1:], ascending[:-1], out=differs[1:])
    return ascending[differs]


MAX_BLOCKS = 20_000
MOST_SCORE = 8.0


def texts_hash(distinct_masked: Hashes) -> int:
    """Return what pages with the same texts share, numbers in them alike, whatever their address."""
    digest: int = xxh3_64_intdigest(distinct_masked.tobytes())
    return digest


def sketch(key: int, blocks: Blocks, scores: Numbers) -> Sketch:
    """Reduce a page's ``blocks`` (the first ``MAX_BLOCKS``) to what its site keeps of them.

    ``scores`` are those of a look at the page alone, which knows nothing of its site: so a sketch is the same
    whenever the page is learned.
    """
    around, limit = blocks.around, MAX_BLOCKS
    with_text = np.flatnonzero((around.last > around.first) & (around.first < limit))
    paths = around.paths[with_text]
    _, firsts, group = np.unique(paths, return_index=True, return_inverse=True)
    order = np.argsort(firsts)  # as they come in the page: parents first
    first, path_of_some = firsts[order], np.argsort(order)[group]
    path_of = np.zeros(len(around), np.int64)
    path_of[with_text] = path_of_some
    parents = path_of[around.parents[with_text[first]]]
    parents[:1] = -1
    styles = distinct(blocks.styles[:limit])
    style_of = styles.searchsorted(blocks.styles[:limit])
    tokens = blocks.tokens[:limit]
    scored = np.bincount(style_of, weights=np.clip(scores[:limit], -MOST_SCORE, MOST_SCORE) * tokens)
    return Sketch(
        key,
        paths[first],
        parents.astype(np.int32),
        np.bincount(path_of_some, minlength=len(first)).astype(np.int32),
        path_of[blocks.elements[:limit]].astype(np.int32),
        blocks.text_hashes[:limit],
        blocks.characters[:limit].astype(np.int32),
        blocks.linked[:limit].astype(np.int32),
        np.where(blocks.shapes == blocks.text_hashes, np.uint32(0), blocks.shapes)[:limit],
        distinct(blocks.masked_hashes[:limit]),
        distinct(blocks.link_hashes[:limit]),
        styles,
        np.bincount(style_of, weights=tokens).astype(np.int32),
        np.rint(HUNDREDTHS * scored).astype(np.int32),
    )


# --- the bytes of a site's sketches: versioned, compressed, data only

_FORMAT = VersionedFormat(b"FSE\x05", "site evidence")

_MOST_PATHS = 2 * MAX_ELEMENTS  # the parser adds elements that the page leaves out
_MOST_CHARACTERS = np.iinfo(np.int32).max
_COLUMNS = tuple(field.name for field in fields(Sketch))[1:]
_HASHES = frozenset({"paths", "texts", "shapes", "masked", "links", "styles"})


class _Record(msgspec.Struct, array_like=True):
    key: int
    columns: list[bytes]  # those of a sketch, in its order, as 32-bit numbers


def encode(sketches: Sequence[Sketch]) -> bytes:
    """Write ``sketches``, which come in the order of their keys."""
    return _FORMAT.write([_Record(one.key, [_pack(getattr(one, name)) for name in _COLUMNS]) for one in sketches])


def decode(data: bytes) -> list[Sketch]:
    """Read what :func:`encode` wrote; raise :class:`KnowledgeFormatError` for anything else."""
    return _FORMAT.read(data, list[_Record], lambda records: [_sketch(record) for record in records])


def _sketch(record: _Record) -> Sketch:
    if len(record.columns) != len(_COLUMNS) or not 0 <= record.key < 1 << 64:
        raise ValueError("a page that does not fit together")
    columns = zip(_COLUMNS, record.columns, strict=True)
    one = Sketch(record.key, **{name: _unpack(data, is_hash=name in _HASHES) for name, data in columns})
    _check(one)
    return one


def _check(one: Sketch) -> None:
    """Raise an error unless paths come after their parents and blocks stand on known paths."""
    paths, blocks = len(one.paths), len(one.homes)
    if max(blocks, len(one.masked), len(one.links), len(one.styles)) > MAX_BLOCKS or paths > _MOST_PATHS:
        raise ValueError("a page larger than any that is learned")
    lengths = [len(one.parents), len(one.elements)], [
        len(one.texts), len(one.characters), len(one.linked), len(one.shapes),
    ]  # fmt: skip
    fits = all(length == paths for length in lengths[0]) and all(length == blocks for length in lengths[1])
    fits = fits and len(one.styles) == len(one.style_tokens) == len(one.style_scores)
    if not fits or (blocks and not paths):
        raise ValueError("a page whose columns differ in length")
    if paths and (one.parents[0] != -1 or (one.parents[1:] < 0).any() or (one.parents >= np.arange(paths)).any()):
        raise ValueError("a page whose paths are not in order")
    if blocks and not (one.homes.min() >= 0 and one.homes.max() < paths):
        raise ValueError("a page whose blocks stand on no path")
    if any((column < 0).any() for column in (one.elements, one.characters, one.linked, one.style_tokens)):
        raise ValueError("a page with negative counts")
    if any(column.sum(dtype=np.int64) > _MOST_CHARACTERS for column in (one.characters, one.linked)):
        raise ValueError("a page with more text than any that is learned")
    if (np.abs(one.style_scores) > HUNDREDTHS * MOST_SCORE * one.style_tokens + 1).any():
        raise ValueError("a page with scores that no page has")
    if any((hashes[1:] <= hashes[:-1]).any() for hashes in (one.masked, one.links, one.styles)):
        raise ValueError("a page whose texts, links or styles are not in order")


def _pack(numbers: NDArray[Any]) -> bytes:
    return numbers.astype(numbers.dtype.newbyteorder("<")).tobytes()


def _unpack(data: bytes, *, is_hash: bool) -> NDArray[Any]:
    return np.frombuffer(data, "<u4").astype(np.uint32) if is_hash else np.frombuffer(data, "<i4").astype(np.int32)
