"""The evidence for each block of a page, page and site, as one table of numbers."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from denoise_crawler.methods.fusion.blocks import PLACES, blocks_of
from denoise_crawler.methods.fusion.evidence import ANCESTORS, Evidence, Words, ratio, running
from denoise_crawler.methods.fusion.feature_rows import Rows, numbers_of, page_rows, places_of, site_rows
from denoise_crawler.methods.fusion.kinds import KINDS
from denoise_crawler.methods.fusion.linked_data import body_columns
from denoise_crawler.methods.fusion.title import begins
from denoise_crawler.page import Page

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from denoise_crawler.methods.fusion.blocks import Indices, Numbers
    from denoise_crawler.methods.fusion.trees import Table

    Columns: TypeAlias = dict[str, Numbers]

UNKNOWN = -1.0


def page_groups(evidence: Evidence) -> Iterator[Columns | Rows]:
    """Yield the features that the page alone says, by name, a number for each block, some at a time."""
    if evidence.compiled is None:
        return (group(evidence) for group in _PAGE_GROUPS)
    said = begins(evidence.description, evidence.blocks), *body_columns(evidence.body, evidence.blocks).values()
    return iter([page_rows(evidence, _names_of(_PAGE_GROUPS), said)])


def site_groups(evidence: Evidence) -> Iterator[Columns | Rows]:
    """Yield the features that depend on what is known of the site."""
    if evidence.compiled is None:
        return (group(evidence) for group in _SITE_GROUPS)
    return iter([site_rows(evidence, _names_of(_SITE_GROUPS))])


@lru_cache(maxsize=1)
def evidence_of_nothing() -> Evidence:
    """Return the evidence of a page without text: its features have their names."""
    page = Page.parse("", "")
    return Evidence.of(page, blocks_of(page), None, Words.none())


@lru_cache(maxsize=2)
def _names_of(groups: tuple[Callable[[Evidence], Columns], ...]) -> tuple[str, ...]:
    return tuple(name for group in groups for name in group(evidence_of_nothing()))


def table_of(groups: Iterable[Columns | Rows], names: Sequence[str], count: int) -> Table:
    """Return the features with these ``names`` as a table, a row for each of ``count`` blocks.

    Groups are read one after the other: all of them at once take twice the table's memory.
    """
    wanted, found = tuple(names), list[str]()
    numbers, by_feature = numbers_of(wanted), np.empty((len(names), count), np.float32)
    for group in groups:
        found += group
        if isinstance(group, Rows):
            rows, places = places_of(group.names, wanted)
            by_feature[places] = group.numbers[rows]
            continue
        for name, column in group.items():
            if name in numbers:
                by_feature[numbers[name]] = column
    if missing := set(names).difference(found):
        raise KeyError(f"there are no features {', '.join(sorted(missing))}")
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
    whole |= {f"page kind {kind}": float(says) for kind, says in zip(KINDS, evidence.kinds, strict=True)}
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
        "begins description": begins(evidence.description, blocks),
        **body_columns(evidence.body, blocks),
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
        "site text pages": np.minimum(standing.texts, 6.0),
        "site masked text pages": np.minimum(standing.masked, 6.0),
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
    "site text pages",
    "site masked text pages",
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
_PAGE_GROUPS = (_own, _page, _above, _names, _around, _headline, _repetition)
_SITE_GROUPS = (_region, _site)
