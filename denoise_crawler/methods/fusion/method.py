"""``fusion``: page evidence and site evidence in one judgement, from a single page on."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

import numpy as np

from denoise_crawler.methods.base import Judgement, Method
from denoise_crawler.methods.fusion.blocks import blocks_of
from denoise_crawler.methods.fusion.chances import content_chances, shifted
from denoise_crawler.methods.fusion.comments import REASON as COMMENT_REASON
from denoise_crawler.methods.fusion.comments import comments as comments_of
from denoise_crawler.methods.fusion.declared_text import declared_of
from denoise_crawler.methods.fusion.introduced import introduced_lists
from denoise_crawler.methods.fusion.judged_nodes import deciding_blocks, judged_nodes
from denoise_crawler.methods.fusion.kinds import said_words_of
from denoise_crawler.methods.fusion.linked_data import linked_data_of
from denoise_crawler.methods.fusion.page_type_features import traits_of
from denoise_crawler.methods.fusion.product_values import product_values
from denoise_crawler.methods.fusion.reasons import Verdict, added_by_topic, together_reason, why
from denoise_crawler.methods.fusion.records import field_reason, record_fields
from denoise_crawler.methods.fusion.sections import headings_of
from denoise_crawler.methods.fusion.selection import most_f1
from denoise_crawler.methods.fusion.site_evidence import SiteEvidence
from denoise_crawler.methods.fusion.title import description_of
from denoise_crawler.methods.fusion.together import Together
from denoise_crawler.methods.fusion.units import units_of
from denoise_crawler.methods.fusion.weights import model_of_file, shipped_model
from denoise_crawler.methods.fusion.wishes import KEEP, LEAVE, Wishes
from denoise_crawler.page.unseen import unseen_of

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from numpy.typing import NDArray
    from typing_extensions import Self

    from denoise_crawler.methods.fusion.evidence import Evidence
    from denoise_crawler.methods.fusion.page_type import PageType
    from denoise_crawler.page import Page

MAX_PAGES = 128
REPEATING = ("forum", "documentation")  # types of pages that quote themselves: a post in its answer, a step again


class Fusion(Method):
    """Content is the set of text blocks that promises the best F1, by boosted trees over page and site evidence.

    Of a site at most ``max_pages`` pages are kept, as sketches. ``title`` and ``comments`` say whether these are
    in the text (``keep`` or ``leave``), ``favour`` whether a text with less noise (``precision``) or with less
    missing (``recall``) is better where a block is in doubt. The trees were trained on gold pages of other sites
    (``python -m denoise_crawler.evaluation.training``); ``weights`` is a file of others. See
    ``docs/how-it-decides.md``.
    """

    name: ClassVar[str] = "fusion"
    learns: ClassVar[bool] = True
    is_sure: ClassVar[bool] = True
    # the learning curve is flat from two other pages on; fields and texts that stand everywhere need five
    warmup_pages: ClassVar[int] = 6
    of_page: ClassVar[tuple[Callable[[Page], object], ...] | None] = (
        *(blocks_of, units_of, introduced_lists, headings_of, linked_data_of, said_words_of, description_of),
        *(declared_of, unseen_of, traits_of),
    )

    def __init__(
        self,
        *,
        max_pages: int = MAX_PAGES,
        title: str = KEEP,
        comments: str = LEAVE,
        favour: str = "balanced",
        weights: Path | str | None = None,
    ) -> None:
        self.wishes = Wishes(title, comments, favour)
        self.model = shipped_model() if weights is None else model_of_file(str(weights))
        self.evidence = SiteEvidence(max_pages)

    @property
    def pages_known(self) -> int:
        """The number of pages in the evidence."""
        return len(self.evidence)

    @property
    def pages_kept(self) -> int | None:
        """How many pages are kept, those with the lowest keys."""
        return self.evidence.max_pages

    def knows(self, page: Page) -> bool:
        """Tell whether ``page`` is in the evidence."""
        return page.key in self.evidence

    def wants(self, page: Page) -> bool:
        """Tell whether ``page`` would change the evidence."""
        return self.evidence.wants(page.key)

    def novelty(self, page: Page) -> float:
        """Return the share of the text of ``page`` on paths that the evidence does not know."""
        return self.evidence.novelty(page.once(blocks_of))

    def observe(self, page: Page) -> None:
        """Add ``page`` to the evidence."""
        if self.evidence.wants(page.key):
            look = page.once(self.model.alone)
            self.evidence.add(page.key, page.once(blocks_of), look.scores, self.model.kinds(page, look))

    def merge(self, other: Self) -> None:
        """Add the pages of ``other``'s evidence."""
        self.evidence.merge(other.evidence)

    def to_bytes(self) -> bytes:
        """Write the evidence."""
        return self.evidence.to_bytes()

    def merge_bytes(self, data: bytes) -> None:
        """Add the pages of written evidence."""
        self.evidence.merge_bytes(data)

    def judge(self, page: Page) -> Judgement:
        """Mark all blocks but those to take."""
        alone = page.once(self.model.alone)
        blocks = alone.evidence.blocks
        look = alone.knowing(self.evidence.standing(page.key, blocks), self.wishes.columns(len(blocks)))
        evidence, own = look.evidence, content_chances(look, self.wishes)
        together = Together.of(page, blocks)
        chances = together.chances(own)
        fields = record_fields(evidence)
        page_type = self.model.page_type(page, look, has_fields=bool(fields.any()))
        likely = most_f1(shifted(chances, page_type.shift), blocks.tokens)
        values = _values(page, page_type, evidence)
        written = comments_of(evidence) if self.wishes.comments == KEEP else np.zeros(len(blocks), bool)
        fixed = fields | values | written
        best = together.best(likely, fixed)
        once = best if page_type.name in REPEATING else together.once(best)
        if (title := evidence.headline.sure) >= 0:
            fixed[title] = True
        taken = together.with_sections(once, chances, fixed)
        bar = float(chances[likely].min(initial=1.0))
        block_of: dict[int, int] = {}

        def reason(index: int) -> str:
            if not block_of:
                block_of.update(deciding_blocks(page.nodes, blocks, taken))
            block = block_of.get(index, -1)
            if block < 0:
                return "without text: goes with what it stands in" if index else ""
            if fields[block] and taken[block] and not likely[block]:
                return field_reason(evidence, block)
            if values[block] and taken[block] and not likely[block]:
                return "a value of the product: its price, a code or its maker"
            if written[block] and taken[block] and not likely[block]:
                return COMMENT_REASON
            if taken[block] != once[block]:
                return together_reason(bool(taken[block]), "section")
            whole, chance = together.whole_of(block, chances)
            joint = whole and (taken[block] or chance is not None)  # an introduction only keeps
            if joint and best[block] != (own[block] >= bar):
                return together_reason(bool(taken[block]), whole, chance)
            repeated = bool(best[block] and not taken[block])
            verdict = Verdict(bool(taken[block]), float(own[block]), bar, repeated)
            row = dict(zip(look.forest.features, map(float, look.table[block]), strict=True))
            return why(evidence, added_by_topic(look.forest, row), row, block, verdict)

        noise, scores = judged_nodes(page.nodes, blocks, taken, chances)
        confidence = self.model.confidence(chances, blocks.tokens, likely)
        return Judgement(noise, scores, reason, confidence=confidence, page_type=page_type.name)


def _values(page: Page, page_type: PageType, evidence: Evidence) -> NDArray[np.bool_]:
    """Tell which blocks are values of a product, on its page."""
    if page_type.name != "product":
        return np.zeros(len(evidence.blocks), bool)
    return product_values(evidence, page.once(linked_data_of).values) & ~evidence.everywhere
