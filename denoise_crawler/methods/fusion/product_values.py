"""The values of a product that stand as single short blocks: its price, its codes, its maker.

For pages of type product. Their running text says what the thing is; what it costs and what it is called by its
maker stands beside the title, or in rows of a label and a value further down.
"""

from __future__ import annotations

import re
from itertools import islice
from typing import TYPE_CHECKING

import numpy as np

from denoise_crawler.methods.fusion.records import has_price

if TYPE_CHECKING:
    from collections.abc import Collection

    from numpy.typing import NDArray

    from denoise_crawler.methods.fusion.evidence import Evidence

VALUE = "a value of the product: its price, a code or its maker"
MAX_VALUES = 8
_BEFORE, _BEHIND = 6, 40  # blocks around the title
_LABEL_CHARACTERS, _VALUE_CHARACTERS = 60, 40
_LONGEST_SHARE = 3  # a block that has a declared value is at most so many times as long
_CODE_OR_MAKER = (
    r"\W*(?:(?:manufacturer|mfr|item|part|product|article|catalog\w*|style|model|ad|artikel|produk\w*|prodotto|produto"
    r"|código|codice|kód|kod|id|numero|número|nº|référence|referencia|bestell\w*|hersteller\w*)\W{1,3}){0,3}"
    r"(?:asin|sku|mpn|gtin\w*|ean\w*|upc|isbn\w*|model\w*|number|no|nr|code|kods|kod\w*|kód|id|#|nummer|\w*nummer"
    r"|référence|reference|referencia|ref|articolo|produto|produk\w*|prodotto|артикул|арт|код|型号|货号|品番"
    r"|brand|manufacturer|maker|marke|marca|marque|hersteller|бренд|производитель|品牌)\b"
)
_LABEL, _ASCII_LABEL = re.compile(_CODE_OR_MAKER, re.IGNORECASE), re.compile(_CODE_OR_MAKER)
_SAID = re.compile(r"\w{2}")
_IS_VALUE = re.compile(r"[\d:]")


def product_values(evidence: Evidence, declared: Collection[str]) -> NDArray[np.bool_]:
    """Tell which blocks of a product's page hold one of its values, and do not stand on all of the site's pages.

    Args:
        evidence: What is known of the page.
        declared: Values that the page declares in JSON-LD: their letters and digits, in small letters.
    """
    blocks, headline = evidence.blocks, evidence.headline
    found = np.zeros(len(blocks), bool)
    headings = np.flatnonzero(headline.first_heading)
    title = int(headings[0]) if len(headings) else headline.best
    if title < 0:
        return found
    short = blocks.characters <= _LABEL_CHARACTERS
    near = slice(max(title - _BEFORE, 0), title + _BEHIND)
    for block in (np.flatnonzero(short[near]) + near.start).tolist():
        text = blocks.texts[block]
        found[block] = has_price(text) or _holds(text, declared)
    unlinked = short & (2 * blocks.linked <= blocks.characters)
    rows = (row for block in np.flatnonzero(unlinked).tolist() if (row := _row(evidence, block)))
    for row in islice(rows, MAX_VALUES):
        found[row] = True
    return found & ~evidence.everywhere


def _holds(text: str, declared: Collection[str]) -> bool:
    if not declared:
        return False
    bare = "".join(filter(str.isalnum, text.lower()))
    return any(value in bare and len(bare) < _LONGEST_SHARE * len(value) for value in declared)


def _row(evidence: Evidence, block: int) -> list[int]:
    """Return the blocks of the row that begins with a label of a code or a maker; none if this is no label."""
    texts, characters = evidence.blocks.texts, evidence.blocks.characters
    text = texts[block]
    # small letters that are compared one by one: twice as fast
    label = _ASCII_LABEL.match(text.lower()) if text.isascii() else _LABEL.match(text)
    if label is None:
        return []
    behind = text[label.end() :]
    if _SAID.search(behind):
        return [block] if _IS_VALUE.search(behind) else []
    following = block + 1
    if following < len(texts) and characters[following] <= _VALUE_CHARACTERS:
        return [block, following]
    return []
