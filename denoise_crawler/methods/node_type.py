"""``node_type``: content is found by characters, links and images of one page.

Node type annotation (NTA) of Xie, Zhou & Wang, in the order of the paper: counts, types, the pruned node (4.2),
and what is kept below it.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum, IntEnum
from typing import ClassVar

import numpy as np

from denoise_crawler.methods.base import Judgement, Method, spare_holders, subtree_sums
from denoise_crawler.page import TEXT, Element, Nodes, Page
from denoise_crawler.page.geometry import Box, declared_length, drawn_boxes
from denoise_crawler.page.nodes import INLINE

IGNORABLE_TAGS = frozenset(
    {"script", "iframe", "style", "noscript", "br", "button", "input", "select", "option", "label", "form"}
    | {"comment", "map", "area", "embed"}
)
IGNORABLE_SHARE = 0.5


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


def count_contents(nodes: Nodes) -> Statistics:
    """Count what every node holds."""
    sizes = [len("".join(text.split())) for text in nodes.texts]
    linked = [size if link >= 0 else 0 for size, link in zip(sizes, nodes.links, strict=True)]
    links, images = ([tag == counted for tag in nodes.tags] for counted in ("a", "img"))
    columns = (np.array(column, np.int64) for column in (linked, links, np.subtract(sizes, linked), images))
    return Statistics(*(subtree_sums(column, nodes.ends).tolist() for column in columns))


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
    density = [share(own, statistics.text_characters[0]) for own in statistics.text_characters]
    types, leaves = list[NodeType](), _leaves(nodes)
    for index, (tag, parent) in enumerate(zip(nodes.tags, nodes.parents, strict=True)):
        in_ignorable = parent >= 0 and types[parent] is NodeType.IGNORABLE
        if in_ignorable or (tag in IGNORABLE_TAGS and density[index] <= ignorable_share):
            types.append(NodeType.IGNORABLE)
        else:
            types.append(_type_of(statistics, index, is_leaf=leaves[index], in_link=nodes.links[index] >= 0))
    return Annotation(types, _coherence(nodes, types, leaves), density, leaves, statistics)


def share(part: int, whole: int) -> float:
    """Return the share of ``part`` in ``whole``; 0 if ``whole`` is 0."""
    return part / whole if whole else 0.0


def _type_of(statistics: Statistics, index: int, *, is_leaf: bool, in_link: bool) -> NodeType:
    """Return the type of a leaf by what it is, of an inner node by formulas (1) to (3) in this order.

    Text in an ``a`` belongs to the link. Formulas (2) and (3) are strict. A tie, mostly a wrapper of the whole
    page, counts as text.
    """
    text, links, images = statistics.text_characters[index], statistics.links[index], statistics.images[index]
    if in_link:
        return NodeType.LINK if statistics.link_characters[index] or links or images else NodeType.IGNORABLE
    if is_leaf or not (text or links):
        if images:
            return NodeType.IMAGE
        return NodeType.TEXT if text else NodeType.IGNORABLE
    return NodeType.LINK if text_margin(statistics, index) < 0 else NodeType.TEXT


def text_margin(statistics: Statistics, index: int) -> float:
    """Return a node's share of the page's text minus the larger of its shares of link characters and of links."""
    text, characters, links = statistics.text_characters, statistics.link_characters, statistics.links
    of_links = max(share(characters[index], characters[0]), share(links[index], links[0]))
    return share(text[index], text[0]) - of_links


def _leaves(nodes: Nodes) -> list[bool]:
    """Mark the leaves; the only text of an element belongs to the element, which is the leaf."""
    leaves: list[bool] = []
    for index, (tag, end) in enumerate(zip(nodes.tags, nodes.ends, strict=True)):
        if tag is TEXT:
            leaves.append(not leaves[nodes.parents[index]])
        else:
            leaves.append(end == index + 1 or (end == index + 2 and nodes.tags[index + 1] is TEXT))
    return leaves


def _coherence(nodes: Nodes, types: list[NodeType], leaves: list[bool]) -> list[float]:
    """Return each node's share of leaves of its own type (formula 6)."""
    kinds, is_leaf = np.array(types, np.int64), np.array(leaves, bool)
    every = subtree_sums(is_leaf.astype(np.int64), nodes.ends)
    own = np.zeros(len(types), np.int64)
    for kind in NodeType:
        own += (kinds == kind) * subtree_sums((is_leaf & (kinds == kind)).astype(np.int64), nodes.ends)
    coherence: list[float] = np.where(is_leaf | (every == 0), 1.0, own / np.maximum(every, 1)).tolist()
    return coherence


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


