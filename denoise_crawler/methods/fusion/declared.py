"""How blocks agree with what their page declares for machines, and with its title, as columns.

Texts are compared by runs of three words, over the ends of blocks as well: an ingredient may stand in three cells.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from html import unescape
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from denoise_crawler.core import compiled, loops
from denoise_crawler.methods.fusion.blocks import IDEOGRAPH, TAGS, blocks_of
from denoise_crawler.page import Page
from denoise_crawler.page.declarations import (
    COMMENT,
    DESCRIPTION,
    FIELDS,
    DeclaredText,
    declarations_of,
    declared_texts_of,
    nested_items,
    strings,
    types_of,
)
from denoise_crawler.page.page import self_description_of
from denoise_crawler.page.text import collapse_spaces, letters
from denoise_crawler.page.unseen import unseen_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from denoise_crawler.methods.fusion.blocks import Blocks, Elements, Indices, Numbers

UNSAID = -1.0
BODY_COLUMNS = "in body declared", "share declared", "blocks to end declared"
_CODES = ("sku", "mpn", "gtin", "gtin8", "gtin12", "gtin13", "gtin14", "productID", "price", "lowPrice")
_TAG = re.compile(r"<[^<>]*>")
_MOST_VALUES, _LEAST_VALUE, _LONGEST_VALUE = 50, 3, 40
_LEAST_BODY = 200  # letters and digits: less is a teaser
_ARTICLE_BEGINNING = 48  # letters and digits of a block that are looked for
_FAR = 60.0
NO_BODY = np.array([[UNSAID], [UNSAID], [-_FAR]])  # of any block of a page that declares none


class LinkedData(NamedTuple):
    """The types of things that a page describes; letters and digits of its article and of a product's values.

    These are its codes, its price and its brand.
    """

    types: frozenset[str]
    body: str
    values: frozenset[str] = frozenset()


def linked_data_of(page: Page) -> LinkedData:
    """Return what the JSON-LD of ``page`` says of the things that it describes; call it by ``page.once``."""
    types: set[str] = set()
    values: list[str] = []
    body = ""
    for item in nested_items(page.once(declarations_of).items):
        types.update(types_of(item)[:1])  # the weights were trained on the first type of each
        if isinstance(written := item.get("articleBody"), str):
            body = max(body, _bare(written), key=len)
        codes = (item[name] for name in _CODES if name in item)
        values += [str(code)[:_LONGEST_VALUE] for code in codes if isinstance(code, str | float | int)]
        values += strings(item.get("brand"))
    long = frozenset(value for value in map(_bare, values[:_MOST_VALUES]) if len(value) >= _LEAST_VALUE)
    return LinkedData(frozenset(types), body if len(body) >= _LEAST_BODY else "", long)


def body_columns(body: str, blocks: Blocks) -> dict[str, Numbers]:
    """Return by block whether it stands in the article as the page declares it, and how far from its end."""
    count = len(blocks)
    if not body:
        return {name: np.full(count, value) for name, value in zip(BODY_COLUMNS, NO_BODY, strict=True)}
    beginnings = [_bare(text[: 2 * _ARTICLE_BEGINNING])[:_ARTICLE_BEGINNING] for text in blocks.texts]
    inside = np.array([bool(beginning) and beginning in body for beginning in beginnings], bool)
    long = np.flatnonzero(inside & (blocks.characters >= _ARTICLE_BEGINNING))
    last = int(long[-1]) if len(long) else count
    share = np.full(count, len(body) / max(float(blocks.characters.sum()), 1.0))
    to_end = np.clip(np.arange(count) - last, -_FAR, _FAR).astype(np.float64)
    return dict(zip(BODY_COLUMNS, (inside.astype(np.float64), share, to_end), strict=True))


def _bare(text: str) -> str:
    """Return the letters and digits of ``text`` without markup, in small letters."""
    return letters(_TAG.sub(" ", unescape(text)))


DECLARED = (
    *BODY_COLUMNS,
    *(f"{field} declared" for field in FIELDS),  # the share of the block's words that stand in the field
    *(f"shown {field} declared" for field in FIELDS),  # the share of the field's runs that the page shows
    "rows declared",  # the share of the rows of the list or table around the block
    *("in unseen", "in panel", "page unseen"),
)
_ASIDE = 1 << DESCRIPTION | 1 << COMMENT  # what they tell of a list says nothing of its rows
_FIRST_FIELD = len(BODY_COLUMNS)
_ROWS = _FIRST_FIELD + 2 * len(FIELDS)
_ITEMS = TAGS.index("li"), TAGS.index("dd")
_CELL = TAGS.index("td")


def declared_of(page: Page) -> NDArray[np.float32]:
    """Return a row for each of ``DECLARED``, a number for each block; one number if it is that of all blocks."""
    blocks = page.once(blocks_of)
    texts, unseen, body = page.once(declared_texts_of), page.once(unseen_of), page.once(linked_data_of).body
    rows = np.empty((len(DECLARED), 1 if not (texts or unseen or body) else len(blocks)), np.float32)
    rows[:_FIRST_FIELD] = list(body_columns(body, blocks).values()) if body else NO_BODY
    rows[_FIRST_FIELD : _ROWS + 1] = UNSAID
    rows[_ROWS + 1 :] = 0.0
    if texts and len(blocks):
        _agreement(rows[_FIRST_FIELD : _ROWS + 1], texts, blocks)
    if unseen is not None and len(blocks):
        ends = np.array([blocks.starts, [line[-1] for line in blocks.nodes]])
        hidden, panel = (bits[ends].all(axis=0) for bits in unseen)
        share = blocks.characters[hidden].sum() / max(float(blocks.characters.sum()), 1.0)
        rows[_ROWS + 1], rows[_ROWS + 2], rows[_ROWS + 3] = hidden, panel, share
    return rows


def _agreement(rows: NDArray[np.float32], texts: Sequence[DeclaredText], blocks: Blocks) -> None:
    """Fill the rows of the declared fields, of what is shown of each, and of declared rows."""
    around = blocks.around
    fields = np.array([text.field for text in texts], np.int64)
    elements = around.parents, around.first, around.last, _rows_of(around)
    declared = *_words([text.text for text in texts]), fields
    loops.runs.agreement(rows, _words(blocks.texts), declared, _ASIDE, blocks.elements, elements)


def _words(texts: Sequence[str]) -> tuple[NDArray[np.uint64], Indices]:
    """Return the hashes of the words of ``texts``, and where those of each begin and end."""
    lower = [text.lower() for text in texts]
    words, bounds = np.empty(sum(map(len, lower)), np.uint64), np.empty(len(lower) + 1, np.int64)
    return words[: loops.runs.words_of(lower, words, bounds)].copy(), bounds


def _rows_of(around: Elements) -> NDArray[np.uint8]:
    """Tell which elements are items of lists, or hold the cells of a table."""
    is_item: NDArray[np.bool_] = (around.tags == _ITEMS[0]) | (around.tags == _ITEMS[1])
    rows = is_item.astype(np.uint8)
    cells = np.flatnonzero(around.tags == _CELL)
    rows[around.parents[cells[around.parents[cells] > 0]]] = 1
    return rows


_LONGEST = 300  # characters of a title that is read: what is remembered of texts about as long must be bounded
_LETTERS = 3
_WORD = re.compile(r"\w+")
_BEGINNING = 24
_SURE = 0.6
_H1 = TAGS.index("h1")


@dataclass(frozen=True, slots=True, eq=False)
class Headline:
    """By block how much it resembles the page's title, whether it is an ``h1``, and which block is the title.

    ``best`` is -1 where no block resembles it.
    """

    overlap: Numbers
    first_heading: Numbers
    best: int

    @property
    def sure(self) -> int:
        """The block that is the title beyond doubt: an ``h1`` in the title's words; -1 if there is none."""
        best = self.best
        return best if best >= 0 and self.first_heading[best] and self.overlap[best] >= _SURE else -1


