"""``fusion``: page evidence and site evidence in one judgement, from a single page on."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from denoise_crawler import kernel
from denoise_crawler.kernel.columns import DEFINITIONS, TABLE, UNITS, Parts
from denoise_crawler.methods.base import Judgement, Method
from denoise_crawler.methods.fusion import record_blocks
from denoise_crawler.methods.fusion.blocks import NO_PARTS, blocks_of, parts_of
from denoise_crawler.methods.fusion.declared import linked_data_of
from denoise_crawler.methods.fusion.features import KEEP, LEAVE, Look, Preferences
from denoise_crawler.methods.fusion.reasons import Decision, judgement_of
from denoise_crawler.methods.fusion.score_rules import (
    contents_no_higher,
    last_box,
    no_lower_than_page_alone,
    prose_everywhere,
)
from denoise_crawler.methods.fusion.site_evidence import SiteEvidence
from denoise_crawler.methods.fusion.weights import model_of_file, shipped_model
from denoise_crawler.page import Page

if TYPE_CHECKING:
    from typing_extensions import Self

    from denoise_crawler.kernel.columns import Flags, Numbers

MAX_PAGES = 128
_NEVER = -20.0  # log odds of cards of other products, and of the lines that say who wrote a post
_EVERYWHERE = -3.0  # added to log odds of prose that stands on every page
_KEPT = 0.6  # log odds that a box at the end of an article gets
_OF_FORMS = "article", "documentation"  # types of pages that can be filled-in forms
REPEATING = ("forum", "documentation")  # types of pages that quote themselves: a post in its answer, a step again


class Fusion(Method):
    """Content is the set of text blocks that promises the best F1, by boosted trees over page and site evidence.

    Of a site at most ``max_pages`` pages are kept, as sketches. ``title`` and ``comments`` say whether these are
    in the text (``keep`` or ``leave``), ``favour`` whether a text with less noise (``precision``) or with less
    missing (``recall``) is better where a block is in doubt. The trees were trained on gold pages of other sites
    (``python -m benchmarks.training``); ``weights`` is a file of others. See
    ``docs/how-it-decides.md``.
    """

    name: ClassVar[str] = "fusion"
    learns: ClassVar[bool] = True
    needs_others: ClassVar[bool] = True
    is_sure: ClassVar[bool] = True
    # the learning curve is flat from two other pages on; fields and texts that stand everywhere need five
    warmup_pages: ClassVar[int] = 6

    def __init__(
        self,
        *,
        max_pages: int = MAX_PAGES,
        title: str = KEEP,
        comments: str = LEAVE,
        favour: str = "balanced",
        weights: Path | str | None = None,
    ) -> None:
        self.preferences = Preferences(title, comments, favour)
        self.model = shipped_model() if weights is None else model_of_file(str(weights))
        self.evidence = SiteEvidence(max_pages)
        self.sample = self.evidence.sample

    def novelty(self, page: Page) -> float:
        """Return the share of the text of ``page`` on paths that the evidence does not know."""
        return self.evidence.novelty(page.once(blocks_of))

    def observe(self, page: Page) -> None:
        """Add ``page`` to the evidence."""
        if self.wants(page):
            look = page.once(self.model.alone)
            self.evidence.add(page.key, look.blocks, look.scores)

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
        blocks = alone.blocks
        look = alone.knowing(self.evidence.site_stats_for(page.key, blocks), self.preferences.columns)
        fields = record_blocks.record_fields(look)
        page_type = self.model.page_type(page, look, has_fields=fields is not None)
        because = {} if fields is None else {record_blocks.FIELD: fields}
        parts = page.once(parts_of)
        scores = look.scores
        if look.site_stats is not None:
            may_be_form = page_type.name in _OF_FORMS
            scores = no_lower_than_page_alone(look, alone, parts, may_be_form=may_be_form)
            scores = contents_no_higher(page, alone, scores)
        if page_type.name == "article":
            scores = scores.copy()
            scores[prose_everywhere(look, parts)] += _EVERYWHERE
            scores[last_box(look, scores)] = _KEPT
        if page_type.may_be_product:
            related = record_blocks.related_products(look)
            because[record_blocks.VALUE] = record_blocks.product_values(look, page.once(linked_data_of).values)
            because = {reason: wanted & ~related for reason, wanted in because.items()}
            if page_type.name == "product":  # a collection is made of cards
                scores = np.where(related, _NEVER, scores)
        if page_type.name == "forum":
            chances = 1.0 / (1.0 + np.exp(-scores - page_type.shift))
            because[record_blocks.POST], heads = record_blocks.posts(page, look, chances)
            scores = np.where(heads, _NEVER, scores)
            before = np.concatenate(([0], np.cumsum(heads)))
            whole = before[parts.units[:, 1]] == before[parts.units[:, 2]]  # a table of posts is laid out as one
            parts = replace(parts, units=parts.units[whole])
        if self.preferences.comments == KEEP:
            because[record_blocks.COMMENT] = record_blocks.comments(look)
        decision = decide(
            look, self.preferences, parts, because, scores, shift=page_type.shift,
            repeating=page_type.name in REPEATING, tables_alone=page_type.name == "product",
        )  # fmt: skip
        return judgement_of(page, decision, self.model.confidence(decision.choice.expected), page_type.name)


def decide(
    look: Look,
    preferences: Preferences,
    parts: Parts = NO_PARTS,
    because: dict[str, Flags] | None = None,
    scores: Numbers | None = None,
    *,
    shift: float = 0.0,
    repeating: bool = True,
    tables_alone: bool = False,
) -> Decision:
    """Decide what to take of a page.

    Args:
        look: What the trees see of it.
        preferences: What the caller prefers in the text.
        parts: What belongs together.
        because: Blocks that are taken in any case, by the reason.
        scores: The log odds of blocks, if they are others than those of ``look``.
        shift: What is added to the log odds of all blocks before the cut, for pages of this type.
        repeating: Whether what stands there twice is taken twice.
        tables_alone: Whether what stands around a table says nothing of it: on pages of products, prices, buttons
            and tabs do.

    """
    because = because or {}
    wanted = np.zeros(len(look.blocks), bool)
    for some in because.values():
        wanted |= some
    scores, judged = look.scores if scores is None else scores, parts
    if tables_alone:
        units = parts.units.copy()
        units[units[:, 0] == UNITS.index(TABLE), 0] = UNITS.index(DEFINITIONS)
        judged = replace(parts, units=units)
    choice = kernel.active.decide(
        look.blocks, scores, look.site_stats, judged, wanted, preferences.shift, preferences.title == KEEP,
        look.headline.sure, shift, repeating,
    )  # fmt: skip
    return Decision(look, parts, because, choice)


# --- ``one_look``: what ``fusion`` says of a page alone, without its site


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
        self.preferences = Preferences(title, favour=favour)
        self.model = shipped_model() if weights is None else model_of_file(str(weights))

    def judge(self, page: Page) -> Judgement:
        """Mark all blocks but those to take."""
        look = page.once(self.model.alone).knowing(None, self.preferences.columns)
        decision = decide(look, self.preferences)
        return judgement_of(page, decision, self.model.confidence(decision.choice.expected))
