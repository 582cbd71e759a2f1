"""What was decided about blocks, as verdicts and scores of the nodes that they are made of."""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING

import numpy as np

from denoise_crawler.core import compiled

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from denoise_crawler.methods.fusion.blocks import Blocks, Numbers
    from denoise_crawler.page import Nodes


def deciding_blocks(nodes: Nodes, blocks: Blocks, taken: NDArray[np.bool_]) -> dict[int, int]:
    """Return the block that each text node is part of, and of each element the one that decided: its longest.

    Of an element that is kept for some of its blocks, it is the longest of these.
    """
    found: dict[int, int] = {}
    for block in np.lexsort((-blocks.characters, ~taken)).tolist():
        for index in blocks.nodes[block]:
            node = index
            while node >= 0 and node not in found:
                found[node] = block
                node = nodes.parents[node]
    return found


def judged_nodes(
    nodes: Nodes, blocks: Blocks, taken: NDArray[np.bool_], chances: Numbers
) -> tuple[list[bool], list[float]]:
    """Return noise and scores by node: an element has the highest score of its text.

    An element is noise if all its text is; one without text goes with its parent.
    """
    if nodes.compiled is not None and (core := compiled("blocks")) is not None:
        noise, by_node = core.judged_nodes(nodes.compiled, blocks.nodes, taken.view(np.uint8), chances)
        return noise, by_node
    count, ends = len(nodes), np.array(nodes.ends, np.int64)
    texts = np.fromiter(chain.from_iterable(blocks.nodes), np.int64)
    block_of = np.repeat(np.arange(len(blocks)), [len(one) for one in blocks.nodes])
    has_text, has_kept, scores = np.zeros(count + 1, np.int64), np.zeros(count + 1, np.int64), np.zeros(count + 1)
    has_text[texts + 1], has_kept[texts + 1], scores[texts] = 1, taken[block_of], chances[block_of]
    has_text, has_kept = has_text.cumsum(), has_kept.cumsum()
    noise = (has_kept[ends] == has_kept[:-1]).tolist()
    for index in np.flatnonzero(has_text[ends] == has_text[:-1]).tolist():
        if index:
            noise[index] = noise[nodes.parents[index]]
    below = np.column_stack([np.arange(count), ends]).ravel()
    return noise, np.maximum.reduceat(scores, below)[::2].tolist()
