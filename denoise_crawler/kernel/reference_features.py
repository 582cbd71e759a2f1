"""Each block as a row of numbers, and the trees that score it, first by itself, then with all other scores.

A feature is a name in ``columns.py`` and a column here, by that name. Logarithms and exponentials are those of C:
numpy's differ in the last bit.
"""

from __future__ import annotations

from collections.abc import Iterable
from math import exp, log1p
from typing import TYPE_CHECKING, Any

import numpy as np

from denoise_crawler.kernel import columns as shared
from denoise_crawler.kernel.reference_declared import begins

if TYPE_CHECKING:
    from denoise_crawler.kernel.columns import Blocks, Counts, Headline, Indices, Numbers, SiteStats, Table


def logs(numbers: Any) -> Numbers:
    """Return the logarithm of 1 and each number."""
    return np.array([log1p(number) for number in numbers.tolist()], np.float64)


def odds_against(scores: Numbers) -> Numbers:
    """Return of log odds 1 and the odds against: 1 by that is the chance."""
    return np.array([1.0 + exp(-score) for score in np.clip(scores, -700.0, 700.0).tolist()], np.float64)


def ratio(part: Any, whole: Any) -> Any:
    """Return ``part / whole``, whose empty wholes count as 1."""
    return part / np.maximum(whole, 1.0)


def running(numbers: Numbers) -> Numbers:
    """Return running sums, which begin with 0; each adds one number to the last."""
    return np.concatenate([[0.0], np.cumsum(numbers)])


def up(at: Indices, parents: Indices) -> Indices:
    """Return the elements above some; the body has itself above it."""
    above: Indices = np.maximum(parents[at], 0)
    return above


def subtree_sums(places: Indices | Counts, numbers: Any, parents: Indices | Counts) -> Numbers:
    """Return by place the sum of the numbers at it and below it; parents come before children."""
    sums, above = np.bincount(places, numbers, len(parents)).tolist(), parents.tolist()
    for place in range(len(above) - 1, 0, -1):
        sums[above[place]] += sums[place]
    return np.array(sums, np.float64)


def rows_of(columns: Iterable[Any], count: int) -> Table:
    """Return a row for each column, which may be one number for all blocks."""
    found = list(columns)
    rows = np.empty((len(found), count), np.float32)
    for row, column in enumerate(found):
        rows[row] = column
    return rows


# --- what the page alone says


class PageSums:
    """Running sums over the blocks of a page, and what stands below each element."""

    def __init__(self, blocks: Blocks) -> None:
        around = blocks.around
        self.characters, self.linked = running(blocks.characters), running(blocks.linked)
        self.below, self.linked_below = (
            sums[around.last] - sums[around.first] for sums in (self.characters, self.linked)
        )
        self.unlinked = max(float(self.characters[-1] - self.linked[-1]), 1.0)


def page_table(
    blocks: Blocks, headline: Headline, description: str, named: Numbers, kinds: Numbers, units: Numbers,
    declared: Table,
) -> Table:  # fmt: skip
    """Return what a page alone says of its blocks: a row for each feature.

    Args:
        blocks: The blocks of the page.
        headline: How they resemble the title of the page, and which is the title.
        description: What it says of itself; a block may hold its beginning.
        named: By element, how much its class and id speak for content.
        kinds: How much the page speaks for each of ``KINDS``.
        units: By block, of what kind its unit is.
        declared: How blocks agree with what the page declares, a row for each feature.
    """
    of_titles = [headline.overlap, headline.first_heading, begins(description, blocks), units, *declared]
    sums, places = PageSums(blocks), blocks.around.places[blocks.elements]
    columns = _own_columns(blocks, sums) | _columns_above(blocks, sums, named) | _name_columns(blocks, named)
    columns |= _title_columns(sums, headline.best) | _repetition_columns(blocks, sums)
    in_places = [places >> bit & 1 for bit in range(len(shared.PLACES))]
    return rows_of([*map(columns.__getitem__, shared.PAGE), *in_places, *kinds, *of_titles], len(blocks))


