"""What the pages of a site say of one of them: which texts come back, what stands at each path.

All sums are of whole numbers, so that none depends on the order of the pages.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import log
from typing import TYPE_CHECKING, Any

import numpy as np

from denoise_crawler.kernel import columns as shared
from denoise_crawler.kernel.reference_features import subtree_sums

if TYPE_CHECKING:
    from denoise_crawler.kernel.columns import Blocks, Hashes, Indices, Numbers, SiteStats, Sketch


@dataclass(frozen=True, slots=True, eq=False)
class _Page:
    """A page of the site: its distinct texts, its distinct shapes at places, and the path of each of these.

    By path the characters on or below it, and those inside links.
    """

    sketch: Sketch
    texts: Hashes
    shapes: Hashes
    shape_paths: Hashes
    characters: Numbers
    linked: Numbers


class SiteSums:
    """The pages of a site. What they say of a page is counted when it is asked for."""

    def __init__(self) -> None:
        self._pages: dict[int, _Page] = {}
        self._coming_back: tuple[Hashes, dict[int, Numbers]] | None = None

    def __len__(self) -> int:
        return len(self._pages)

    def __contains__(self, key: int) -> bool:
        return key in self._pages

    def add(self, page: Sketch) -> None:
        """Count a page that is not counted yet."""
        paths = page.paths[page.homes]
        shapes = _at_places(paths, np.where(page.shapes, page.shapes, page.texts))
        distinct, first = np.unique(shapes, return_index=True)
        below = [subtree_sums(page.homes, column, page.parents) for column in (page.characters, page.linked)]
        self._pages[page.key] = _Page(page, np.unique(page.texts), distinct, paths[first], *below)
        self._coming_back = None

    def remove(self, key: int) -> None:
        """Remove the page with this key."""
        del self._pages[key]
        self._coming_back = None

    @property
    def repeated(self) -> int:
        """How many texts come back."""
        return len(self._repeated()[0])

    def _repeated(self) -> tuple[Hashes, dict[int, Numbers]]:
        """Return the texts that come back, ascending, and by page and path their characters on or below it."""
        if self._coming_back is None:
            least = max(shared.REPEATED_PAGES, shared.REPEATED_SHARE * len(self))
            texts = _joined([page.texts for page in self._pages.values()], np.uint32)
            distinct, counts = np.unique(texts, return_counts=True)
            again, sketches = distinct[counts >= least], [page.sketch for page in self._pages.values()]
            held = {one.key: one.characters * np.isin(one.texts, again) for one in sketches}
            below = {one.key: subtree_sums(one.homes, held[one.key], one.parents) for one in sketches}
            self._coming_back = again, below
        return self._coming_back

    def novelty(self, blocks: Blocks) -> float:
        """Return the share of the characters of a page on paths that none of the pages has; 0 without any."""
        paths, whole = blocks.around.paths[blocks.elements], float(blocks.characters.sum())
        pages = _pages_with(paths, [page.sketch.paths for page in self._pages.values()])
        return float(blocks.characters[pages == 0].sum()) / max(whole, 1.0)

    def site_stats_for(self, blocks: Blocks, own: int | None) -> SiteStats:
        """Return what the pages but that with the key ``own`` say of a page.

        Texts come back if they do with that page. The texts, links and shapes of copies say nothing.
        """
        (_, repeated), paths = self._repeated(), blocks.around.paths
        others = [page for key, page in self._pages.items() if key != own]
        copies = _copies_among(others, blocks, shared.MOST_COPIES * len(self))
        speaking = [page for page in others if page not in copies]
        sketches, words = [page.sketch for page in others], [page.sketch for page in speaking]
        tokens, scores = _sums(blocks.styles, [page.styles for page in sketches], [
            [page.style_tokens for page in sketches], [page.style_scores for page in sketches],
        ])  # fmt: skip
        places = _sums(paths, [page.paths for page in sketches], [
            [np.ones(len(page.paths)) for page in sketches], [page.elements for page in sketches],
            [page.characters for page in others], [page.linked for page in others],
            [repeated[page.key] for page in sketches],
        ])  # fmt: skip
        return shared.SiteStats(
            len(others),
            _pages_with(blocks.text_hashes, [page.texts for page in speaking]),
            _pages_with(blocks.masked_hashes, [page.masked for page in words]),
            _pages_with(blocks.link_hashes, [page.links for page in words]),
            tokens,
            scores / (shared.HUNDREDTHS * np.maximum(tokens, 1.0)),
            *_shapes_at(paths[blocks.elements], blocks.shapes, speaking),
            *places,
        )


def _joined(columns: Sequence[Any], kind: Any) -> Any:
    return np.concatenate(columns) if columns else np.empty(0, kind)


def _sums(wanted: Hashes, hashes: Sequence[Hashes], columns: Sequence[Sequence[Any]]) -> list[Numbers]:
    """Return by hash that is wanted the sums of the columns of pages, which stand beside their hashes."""
    keys, which = np.unique(wanted, return_inverse=True)
    place, hit = _places(keys, _joined(hashes, np.uint32))
    sums = (np.bincount(place, _joined(column, np.float64)[hit], len(keys)) for column in columns)
    return [column[which].astype(np.float64) for column in sums]


def _places(keys: Hashes, hashes: Hashes) -> tuple[Indices, Indices]:
    """Return where among ascending keys hashes stand, and which of them: those that do."""
    place = keys.searchsorted(hashes)
    place[place == len(keys)] = 0
    hit = np.flatnonzero(keys[place] == hashes) if len(keys) else np.empty(0, np.int64)
    return place[hit], hit


def _pages_with(wanted: Hashes, pages: Sequence[Hashes]) -> Numbers:
    """Return by hash that is wanted how many of the pages have it, of which each has distinct hashes."""
    keys, which = np.unique(wanted, return_inverse=True)
    place, _ = _places(keys, _joined(pages, np.uint32))
    return np.bincount(place, minlength=len(keys))[which].astype(np.float64)


def _copies_among(pages: Sequence[_Page], blocks: Blocks, most: float) -> list[_Page]:
    """Return the pages, few of all, that hold half of the running text of a page and more.

    Theirs is the same article, not the same template.
    """
    running_text = blocks.characters - blocks.linked
    long = np.flatnonzero(running_text >= shared.PARAGRAPH)
    texts, half = blocks.text_hashes[long], running_text[long].sum() / 2
    if not half or running_text[long][_pages_with(texts, [page.texts for page in pages]) > 0].sum() < half:
        return []
    sizes = dict(zip(texts.tolist(), running_text[long].tolist(), strict=True))
    copies = [page for page in pages if sum(sizes.get(text, 0.0) for text in page.texts.tolist()) >= half]
    return copies if len(copies) <= max(1.0, most) else []


# --- what shapes of texts stand at a place


def _at_places(paths: Hashes, shapes: Hashes) -> Hashes:
    """Return the hashes of shapes at their places, which are paths."""
    both = (paths.astype(np.uint64) << np.uint64(32)) | shapes
    keys: Hashes = ((both * np.uint64(shared.SPREAD)) >> np.uint64(32)).astype(np.uint32)
    return keys


def _shapes_at(paths: Hashes, shapes: Hashes, pages: Sequence[_Page]) -> tuple[Numbers, ...]:
    """Return by block how many pages have its shape at its place, then what all shapes there are.

    Each counted by the pages that have it, that is their sum, that of those on several pages, and their sameness.
    """
    of_pages, their_paths = ([getattr(page, name) for page in pages] for name in ("shapes", "shape_paths"))
    there, at = _joined(of_pages, np.uint32), _joined(their_paths, np.uint32)
    wanted, place_of = np.unique(paths, return_inverse=True)
    distinct = np.unique(there[_places(wanted, at)[1]])
    which, hit = _places(distinct, there)
    counts, first = np.bincount(which, minlength=len(distinct)), np.zeros(len(distinct), np.uint32)
    first[which[::-1]] = at[hit][::-1]  # two shapes whose hashes are the same stand at the place of the first
    place, hit = _places(wanted, first)
    counts = counts[hit]
    sums = np.zeros((3, len(wanted)), np.int64)
    entropies = np.array([_entropy(count) for count in range(len(pages) + 1)], np.int64)
    for row, numbers in enumerate((counts, np.where(counts >= shared.OFTEN, counts, 0), entropies[counts])):
        np.add.at(sums[row], place, numbers)
    held, repeated, entropy = sums
    most = np.array([one * log(max(one, 1)) for one in held.tolist()], np.float64)
    columns = held.astype(np.float64), repeated.astype(np.float64), entropy / shared.SCALE / np.maximum(most, 1e-9)
    return _pages_with(_at_places(paths, shapes), of_pages), *(column[place_of] for column in columns)


@lru_cache(maxsize=1_024)
def _entropy(count: int) -> int:
    """Return what a shape on so many pages adds, as a whole number."""
    return round(count * log(max(count, 1)) * shared.SCALE)
