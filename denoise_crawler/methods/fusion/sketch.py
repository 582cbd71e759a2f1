"""What a site keeps of one page: hashes of its texts and of the paths they stand on, a few kilobytes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from denoise_crawler.methods.fusion.groups import distinct, groups_of

if TYPE_CHECKING:
    from denoise_crawler.methods.fusion.blocks import Blocks, Hashes, Indices, Numbers

MAX_BLOCKS = 20_000
MOST_SCORE, HUNDREDTHS = 8.0, 100.0


@dataclass(frozen=True, slots=True, eq=False)
class Sketch:
    """One page by columns.

    Its paths that have text on or below them, parents first: ``paths`` (hashes), ``parents`` (indices, -1 for
    the body), ``elements`` (how many elements have that path). Its blocks: ``homes`` (indices of paths),
    ``texts`` (hashes), ``characters``, ``linked``, ``shapes`` (hashes, 0 where that of the text is the same).
    ``masked`` and ``links`` are the distinct hashes, ascending.
    So are its ``styles``; ``style_tokens`` are the tokens in each, ``style_scores`` the sum over them of what the
    look at the page alone gave, in hundredths. ``kinds`` is how much the page itself speaks for each of ``KINDS``,
    in hundredths.
    """

    key: int
    paths: Hashes
    parents: Indices
    elements: Indices
    homes: Indices
    texts: Hashes
    characters: Indices
    linked: Indices
    shapes: Hashes
    masked: Hashes
    links: Hashes
    styles: Hashes
    style_tokens: Indices
    style_scores: Indices
    kinds: Indices


def texts_digest(distinct_masked: Hashes) -> bytes:
    """Return what pages with the same texts share, numbers in them alike, whatever their address."""
    from hashlib import blake2b  # late: it loads OpenSSL, and only pages that are learned need it

    return blake2b(distinct_masked.tobytes(), digest_size=8).digest()


def sketch(key: int, blocks: Blocks, scores: Numbers, kinds: Numbers) -> Sketch:
    """Reduce a page's ``blocks`` (the first ``MAX_BLOCKS``) to what its site keeps of them.

    ``scores`` are those of a look at the page alone, which knows nothing of its site, as ``kinds`` does: so a
    sketch is the same whenever the page is learned.
    """
    around, limit = blocks.around, MAX_BLOCKS
    with_text = np.flatnonzero((around.last > around.first) & (around.first < limit))
    paths = around.paths[with_text]
    first, path_of_some = groups_of(paths.astype(np.int64))  # as they come in the page: parents first
    path_of = np.zeros(len(around), np.int64)
    path_of[with_text] = path_of_some
    parents = path_of[around.parents[with_text[first]]]
    parents[:1] = -1
    styles = distinct(blocks.styles[:limit])
    style_of = styles.searchsorted(blocks.styles[:limit])
    tokens = blocks.tokens[:limit]
    scored = np.bincount(style_of, weights=np.clip(scores[:limit], -MOST_SCORE, MOST_SCORE) * tokens)
    return Sketch(
        key,
        paths[first],
        parents,
        np.bincount(path_of_some, minlength=len(first)),
        path_of[blocks.elements[:limit]],
        blocks.text_hashes[:limit],
        blocks.characters[:limit].astype(np.int64),
        blocks.linked[:limit].astype(np.int64),
        np.where(blocks.shapes == blocks.text_hashes, np.uint32(0), blocks.shapes)[:limit],
        distinct(blocks.masked_hashes[:limit]),
        distinct(blocks.link_hashes[:limit]),
        styles,
        np.bincount(style_of, weights=tokens).astype(np.int64),
        np.rint(HUNDREDTHS * scored).astype(np.int64),
        np.rint(HUNDREDTHS * kinds).astype(np.int64),
    )
