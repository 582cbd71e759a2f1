"""Counts characters, links and images in each node of a page (the NTA paper's LC, LN, TC, NLC, IN)."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum
from typing import TYPE_CHECKING

from denoise_crawler.page import TEXT

if TYPE_CHECKING:
    from denoise_crawler.page import Nodes, Page


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


IGNORABLE_TAGS = frozenset(
    {"script", "iframe", "style", "noscript", "br", "button", "input", "select", "option", "label", "form"}
    | {"comment", "map", "area", "embed"}
)
IGNORABLE_SHARE = 0.5


class NodeType(IntEnum):
    """The four types, numbered as in the paper's formula (4)."""

    TEXT = 1
    LINK = 2
    IMAGE = 3
    IGNORABLE = 4


@dataclass(frozen=True, slots=True)
class Annotation:
    """The annotated nodes of a page, one column per property; node 0 is the body.

    ``leaves[i]`` says whether node i is a leaf: an element without child elements, or text beside elements.
    ``coherence`` (DoC, 0 to 1) is the share of a node's leaves that have its own type, 1 for a leaf. ``density``
    (TD, 0 to 1) is the node's share of the page's characters outside links.
    """

    types: list[NodeType]
    coherence: list[float]
    density: list[float]
    leaves: list[bool]
    statistics: Statistics


def annotate(page: Page, ignorable_share: float = IGNORABLE_SHARE) -> Annotation:
    """Annotate the nodes of ``page``.

    Args:
        page: The page.
        ignorable_share: An element with an ignorable tag is typed by its content if it holds a larger share (0 to
            1) of the page's characters outside links: it then wraps the page (``form``) or was never closed.

    """
    nodes = page.nodes
    statistics = count_contents(nodes)
    leaves = _leaves(nodes)
    density = [share(own, statistics.text_characters[0]) for own in statistics.text_characters]
    types: list[NodeType] = []
    for index, parent in enumerate(nodes.parents):
        ignorable = nodes.tags[index] in IGNORABLE_TAGS and density[index] <= ignorable_share
        if ignorable or (parent >= 0 and types[parent] is NodeType.IGNORABLE):
            types.append(NodeType.IGNORABLE)
        elif nodes.links[index] >= 0:
            types.append(_type_in_link(statistics, index))
        elif leaves[index]:
            types.append(_type_of_leaf(nodes, statistics, index))
        else:
            types.append(_type_of_inner(statistics, index))
    return Annotation(types, _coherence(nodes, types, leaves), density, leaves, statistics)


def share(part: int, whole: int) -> float:
    """Return the share of ``part`` in ``whole``; 0 if ``whole`` is 0."""
    return part / whole if whole else 0.0


def _leaves(nodes: Nodes) -> list[bool]:
    """Mark the leaves; the only text of an element belongs to the element, which is the leaf."""
    leaves: list[bool] = []
    for index, (tag, end) in enumerate(zip(nodes.tags, nodes.ends, strict=True)):
        if tag is TEXT:
            leaves.append(not leaves[nodes.parents[index]])
        else:
            leaves.append(end == index + 1 or (end == index + 2 and nodes.tags[index + 1] is TEXT))
    return leaves


def _type_in_link(statistics: Statistics, index: int) -> NodeType:
    """Return the type of an ``a`` or of a node in one, where text belongs to the link."""
    holds = statistics.link_characters[index] or statistics.links[index] or statistics.images[index]
    return NodeType.LINK if holds else NodeType.IGNORABLE


def _type_of_leaf(nodes: Nodes, statistics: Statistics, index: int) -> NodeType:
    if nodes.tags[index] == "img":
        return NodeType.IMAGE
    return NodeType.TEXT if statistics.text_characters[index] else NodeType.IGNORABLE


def _type_of_inner(statistics: Statistics, index: int) -> NodeType:
    """Return the type of an inner node outside links, by formulas (1) to (3) in this order.

    Formulas (2) and (3) are strict. A tie, mostly a wrapper of the whole page, counts as text.
    """
    if not statistics.text_characters[index] and not statistics.links[index]:
        return NodeType.IMAGE if statistics.images[index] else NodeType.IGNORABLE
    return NodeType.LINK if text_margin(statistics, index) < 0 else NodeType.TEXT


def text_margin(statistics: Statistics, index: int) -> float:
    """Return a node's share of the page's text minus the larger of its shares of link characters and of links."""
    text, characters, links = statistics.text_characters, statistics.link_characters, statistics.links
    of_links = max(share(characters[index], characters[0]), share(links[index], links[0]))
    return share(text[index], text[0]) - of_links


def _coherence(nodes: Nodes, types: list[NodeType], leaves: list[bool]) -> list[float]:
    """Return each node's share of leaves of its own type (formula 6)."""
    size = len(types)
    counted = [[0] * size for _ in range(len(NodeType) + 1)]  # by type; 0: all leaves
    coherence = [1.0] * size
    for index in range(size - 1, -1, -1):
        kind, parent = types[index], nodes.parents[index]
        if leaves[index]:
            counted[0][index] = counted[kind][index] = 1
        elif counted[0][index]:
            coherence[index] = counted[kind][index] / counted[0][index]
        if parent >= 0:
            for column in counted:
                column[parent] += column[index]
    return coherence