def _own_columns(blocks: Blocks, sums: PageSums) -> dict[str, Any]:
    """Return the columns of what a block is by itself, and of the whole page."""
    around, home, count = blocks.around, blocks.elements, len(blocks)
    unlinked, total = blocks.characters - blocks.linked, max(float(sums.characters[-1]), 1.0)
    longest = float(unlinked.max(initial=0.0))
    return {
        "characters": logs(blocks.characters),
        "link share": ratio(blocks.linked, blocks.characters),
        "commas": blocks.commas,
        "closed": blocks.closed,
        "tag": around.tags[home],
        "depth": around.depths[home],
        "of longest": ratio(unlinked, longest),
        "longest": log1p(longest),
        "page characters": log1p(total),
        "page blocks": log1p(count),
        "page link share": sums.linked[-1] / total,
        "page unlinked": log1p(sums.unlinked),
        "place": np.arange(count) / max(count, 1),
        "place by characters": sums.characters[1:] / total,
    }


def _columns_above(blocks: Blocks, sums: PageSums, named: Numbers) -> dict[str, Any]:
    """Return the columns of a block's element, and of those above it."""
    around, at, columns = blocks.around, blocks.elements, dict[str, Any]()
    of_element = {
        "characters": logs(sums.below),
        "link share": ratio(sums.linked_below, sums.below),
        "share of text": (sums.below - sums.linked_below) / sums.unlinked,
        "mean block": logs(ratio(sums.below, around.last - around.first)),
        "names": named,
    }
    for level in range(shared.LEVELS):
        columns |= {f"above {level} {name}": column[at] for name, column in of_element.items()}
        at = up(at, around.parents)
    return columns


def _name_columns(blocks: Blocks, named: Numbers) -> dict[str, Any]:
    """Return the columns of what classes and ids say from the body down: sum, most, least and nearest."""
    total, most, least, nearest = (named.tolist() for _ in range(4))
    for element, parent in enumerate(blocks.around.parents.tolist()[1:], 1):  # parents come before children
        total[element] += total[parent]
        most[element] = max(most[element], most[parent])
        least[element] = min(least[element], least[parent])
        nearest[element] = nearest[element] or nearest[parent]
    columns = {"names sum": total, "names most": most, "names least": least, "names nearest": nearest}
    return {name: np.array(column)[blocks.elements] for name, column in columns.items()}


def _title_columns(sums: PageSums, title: int) -> dict[str, Any]:
    """Return the columns of how far a block is from the title, in blocks and in characters."""
    if title < 0:
        return {"blocks to title": -99.0, "characters to title": -99.0}
    ends = sums.characters[1:]
    distance, characters = np.arange(len(ends)) - title, logs(np.abs(ends - ends[title]))
    signed = np.where(distance < 0, -characters, characters)
    return {"blocks to title": np.clip(distance, -60, 60), "characters to title": signed}


def _repetition_columns(blocks: Blocks, sums: PageSums) -> dict[str, Any]:
    """Return the columns of what comes back within the page: texts, and blocks on one path."""
    _, text, times = np.unique(blocks.text_hashes, return_inverse=True, return_counts=True)
    _, path, on_path = np.unique(blocks.around.paths[blocks.elements], return_inverse=True, return_counts=True)
    held = np.bincount(path, blocks.characters - blocks.linked)
    return {
        "times on page": np.minimum(times[text], 5),
        "blocks on path": logs(on_path)[path],
        "share of text on path": held[path] / sums.unlinked,
        "mean text on path": logs(held / on_path)[path],
    }


# --- what the other pages of the site say, and what is wished

_FEW_PAGES = 2.0  # draws a share of n pages to nothing by n / (n + 2): one of two says less than six of twelve


def _local_table(blocks: Blocks, of_page: Table, stats: SiteStats | None, wishes: tuple[float, float]) -> Table:
    """Return what a first look sees: what the page says, its site, and what is wished of the text."""
    columns: dict[str, Any] = dict.fromkeys(shared.SITE, shared.UNSAID) | {"site pages": 0.0}
    if stats is not None:
        columns = _site_columns(blocks, stats)
    return np.concatenate([of_page, rows_of([*map(columns.__getitem__, shared.SITE), *wishes], len(blocks))])


