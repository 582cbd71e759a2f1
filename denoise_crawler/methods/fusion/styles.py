"""What a block looks like, and what its text shares with its like: so it is known again on other pages."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from denoise_crawler.core import loops
from denoise_crawler.methods.fusion.class_words import words_of
from denoise_crawler.page.text import hash32

if TYPE_CHECKING:
    from denoise_crawler.methods.fusion.blocks import Blocks, Hashes

_LENGTHS = (15, 40, 120)  # characters that part short blocks from longer ones
_LINKED = 0.9
_DIGITS = re.compile(r"\d+")
_LEAST_LABEL, _LONGEST_LABEL = 3, 80  # characters
SPREAD = 0x9E3779B97F4A7C15  # 2**64 by the golden ratio: multiplied with it, the upper bits differ


def styles_of(blocks: Blocks) -> Hashes:
    """Return by block the hash of its style.

    That is its element's tag, the words of class and id there and one level up, whether it is all link, whether
    it is all capitals, and how long it is, roughly.
    """
    around, styles = blocks.around, np.empty(len(blocks), np.uint32)
    by_element, by_block = (around.parents, around.tags), (blocks.characters, blocks.linked)
    parts = _LENGTHS, _LINKED, SPREAD, _look
    loops("texts").styles_of(blocks.texts, around.names, blocks.elements, *by_element, *by_block, *parts, styles)
    return styles


@lru_cache(maxsize=16_384)
def _look(tag: int, names: str, above: str) -> int:
    return hash32(f"{tag} {' '.join(words_of(names))} / {' '.join(words_of(above))}")


def shapes_of(blocks: Blocks) -> Hashes:
    """Return by block the hash of what its text has in common with those of its like on other pages.

    That is the text with all numbers alike ("updated on 3 May" and "updated on 7 May"); of a text that ends with
    a link, what stands before it ("Read more: …").
    """
    shapes = blocks.masked_hashes.copy()
    before = blocks.characters - blocks.linked
    labelled = (blocks.linked > 0) & (before >= _LEAST_LABEL) & (before <= _LONGEST_LABEL)
    for block in np.flatnonzero(labelled).tolist():
        label = "".join(blocks.texts[block].split())[: int(before[block])]
        shapes[block] = _label_hash(label)
    return shapes


@lru_cache(maxsize=4_096)
def _label_hash(label: str) -> int:
    return hash32(f"{_DIGITS.sub('0', label)} …")
