"""``one_look``: what ``fusion`` says of a page alone, without its site."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from denoise_crawler.methods.base import Judgement, Method
from denoise_crawler.methods.fusion.chances import shifted, with_title
from denoise_crawler.methods.fusion.judged_nodes import deciding_blocks, judged_nodes
from denoise_crawler.methods.fusion.reasons import Verdict, added_by_topic, why
from denoise_crawler.methods.fusion.selection import most_f1
from denoise_crawler.methods.fusion.weights import model_of_file, shipped_model
from denoise_crawler.methods.fusion.wishes import KEEP, Wishes

if TYPE_CHECKING:
    from pathlib import Path

    from denoise_crawler.page import Page


class OneLook(Method):
    """Content is the set of text blocks that promises the best F1, by boosted trees over the page's evidence.

    It knows nothing of the site, says nothing of the type of the page, and leaves the posts of a thread and the
    rows of a table to their own chances. See ``docs/methods.md`` for what that costs and gives.

    Args:
        title: Whether the title is in the text (``keep`` or ``leave``).
        favour: Whether a text with less noise (``precision``) or with less missing (``recall``) is better where a
            block is in doubt, or neither (``balanced``).
        weights: A file of weights other than those that come with the package.

    Raises:
        ValueError: ``title`` or ``favour`` is another word.
        WeightsError: ``weights`` cannot be read.

    """

    name: ClassVar[str] = "one_look"
    is_sure: ClassVar[bool] = True

    def __init__(self, *, title: str = KEEP, favour: str = "balanced", weights: Path | str | None = None) -> None:
        self.wishes = Wishes(title, favour=favour)
        self.model = shipped_model() if weights is None else model_of_file(str(weights))

    def judge(self, page: Page) -> Judgement:
        """Mark all blocks but those to take."""
        alone = page.once(self.model.alone)
        evidence, blocks = alone.evidence, alone.evidence.blocks
        look = alone.knowing(None, self.wishes.columns(len(blocks)))
        chances = with_title(shifted(look.chances, self.wishes.shift), evidence, self.wishes)
        taken = most_f1(chances, blocks.tokens)
        bar = float(chances[taken].min(initial=1.0))
        block_of: dict[int, int] = {}

        def reason(index: int) -> str:
            if not block_of:
                block_of.update(deciding_blocks(page.nodes, blocks, taken))
            block = block_of.get(index, -1)
            if block < 0:
                return "without text: goes with what it stands in" if index else ""
            row = dict(zip(look.forest.features, map(float, look.table[block]), strict=True))
            verdict = Verdict(bool(taken[block]), float(chances[block]), bar)
            return why(evidence, added_by_topic(look.forest, row), row, block, verdict)

        noise, scores = judged_nodes(page.nodes, blocks, taken, chances)
        return Judgement(noise, scores, reason, confidence=self.model.confidence(chances, blocks.tokens, taken))