def _site_columns(blocks: Blocks, site_stats: SiteStats) -> dict[str, Any]:
    """Return the columns of what other pages of the site say, −1 where they do not know."""
    home, pages, on_path = blocks.elements, float(site_stats.pages), site_stats.path_pages
    elements, characters, held = site_stats.path_elements, site_stats.path_characters, site_stats.shapes_held
    of_element = {
        "presence": on_path / pages,
        "elements": np.where(on_path > 0, logs(ratio(elements, on_path)), shared.UNSAID),
        "length": np.where(on_path > 0, logs(ratio(characters, elements)), shared.UNSAID),
        "link share": np.where(characters > 0, ratio(site_stats.path_linked, characters), shared.UNSAID),
        "repeated": np.where(characters > 0, ratio(site_stats.path_repeated, characters), shared.UNSAID),
    }
    return {f"site above 0 {name}": column[home] for name, column in of_element.items()} | {
        "site pages": min(pages, 20.0),
        "site text": site_stats.texts / pages,
        "site text pages": np.minimum(site_stats.texts, 6.0),
        "site masked text pages": np.minimum(site_stats.masked, 6.0),
        "site masked text": site_stats.masked / pages,
        "site link": np.where(blocks.link_hashes > 0, site_stats.links / pages, shared.UNSAID),
        "place shape pages": np.minimum(site_stats.shapes, 12.0),
        "place shape": np.minimum(site_stats.shapes / (on_path[home] + _FEW_PAGES), 1.0),
        "place repeated": site_stats.shapes_repeated / (held + _FEW_PAGES),
        "place sameness": np.where(held > 1.0, site_stats.sameness, shared.UNSAID),
    }


# --- what the scores of the first look say of a block's surroundings

_NO_SCORE = -8.0  # of a block that is not there
_MOST_TOKENS = 60.0  # that a block counts


def _score_table(blocks: Blocks, scores: Numbers) -> Table:
    """Return what the scores of a first look say, a row for each of ``SCORES``.

    A block counts by its tokens and 1. How likely it is content is the logistic function of its score.
    """
    weights = np.minimum(blocks.tokens, _MOST_TOKENS) + 1.0
    likely = weights / odds_against(scores)
    columns = _neighbour_columns(scores) | _window_columns(likely, weights) | _likely_page(scores, likely, weights)
    columns |= _likely_above(blocks, likely, weights) | _likely_alike(blocks, likely, weights)
    return rows_of(map(columns.__getitem__, shared.SCORES), len(blocks))


def _neighbour_columns(scores: Numbers) -> dict[str, Any]:
    """Return the columns of the score of a block, and of those before and after it."""
    count, most = len(scores), max(shared.NEIGHBOURS)
    padded, columns = np.pad(scores, most, constant_values=_NO_SCORE), {"score": scores}
    for near in shared.NEIGHBOURS:
        for distance in (-near, near):
            columns[f"score {distance:+}"] = padded[most + distance :][:count]
    return columns


def _window_columns(likely: Numbers, weights: Numbers) -> dict[str, Any]:
    """Return the columns of how likely the text before and after a block is content."""
    held, whole, at, columns = running(likely), running(weights), np.arange(len(likely)), dict[str, Any]()
    for width in shared.WINDOWS:
        before, after = np.maximum(at - width, 0), np.minimum(at + width + 1, len(at))
        columns[f"before {width} likely"] = ratio(held[at] - held[before], whole[at] - whole[before])
        columns[f"after {width} likely"] = ratio(held[after] - held[at + 1], whole[after] - whole[at + 1])
    return columns


def _likely_above(blocks: Blocks, likely: Numbers, weights: Numbers) -> dict[str, Any]:
    """Return the columns of how likely the rest of a block's element, and of those above it, is content."""
    parents, at, columns = blocks.around.parents, blocks.elements, dict[str, Any]()
    below, whole = subtree_sums(at, likely, parents), subtree_sums(at, weights, parents)
    tokens = logs(whole)
    for level in range(shared.SCORE_LEVELS):
        columns[f"above {level} likely"] = ratio(below[at] - likely, whole[at] - weights)
        columns[f"above {level} tokens"] = tokens[at]
        at = up(at, parents)
    return columns


