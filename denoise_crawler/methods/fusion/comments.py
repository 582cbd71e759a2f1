"""What readers wrote below a page, where it is wished: running text in what the markup names comments.

The trees cannot learn it: hardly any gold text has comments.
"""

from __future__ import annotations

import re
from collections import defaultdict
from typing import TYPE_CHECKING

import numpy as np

from denoise_crawler.methods.fusion.places import PLACES, said_by

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from denoise_crawler.methods.fusion.blocks import Blocks
    from denoise_crawler.methods.fusion.evidence import Evidence

    Flags = NDArray[np.bool_]

COMMENT = "a comment of a reader, as was wished"
_NEVER = sum(1 << PLACES.index(place) for place in ("nav", "aside", "form", "hidden"))
_OF_OTHER_PAGES = re.compile(r"recent|latest|widget|sidebar", re.IGNORECASE)
_LEAST_MEAN, _LEAST = 5.0, 25.0  # tokens, of the blocks that look alike
_OFTEN = 2  # a text that stands more often is a button


def comments(evidence: Evidence) -> Flags:
    """Tell which blocks are comments: the text of elements so named, but for names, dates and buttons.

    Those say little, each alike. An element that holds the title is no comment, whatever its name.
    """
    blocks = evidence.blocks
    inside = _in_comments(blocks, evidence.headline.best)
    unlinked = 2.0 * blocks.linked <= blocks.characters
    allowed = (blocks.around.places[blocks.elements] & _NEVER) == 0
    _, which, counts = np.unique(blocks.text_hashes, return_inverse=True, return_counts=True)
    candidates = np.flatnonzero(inside & unlinked & allowed & (counts[which] <= _OFTEN))
    alike: dict[tuple[int, str, str], list[int]] = defaultdict(list)
    for block in candidates.tolist():
        alike[_look(blocks, block)].append(block)
    result = np.zeros(len(blocks), bool)
    for group in alike.values():
        tokens = float(blocks.tokens[group].sum())
        result[group] = tokens >= max(_LEAST, _LEAST_MEAN * len(group))
    return result


def _in_comments(blocks: Blocks, title: int) -> Flags:
    around = blocks.around
    inside, elsewhere = np.zeros(len(blocks), bool), np.zeros(len(blocks), bool)
    for element, names in enumerate(around.names):
        first, last = around.first[element], around.last[element]
        if names and not first <= title < last:
            inside[first:last] |= said_by(names)[0] > 0
            elsewhere[first:last] |= _OF_OTHER_PAGES.search(names) is not None
    return inside & ~elsewhere


def _look(blocks: Blocks, block: int) -> tuple[int, str, str]:
    around, home = blocks.around, blocks.elements[block]
    above = max(int(around.parents[home]), 0)
    return int(around.tags[home]), said_by(around.names[home])[1], said_by(around.names[above])[1]
