"""How blocks agree with what their page declares for machines, and whether the eye sees them, as columns.

Texts are compared by runs of three words, over the ends of blocks as well: an ingredient may stand in three cells.
"""

from __future__ import annotations

import re
from itertools import chain
from typing import TYPE_CHECKING

import numpy as np

from denoise_crawler.methods.fusion.blocks import TAGS
from denoise_crawler.methods.fusion.linked_data import BODY_COLUMNS, NO_BODY, body_columns, linked_data_of
from denoise_crawler.page.declared_texts import COMMENT, DESCRIPTION, FIELDS, declared_texts_of
from denoise_crawler.page.text import HAN, KANA
from denoise_crawler.page.unseen import unseen_of

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

    from denoise_crawler.methods.fusion.blocks import Blocks, Elements, Indices, Numbers
    from denoise_crawler.page import Page
    from denoise_crawler.page.declared_texts import DeclaredText

    Bits = NDArray[np.bool_]

UNSAID = -1.0
DECLARED = (
    *BODY_COLUMNS,
    *(f"{field} declared" for field in FIELDS),  # the share of the block's words that stand in the field
    *(f"shown {field} declared" for field in FIELDS),  # the share of the field's runs that the page shows
    "rows declared",  # the share of the rows of the list or table around the block
    *("in unseen", "in panel", "page unseen"),
)
_ASIDE = frozenset({DESCRIPTION, COMMENT})  # what they tell of a list says nothing of its rows
_FIRST_FIELD = len(BODY_COLUMNS)
_ROWS = _FIRST_FIELD + 2 * len(FIELDS)
_RUN, _BITS = 3, 20  # words of a run; those of a page's declared texts are fewer than 2 ** 20
_WORD = re.compile(rf"[{HAN}{KANA}]|[^\W_{HAN}{KANA}]+")
_LEAST_SHARE = 0.6  # of the words of a row that is declared
_LEAST_ROWS = 3
_LEVELS = 5  # from a block up to its row
_ITEMS = TAGS.index("li"), TAGS.index("dd")
_CELL = TAGS.index("td")


def declared_rows(page: Page, blocks: Blocks) -> NDArray[np.float32]:
    """Return a row for each of ``DECLARED``, a number for each block; one number if it is that of all blocks."""
    texts, unseen, body = page.once(declared_texts_of), page.once(unseen_of), page.once(linked_data_of).body
    rows = np.empty((len(DECLARED), 1 if not (texts or unseen or body) else len(blocks)), np.float32)
    rows[:_FIRST_FIELD] = list(body_columns(body, blocks).values()) if body else NO_BODY
    rows[_FIRST_FIELD : _ROWS + 1] = UNSAID
    rows[_ROWS + 1 :] = 0.0
    if texts and len(blocks):
        _agreement(rows[_FIRST_FIELD : _ROWS + 1], texts, blocks)
    if unseen is not None and len(blocks):
        hidden, panel = (_inside(bits, blocks) for bits in unseen)
        share = blocks.characters[hidden].sum() / max(float(blocks.characters.sum()), 1.0)
        rows[_ROWS + 1], rows[_ROWS + 2], rows[_ROWS + 3] = hidden, panel, share
    return rows


def _inside(bits: Bits, blocks: Blocks) -> Bits:
    """Tell which blocks begin and end inside, by the ``bits`` of nodes."""
    found: Bits = bits[blocks.starts] & bits[[line[-1] for line in blocks.nodes]]
    return found


def _agreement(rows: NDArray[np.float32], texts: Iterable[DeclaredText], blocks: Blocks) -> None:
    """Fill the rows of the declared fields, of what is shown of each, and of declared rows."""
    numbers: dict[str, int] = {}
    fields: dict[int, list[list[int]]] = {}
    for field, text in texts:
        words = _WORD.findall(text.lower())
        fields.setdefault(field, []).append([numbers.setdefault(word, len(numbers) + 1) for word in words])
    shown = _Shown.of(blocks, numbers)
    known = np.zeros(len(shown.words), bool)
    for field, written in fields.items():
        runs, short = _runs_of(written)
        covered, found = shown.covered(runs, short)
        rows[field] = shown.shares(covered)
        rows[len(FIELDS) + field] = found / max(len(runs) + len(short), 1)
        if field not in _ASIDE:
            known |= covered
    if not _ASIDE.issuperset(fields):
        rows[-1] = _declared_rows(shown.bounds, known, blocks)


def _runs_of(texts: list[list[int]]) -> tuple[Indices, Indices]:
    """Return the keys of the runs of three words in ``texts``, and those of texts of one or two words."""
    long = [text for text in texts if len(text) >= _RUN]
    ends = np.cumsum([len(text) for text in long], dtype=np.int64)
    words = np.fromiter(chain.from_iterable(long), np.int64, int(ends[-1]) if long else 0)
    runs = _keys(words)
    inside = np.ones(len(runs), bool)
    for step in range(1, _RUN):
        inside[ends[:-1] - step] = False
    short = {(text[0] << _BITS) | (text[1] if len(text) > 1 else 0) for text in texts if 0 < len(text) < _RUN}
    return np.unique(runs[inside]), np.array(sorted(short), np.int64)


