"""Finds the content by characters, links and images: the pruned node and what is kept below it (NTA, 4.2)."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum, IntEnum
from typing import ClassVar

import numpy as np

from denoise_crawler.methods.base import Judgement, Method, spare_holders, subtree_sums
from denoise_crawler.page import TEXT, Nodes, Page
from denoise_crawler.page.geometry import declared_length, drawn_boxes
from denoise_crawler.page.nodes import INLINE


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
    """Count what every node holds."""
    sizes = [len("".join(text.split())) for text in nodes.texts]
    linked = [size if link >= 0 else 0 for size, link in zip(sizes, nodes.links, strict=True)]
    unlinked = np.subtract(sizes, linked)
    links, images = ([one == tag for one in nodes.tags] for tag in ("a", "img"))
    columns = (np.array(column, np.int64) for column in (linked, links, unlinked, images))
    return Statistics(*(subtree_sums(column, nodes.ends).tolist() for column in columns))


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
    kinds, is_leaf = np.array(types, np.int64), np.array(leaves, bool)
    every = subtree_sums(is_leaf.astype(np.int64), nodes.ends)
    own = np.zeros(len(types), np.int64)
    for kind in NodeType:
        own += (kinds == kind) * subtree_sums((is_leaf & (kinds == kind)).astype(np.int64), nodes.ends)
    coherence: list[float] = np.where(is_leaf | (every == 0), 1.0, own / np.maximum(every, 1)).tolist()
    return coherence


class PruningVerdict(Enum):
    """The decision on a node, in words; after ``OPENED`` and ``IMAGES`` the children are decided one by one."""

    OPENED = "text node, coherence {coherence:.2f} not over {threshold:g}: its children decide"
    COHERENT = "text node, coherence {coherence:.2f} over {threshold:g}"
    TEXT_LEAF = "text leaf"
    IMAGES = "image node: its images decide"
    WIDE_IMAGE = "image, {width:g} px or more wide"
    UNKNOWN_IMAGE = "image of unknown width"
    ICON = "image, less than {width:g} px wide"
    LINK_IN_TEXT = "link node beside a text node"
    LINK_BLOCK = "link node beside a text node, but not in a line of text"
    LINK = "link node without a text neighbour"
    IGNORABLE = "ignorable node"

    @property
    def keeps(self) -> bool:
        """Return True if the node's subtree is content."""
        of = PruningVerdict
        return self in (of.COHERENT, of.TEXT_LEAF, of.WIDE_IMAGE, of.UNKNOWN_IMAGE, of.LINK_IN_TEXT)


def find_pruned_node(page: Page, annotation: Annotation, density: float) -> int:
    """Return the pruned node: in post-order the second text node over ``density``, or the only one, or the body.

    The first holds the body of the text; the second also holds title, date and source. The paper assumes that one
    contains the other. With a ``density`` below 0.5 it may not, so text nodes that do not contain the first are
    left out. A tie fails formula (3), so a wrapper of the whole page does not count unless the page has no links.
    """
    nodes = page.nodes
    dense = [
        index
        for index, share in enumerate(annotation.density)
        if share > density
        and annotation.types[index] is NodeType.TEXT
        and (annotation.leaves[index] or nodes.tags[index] is not TEXT)
        and text_margin(annotation.statistics, index) > 0
    ]
    if not dense:
        return 0
    first = min(dense, key=lambda index: (nodes.ends[index], -index))
    return max((index for index in dense if index < first < nodes.ends[index]), default=first)


