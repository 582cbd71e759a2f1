"""The evidence for each block of a page, page and site, as one table of numbers."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from denoise_crawler.methods.fusion.blocks import PLACES, blocks_of
from denoise_crawler.methods.fusion.class_words import ClassWords
from denoise_crawler.methods.fusion.main_region import MainRegion, main_region
from denoise_crawler.methods.fusion.site_sums import REPEATED_SHARE
from denoise_crawler.methods.fusion.title import Headline, description_of, headline_of
from denoise_crawler.page import Page

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from denoise_crawler.methods.fusion.blocks import Blocks, Indices, Numbers
    from denoise_crawler.methods.fusion.site_evidence import Standing
    from denoise_crawler.methods.fusion.trees import Table

    Columns: TypeAlias = dict[str, Numbers]

UNKNOWN = -1.0
ANCESTORS = 6
EVERYWHERE_SHARE, EVERYWHERE_PAGES = 0.8, 5


@dataclass(eq=False)
class Evidence:
    """All there is to know of a page's blocks; what several features need is worked out once."""

    page: Page
    blocks: Blocks
    standing: Standing | None
    class_words: ClassWords

    @cached_property
    def named(self) -> Numbers:
        """By element, how much its class and id speak for content."""
        return self.class_words.worth(self.blocks.around.names)

    @cached_property
    def ancestors(self) -> list[Indices]:
        """The elements 0, 1, … levels above each block; the body has itself above it."""
        parents = np.maximum(self.blocks.around.parents, 0)
        levels = [self.blocks.elements]
        for _ in range(ANCESTORS):
            levels.append(parents[levels[-1]])
        return levels

    @cached_property
    def character_sums(self) -> Numbers:
        """Running sums of characters, beginning with 0."""
        return running(self.blocks.characters)

    @cached_property
    def linked_sums(self) -> Numbers:
        """Running sums of characters inside links, beginning with 0."""
        return running(self.blocks.linked)

    @cached_property
    def element_characters(self) -> Numbers:
        """By element, the characters below it."""
        return self.below(self.character_sums)

    @cached_property
    def element_linked(self) -> Numbers:
        """By element, the characters inside links below it."""
        return self.below(self.linked_sums)

    @cached_property
    def unlinked(self) -> float:
        """The page's characters outside links."""
        return max(float(self.character_sums[-1] - self.linked_sums[-1]), 1.0)

    @cached_property
    def repeated(self) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
        """Which blocks' texts stand on a fifth of the site's other pages (of two pages or more)."""
        standing = self.standing
        if standing is None or standing.pages < 2:
            return np.zeros(len(self.blocks), bool)
        return standing.texts >= max(1.0, REPEATED_SHARE * standing.pages)

    @cached_property
    def everywhere(self) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
        """Which blocks' texts stand on four of five of the site's other pages (of five pages or more)."""
        standing = self.standing
        if standing is None or standing.pages < EVERYWHERE_PAGES:
            return np.zeros(len(self.blocks), bool)
        return standing.texts >= EVERYWHERE_SHARE * standing.pages

    @cached_property
    def region(self) -> MainRegion:
        """The element that holds most of the running text."""
        return main_region(self.blocks, self.repeated, self.link_shares, self.named)

    @cached_property
    def headline(self) -> Headline:
        """The block that is the page's title."""
        return headline_of(self.page, self.blocks)

    @cached_property
    def link_shares(self) -> Numbers:
        """By element, the share of its characters inside links."""
        return ratio(self.element_linked, self.element_characters)

    def below(self, sums: Numbers) -> Numbers:
        """Return running ``sums`` as sums over the blocks below each element."""
        around = self.blocks.around
        return sums[around.last] - sums[around.first]


def running(numbers: Numbers) -> Numbers:
    """Return the running sums of ``numbers``, beginning with 0."""
    return np.concatenate(([0.0], np.cumsum(numbers)))


def ratio(part: Numbers, whole: Numbers) -> Numbers:
    """Return ``part / whole``, whose empty wholes count as 1."""
    return part / np.maximum(whole, 1.0)


def columns_of(evidence: Evidence) -> Columns:
    """Return all features by name, a number for each block."""
    columns: Columns = {}
    for group in _GROUPS:
        columns.update(group(evidence))
    return columns


def table_of(evidence: Evidence, names: Sequence[str]) -> Table:
    """Return the features with these ``names``, a row for each block."""
    numbers = {name: number for number, name in enumerate(names)}
    by_feature = np.empty((len(names), len(evidence.blocks)), np.float32)
    for group in _GROUPS:  # one after the other: all of them at once take twice the table's memory
        for name, column in group(evidence).items():
            if name in numbers:
                by_feature[numbers.pop(name)] = column
    if numbers:
        raise KeyError(f"there are no features {', '.join(numbers)}")
    return by_feature.T


