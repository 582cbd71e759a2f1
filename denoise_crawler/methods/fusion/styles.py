"""What a block looks like: blocks of one style mean the same on each page of a site."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from denoise_crawler.core import compiled
from denoise_crawler.methods.fusion.class_words import words_of
from denoise_crawler.page.text import hash32

if TYPE_CHECKING:
    from denoise_crawler.methods.fusion.blocks import Blocks, Hashes

_LENGTHS = (15, 40, 120)  # characters that part short blocks from longer ones
_LINKED = 0.9
_SPREAD = np.uint64(0x9E3779B97F4A7C15)  # 2**64 by the golden ratio: multiplied with it, the upper bits differ


def styles_of(blocks: Blocks) -> Hashes:
    """Return by block the hash of its style.

    That is its element's tag, the words of class and id there and one level up, whether it is all link, whether
    it is all capitals, and how long it is, roughly.
    """
    around = blocks.around
    if (core := compiled("texts")) is not None:
        compiled_styles = np.empty(len(blocks), np.uint32)
        by_element = around.parents, around.tags
        core.styles_of(
            blocks.texts, around.names, blocks.elements, *by_element, blocks.characters, blocks.linked,
            np.array(_LENGTHS), _LINKED, int(_SPREAD), _look, compiled_styles,
        )  # fmt: skip
        return compiled_styles
    names, parents, tags = around.names, np.maximum(around.parents, 0).tolist(), around.tags.tolist()
    elements, place = np.unique(blocks.elements, return_inverse=True)
    looks = np.array([_look(tags[one], names[one], names[parents[one]]) for one in elements.tolist()], np.uint64)
    linked = blocks.linked >= _LINKED * np.maximum(blocks.characters, 1.0)
    capitals = np.fromiter((text.isupper() for text in blocks.texts), bool, len(blocks))
    length = np.searchsorted(_LENGTHS, blocks.characters, side="right")
    own = (linked + 2 * capitals + 4 * length).astype(np.uint64)
    spread = (looks[place] * np.uint64(16) + own + np.uint64(1)) * _SPREAD
    styles: Hashes = (spread >> np.uint64(32)).astype(np.uint32)
    return styles


@lru_cache(maxsize=16_384)
def _look(tag: int, names: str, above: str) -> int:
    return hash32(f"{tag} {' '.join(words_of(names))} / {' '.join(words_of(above))}")