@dataclass(frozen=True, slots=True)
class Pruning:
    """The walk down from the pruned node.

    A text leaf is kept whole. A link node is kept if the sibling before or after it is a text node.

    Args:
        coherence: A text node with a higher degree of coherence is kept whole; others are opened.
        image_width: The least width of a kept image in CSS pixels; images of unknown width are kept.
        inline_links: Whether a kept link node must be an inline element.
    """

    coherence: float
    image_width: float
    inline_links: bool

    def verdicts(self, page: Page, annotation: Annotation, start: int) -> dict[int, PruningVerdict]:
        """Return the verdict on each node that the walk from ``start`` visits."""
        nodes, types = page.nodes, annotation.types
        widths = image_widths(page) if annotation.statistics.images[start] else {}
        verdicts: dict[int, PruningVerdict] = {}
        stack = [(start, False)]
        while stack:
            index, beside_text = stack.pop()
            match types[index]:
                case NodeType.TEXT:
                    verdict = self._on_text(annotation, index)
                case NodeType.IMAGE:
                    is_leaf, width = annotation.leaves[index], widths.get(index)
                    verdict = self._on_image(width) if is_leaf else PruningVerdict.IMAGES
                case NodeType.LINK:
                    verdict = self._on_link(nodes.tags[index], beside_text)
                case NodeType.IGNORABLE:
                    verdict = PruningVerdict.IGNORABLE
            verdicts[index] = verdict
            if verdict in (PruningVerdict.OPENED, PruningVerdict.IMAGES):
                children = list(nodes.children(index))
                text = [False, *(types[child] is NodeType.TEXT for child in children), False]
                stack += [(child, text[place] or text[place + 2]) for place, child in enumerate(children)]
        return verdicts

    def _on_text(self, annotation: Annotation, index: int) -> PruningVerdict:
        if annotation.leaves[index]:
            return PruningVerdict.TEXT_LEAF
        return PruningVerdict.COHERENT if annotation.coherence[index] > self.coherence else PruningVerdict.OPENED

    def _on_image(self, width: float | None) -> PruningVerdict:
        if width is None:
            return PruningVerdict.UNKNOWN_IMAGE
        return PruningVerdict.WIDE_IMAGE if width >= self.image_width else PruningVerdict.ICON

    def _on_link(self, tag: str, beside_text: bool) -> PruningVerdict:
        if not beside_text:
            return PruningVerdict.LINK
        return PruningVerdict.LINK_IN_TEXT if tag in INLINE or not self.inline_links else PruningVerdict.LINK_BLOCK


def image_widths(page: Page) -> dict[int, float | None]:
    """Return the width of each ``img`` in CSS pixels: as drawn, else as declared; None if unknown.

    A declared share (``width="100%"``) counts as unknown.
    """
    boxes = drawn_boxes(page)
    widths: dict[int, float | None] = {}
    for index, tag in enumerate(page.nodes.tags):
        if tag != "img":
            continue
        box, length = boxes[index], declared_length(page.nodes.elements[index], "width")
        widths[index] = None if length is None or length.percent else length.value
        if box is not None:
            widths[index] = box.width
    return widths


DENSITY = 0.25
COHERENCE = 0.9
IMAGE_WIDTH = 100.0


class NodeTypes(Method):
    """Content is what the NTA method selects (Xie, Zhou & Wang, node type annotation).

    A judgement's ``scores`` are degrees of coherence.

    Args:
        density: The text density (TD, 0 to 1) over which a text node may be the pruned node; 0.9 in the paper.
        coherence: The degree of coherence (DoC, 0 to 1) over which a text node is kept whole; 0.9 in the paper.
        image_width: See :class:`Pruning`, in CSS pixels.
        inline_links: See :class:`Pruning`; False in the paper.
        ignorable_share: See :func:`annotate`; 1 in the paper.

    Raises:
        ValueError: An option is out of range.
    """

    name: ClassVar[str] = "node_type"

    def __init__(
        self,
        density: float = DENSITY,
        coherence: float = COHERENCE,
        *,
        image_width: float = IMAGE_WIDTH,
        inline_links: bool = True,
        ignorable_share: float = IGNORABLE_SHARE,
    ) -> None:
        shares = {"density": density, "coherence": coherence, "ignorable_share": ignorable_share}
        for option, value in shares.items():
            if not 0.0 <= value <= 1.0:
                raise ValueError(f"{option} must lie between 0 and 1, not {value}")
        if image_width < 0:
            raise ValueError(f"image_width must not be negative, not {image_width}")
        self.density = density
        self.ignorable_share = ignorable_share
        self.pruning = Pruning(coherence, image_width, inline_links)

    def judge(self, page: Page) -> Judgement:
        """Annotate the nodes, find the pruned node, and mark what the pruning does not keep."""
        nodes, annotation = page.nodes, annotate(page, self.ignorable_share)
        start = find_pruned_node(page, annotation, self.density)
        verdicts = self.pruning.verdicts(page, annotation, start)

        def reason(index: int) -> str:
            if index < start < nodes.ends[index]:
                return "holds the pruned node"
            decided = index
            while decided >= 0 and decided not in verdicts:
                decided = nodes.parents[decided]
            if decided < 0:
                return "outside the pruned node"
            bounds = {"threshold": self.pruning.coherence, "width": self.pruning.image_width}
            words = verdicts[decided].value.format(coherence=annotation.coherence[decided], **bounds)
            return words if decided == index else f"within: {words}"

        return Judgement(_noise(nodes, verdicts), annotation.coherence, reason)


def _noise(nodes: Nodes, verdicts: dict[int, PruningVerdict]) -> list[bool]:
    """Mark everything except the kept subtrees and their ancestors."""
    noise = [True] * len(nodes)
    for index, verdict in verdicts.items():
        if verdict.keeps:
            noise[index : nodes.ends[index]] = [False] * (nodes.ends[index] - index)
    return spare_holders(noise, nodes.parents)
