"""``node_type``: the coherent text below the node with most text is content (NTA). Needs one page only."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from denoise_crawler.methods.base import Judgement, Method
from denoise_crawler.methods.node_type.annotation import IGNORABLE_SHARE, annotate
from denoise_crawler.methods.node_type.pruning import Pruning, PruningVerdict, find_pruned_node

if TYPE_CHECKING:
    from denoise_crawler.page import Nodes, Page

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
        for option, value in (
            ("density", density),
            ("coherence", coherence),
            ("ignorable_share", ignorable_share),
        ):
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
            words = verdicts[decided].value.format(
                coherence=annotation.coherence[decided],
                threshold=self.pruning.coherence,
                width=self.pruning.image_width,
            )
            return words if decided == index else f"within: {words}"

        return Judgement(_noise(nodes, verdicts), annotation.coherence, reason)


def _noise(nodes: Nodes, verdicts: dict[int, PruningVerdict]) -> list[bool]:
    """Mark everything except the kept subtrees and their ancestors."""
    noise = [True] * len(nodes)
    for index, verdict in verdicts.items():
        if not verdict.keeps:
            continue
        noise[index : nodes.ends[index]] = [False] * (nodes.ends[index] - index)
        above = nodes.parents[index]
        while above >= 0 and noise[above]:
            noise[above] = False
            above = nodes.parents[above]
    return noise
