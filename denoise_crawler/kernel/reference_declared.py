"""How far blocks agree with texts that their page declares for machines, with its title, and with its description.

Declared texts are compared by runs of three words, over the ends of blocks as well: an ingredient may stand in
three cells. How blocks call on the reader to do something is the last part.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from denoise_crawler.kernel import columns as shared
from denoise_crawler.kernel import names as naming
from denoise_crawler.kernel.hashes import hash64

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from denoise_crawler.kernel.columns import Blocks, Elements, Flags, Headline, Indices, Numbers, Table

_SIGNS = (
    "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"  # Chinese signs and kana: words
)
_WORD = re.compile(rf"(?=[^\W_])[{_SIGNS}]|[^\W_{_SIGNS}]+")


def _words(texts: Iterable[str]) -> tuple[list[str], Indices]:
    """Return the words of some texts, and where those of each begin and end."""
    by_text = [_WORD.findall(text.lower()) for text in texts]
    bounds = np.concatenate([[0], np.cumsum([len(words) for words in by_text], dtype=np.int64)])
    return [word for words in by_text for word in words], bounds.astype(np.int64)


def word_hashes(texts: list[str]) -> tuple[NDArray[np.uint64], Indices]:
    """Return the hashes of the words of some texts, and where those of each begin and end."""
    words, bounds = _words(texts)
    known = {word: hash64(word) for word in set(words)}
    return np.array([known[word] for word in words], np.uint64), bounds


def agreement(blocks: Blocks, texts: list[str], fields: Sequence[int], kinds: int, aside: int) -> Table:
    """Return how far blocks agree with declared texts.

    A run of three words may reach from one block into the next; a text of one or two words is found where one
    block or two hold it alone.

    Args:
        blocks: The blocks of a page.
        texts: The texts that it declares.
        fields: The field of each.
        kinds: How many fields there are.
        aside: The fields that say nothing of rows, a bit for each.

    Returns:
        By field the share of each block's words that stand in it, then by field the share of its runs that the
        page shows, then the share of the rows of the list around the block that are declared.
    """
    if len(texts) != len(fields):
        raise ValueError("each declared text has a field")
    rows, runs = np.full((2 * kinds + 1, len(blocks)), shared.UNSAID, np.float32), dict[tuple[str, ...], int]()
    for text, field in zip(texts, fields, strict=True):
        words, _ = _words([text])
        for run in [tuple(words)] if len(words) in (1, 2) else zip(words, words[1:], words[2:], strict=False):
            runs[run] = runs.get(run, 0) | 1 << field  # the fields that have it, a bit for each
    shown, bounds = _words(blocks.texts)
    covered, found = np.zeros(len(shown), np.int64), set[tuple[str, ...]]()
    for at, size in _places_of_runs(bounds.tolist()) if runs else ():
        run = tuple(shown[at : at + size])
        if run in runs:
            found.add(run)
            covered[at : at + size] |= runs[run]
    for field in set(fields):
        in_field = [run in found for run, bits in runs.items() if bits >> field & 1]
        rows[field] = _between(covered >> field & 1, bounds[:-1], bounds[1:]) / np.maximum(np.diff(bounds), 1)
        rows[kinds + field] = sum(in_field) / max(len(in_field), 1)
    if wanted := sum(1 << field for field in set(fields)) & ~aside:
        rows[2 * kinds] = row_shares(covered & wanted > 0, bounds, blocks.elements, blocks.around)
    return rows


def _places_of_runs(bounds: Sequence[int]) -> Iterator[tuple[int, int]]:
    """Yield where runs of words begin that may be declared, and how many words: short ones fill blocks."""
    ends = {*bounds}
    yield from ((at, 3) for at in range(bounds[-1] - 2))
    for begin, end in pairwise(bounds):
        if end == begin + 1:
            yield begin, 1
        if begin < end <= begin + 2 in ends:
            yield begin, 2


def _between(numbers: Any, first: Indices, last: Indices) -> Indices:
    """Return the sums of the numbers from each first place up to each last."""
    sums = np.concatenate([[0], np.cumsum(numbers)])
    between: Indices = sums[last] - sums[first]
    return between


_LEAST_SHARE = 0.6  # of the words of a row that is declared
_LEAST_ROWS = 3  # of what is no list and no table
_UP = 5  # elements, from a block up to its row


def row_shares(covered: Flags, bounds: Indices, place: Indices, around: Elements) -> Numbers:
    """Return by block the share of the rows of the list around it whose words are ``covered``.

    Its row is the nearest item or table row above it, else the element that it stands in.
    """
    parents, size = np.maximum(around.parents, 0), len(around)
    first, last = bounds[around.first[1:]], bounds[around.last[1:]]
    words, held = last - first, _between(covered, first, last)
    members = np.bincount(parents[1:][words > 0], minlength=size)
    agreeing = np.bincount(parents[1:][(words > 0) & (held >= _LEAST_SHARE * words)], minlength=size)
    is_row, at, listed = _is_row(around), place, np.zeros(len(place), bool)
    for _ in range(_UP):
        listed |= is_row[at]
        at = np.where(listed, at, parents[at])
    at = parents[np.where(listed, at, place)]
    return np.where(
        listed | (members[at] >= _LEAST_ROWS), agreeing[at] / np.maximum(members[at], 1), shared.UNSAID
    )


def _is_row(around: Elements) -> Flags:
    """Return by element whether it is an item of a list, or holds cells of a table."""
    is_row: Flags = (around.tags == shared.LI) | (around.tags == shared.DD)
    rows = around.parents[around.tags == shared.TD]
    is_row[rows[rows > 0]] = True
    return is_row


# --- the title and the description

_SHORTEST = 3  # characters of what is no title
_TITLE_WORD = re.compile(r"\w+")


def headline_of(title: str, blocks: Blocks) -> Headline:
    """Find the title of a page among its blocks, by what they share and whether they are an ``h1``."""
    overlap = _overlap(title[: shared.TITLE_CHARACTERS], blocks)
    first_heading = (blocks.around.tags[blocks.elements] == shared.H1).astype(np.float64)
    likeness = overlap + 0.3 * first_heading - 0.5 * blocks.linked / np.maximum(blocks.characters, 1.0)
    best = int(likeness.argmax()) if len(likeness) and likeness.max() > shared.LEAST_TITLE else -1
    main = int(first_heading.argmax()) if first_heading.any() else best
    return shared.Headline(overlap, first_heading, best, main)


def _overlap(title: str, blocks: Blocks) -> Numbers:
    """Return by block 2·|A ∩ B| / (|A| + |B|) over the distinct words of its text and the title.

    Of a title in Chinese or Japanese, over pairs of characters. 0 for blocks that are very short, and for those
    more than twice as long as the title.
    """
    in_pairs, overlap = naming.IDEOGRAPH.search(title) is not None, np.zeros(len(blocks))
    wanted = _title_parts(title, in_pairs=in_pairs)
    fitting = (blocks.characters > _SHORTEST) & (blocks.characters <= 2 * len(title) + 10)
    for block in np.flatnonzero(fitting).tolist() if wanted else ():
        own = _title_parts(blocks.texts[block], in_pairs=in_pairs)
        overlap[block] = 2 * len(wanted & own) / (len(own) + len(wanted))
    return overlap


def _title_parts(text: str, *, in_pairs: bool) -> set[str]:
    """Return the distinct words of a text, or the pairs of its letters."""
    text = text.lower()
    return {one + other for one, other in pairwise(text)} if in_pairs else {*_TITLE_WORD.findall(text)}


def begins(description: str, blocks: Blocks) -> Numbers:
    """Return 1 for blocks that hold the beginning of the page's description, else 0; −1 without one."""
    beginning = description[: shared.BEGINNING].lower()
    least = len(beginning)
    if least < shared.BEGINNING // 2:
        return np.full(len(blocks), -1.0)
    return np.array([len(text) >= least and beginning in text.lower() for text in blocks.texts], np.float64)


# --- calls on the reader


def calls_in(blocks: Blocks) -> Table:
    """Return by block how many calls on the reader it has, none if it is long, and how many the box around it.

    That is the smallest element that holds it and more, if it is no larger than a box.
    """
    lines = [text.lower() if len(text) <= naming.LONGEST_CALL else "" for text in blocks.texts]
    whole, around = "\n".join(lines), blocks.around
    stems = [stem for sign, some in naming.CALLS.items() if sign in whole for stem in some if stem in whole]
    calls = np.array([min(sum(map(line.count, stems)), naming.MOST_CALLS) for line in lines], np.float32)
    first, last, above = around.first, around.last, np.maximum(around.parents[blocks.elements], 0)
    held, characters = (np.concatenate(([0.0], np.cumsum(column))) for column in (calls, blocks.characters))
    inside, is_large = held[last] - held[first], characters[last] - characters[first] > naming.BOX
    in_box = np.minimum(np.where(is_large[above], calls, inside[above]), 2.0 * naming.MOST_CALLS)
    return np.array([calls, in_box], np.float32)
