"""Which blocks say what the page says of itself: its title, its description."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from denoise_crawler.core import compiled, loops
from denoise_crawler.methods.fusion.blocks import IDEOGRAPH, TAGS
from denoise_crawler.page.page import self_description_of
from denoise_crawler.page.text import collapse_spaces

if TYPE_CHECKING:
    from denoise_crawler.methods.fusion.blocks import Blocks, Numbers
    from denoise_crawler.page import Page

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
    best = loops("features").title_of(*own, overlap, _H1, first_heading)
    return Headline(overlap, first_heading, best)


def title_overlap(title: str, blocks: Blocks) -> Numbers:
    """Return by block 2·|A ∩ B| / (|A| + |B|) over the distinct words of its text and the title.

    Of a title in Chinese or Japanese, over pairs of characters. 0 for blocks of three characters or less and for
    those more than twice as long as the title.
    """
    parts = _pairs if IDEOGRAPH.search(title) else _words
    wanted = set(parts(title))
    overlap = np.zeros(len(blocks))
    if wanted and (core := compiled("texts")) is not None:
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
def _words(text: str) -> tuple[str, ...]:
    return tuple(set(_WORD.findall(text.lower())))


@lru_cache(maxsize=4_096)
def _pairs(text: str) -> tuple[str, ...]:
    return tuple({one + other for one, other in pairwise(text.lower())})


def begins(description: str, blocks: Blocks) -> Numbers:
    """Return 1 for blocks that hold the beginning of the page's description, else 0; −1 without one."""
    beginning = description[:_BEGINNING].lower()
    if len(beginning) < _BEGINNING // 2:
        return np.full(len(blocks), -1.0)
    if (core := compiled("texts")) is not None:
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
