"""Counts characters, links and images in each node of a page (the NTA paper's LC, LN, TC, NLC, IN)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from denoise_crawler.page import TEXT

if TYPE_CHECKING:
    from denoise_crawler.page import Nodes


@dataclass(frozen=True, slots=True)
class Statistics:
    """Counts over the subtree of each node, one column per count; node 0 is the body.

    Characters do not include white space. Those in an ``a`` are link characters. An ``a`` counts as one of its own
    links, an ``img`` as one of its own images.
    """

    link_characters: list[int]
    links: list[int]
    text_characters: list[int]
    images: list[int]

    @property
    def characters(self) -> list[int]:
        """The number of all characters (TC)."""
        return [link + text for link, text in zip(self.link_characters, self.text_characters, strict=True)]


def count_contents(nodes: Nodes) -> Statistics:
    """Count bottom-up what every node holds."""
    size = len(nodes)
    result = Statistics([0] * size, [0] * size, [0] * size, [0] * size)
    columns = (result.link_characters, result.links, result.text_characters, result.images)
    linked, links, unlinked, images = columns
    for index in range(size - 1, -1, -1):
        tag = nodes.tags[index]
        if tag is TEXT:
            characters = len("".join(nodes.texts[index].split()))
            (linked if nodes.links[index] >= 0 else unlinked)[index] = characters
        elif tag == "a":
            links[index] += 1
        elif tag == "img":
            images[index] += 1
        if (parent := nodes.parents[index]) >= 0:
            for column in columns:
                column[parent] += column[index]
    return result
