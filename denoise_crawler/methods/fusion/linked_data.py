"""What a page says of itself to machines, in JSON-LD: the types of things it holds, and its article's text."""

from __future__ import annotations

import json
import re
from html import unescape
from itertools import islice
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from denoise_crawler.page.page import self_description_of

if TYPE_CHECKING:
    from denoise_crawler.methods.fusion.blocks import Blocks, Numbers
    from denoise_crawler.page import Page

UNSAID = -1.0
BODY_COLUMNS = "in body declared", "share declared", "blocks to end declared"
_TYPE = re.compile(r'"@type"\s*:\s*\[?\s*"(\w{1,40})"')
_BODY = re.compile(r'"articleBody"\s*:\s*("(?:[^"\\]|\\.)*")')
_VALUE = re.compile(
    r'"(?:sku|mpn|gtin\d*|productID|price|lowPrice)"\s*:\s*"?([^",}\]]{1,40})'
    r'|"brand"\s*:\s*(?:"([^"]{1,60})"|\{[^{}]{0,500}?"name"\s*:\s*"([^"]{1,60})")'
)
_TAG = re.compile(r"<[^<>]*>")
_MOST_VALUES, _LEAST_VALUE = 50, 3
_MOST_SCRIPTS, _MOST_CHARACTERS = 20, 200_000
_LEAST_BODY = 200  # letters and digits: less is a teaser
_BEGINNING = 48  # letters and digits of a block that are looked for
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
    """Read the linked data of ``page``, as far as it can be read: broken JSON is the rule."""
    types: set[str] = set()
    values: set[str] = set()
    body = ""
    scripts = (script.text or "" for kind, script in page.once(self_description_of).scripts if "ld+json" in kind)
    for text in islice(scripts, _MOST_SCRIPTS):
        data = text[:_MOST_CHARACTERS]
        types.update(_TYPE.findall(data))
        bodies = (_bare(_decoded(found)) for found in _BODY.findall(data))
        body = max((body, *bodies), key=len)
        values.update(_bare(value) for found in islice(_VALUE.findall(data), _MOST_VALUES) for value in found)
    long = frozenset(value for value in values if len(value) >= _LEAST_VALUE)
    return LinkedData(frozenset(types), body if len(body) >= _LEAST_BODY else "", long)


def body_columns(body: str, blocks: Blocks) -> dict[str, Numbers]:
    """Return by block whether it stands in the article as the page declares it, and how far from its end."""
    count = len(blocks)
    if not body:
        return {name: np.full(count, value) for name, value in zip(BODY_COLUMNS, NO_BODY, strict=True)}
    beginnings = [_bare(text[: 2 * _BEGINNING])[:_BEGINNING] for text in blocks.texts]
    inside = np.array([bool(beginning) and beginning in body for beginning in beginnings], bool)
    long = np.flatnonzero(inside & (blocks.characters >= _BEGINNING))
    last = int(long[-1]) if len(long) else count
    share = np.full(count, len(body) / max(float(blocks.characters.sum()), 1.0))
    to_end = np.clip(np.arange(count) - last, -_FAR, _FAR).astype(np.float64)
    return dict(zip(BODY_COLUMNS, (inside.astype(np.float64), share, to_end), strict=True))


def _decoded(written: str) -> str:
    try:
        return str(json.loads(written, strict=False))
    except ValueError:
        return written


def _bare(text: str) -> str:
    """Return the letters and digits of ``text`` without markup, in small letters."""
    return "".join(filter(str.isalnum, _TAG.sub(" ", unescape(text)))).lower()
