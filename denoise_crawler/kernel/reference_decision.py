"""What a page is as a whole; which of its blocks are taken.

These are the likeliest, as many as promise the best F1, and what belongs together with them.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from math import exp, log, log1p
from typing import TYPE_CHECKING, Any

import numpy as np

from denoise_crawler.kernel import columns as shared
from denoise_crawler.kernel.reference_features import PageSums, odds_against, rows_of, running

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from denoise_crawler.kernel.columns import Blocks, Choice, Flags, Indices, Numbers, Parts, SiteStats

# --- the page as a whole

_PARAGRAPH = 100.0  # characters outside links
_SIBLINGS = 3  # elements of one kind below the same one are a list
_OF_LIST = ("size", "share", "mean", "link share", "content")


def page_type_row(blocks: Blocks, scores: Numbers) -> NDArray[np.float32]:
    """Return what the text of a page is as a whole: the numbers of ``PAGE_TYPE``."""
    if len(scores) != len(blocks):
        raise ValueError("the columns of the page do not fit each other")
    sums, own, count = PageSums(blocks), blocks.characters - blocks.linked, len(blocks)
    chances, whole = 1.0 / odds_against(scores), max(float(sums.characters[-1]), 1.0)
    likely, tokens = running(blocks.tokens * chances), running(blocks.tokens)
    long = own >= _PARAGRAPH
    in_paragraphs = own[long].sum()
    expected, in_links = running(blocks.characters * chances)[-1], running(blocks.linked * chances)[-1]
    columns = {
        "blocks": log1p(count),
        "characters": log1p(whole),
        "link share": sums.linked[-1] / whole,
        "paragraphs": log1p(long.sum()),
        "share in paragraphs": in_paragraphs / whole,
        "longest": log1p(own.max(initial=0.0)),
        "commas in paragraphs": blocks.commas[long].sum() / max(in_paragraphs, 1.0),
        "content tokens": log1p(likely[-1]),
        "content share": likely[-1] / max(tokens[-1], 1.0),
        "content blocks": (chances > 0.5).sum() / max(count, 1),
        "content link share": in_links / max(expected, 1.0),
    }
    columns |= _largest_lists(blocks, sums, likely, tokens)
    return rows_of(map(columns.__getitem__, shared.PAGE_TYPE), 1)[:, 0]


def _largest_lists(blocks: Blocks, sums: PageSums, likely: Numbers, tokens: Numbers) -> dict[str, float]:
    """Return the numbers of the two lists that have most text outside links.

    A list are elements on one path below the same element. ``likely`` and ``tokens`` are running sums by block: of
    the tokens expected to be content, and of all.
    """
    around = blocks.around
    with_text = np.flatnonzero(around.last > around.first)
    keys = (around.parents[with_text] << 32) + around.paths[with_text]
    _, group, sizes = np.unique(keys, return_inverse=True, return_counts=True)
    first, last = around.first[with_text], around.last[with_text]
    text, in_links = sums.below[with_text], sums.linked_below[with_text]
    columns = text, in_links, likely[last] - likely[first], tokens[last] - tokens[first]
    characters, linked, content, words = (np.bincount(group, column, len(sizes)) for column in columns)
    order = np.argsort(linked - characters, kind="stable")  # groups are in the order of their keys
    largest = order[sizes[order] >= _SIBLINGS][:2].tolist()
    found = {f"list {place} {name}": 0.0 for place in (1, 2) for name in _OF_LIST}
    for place, one in enumerate(largest, 1):
        found[f"list {place} size"] = log1p(sizes[one])
        found[f"list {place} share"] = characters[one] / max(sums.characters[-1], 1.0)
        found[f"list {place} mean"] = log1p(characters[one] / sizes[one])
        found[f"list {place} link share"] = linked[one] / max(characters[one], 1.0)
        found[f"list {place} content"] = content[one] / max(words[one], 1.0)
    return found


def lines_around_text(blocks: Blocks) -> list[list[int]]:
    """Return the first short blocks of each path where much of the text outside links stands between such."""
    on_path, until = dict[int, list[int]](), running(blocks.characters - blocks.linked).tolist()
    short = np.flatnonzero(blocks.characters <= shared.LONGEST_LINE)
    for block, path in zip(short.tolist(), blocks.around.paths[blocks.elements[short]].tolist(), strict=True):
        on_path.setdefault(path, []).append(block)
    found = []
    for lines in on_path.values():
        if others := len(lines) - 1:  # the last post is as long as the mean of the others
            behind = lines[-1] + 1 + (lines[-1] - lines[0]) // others
            if until[min(behind, len(blocks))] - until[lines[0]] >= shared.LEAST_BETWEEN * until[-1]:
                found.append(lines[: shared.MOST_LINES])
    return found[: shared.MOST_PATHS]


# --- how likely each block is content


def content_chances(scores: Numbers, stats: SiteStats | None, shift: float, title: int, wished: bool) -> Numbers:
    """Return by block how likely it is content: by the trees, its style, what is wished and the title.

    The more tokens of a style the site's other pages have, the more their mean score says. A title that is sure is
    content as it is wished: other pages may list it, which says nothing against it.

    ``shift`` is added to all log odds; ``title`` is the block that surely is the title, below 0 if none is.
    """
    if stats is not None:
        share = shared.STYLE_SHARE * stats.style_tokens / (stats.style_tokens + shared.STYLE_PRIOR)
        scores = (1.0 - share) * scores + share * stats.style_scores
    chances = 1.0 / odds_against(scores + shift)
    if title >= 0:
        chances[title] = max(chances[title], shared.TITLE_CHANCE) if wished else 0.0
    return chances


def joint_chances(own: Numbers, tokens: Numbers, units: Indices, silent: Indices) -> Numbers:
    """Return the chances of blocks: their own if they are in no unit, else that of the unit.

    That is the mean over its tokens; for tables, code and formulas what stands around the unit counts as well.
    The own chances of ``silent`` blocks say nothing.
    """
    joint, quiet = own.copy(), {*silent.tolist()}
    if not len(units):
        return joint
    chances, weights = own.tolist(), tokens.tolist()
    speaking = [block for block in range(len(own)) if block not in quiet] if quiet else range(len(own))
    for kind, first, last in units.tolist():
        begin, end = bisect_left(speaking, first), bisect_left(speaking, last)
        mean = _mean(chances, weights, speaking[begin:end])
        if kind == _DEFINITIONS:
            joint[first:last] = running(own[first:last])[-1] / max(last - first, 1) if mean is None else mean
            continue
        odds = shared.OF_OWN * _log_odds(mean) + (shared.OF_TABLES if kind == _TABLE else shared.OF_OTHERS)
        sides = speaking[max(begin - shared.AROUND, 0) : begin][::-1], speaking[end : end + shared.AROUND]
        for factor, side in zip((shared.OF_BEFORE, shared.OF_AFTER), sides, strict=True):
            counted = {block: min(weights[block], shared.MOST_UNIT_TOKENS) + 1.0 for block in side}
            odds += factor * _log_odds(_mean(chances, counted, side))
        joint[first:last] = 1.0 / (1.0 + exp(-odds))
    return joint


_TABLE, _FORMULA, _DEFINITIONS = (
    shared.UNITS.index(kind) for kind in (shared.TABLE, shared.FORMULA, shared.DEFINITIONS)
)


def _mean(chances: Sequence[float], weights: Any, blocks: Sequence[int]) -> float | None:
    """Return the mean chance of some blocks by their weights; None if they weigh nothing."""
    whole = held = 0.0
    for block in blocks:
        whole += weights[block]
        held += chances[block] * weights[block]
    return held / whole if whole > 0.0 else None


def _log_odds(chance: float | None) -> float:
    """Return a chance, within bounds, as log odds; 0 for None."""
    if chance is None:
        return 0.0
    bounded = min(max(chance, 1.0 - shared.SUREST), shared.SUREST)
    return log(bounded / (1.0 - bounded))


# --- the cut


def most_f1(chances: Numbers, tokens: Numbers, shift: float = 0.0) -> tuple[Flags, float, float]:
    """Select the most probable blocks, as many as make the expected F1 of the text largest.

    With p the chance and n the tokens of a block that is 2·Σ p·n over those taken, by Σ n over those taken plus
    Σ p·n over all.

    Return whether each block is taken, the F1 to be expected (1 where there is nothing to take and nothing is),
    and the lowest chance that is taken. A shift is added to the log odds before the cut only.
    """
    taken, moved = np.zeros(len(chances), bool), chances
    if shift:
        moved = chances * exp(shift)
        moved = moved / (1.0 - chances + moved)
    order = np.argsort(-moved, kind="stable")
    hits, held = np.cumsum((moved * tokens)[order]), np.cumsum(tokens[order])
    f1 = 2.0 * hits / np.maximum(held + running(moved * tokens)[-1], 1e-9)
    taken[order[: int(f1.argmax()) + 1 if len(f1) else 0]] = True
    expected = chances * tokens
    hit, whole = running(expected[taken])[-1], running(tokens[taken])[-1] + running(expected)[-1]
    lowest = min(float(chances[taken].min(initial=1.0)), 1.0)
    return taken, float(2.0 * hit / whole) if whole > 0.0 else 1.0, lowest


# --- what belongs to the likely blocks


def take(
    blocks: Blocks, parts: Parts, likely: Flags, wanted: Flags, chances: Numbers, title: int = -1,
    repeating: bool = True,
) -> tuple[Flags, Flags, Flags]:  # fmt: skip
    """Add what belongs to the selected blocks, drop repetitions, and keep headings with their sections.

    A unit is taken if half of its tokens are likely or any of its blocks is wanted, a list with the paragraph that
    introduces it. Blocks that are ``wanted`` stay in any case; on a page that is ``repeating`` itself, what stands
    there twice is taken twice.

    Return the blocks to take of the units, the same without what stands there twice, and with headings as their
    sections.
    """
    best, fixed = likely.copy(), wanted.copy()
    for first, last in parts.lists.tolist():
        if first and best[first - 1]:
            best[first:last] = True
    for _, first, last in parts.units.tolist():
        tokens, some = blocks.tokens[first:last], best[first:last]
        best[first:last] = wanted[first:last].any() or tokens[some].sum() >= tokens[~some].sum()
    best |= wanted
    once = best.copy() if repeating else _taken_once(blocks, parts.units, best)
    for kind, first, last in parts.units.tolist():
        fixed[first:last] |= kind != _FORMULA
    if title >= 0:
        fixed[title] = True
    return best, once, _with_sections(parts.headings, chances, fixed, once)


def _taken_once(blocks: Blocks, units: Indices, best: Flags) -> Flags:
    """Leave out of the best blocks what is taken already: long texts elsewhere, units with the same texts.

    A refrain comes back among the lines of its song, in the same series: in one element, and alike.
    """
    once, around = best.copy(), blocks.around
    long = np.flatnonzero(best & (blocks.characters >= shared.LEAST_REPEATED))
    _, first, text = np.unique(blocks.text_hashes[long], return_index=True, return_inverse=True)
    home, other = blocks.elements[long], blocks.elements[long[first[text]]]
    columns = around.parents, around.paths, around.places
    once[long] = np.all([column[home] == column[other] for column in columns], axis=0)
    seen = set[bytes]()
    for _, begin, end in units.tolist():
        once[begin:end] = begin < len(best) and best[begin]
        if end > begin and best[begin] and blocks.characters[begin:end].sum() >= shared.LEAST_REPEATED:
            own = blocks.text_hashes[begin:end].tobytes()
            once[begin:end] = own not in seen
            seen.add(own)
    return once


def _with_sections(headings: Indices, chances: Numbers, fixed: Flags, before: Flags) -> Flags:
    """Keep headings before blocks that are taken, drop those whose section is not; ``fixed`` blocks stay."""
    taken, count = before.copy(), len(before)
    for first, last, _ in headings.tolist():
        taken[first:last] = False
    places = np.where(taken, np.arange(count), count)
    # by block, the first from there on that is taken and no heading
    nexts = [*np.minimum.accumulate(places[::-1])[::-1].tolist(), count]
    following = count  # the next heading that is kept
    for first, last, end in headings.tolist()[::-1]:
        taken[first:last] = before[first:last]
        if last < end and not fixed[first:last].any():
            nearest, chance = min(nexts[last], following), chances[first:last].max(initial=0.0)
            if nearest == last and chance >= shared.LEAST_HEADING_CHANCE:
                taken[first:last] = True
            elif nearest >= end and chance < shared.SURE_HEADING_CHANCE:
                taken[first:last] = False
        if first < last and taken[first]:
            following = first
    return taken


def decide(
    blocks: Blocks, scores: Numbers, site_stats: SiteStats | None, parts: Parts, wanted: Flags, favour: float,
    wished: bool, title: int, shift: float, repeating: bool,
) -> Choice:  # fmt: skip
    """Decide what to take of a page.

    ``favour`` is added to all log odds as it is wished, ``shift`` before the cut, for pages of this type; see
    :func:`content_chances` for the title, :func:`take` for ``wanted`` and ``repeating``.
    """
    own = content_chances(scores, site_stats, favour, title, wished)
    chances = joint_chances(own, blocks.tokens, parts.units, parts.silent)
    likely, expected, bar = most_f1(chances, blocks.tokens, shift)
    steps = take(blocks, parts, likely, wanted, chances, title, repeating)
    return shared.Choice(own, chances, likely, *steps, bar, expected)


# --- from blocks to nodes


def verdicts(nodes: Any, blocks: Blocks, taken: Flags, chances: Numbers) -> tuple[list[bool], list[float]]:
    """Return by node whether it is noise, and its score.

    An element has the highest score of its text and is noise if all its text is; one without goes with its parent.
    """
    above, count = nodes.columns.parents.tolist(), len(nodes.texts)
    scores, has_text, kept = [0.0] * count, [False] * count, [False] * count
    columns = blocks.starts, blocks.ends, taken, chances
    for start, end, is_kept, chance in zip(*(column.tolist() for column in columns), strict=True):
        for node in filter(nodes.texts.__getitem__, range(start, end)):
            scores[node], has_text[node], kept[node] = chance, True, is_kept
    for node in range(count - 1, 0, -1):  # children come behind their parents
        if has_text[node]:
            parent = above[node]
            has_text[parent], kept[parent] = True, kept[parent] or kept[node]
            scores[parent] = max(scores[parent], scores[node])
    for node in range(1, count):
        if not has_text[node]:
            kept[node] = kept[above[node]]
    return [not one for one in kept], scores
