"""Sums over the sketches of a site's pages, kept up to date page by page."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from denoise_crawler.core import compiled
from denoise_crawler.methods.fusion.sketch import HUNDREDTHS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from denoise_crawler.methods.fusion.blocks import Blocks, Hashes, Indices, Numbers
    from denoise_crawler.methods.fusion.sketch import Sketch

REPEATED_SHARE = 0.2
REPEATED_PAGES = 2
MIN_ALIKE = 0.5
# What is summed by path: pages, elements, characters, characters inside links.
_SUMS = 4
_NOWHERE = np.uint32(0xFFFFFFFF)  # the hash of no path


class _Numbered:
    """Distinct hashes, numbered from 1 on in the order of their coming; 0 stands for all others."""

    def __init__(self) -> None:
        self._hashes = np.zeros(0, np.uint32)  # ascending
        self._numbers = np.zeros(0, np.int64)

    def __len__(self) -> int:
        return len(self._hashes)

    def find(self, wanted: Hashes) -> Indices:
        """Return the numbers of ``wanted``."""
        if (core := compiled("sites")) is not None:
            found = np.empty(len(wanted), np.int64)
            core.find_numbers(self._hashes, self._numbers, np.ascontiguousarray(wanted), found)
            return found
        if not len(self._hashes):
            return np.zeros(len(wanted), np.int64)
        places = np.minimum(self._hashes.searchsorted(wanted), len(self._hashes) - 1)
        return np.where(self._hashes[places] == wanted, self._numbers[places], 0)

    def add(self, distinct: Hashes) -> Indices:
        """Return the numbers of ``distinct`` hashes, given to those that have none."""
        numbers = self.find(distinct)
        new = np.flatnonzero(numbers == 0)
        if len(new):
            numbers[new] = len(self) + 1 + np.arange(len(new))
            ascending = new[np.argsort(distinct[new])]
            places = self._hashes.searchsorted(distinct[ascending])
            self._hashes = np.insert(self._hashes, places, distinct[ascending])
            self._numbers = np.insert(self._numbers, places, numbers[ascending])
        return numbers


class _PageCounts:
    """In how many pages each hash stands."""

    def __init__(self) -> None:
        self.numbered = _Numbered()
        self.counts = np.zeros(1)

    def add(self, distinct: Hashes) -> Indices:
        """Count one more page for each of ``distinct`` hashes and return their numbers."""
        numbers = self.numbered.add(distinct)
        self.counts = _grown(self.counts, len(self.numbered) + 1)
        self.counts[numbers] += 1.0
        return numbers

    def of(self, wanted: Hashes, left_out: Indices | None) -> Numbers:
        """Return the counts of ``wanted`` without the page that has the numbers ``left_out``."""
        counts = self.counts
        if left_out is not None:
            counts = counts.copy()
            counts[left_out] -= 1.0
        return counts[self.numbered.find(wanted)]


@dataclass(frozen=True, slots=True, eq=False)
class _Counted:
    """A page as it was counted: its numbers, and by path of its own what it adds to the sums."""

    texts: Indices
    masked: Indices
    links: Indices
    paths: Indices
    sums: Numbers
    block_texts: Indices
    styles: Indices


class _Built(NamedTuple):
    """How the pages are built: by page and path its numbers, by page how many paths it has and its kinds."""

    keys: NDArray[np.object_]
    pages: Indices
    paths: Indices
    lengths: Numbers
    kinds: Numbers


class SiteSums:
    """Pages by text, masked text and link; by path the sums of what stands on or below it."""

    def __init__(self) -> None:
        self._pages: dict[int, tuple[Sketch, _Counted]] = {}
        self._texts, self._masked, self._links = _PageCounts(), _PageCounts(), _PageCounts()
        self._paths = _Numbered()
        self._parents = [0]  # by number of a path; parents have lower numbers
        self._sums = np.zeros((1, _SUMS))
        self._styles = _Numbered()
        self._style_sums = np.zeros((1, 2))  # tokens, scores
        self._repeated: tuple[NDArray[np.bool_], Numbers] | None = None
        self._built: _Built | None = None

    def __len__(self) -> int:
        return len(self._pages)

    def __contains__(self, key: int) -> bool:
        return key in self._pages

    def number(self, pages: Sequence[Sketch]) -> None:
        """Give numbers to what stands on ``pages``, which are to be added: one by one that takes much longer."""
        for counts, column in ((self._texts, "texts"), (self._masked, "masked"), (self._links, "links")):
            counts.numbered.add(np.unique(np.concatenate([getattr(page, column) for page in pages])))
        self._styles.add(np.unique(np.concatenate([page.styles for page in pages])))
        self._number_paths(pages)

    def _number_paths(self, pages: Sequence[Sketch]) -> None:
        paths = np.concatenate([page.paths for page in pages])
        above = np.concatenate([np.where(page.parents < 0, _NOWHERE, page.paths[page.parents]) for page in pages])
        first = np.sort(np.unique(paths, return_index=True)[1])  # so that parents come before children
        known = len(self._paths)
        new = first[self._paths.add(paths[first]) > known]
        self._parents += self._paths.find(above[new]).tolist()
        self._sums = _grown(self._sums, len(self._paths) + 1)

    def add(self, page: Sketch) -> None:
        """Count ``page``, which is not counted yet."""
        distinct, block_texts = np.unique(page.texts, return_inverse=True)
        texts = self._texts.add(distinct)
        paths = self._paths.find(page.paths)
        if not paths.all():  # else they were numbered with those of other pages
            self._number_paths([page])
            paths = self._paths.find(page.paths)
        sums = np.column_stack(
            [
                np.ones(len(paths)),
                page.elements,
                _with_what_is_below(page.homes, page.characters, page.parents.tolist()),
                _with_what_is_below(page.homes, page.linked, page.parents.tolist()),
            ]
        )
        self._sums[paths] += sums
        masked, links = self._masked.add(page.masked), self._links.add(page.links)
        styles = self._styles.add(page.styles)
        self._style_sums = _grown(self._style_sums, len(self._styles) + 1)
        self._style_sums[styles] += _of_styles(page)
        self._pages[page.key] = page, _Counted(texts, masked, links, paths, sums, texts[block_texts], styles)
        self._repeated = self._built = None

    def remove(self, key: int) -> None:
        """Take the page with this key out."""
        page, counted = self._pages.pop(key)
        self._texts.counts[counted.texts] -= 1.0
        self._masked.counts[counted.masked] -= 1.0
        self._links.counts[counted.links] -= 1.0
        self._sums[counted.paths] -= counted.sums
        self._style_sums[counted.styles] -= _of_styles(page)
        self._repeated = self._built = None

    def of(self, blocks: Blocks, left_out: int | None) -> list[Numbers]:
        """Return what the pages but ``left_out`` (a key) say of a page.

        By block the pages with its text, its masked text and its link, the tokens in its style and the mean score
        of these; by element the sums of its path, and last the characters of texts that come back.
        """
        repeated, characters = self._repeated_texts()
        sums, around, own = self._sums, blocks.around, None
        if left_out is not None:
            page, own = self._pages[left_out]
            again = np.where(repeated[own.block_texts], page.characters, 0)
            sums, characters = sums.copy(), characters.copy()
            sums[own.paths] -= own.sums
            characters[own.paths] -= _with_what_is_below(page.homes, again, page.parents.tolist())
        paths = self._paths.find(around.paths)
        return [
            self._texts.of(blocks.text_hashes, own.texts if own else None),
            self._masked.of(blocks.masked_hashes, own.masked if own else None),
            self._links.of(blocks.link_hashes, own.links if own else None),
            *self._style_of(blocks, left_out),
            *np.ascontiguousarray(sums[paths].T),
            characters[paths],
        ]

    def _style_of(self, blocks: Blocks, left_out: int | None) -> list[Numbers]:
        """Return by block the tokens in its style on the pages but ``left_out``, and their mean score."""
        sums = self._style_sums
        if left_out is not None:
            page, own = self._pages[left_out]
            sums = sums.copy()
            sums[own.styles] -= _of_styles(page)
        tokens, scores = sums[self._styles.find(blocks.styles)].T
        return [tokens, scores / HUNDREDTHS / np.maximum(tokens, 1.0)]

    def kinds_of_alike(self, blocks: Blocks, left_out: int | None) -> tuple[float, Numbers]:
        """Return how many pages but ``left_out`` are built as a page is, and the mean of their kinds.

        Pages are built alike if they share half of their places or more; each counts by the share.
        """
        if self._built is None:
            self._built = _built([(key, page, counted) for key, (page, counted) in self._pages.items()])
        built, around = self._built, blocks.around
        if (core := compiled("sites")) is None:
            own = np.unique(around.paths[around.last > around.first])
            marked = np.zeros(len(self._paths) + 1, bool)
            marked[self._paths.find(own)] = True
            marked[0] = False
            places = len(own)
            shared = np.bincount(built.pages, weights=marked[built.paths], minlength=len(built.keys)).astype(float)
        else:
            shared, numbers = np.empty(len(built.keys), float), self._paths.find(around.paths)
            of_page = around.paths, numbers, around.first, around.last
            places = core.count_shared(*of_page, built.paths, built.pages, len(self._paths), shared)
        shares = shared / np.maximum(built.lengths + places - shared, 1.0)
        shares[(shares < MIN_ALIKE) | (built.keys == left_out)] = 0.0
        alike = float(shares.sum())
        return alike, shares @ built.kinds / HUNDREDTHS / max(alike, 1e-9)

    def novelty(self, blocks: Blocks) -> float:
        """Return the share of the characters of ``blocks`` on paths that none of the pages has; 0 without any."""
        pages_on_path = self._sums[self._paths.find(blocks.around.paths[blocks.elements]), 0]
        characters = float(blocks.characters.sum())
        return float(blocks.characters[pages_on_path == 0].sum()) / characters if characters else 0.0

    def _repeated_texts(self) -> tuple[NDArray[np.bool_], Numbers]:
        """Return by text whether it comes back, by path the characters of those on or below it."""
        if self._repeated is None:
            repeated = self._texts.counts >= max(REPEATED_PAGES, REPEATED_SHARE * len(self))
            homes = np.concatenate([counted.paths[page.homes] for page, counted in self._pages.values()])
            texts = np.concatenate([counted.block_texts for _, counted in self._pages.values()])
            characters = np.concatenate([page.characters for page, _ in self._pages.values()])
            below = _with_what_is_below(homes, np.where(repeated[texts], characters, 0), self._parents)
            below[0] = 0.0  # what stands nowhere on these pages
            self._repeated = repeated, below
        return self._repeated


def _built(pages: Sequence[tuple[int, Sketch, _Counted]]) -> _Built:
    lengths = np.array([len(counted.paths) for _, _, counted in pages], np.int64)
    return _Built(
        np.array([key for key, _, _ in pages], object),
        np.repeat(np.arange(len(pages)), lengths),
        np.concatenate([counted.paths for _, _, counted in pages]),
        lengths.astype(np.float64),
        np.array([page.kinds for _, page, _ in pages], np.float64),
    )


def _of_styles(page: Sketch) -> Numbers:
    """Return by style the tokens of ``page`` and their scores."""
    return np.column_stack([page.style_tokens, page.style_scores]).astype(np.float64)


def _grown(numbers: Numbers, length: int) -> Numbers:
    """Return ``numbers`` with zeros behind it, ``length`` or more in all."""
    if len(numbers) >= length:
        return numbers
    grown = np.zeros((max(length, 2 * len(numbers)), *numbers.shape[1:]))
    grown[: len(numbers)] = numbers
    return grown


def _with_what_is_below(places: Indices, numbers: Indices, parents: list[int]) -> Numbers:
    """Sum ``numbers`` by place, and add to each place the sums of all below it; parents come before children."""
    counts: Numbers = np.bincount(places, weights=numbers, minlength=len(parents)).astype(np.float64)
    if (core := compiled("sites")) is not None:
        core.add_below(counts, parents)
        return counts
    sums: list[float] = counts.tolist()
    for place in range(len(parents) - 1, 0, -1):
        sums[parents[place]] += sums[place]
    return np.array(sums)