def _likely_alike(blocks: Blocks, likely: Numbers, weights: Numbers) -> dict[str, Any]:
    """Return the columns of how likely the other blocks on a block's path are content."""
    _, path, times = np.unique(blocks.around.paths[blocks.elements], return_inverse=True, return_counts=True)
    held, whole = np.bincount(path, likely)[path], np.bincount(path, weights)[path]
    return {"same path likely": ratio(held - likely, whole - weights), "same path blocks": logs(times)[path]}


def _likely_page(scores: Numbers, likely: Numbers, weights: Numbers) -> dict[str, Any]:
    """Return the columns of what is likely content of the whole page, and where a block stands in it."""
    so_far, rank = running(likely), np.empty(len(scores))
    rank[np.argsort(-scores, kind="stable")] = np.arange(len(scores)) / max(len(scores), 1)
    return {
        "score rank": rank,
        "page likely tokens": log1p(so_far[-1]),
        "page likely share": so_far[-1] / max(running(weights)[-1], 1.0),
        "likely so far": so_far[:-1] / max(so_far[-1], 1e-9),
        "highest score": scores.max(initial=-np.inf),
    }


# --- trees, and both looks

_AT_ONCE = 512  # rows: each takes some 12 kB for a moment


class Trees:
    """A sum of trees. Every split is tested on every row.

    The leaf a row ends in is the first that no failed test rules out (QuickScorer: Lucchese et al., SIGIR 2015).

    Args:
        features: By tree and split, the number of the feature that it tests.
        thresholds: What values above fail; rounded down from doubles, so that none between goes the wrong way.
        ruled_out: The leaves that a failed test rules out, those on its left, one bit each.
        leaves: The scores of each tree's leaves from left to right.
    """

    def __init__(self, features: Any, thresholds: Any, ruled_out: Any, leaves: Numbers) -> None:
        if not features.shape == thresholds.shape == ruled_out.shape or len(leaves) != len(features):
            raise ValueError("the arrays do not fit each other")
        # by split and tree, so that a step goes over all trees
        self._features, self._leaves = features.T.ravel(), leaves
        self._thresholds, self._ruled_out = thresholds.T.reshape(-1, 1), ruled_out.T.reshape(-1, 1)

    def scores(self, table: Table, sums: int = 1) -> Numbers:
        """Return the sum of what all trees give each row; or so many ``sums`` of as many trees each, in turn.

        The table is by feature.
        """
        if len(self._leaves) % sums:
            raise ValueError("the trees do not make so many sums")
        count = table.shape[1]
        chunks = [table[:, start : start + _AT_ONCE] for start in range(0, count, _AT_ONCE)]
        by_tree = [self._by_tree(chunk).reshape(sums, -1, chunk.shape[1]) for chunk in chunks if len(self._leaves)]
        totals = [np.add.accumulate(some, axis=1)[:, -1] for some in by_tree]
        return np.concatenate(totals, axis=1).ravel() if totals else np.zeros(sums * count)

    def _by_tree(self, table: Table) -> Numbers:
        """Return what each tree gives each row of a short table by feature."""
        if len(self._features) and not 0 <= self._features.min() <= self._features.max() < len(table):
            raise ValueError("a split has a feature that the table has not")
        trees, rows = len(self._leaves), table.shape[1]
        splits = len(self._features) // max(trees, 1)
        failed = np.ascontiguousarray(table)[self._features] > self._thresholds
        ruled_out = np.multiply(failed, self._ruled_out, dtype=np.uint32).reshape(splits, trees * rows)
        left = ~np.bitwise_or.reduce(ruled_out, axis=0)
        lowest = (left & (~left + np.uint32(1))).astype(np.float32)
        leaf = np.frexp(lowest)[1].reshape(trees, rows) - 1
        by_tree: Numbers = self._leaves[np.arange(trees)[:, None], leaf]
        return by_tree


def look_at(
    blocks: Blocks, of_page: Table, site_stats: SiteStats | None, wishes: tuple[float, float], trees: Trees | None
) -> Table:
    """Return all features, a row for each: those of a first look, and what a second sees of its scores.

    Without the ``trees`` of the first look these are its features alone.
    """
    table = _local_table(blocks, of_page, site_stats, wishes)
    return table if trees is None else np.concatenate([table, _score_table(blocks, trees.scores(table))])