def _keys(words: Indices) -> Indices:
    """Return a key for each run of three ``words``, below 0 if one of them is unknown."""
    if len(words) < _RUN:
        return np.zeros(0, np.int64)
    one, two, three = words[:-2], words[1:-1], words[2:]
    keys: Indices = (one << 2 * _BITS) | (two << _BITS) | three
    keys[(one == 0) | (two == 0) | (three == 0)] = -1
    return keys


class _Shown:
    """The words that a page shows, as numbers: 0 for those that it does not declare."""

    def __init__(self, words: Indices, bounds: Indices) -> None:
        self.words, self.bounds, self.runs = words, bounds, _keys(words)

    @classmethod
    def of(cls, blocks: Blocks, numbers: dict[str, int]) -> _Shown:
        """Return the words of ``blocks``; those of block i stand from ``bounds[i]`` to ``bounds[i + 1]``."""
        words, bounds, number_of = list[int](), [0], _Numbers(numbers).__getitem__
        for text in blocks.texts:
            words.extend(map(number_of, _WORD.findall(text.lower())))
            bounds.append(len(words))
        return cls(np.array(words, np.int64), np.array(bounds, np.int64))

    def covered(self, runs: Indices, short: Indices) -> tuple[Bits, int]:
        """Tell which words stand in one of the ``runs`` or are a ``short`` text, and how many there are."""
        covered = np.zeros(len(self.words) + _RUN, bool)
        known = np.flatnonzero(self.runs >= 0)
        at = known[np.isin(self.runs[known], runs)]
        for step in range(_RUN):
            covered[at + step] = True
        found = len(np.unique(self.runs[at]))
        for length in (1, 2) if len(short) else ():
            at, keys = self._whole(length)
            fitting = np.isin(keys, short)
            found += len(np.unique(keys[fitting]))
            for step in range(length):
                covered[at[fitting] + step] = True
        return covered[: len(self.words)], found

    def shares(self, covered: Bits) -> Numbers:
        """Return by block the share of its words that are ``covered``."""
        until = np.concatenate(([0], np.cumsum(covered)))[self.bounds]
        shares: Numbers = np.diff(until) / np.maximum(np.diff(self.bounds), 1)
        return shares

    def _whole(self, length: int) -> tuple[Indices, Indices]:
        """Return where texts of ``length`` words begin that one block or more hold alone, and their keys."""
        count = len(self.words)
        begins, ends = np.zeros(count + 1, bool), np.zeros(count + 1, bool)
        begins[self.bounds[:-1]], ends[self.bounds[1:]] = True, True
        at = np.flatnonzero(begins[: max(count + 1 - length, 0)] & ends[length:])
        keys = self.words[at] << _BITS
        if length > 1:
            keys |= self.words[at + 1]
            at, keys = at[self.words[at + 1] > 0], keys[self.words[at + 1] > 0]
        known = keys >> _BITS > 0
        return at[known], keys[known]


class _Numbers(dict[str, int]):
    """Numbers of words, 0 for an unknown one."""

    def __missing__(self, word: str) -> int:
        return 0


def _declared_rows(bounds: Indices, covered: Bits, blocks: Blocks) -> Numbers:
    """Return by block the share of the rows of its list or table that are declared, ``UNSAID`` outside of one.

    A row is the nearest item or table row above the block, else the element that it stands in.
    """
    around, homes = blocks.around, blocks.elements
    parents, is_row = np.maximum(around.parents, 0), _rows_of(around)
    until = np.concatenate(([0], np.cumsum(covered)))[bounds]
    words = (bounds[around.last] - bounds[around.first]).astype(np.float64)
    declared = until[around.last] - until[around.first] >= _LEAST_SHARE * np.maximum(words, 1.0)
    held = words > 0
    held[0] = False
    members = np.bincount(parents[held], minlength=len(around))
    agreeing = np.bincount(parents[held & declared], minlength=len(around))
    row, above = homes.copy(), homes
    found = np.zeros(len(homes), bool)
    for _ in range(_LEVELS):
        new = is_row[above] & ~found
        row[new] = above[new]
        found |= new
        above = parents[above]
    lists = parents[row]
    shares = agreeing[lists] / np.maximum(members[lists], 1)
    return np.where(found | (members[lists] >= _LEAST_ROWS), shares, UNSAID)


def _rows_of(around: Elements) -> Bits:
    """Tell which elements are items of lists, or hold the cells of a table."""
    rows: Bits = np.isin(around.tags, _ITEMS)
    cells = np.flatnonzero(around.tags == _CELL)
    rows[around.parents[cells[around.parents[cells] > 0]]] = True
    return rows