class Verdict(Enum):
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


_KEPT = (Verdict.COHERENT, Verdict.TEXT_LEAF, Verdict.WIDE_IMAGE, Verdict.UNKNOWN_IMAGE, Verdict.LINK_IN_TEXT)

DENSITY = 0.25
COHERENCE = 0.9
IMAGE_WIDTH = 100.0


class NodeTypes(Method):
    """Content is what stands below the pruned node and is text, a wide image, or a link beside text.

    A judgement's ``scores`` are degrees of coherence.

    Args:
        density: The text density (TD, 0 to 1) over which a text node may be the pruned node; 0.9 in the paper.
        coherence: The degree of coherence (DoC, 0 to 1) over which a text node is kept whole, while others are
            opened; 0.9 in the paper.
        image_width: The least width of a kept image in CSS pixels; images of unknown width are kept.
        inline_links: Whether a kept link node must be an inline element; False in the paper.
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
        self.density, self.coherence, self.ignorable_share = density, coherence, ignorable_share
        self.image_width, self.inline_links = image_width, inline_links

    def judge(self, page: Page) -> Judgement:
        """Annotate the nodes, find the pruned node, and mark what the pruning does not keep."""
        nodes, annotation = page.nodes, annotate(page, self.ignorable_share)
        start = find_pruned_node(page, annotation, self.density)
        verdicts = self._prune(page, annotation, start)
        noise = [True] * len(nodes)
        for index, verdict in verdicts.items():
            if verdict in _KEPT:
                noise[index : nodes.ends[index]] = [False] * (nodes.ends[index] - index)

        def reason(index: int) -> str:
            if index < start < nodes.ends[index]:
                return "holds the pruned node"
            decided = index
            while decided >= 0 and decided not in verdicts:
                decided = nodes.parents[decided]
            if decided < 0:
                return "outside the pruned node"
            bounds = {"threshold": self.coherence, "width": self.image_width}
            words = verdicts[decided].value.format(coherence=annotation.coherence[decided], **bounds)
            return words if decided == index else f"within: {words}"

        return Judgement(spare_holders(noise, nodes.parents), annotation.coherence, reason)

    def _prune(self, page: Page, annotation: Annotation, start: int) -> dict[int, Verdict]:
        """Walk down from the pruned node; return the verdict on each node that is visited."""
        nodes, types = page.nodes, annotation.types
        boxes = drawn_boxes(page) if annotation.statistics.images[start] else []
        verdicts: dict[int, Verdict] = {}
        waiting = [(start, False)]
        while waiting:
            index, beside_text = waiting.pop()
            is_leaf = annotation.leaves[index]
            match types[index]:
                case NodeType.TEXT:
                    verdict = Verdict.TEXT_LEAF if is_leaf else self._of_text_node(annotation.coherence[index])
                case NodeType.IMAGE:
                    verdict = self._of_image(nodes.elements[index], boxes[index]) if is_leaf else Verdict.IMAGES
                case NodeType.LINK:
                    verdict = self._of_link(nodes.tags[index], beside_text)
                case NodeType.IGNORABLE:
                    verdict = Verdict.IGNORABLE
            verdicts[index] = verdict
            if verdict in (Verdict.OPENED, Verdict.IMAGES):
                children = list(nodes.children(index))
                text = [False, *(types[child] is NodeType.TEXT for child in children), False]
                waiting += [(child, text[place] or text[place + 2]) for place, child in enumerate(children)]
        return verdicts

    def _of_text_node(self, coherence: float) -> Verdict:
        return Verdict.COHERENT if coherence > self.coherence else Verdict.OPENED

    def _of_image(self, element: Element, box: Box | None) -> Verdict:
        """Decide by the width as drawn, else as declared; a share (``width="100%"``) counts as unknown."""
        declared = declared_length(element, "width")
        width = None if declared is None or declared.percent else declared.value
        if box is not None:
            width = box.width
        if width is None:
            return Verdict.UNKNOWN_IMAGE
        return Verdict.WIDE_IMAGE if width >= self.image_width else Verdict.ICON

    def _of_link(self, tag: str, beside_text: bool) -> Verdict:
        """Keep a link node if the sibling before or after it is a text node."""
        if not beside_text:
            return Verdict.LINK
        return Verdict.LINK_IN_TEXT if tag in INLINE or not self.inline_links else Verdict.LINK_BLOCK
