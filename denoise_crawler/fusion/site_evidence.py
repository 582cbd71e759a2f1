"""What the pages of a site say of one of them: which texts come back, what each path holds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from denoise_crawler.fusion import codec
from denoise_crawler.fusion.sketch import sketch

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from denoise_crawler.fusion.blocks import Blocks, Hashes, Indices, Numbers
    from denoise_crawler.fusion.sketch import Sketch

REPEATED_SHARE = 0.2
REPEATED_PAGES = 2


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


@dataclass(frozen=True, slots=True, eq=False)
class _Table:
    """Distinct hashes, ascending, with a row of numbers each."""

    hashes: Hashes
    rows: Numbers

    def of(self, wanted: Hashes) -> Numbers:
        """Return the rows of ``wanted``, zeros for a hash that is not there."""
        found = np.zeros((len(wanted), *self.rows.shape[1:]))
        if len(self.hashes):
            places = np.minimum(np.searchsorted(self.hashes, wanted), len(self.hashes) - 1)
            known = self.hashes[places] == wanted
            found[known] = self.rows[places[known]]
        return found


@dataclass(frozen=True, slots=True, eq=False)
class _Sums:
    """Sums over sketches: pages by text, masked text and link; by path the five sums of :class:`Standing`."""

    texts: _Table
    masked: _Table
    links: _Table
    paths: _Table
    repeated: Hashes

    @classmethod
    def over(cls, sketches: Sequence[Sketch], repeated: Hashes | None = None) -> _Sums:
        """Sum ``sketches``; texts count as repeated if they are in ``repeated`` (None: by these sketches)."""
        texts = _page_counts([np.unique(one.texts) for one in sketches])
        if repeated is None:
            repeated = texts.hashes[texts.rows >= max(REPEATED_PAGES, REPEATED_SHARE * len(sketches))]
        return cls(
            texts,
            _page_counts([one.masked for one in sketches]),
            _page_counts([one.links for one in sketches]),
            _path_sums(sketches, repeated),
            repeated,
        )

    def of(self, blocks: Blocks) -> list[Numbers]:
        """Return what the sums say of a page: by block its three counts, by element the sums of its path."""
        return [
            self.texts.of(blocks.text_hashes),
            self.masked.of(blocks.masked_hashes),
            self.links.of(blocks.link_hashes),
            *self.paths.of(blocks.around.paths).T,
        ]


def _page_counts(columns: list[Hashes]) -> _Table:
    """Count in how many ``columns``, each of distinct hashes, each hash stands."""
    hashes, counts = np.unique(np.concatenate(columns), return_counts=True)
    return _Table(hashes, counts.astype(np.float64))


def _path_sums(sketches: Sequence[Sketch], repeated: Hashes) -> _Table:
    every = np.concatenate([one.paths for one in sketches])
    hashes, first, inverse = np.unique(every, return_index=True, return_inverse=True)
    starts = np.cumsum([0, *(len(one.paths) for one in sketches)])[:-1]
    homes = inverse[np.concatenate([one.homes + start for one, start in zip(sketches, starts, strict=True)])]
    above = np.concatenate(
        [np.where(one.parents < 0, -1, one.parents + start) for one, start in zip(sketches, starts, strict=True)]
    )[first]
    parents = np.where(above < 0, -1, inverse[above])
    characters = np.concatenate([one.characters for one in sketches]).astype(np.float64)
    linked = np.concatenate([one.linked for one in sketches])
    again = np.isin(np.concatenate([one.texts for one in sketches]), repeated)

    def by_path(places: Indices, numbers: Indices | Numbers) -> Numbers:
        return np.bincount(places, weights=numbers, minlength=len(hashes)).astype(np.float64)

    elements = np.concatenate([one.elements for one in sketches])
    below = np.column_stack([by_path(homes, column) for column in (characters, linked, characters * again)])
    _add_to_ancestors(below, parents)
    pages = np.bincount(inverse, minlength=len(hashes))
    return _Table(hashes, np.column_stack([pages, by_path(inverse, elements), below]))


def _add_to_ancestors(rows: Numbers, parents: Indices) -> None:
    """Add each row of a forest to the rows of all its ancestors, in place."""
    depths, above = np.zeros(len(parents), np.int64), parents
    while (inner := above >= 0).any():
        depths += inner
        above = np.where(inner, parents[above], -1)
    for depth in range(int(depths.max(initial=0)), 0, -1):
        level = np.flatnonzero(depths == depth)
        np.add.at(rows, parents[level], rows[level])


class SiteEvidence:
    """The sketches of at most ``max_pages`` pages of a site: those with the lowest hash of their address.

    So they are a uniform random sample, the same in any order of learning, and ``merge`` is a union of which
    the lowest stay: exact, associative, commutative and idempotent. A page is learned once; of two sketches of
    one address the one with the lower bytes stays.
    """

    def __init__(self, max_pages: int) -> None:
        if max_pages < 1:
            raise ValueError(f"max_pages must be at least 1, not {max_pages}")
        self.max_pages = max_pages
        self._sketches: dict[int, Sketch] = {}
        self._summed: _Sums | None = None

    def __len__(self) -> int:
        return len(self._sketches)

    def __contains__(self, key: int) -> bool:
        return key in self._sketches

    def wants(self, key: int) -> bool:
        """Tell whether learning the page with this key would change anything."""
        return key not in self._sketches and (len(self) < self.max_pages or key < max(self._sketches))

    def add(self, key: int, blocks: Blocks) -> None:
        """Learn a page by its ``blocks``."""
        if self.wants(key):
            self._unite([sketch(key, blocks)])

    def merge(self, other: SiteEvidence) -> None:
        """Learn the pages of ``other``."""
        self._unite(other._sketches.values())

    def merge_bytes(self, data: bytes) -> None:
        """Learn pages that :meth:`to_bytes` wrote; raise :class:`codec.EvidenceFormatError` for other bytes."""
        self._unite(codec.decode(data))

    def to_bytes(self) -> bytes:
        """Write the sketches: equal sets give equal bytes."""
        return codec.encode([self._sketches[key] for key in sorted(self._sketches)])

    def standing(self, key: int, blocks: Blocks) -> Standing | None:
        """Return what the other pages say of the page with this key; None if there are none."""
        own = self._sketches.get(key)
        pages = len(self) - (own is not None)
        if not pages:
            return None
        if self._summed is None:
            self._summed = _Sums.over(list(self._sketches.values()))
        columns = self._summed.of(blocks)
        if own is not None:
            mine = _Sums.over([own], self._summed.repeated).of(blocks)
            columns = [column - less for column, less in zip(columns, mine, strict=True)]
        return Standing(pages, *columns)

    def _unite(self, sketches: Iterable[Sketch]) -> None:
        for one in sketches:
            known = self._sketches.get(one.key)
            if known is one:
                continue
            if known is None or codec.encode([one]) < codec.encode([known]):  # a page that has changed
                self._sketches[one.key] = one
        for key in sorted(self._sketches)[self.max_pages :]:
            del self._sketches[key]
        self._summed = None
