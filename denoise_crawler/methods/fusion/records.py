"""Pages of a shop or catalogue: filled-in forms of the site, whose fields are content.

Only the site can tell: a field stands in the same place on nearly every page, each time with another value.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from denoise_crawler.methods.fusion.blocks import Indices
    from denoise_crawler.methods.fusion.evidence import Evidence

FIELD = "a field of the site's pages"
MIN_PAGES = 5
_USUAL = 0.8  # of the pages have the place
_FEW = 3.0  # elements of a page in one place; more are a list
_LIST_LINKS = 0.5
_SHARE = 0.15  # of the pages may have the same value, more where the place has many values …
_MANY_VALUES, _COMMON_SHARE = 0.5, 0.5  # of the place's text comes back at most; of the pages may have it then
_LONG, _LONG_SHARE = 40, 0.05  # … and no sentence that comes back, but for its numbers, is a value
_PRICED = 0.5  # of the pages have a price there, fewer the same
_PRICE_CHARACTERS = 60
_NEAR = 20  # blocks after what may be the page's title: prices elsewhere are advertisements
_TITLE = 0.3  # resembles the title
_DIGIT = re.compile(r"\d")
_PRICE = re.compile(
    r"(?:[$€£¥￥₽₴₹]|\b(?:USD|EUR|GBP|CNY|RMB|PLN)\b)\s?\d|\d\s?(?:[€£元₽₴₹]|zł|руб|kr\b|(?:USD|EUR|GBP|CNY|RMB|PLN)\b)"
)


def record_fields(evidence: Evidence) -> NDArray[np.bool_] | None:
    """Tell which blocks are fields of a record; None unless the site's pages have a price near their title."""
    blocks, standing = evidence.blocks, evidence.standing
    if standing is None or standing.pages < MIN_PAGES:
        return None
    home = blocks.elements
    usual = standing.path_pages[home] >= _USUAL * standing.pages
    changing = (standing.masked >= _PRICED * standing.pages) & (standing.texts < _PRICED * standing.pages)
    priced = usual & changing & (blocks.characters <= _PRICE_CHARACTERS)
    headline = evidence.headline
    titles = np.flatnonzero((headline.overlap >= _TITLE) | (headline.first_heading > 0))
    near = _behind(titles, np.flatnonzero(priced)).tolist()
    if not any(has_price(blocks.texts[block]) for block in near):
        return None
    whole = (blocks.linked == 0) | (blocks.linked == blocks.characters)  # else a label and a value
    again = np.where(whole, np.maximum(standing.masked, standing.places.shapes), standing.masked)
    sentence = (blocks.characters > _LONG) & (again >= _LONG_SHARE * standing.pages)
    varied = standing.path_repeated[home] < _MANY_VALUES * standing.path_characters[home]
    most = np.where(varied, _COMMON_SHARE, _SHARE) * standing.pages
    new = (standing.texts < most) & ~sentence
    few = standing.path_elements[home] <= _FEW * standing.path_pages[home]
    unlinked = standing.path_linked[home] <= _LIST_LINKS * standing.path_characters[home]
    fields: NDArray[np.bool_] = usual & new & (few | unlinked)
    return fields if fields.any() else None


def has_price(text: str) -> bool:
    """Tell whether a price stands in ``text``.

    Example:
        >>> has_price("from 12 €"), has_price("12 pages")
        (True, False)

    """
    return _DIGIT.search(text) is not None and _PRICE.search(text) is not None  # most texts have no digit


def _behind(titles: Indices, blocks: Indices) -> Indices:
    """Return those of the ``blocks`` that stand near behind one of the ``titles``, or are one."""
    if not len(titles):
        return titles
    before = titles.searchsorted(blocks, side="right") - 1
    near: Indices = blocks[(before >= 0) & (blocks <= titles[before] + _NEAR)]
    return near


def field_reason(evidence: Evidence, block: int) -> str:
    """Say why a field was kept."""
    standing, home = evidence.standing, evidence.blocks.elements[block]
    assert standing is not None  # noqa: S101
    have = int(standing.path_pages[home])
    return f"{FIELD}: {have} of {standing.pages} others have a value of their own in this place"
