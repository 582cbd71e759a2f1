"""How blocks agree with what their page declares for machines, and whether the eye sees them, as columns.

Texts are compared by runs of three words, over the ends of blocks as well: an ingredient may stand in three cells.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from denoise_crawler.core import loops
from denoise_crawler.methods.fusion.blocks import TAGS, blocks_of
from denoise_crawler.methods.fusion.linked_data import BODY_COLUMNS, NO_BODY, body_columns, linked_data_of
from denoise_crawler.page.declared_texts import COMMENT, DESCRIPTION, FIELDS, declared_texts_of
from denoise_crawler.page.unseen import unseen_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from denoise_crawler.methods.fusion.blocks import Blocks, Elements, Indices
    from denoise_crawler.page import Page
    from denoise_crawler.page.declared_texts import DeclaredText

UNSAID = -1.0
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
    loops("runs").agreement(rows, _words(blocks.texts), declared, _ASIDE, blocks.elements, elements)


def _words(texts: Sequence[str]) -> tuple[NDArray[np.uint64], Indices]:
    """Return the hashes of the words of ``texts``, and where those of each begin and end."""
    lower = [text.lower() for text in texts]
    words, bounds = np.empty(sum(map(len, lower)), np.uint64), np.empty(len(lower) + 1, np.int64)
    return words[: loops("runs").words_of(lower, words, bounds)].copy(), bounds


def _rows_of(around: Elements) -> NDArray[np.uint8]:
    """Tell which elements are items of lists, or hold the cells of a table."""
    is_item: NDArray[np.bool_] = (around.tags == _ITEMS[0]) | (around.tags == _ITEMS[1])
    rows = is_item.astype(np.uint8)
    cells = np.flatnonzero(around.tags == _CELL)
    rows[around.parents[cells[around.parents[cells] > 0]]] = 1
    return rows
