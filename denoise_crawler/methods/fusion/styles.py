"""What a block looks like: blocks of one style mean the same on each page of a site."""

from __future__ import annotations

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
_SPREAD = 0x9E3779B97F4A7C15  # 2**64 by the golden ratio: multiplied with it, the upper bits differ


def styles_of(blocks: Blocks) -> Hashes:
    """Return by block the hash of its style.

    That is its element's tag, the words of class and id there and one level up, whether it is all link, whether
    it is all capitals, and how long it is, roughly.
    """
    around, styles = blocks.around, np.empty(len(blocks), np.uint32)
    by_element, by_block = (around.parents, around.tags), (blocks.characters, blocks.linked)
    parts = _LENGTHS, _LINKED, _SPREAD, _look
    loops("texts").styles_of(blocks.texts, around.names, blocks.elements, *by_element, *by_block, *parts, styles)
    return styles


@lru_cache(maxsize=16_384)
def _look(tag: int, names: str, above: str) -> int:
    return hash32(f"{tag} {' '.join(words_of(names))} / {' '.join(words_of(above))}")
