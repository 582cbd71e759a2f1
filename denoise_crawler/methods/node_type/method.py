"""``node_type``: content is the coherent text below the node that holds most of it (NTA). Needs one page only."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from denoise_crawler.methods.base import Judgement, Method
from denoise_crawler.methods.node_type.annotation import IGNORABLE_SHARE, annotate
from denoise_crawler.methods.node_type.pruning import Pruning, Verdict, pruned_node

if TYPE_CHECKING:
    from denoise_crawler.page import Nodes, Page

DENSITY = 0.25
COHERENCE = 0.9
IMAGE_WIDTH = 100.0


class NodeTypes(Method):
    """Content is what the NTA method takes (Xie, Zhou & Wang, node type annotation).

    ``density`` is the text density (TD) over which a text node may be the one to prune from; the paper has 0.9,
    for ``coherence`` as well, the degree of coherence (DoC) over which a text node is taken whole. ``image_width``
    (CSS pixels) and ``inline_links`` are those of :class:`Pruning`, ``ignorable_share`` that of :func:`annotate`:
    False and 1 are the paper's words. A judgement's ``scores`` are degrees of coherence.

    Raises ``ValueError`` for a share outside 0 … 1 and for a negative width.
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
        """Annotate the nodes, choose the one to prune from, and mark what the pruning does not take."""
        nodes, annotation = page.nodes, annotate(page, self.ignorable_share)
        start = pruned_node(page, annotation, self.density)
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


def _noise(nodes: Nodes, verdicts: dict[int, Verdict]) -> list[bool]:
    """Mark everything but the subtrees that are kept and what they stand in."""
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