def _own(evidence: Evidence) -> Columns:
    blocks, around = evidence.blocks, evidence.blocks.around
    unlinked = blocks.characters - blocks.linked
    places = around.places[blocks.elements]
    return {
        "characters": np.log1p(blocks.characters),
        "link share": ratio(blocks.linked, blocks.characters),
        "commas": blocks.commas,
        "closed": blocks.closed,
        "tag": around.tags[blocks.elements].astype(np.float64),
        "depth": around.depths[blocks.elements].astype(np.float64),
        "of longest": unlinked / max(float(unlinked.max(initial=0.0)), 1.0),
    } | {f"in {place}": ((places >> bit) & 1).astype(np.float64) for bit, place in enumerate(PLACES)}


def _page(evidence: Evidence) -> Columns:
    count = len(evidence.blocks)
    total = max(float(evidence.character_sums[-1]), 1.0)
    whole = {
        "page characters": np.log1p(total),
        "page blocks": np.log1p(count),
        "page link share": float(evidence.linked_sums[-1]) / total,
        "page unlinked": np.log1p(evidence.unlinked),
        "longest": np.log1p(float((evidence.blocks.characters - evidence.blocks.linked).max(initial=0.0))),
    }
    order = np.arange(count)
    return {name: np.full(count, value) for name, value in whole.items()} | {
        "place": order / max(count, 1),
        "place by characters": evidence.character_sums[1:] / total,
    }


def _above(evidence: Evidence) -> Columns:
    characters, linked = evidence.element_characters, evidence.element_linked
    around = evidence.blocks.around
    by_element = {
        "characters": np.log1p(characters),
        "link share": evidence.link_shares,
        "share of text": (characters - linked) / evidence.unlinked,
        "mean block": np.log1p(ratio(characters, (around.last - around.first).astype(np.float64))),
    }
    return {
        f"above {level} {name}": column[evidence.ancestors[level]]
        for level in range(ANCESTORS)
        for name, column in by_element.items()
    }


def _names(evidence: Evidence) -> Columns:
    """Return what classes and ids say: of the nearest ancestors, in sum, at most, at least, nearest with any."""
    named = evidence.named
    total = nearest = np.append(named, 0.0)
    most, least = np.append(named, -np.inf), np.append(named, np.inf)
    for above in evidence.blocks.around.ancestors():
        total = total + total[above]
        most = np.maximum(most, most[above])
        least = np.minimum(least, least[above])
        nearest = np.where(nearest == 0.0, nearest[above], nearest)
    at = evidence.blocks.elements
    columns = {
        "names sum": total[at],
        "names most": most[at],
        "names least": least[at],
        "names nearest": nearest[at],
    }
    return columns | {f"above {level} names": named[evidence.ancestors[level]] for level in range(4)}


def _around(evidence: Evidence) -> Columns:
    blocks, count = evidence.blocks, len(evidence.blocks)
    characters, linked = evidence.character_sums, evidence.linked_sums
    order = np.arange(count)
    columns: Columns = {}
    for width in (3, 8):
        low, high = np.maximum(order - width, 0), np.minimum(order + width + 1, count)
        after = np.minimum(order + 1, count)
        inside, inside_links = characters[high] - characters[low], linked[high] - linked[low]
        columns[f"window {width} text"] = np.log1p(inside - inside_links)
        columns[f"window {width} link share"] = ratio(inside_links, inside)
        columns[f"before {width} text"] = _log_unlinked(characters, linked, low, order)
        columns[f"after {width} text"] = _log_unlinked(characters, linked, after, high)
    paths = blocks.around.paths[blocks.elements]
    shares = ratio(blocks.linked, blocks.characters)
    for distance in (-2, -1, 1, 2):
        at = order + distance
        inside_page = (at >= 0) & (at < count)
        at = np.clip(at, 0, max(count - 1, 0))
        columns[f"neighbour {distance:+} characters"] = np.where(
            inside_page, np.log1p(blocks.characters[at]), UNKNOWN
        )
        columns[f"neighbour {distance:+} link share"] = np.where(inside_page, shares[at], UNKNOWN)
        if abs(distance) == 1:
            columns[f"neighbour {distance:+} same path"] = (inside_page & (paths[at] == paths)).astype(np.float64)
    return columns


def _log_unlinked(characters: Numbers, linked: Numbers, low: Indices, high: Indices) -> Numbers:
    return np.log1p((characters[high] - characters[low]) - (linked[high] - linked[low]))


