"""How blocks agree with what their page declares for machines, and with its title, as columns.

Texts are compared by runs of three words, over the ends of blocks as well: an ingredient may stand in three cells.
"""

from __future__ import annotations

import re
from html import unescape
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from denoise_crawler import kernel
from denoise_crawler.kernel.columns import UNSAID
from denoise_crawler.methods.fusion.blocks import blocks_of
from denoise_crawler.methods.fusion.boxes import BOXES, NO_BOXES, boxes_of
from denoise_crawler.page import Page
from denoise_crawler.page.declarations import (
    COMMENT,
    DESCRIPTION,
    FIELDS,
    declarations_of,
    declared_texts_of,
    nested_items,
    strings,
    types_of,
)
from denoise_crawler.page.text import collapse_spaces, letters
from denoise_crawler.page.unseen import unseen_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from denoise_crawler.kernel.columns import Blocks

BODY_COLUMNS = "in body declared", "share declared", "blocks to end declared"
_CODES = ("sku", "mpn", "gtin", "gtin8", "gtin12", "gtin13", "gtin14", "productID", "price", "lowPrice")
_TAG = re.compile(r"<[^<>]*>")
_MOST_VALUES, _LEAST_VALUE, _LONGEST_VALUE = 50, 3, 40
_LEAST_BODY = 200  # letters and digits: less is a teaser
_ARTICLE_BEGINNING = 48  # letters and digits of a block that are looked for
_FAR = 60.0
_NO_BODY = np.array([[UNSAID], [UNSAID], [-_FAR]])  # of any block of a page that declares none


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


def _body_rows(body: str, blocks: Blocks) -> NDArray[np.float64]:
    """Return by block whether it is in the article that the page declares, and how far from its end."""
    beginnings = [_bare(text[: 2 * _ARTICLE_BEGINNING])[:_ARTICLE_BEGINNING] for text in blocks.texts]
    inside = np.array([bool(beginning) and beginning in body for beginning in beginnings], bool)
    long = np.flatnonzero(inside & (blocks.characters >= _ARTICLE_BEGINNING))
    last = int(long[-1]) if len(long) else len(blocks)
    share = len(body) / max(float(blocks.characters.sum()), 1.0)
    to_end = np.clip(np.arange(len(blocks)) - last, -_FAR, _FAR)
    return np.array([inside, np.full(len(blocks), share), to_end], np.float64)


def _bare(text: str) -> str:
    """Return the letters and digits of ``text`` without markup, in small letters."""
    return letters(_TAG.sub(" ", unescape(text)))


DECLARED = (
    *BODY_COLUMNS,
    *(f"{field} declared" for field in FIELDS),  # the share of the block's words that stand in the field
    *(f"shown {field} declared" for field in FIELDS),  # the share of the field's runs that the page shows
    "rows declared",  # the share of the rows of the list or table around the block
    *("in unseen", "in panel", "page unseen"),
    *BOXES,
)
_ASIDE = 1 << DESCRIPTION | 1 << COMMENT  # what they tell of a list says nothing of its rows
_FIRST_FIELD = len(BODY_COLUMNS)
_ROWS = _FIRST_FIELD + 2 * len(FIELDS)


def declared_of(page: Page) -> NDArray[np.float32]:
    """Return a row for each of ``DECLARED``, a number for each block; one number if it is that of all blocks."""
    blocks = page.once(blocks_of)
    texts, unseen, body = page.once(declared_texts_of), page.once(unseen_of), page.once(linked_data_of).body
    boxes = page.once(boxes_of)
    plain = not (texts or unseen or body) and boxes is NO_BOXES
    rows = np.empty((len(DECLARED), 1 if plain else len(blocks)), np.float32)
    rows[:_FIRST_FIELD] = _body_rows(body, blocks) if body else _NO_BODY
    rows[_FIRST_FIELD : _ROWS + 1] = UNSAID
    rows[_ROWS + 1 : -len(BOXES)] = 0.0
    rows[-len(BOXES) :] = 0.0 if plain else boxes
    if texts and len(blocks):
        rows[_FIRST_FIELD : _ROWS + 1] = kernel.active.agreement(
            blocks, [text.text for text in texts], [text.field for text in texts], len(FIELDS), _ASIDE
        )
    if unseen is not None and len(blocks):
        ends = np.array([blocks.starts, blocks.ends - 1])
        hidden, panel = (bits[ends].all(axis=0) for bits in unseen)
        share = blocks.characters[hidden].sum() / max(float(blocks.characters.sum()), 1.0)
        rows[_ROWS + 1], rows[_ROWS + 2], rows[_ROWS + 3] = hidden, panel, share
    return rows


def description_of(page: Page) -> str:
    """Return the longest description that the page gives of itself, empty without any; by ``page.once``."""
    descriptions = (
        collapse_spaces(meta.content)
        for meta in page.self_description.metas
        if (meta.name or meta.property).lower() in ("description", "og:description")
    )
    return max(descriptions, key=len, default="")
