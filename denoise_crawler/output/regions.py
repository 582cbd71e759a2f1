"""Regions: the largest parts of a page that are all content or all noise."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from denoise_crawler.output.nesting import TABLE_PARTS
from denoise_crawler.page import TEXT, Nodes
from denoise_crawler.page.markup import INLINE

# Elements that are visible without text.
_SHOWN = frozenset(
    {"img", "svg", "iframe", "object", "video", "audio", "canvas", "embed"}
    | {"input", "button", "select", "textarea"}
)


def regions(nodes: Nodes, noise: Sequence[bool], divisible: Collection[int] = ()) -> dict[int, bool]:
    """Divide a page into regions.

    Every run of text is in one region. A node without text belongs to the region around it, unless it is a picture
    (or another visible element) with a different judgement: then it is a region of its own. Of ``divisible`` nodes
    the children are roots.

    Returns:
        The roots of the regions in document order, each with whether it is noise.

    Example:
        >>> from denoise_crawler import Page
        >>> regions(Page.parse("", "<p>One.<p>Two.").nodes, [False, True, True, False, False])
        {1: True, 3: False}
    """
    counts = _Counts(nodes, noise)
    found: dict[int, bool] = {}
    index, content_end = 0, 0  # content_end: the end of the content region around
    while index < len(nodes):
        if not counts.anything(index):
            index = nodes.ends[index]
        elif index not in divisible and noise[index]:
            found[index] = True
            index = nodes.ends[index]
        elif index < content_end or index in divisible or not counts.pure_content(index):
            index += 1
        elif counts.noisy_pictures[index]:
            found[index] = False
            content_end = nodes.ends[index]
            index += 1
        else:
            found[index] = False
            index = nodes.ends[index]
    return found


class _Counts:
    """The runs of text and pictures in each subtree, and how many of them are noise."""

    def __init__(self, nodes: Nodes, noise: Sequence[bool]) -> None:
        size = len(nodes)
        self.texts, self.noisy_texts = [0] * size, [0] * size
        self.pictures, self.noisy_pictures = [0] * size, [0] * size
        for index in range(size - 1, -1, -1):
            tag, parent = nodes.tags[index], nodes.parents[index]
            if tag is TEXT:
                self.texts[index] = 1
                self.noisy_texts[index] = int(noise[index])
            elif tag in _SHOWN:
                self.pictures[index] += 1
                self.noisy_pictures[index] += noise[index]
            if parent >= 0:
                for column in (self.texts, self.noisy_texts, self.pictures, self.noisy_pictures):
                    column[parent] += column[index]

    def anything(self, index: int) -> bool:
        return self.texts[index] + self.pictures[index] > 0

    def pure_content(self, index: int) -> bool:
        if self.texts[index]:
            return not self.noisy_texts[index]
        return not self.noisy_pictures[index]


def joined_sides(nodes: Nodes, found: dict[int, bool]) -> dict[int, list[str]]:
    """Return the sides where a region borders a sibling with the same verdict, so that no line separates them.

    Sides are ``above`` and ``below`` for blocks, ``before`` and ``after`` inside a line.
    """
    sides: dict[int, list[str]] = {}
    last = -1
    for index in found:
        if last >= 0 and index < nodes.ends[last]:
            continue  # a picture in a region
        if last >= 0 and nodes.parents[last] == nodes.parents[index] and found[last] == found[index]:
            inline = nodes.tags[index] in INLINE
            if inline == (nodes.tags[last] in INLINE) and nodes.tags[index] not in TABLE_PARTS:
                sides.setdefault(last, []).append("after" if inline else "below")
                sides.setdefault(index, []).append("before" if inline else "above")
        last = index
    return sides