def _region(evidence: Evidence) -> Columns:
    region, count = evidence.region, len(evidence.blocks)
    common = region.common_ancestors(evidence.blocks)
    return {
        **{f"above {level} text score": region.scores[evidence.ancestors[level]] for level in range(4)},
        "best text score above": region.best_above(evidence.blocks),
        "inside main region": region.holds(evidence.blocks).astype(np.float64),
        "levels to main region": common.levels,
        "blocks to main region": np.clip(region.distances(count), -50.0, 50.0),
        "share in common with main region": evidence.element_characters[common.elements]
        / max(float(evidence.character_sums[-1]), 1.0),
        "main region score": np.full(count, np.log1p(region.top_score)),
        "main region share": np.full(
            count, (evidence.element_characters - evidence.element_linked)[region.top] / evidence.unlinked
        ),
    }


def _headline(evidence: Evidence) -> Columns:
    blocks, count = evidence.blocks, len(evidence.blocks)
    headline = evidence.headline
    distance = by_characters = np.full(count, -99.0)
    if headline.best >= 0:
        distance = np.clip(np.arange(count) - headline.best, -60.0, 60.0)
        sums = evidence.character_sums
        by_characters = np.sign(distance) * np.log1p(np.abs(sums[1:] - sums[headline.best + 1]))
    return {
        "title overlap": headline.overlap,
        "first heading": headline.first_heading,
        "blocks to title": distance,
        "characters to title": by_characters,
        "begins description": description_of(evidence.page, blocks),
    }


def _repetition(evidence: Evidence) -> Columns:
    """Return what comes back within the page."""
    blocks = evidence.blocks
    _, texts, times = np.unique(blocks.text_hashes, return_inverse=True, return_counts=True)
    _, paths, on_path = np.unique(blocks.around.paths[blocks.elements], return_inverse=True, return_counts=True)
    unlinked = np.bincount(paths, weights=blocks.characters - blocks.linked, minlength=len(on_path))
    return {
        "times on page": np.minimum(times[texts], 5).astype(np.float64),
        "blocks on path": np.log1p(on_path[paths]),
        "share of text on path": unlinked[paths] / evidence.unlinked,
        "mean text on path": np.log1p(unlinked[paths] / on_path[paths]),
    }


def _site(evidence: Evidence) -> Columns:
    blocks, standing, count = evidence.blocks, evidence.standing, len(evidence.blocks)
    if standing is None:
        return {"site pages": np.zeros(count)} | {name: np.full(count, UNKNOWN) for name in _SITE_NAMES}
    pages = float(standing.pages)
    repeated = np.minimum(standing.texts / pages, 1.0) * blocks.characters
    sums = running(repeated)
    order = np.arange(count)
    low, high = np.maximum(order - 3, 0), np.minimum(order + 4, count)
    characters = evidence.character_sums
    columns = {
        "site pages": np.full(count, min(pages, 20.0)),
        "site text": standing.texts / pages,
        "site masked text": standing.masked / pages,
        "site link": np.where(blocks.link_hashes > 0, standing.links / pages, UNKNOWN),
        "site text around": ratio(sums[high] - sums[low], characters[high] - characters[low]),
    }
    on_path = standing.path_pages > 0
    has_text = standing.path_characters > 0
    by_element = {
        "presence": standing.path_pages / pages,
        "elements": _where(on_path, lambda: np.log1p(ratio(standing.path_elements, standing.path_pages))),
        "length": _where(on_path, lambda: np.log1p(ratio(standing.path_characters, standing.path_elements))),
        "link share": _where(has_text, lambda: ratio(standing.path_linked, standing.path_characters)),
        "repeated": _where(has_text, lambda: ratio(standing.path_repeated, standing.path_characters)),
    }
    for level in range(4):
        for name, column in by_element.items():
            columns[f"site above {level} {name}"] = column[evidence.ancestors[level]]
    below = ratio(evidence.below(sums), evidence.element_characters)
    for level in (1, 2):
        columns[f"site text above {level}"] = below[evidence.ancestors[level]]
    return columns


def _where(known: np.ndarray[tuple[int], np.dtype[np.bool_]], values: Callable[[], Numbers]) -> Numbers:
    return np.where(known, values(), UNKNOWN)


_SITE_NAMES = (
    "site text",
    "site masked text",
    "site link",
    "site text around",
    *(
        f"site above {level} {name}"
        for level in range(4)
        for name in ("presence", "elements", "length", "link share", "repeated")
    ),
    "site text above 1",
    "site text above 2",
)
_GROUPS = (_own, _page, _above, _names, _around, _region, _headline, _repetition, _site)


def feature_names() -> list[str]:
    """Return the names of all features, in the order of :func:`columns_of`."""
    nothing = Page.parse("", "")
    return list(columns_of(Evidence(nothing, blocks_of(nothing), None, ClassWords({}))))