def headline_of(title: str, blocks: Blocks) -> Headline:
    """Find the ``title`` of a page among its blocks."""
    overlap = title_overlap(title[:_LONGEST], blocks)
    around, first_heading = blocks.around, np.empty(len(blocks))
    own = blocks.characters, blocks.linked, blocks.elements, around.tags
    best = loops.features.title_of(*own, overlap, _H1, first_heading)
    return Headline(overlap, first_heading, best)


def title_overlap(title: str, blocks: Blocks) -> Numbers:
    """Return by block 2·|A ∩ B| / (|A| + |B|) over the distinct words of its text and the title.

    Of a title in Chinese or Japanese, over pairs of characters. 0 for blocks of three characters or less and for
    those more than twice as long as the title.
    """
    parts = _pairs if IDEOGRAPH.search(title) else _title_words
    wanted = set(parts(title))
    overlap = np.zeros(len(blocks))
    if wanted and (core := compiled.texts) is not None:
        most = 2.0 * len(title) + 10.0
        words = core.WordSets(wanted, parts is _pairs)
        words.overlap(blocks.texts, blocks.characters, _LETTERS, most, parts, overlap)
    elif wanted:
        fitting = (blocks.characters > _LETTERS) & (blocks.characters <= 2 * len(title) + 10)
        for index in np.flatnonzero(fitting).tolist():
            found = parts(blocks.texts[index])
            if common := len(wanted.intersection(found)):
                overlap[index] = 2 * common / (len(found) + len(wanted))
    return overlap


# tuples of strings, unlike sets, cost the garbage collector nothing
@lru_cache(maxsize=4_096)
def _title_words(text: str) -> tuple[str, ...]:
    return tuple(set(_WORD.findall(text.lower())))


@lru_cache(maxsize=4_096)
def _pairs(text: str) -> tuple[str, ...]:
    return tuple({one + other for one, other in pairwise(text.lower())})


def begins(description: str, blocks: Blocks) -> Numbers:
    """Return 1 for blocks that hold the beginning of the page's description, else 0; −1 without one."""
    beginning = description[:_BEGINNING].lower()
    if len(beginning) < _BEGINNING // 2:
        return np.full(len(blocks), -1.0)
    if (core := compiled.texts) is not None:
        found = np.empty(len(blocks))
        core.begins(blocks.texts, beginning, found)
        return found
    least = len(beginning)
    return np.array([float(len(text) >= least and beginning in text.lower()) for text in blocks.texts])


def description_of(page: Page) -> str:
    """Return the longest description that the page gives of itself, empty without any; by ``page.once``."""
    found = (
        collapse_spaces(meta.content)
        for meta in page.once(self_description_of).metas
        if (meta.name or meta.property).lower() in ("description", "og:description")
    )
    return max(found, key=len, default="")
