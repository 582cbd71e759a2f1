"""What was decided about blocks, as verdicts and scores of the nodes that they are made of."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from denoise_crawler.core import loops

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
    noise, by_node = loops("blocks").judged(
        nodes.columns.parents, blocks.nodes, taken.view(np.uint8), chances, chances.tolist()
    )
    return noise, by_node
