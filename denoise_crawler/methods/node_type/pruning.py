"""From annotated nodes to the content: the node to prune from, and what is taken below it (the NTA paper, 4.2)."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING

from denoise_crawler.methods.node_type.annotation import NodeType, text_margin
from denoise_crawler.page import TEXT
from denoise_crawler.page.geometry import declared, drawn_boxes
from denoise_crawler.page.markup import INLINE

if TYPE_CHECKING:
    from denoise_crawler.methods.node_type.annotation import Annotation
    from denoise_crawler.page import Page


class Verdict(Enum):
    """What the pruning says of a node it met, in words; ``OPENED`` and ``IMAGES`` leave it to the children."""

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
        """Tell whether the node's subtree is content."""
        return self in _KEEPS


_KEEPS = frozenset(
    {Verdict.COHERENT, Verdict.TEXT_LEAF, Verdict.WIDE_IMAGE, Verdict.UNKNOWN_IMAGE, Verdict.LINK_IN_TEXT}
)


def pruned_node(page: Page, annotation: Annotation, density: float) -> int:
    """Return the node to prune from: of the text nodes over ``density`` in post-order the second, or the only one.

    The first holds the body of the text, the second its title, date and source as well: one lies in the other, as
    the paper takes for granted. Below 0.5 it need not be so, and text nodes that do not hold the first are left
    out. Without any, it is the page's body. A tie fails formula (3), so a wrapper of the whole page is not among
    them unless the page has no links.
    """
    nodes = page.nodes
    found = [
        index
        for index, share in enumerate(annotation.density)
        if share > density
        and annotation.types[index] is NodeType.TEXT
        and (annotation.leaves[index] or nodes.tags[index] is not TEXT)
        and text_margin(annotation.statistics, index) > 0
    ]
    if not found:
        return 0
    first = min(found, key=lambda index: (nodes.ends[index], -index))
    return max((index for index in found if index < first < nodes.ends[index]), default=first)


@dataclass(frozen=True, slots=True)
class Pruning:
    """The walk down from the pruned node.

    A text node whose degree of coherence is over ``coherence`` is taken whole, and so is a text leaf; others are
    opened. Images are taken from ``image_width`` CSS pixels on, or when nobody knows their width. A link node is
    taken if the sibling before or after it is a text node; with ``inline_links`` it must be an inline element too.
    """

    coherence: float
    image_width: float
    inline_links: bool

    def verdicts(self, page: Page, annotation: Annotation, start: int) -> dict[int, Verdict]:
        """Return the verdict on each node that the walk from ``start`` meets."""
        nodes, types = page.nodes, annotation.types
        widths = image_widths(page) if annotation.statistics.images[start] else {}
        verdicts: dict[int, Verdict] = {}
        stack = [(start, False)]
        while stack:
            index, beside_text = stack.pop()
            match types[index]:
                case NodeType.TEXT:
                    verdict = self._on_text(annotation, index)
                case NodeType.IMAGE:
                    verdict = self._on_image(widths.get(index)) if annotation.leaves[index] else Verdict.IMAGES
                case NodeType.LINK:
                    verdict = self._on_link(nodes.tags[index], beside_text)
                case NodeType.IGNORABLE:
                    verdict = Verdict.IGNORABLE
            verdicts[index] = verdict
            if verdict in (Verdict.OPENED, Verdict.IMAGES):
                children = list(nodes.children(index))
                text = [False, *(types[child] is NodeType.TEXT for child in children), False]
                stack += [(child, text[place] or text[place + 2]) for place, child in enumerate(children)]
        return verdicts

    def _on_text(self, annotation: Annotation, index: int) -> Verdict:
        if annotation.leaves[index]:
            return Verdict.TEXT_LEAF
        return Verdict.COHERENT if annotation.coherence[index] > self.coherence else Verdict.OPENED

    def _on_image(self, width: float | None) -> Verdict:
        if width is None:
            return Verdict.UNKNOWN_IMAGE
        return Verdict.WIDE_IMAGE if width >= self.image_width else Verdict.ICON

    def _on_link(self, tag: str, beside_text: bool) -> Verdict:
        if not beside_text:
            return Verdict.LINK
        return Verdict.LINK_IN_TEXT if tag in INLINE or not self.inline_links else Verdict.LINK_BLOCK


def image_widths(page: Page) -> dict[int, float | None]:
    """Return the width of each ``img`` in CSS pixels: as drawn, else as declared; None where it is not known.

    A declared share (``width="100%"``) is of something whose width is not known either.
    """
    boxes = drawn_boxes(page)
    widths: dict[int, float | None] = {}
    for index, tag in enumerate(page.nodes.tags):
        if tag != "img":
            continue
        box, length = boxes[index], declared(page.nodes.elements[index], "width")
        widths[index] = None if length is None or length.percent else length.value
        if box is not None:
            widths[index] = box.width
    return widths
