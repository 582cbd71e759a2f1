"""All that is known of a page's blocks, by page and site, as one table of numbers; what a caller wants of it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from math import fsum
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from denoise_crawler import kernel
from denoise_crawler.kernel.columns import KINDS, PAGE, PLACES, SAID, SCORES, SITE, UNSAID, Headline
from denoise_crawler.methods.fusion.blocks import blocks_of, unit_kinds
from denoise_crawler.methods.fusion.boxes import BOXES
from denoise_crawler.methods.fusion.declared import DECLARED, declared_of, description_of
from denoise_crawler.methods.fusion.markup_words import ClassWords, KindWords
from denoise_crawler.page import Page

if TYPE_CHECKING:
    from denoise_crawler.kernel.columns import Blocks, Flags, Indices, Numbers, SiteStats, Table
    from denoise_crawler.methods.fusion.trees import BoostedTrees


WORDS = KEEP, LEAVE = "keep", "leave"
# What is added to the log odds of every block before the best text is chosen.
FAVOUR = {"precision": -0.5, "balanced": 0.0, "recall": 0.5}
NO_PREFERENCES = UNSAID, UNSAID
PREFERENCE_COLUMNS = ("wish title", "wish comments")


@dataclass(frozen=True, slots=True)
class Preferences:
    """The title and readers' comments in the text or not, and what is favoured where a block is in doubt.

    The posts of a forum thread are no comments: they are its text. Raises ValueError for other words.
    """

    title: str = KEEP
    comments: str = LEAVE
    favour: str = "balanced"

    def __post_init__(self) -> None:
        for name, value in (("title", self.title), ("comments", self.comments)):
            if value not in (KEEP, LEAVE):
                raise ValueError(f"{name} is {value!r}: it can be 'keep' or 'leave'")
        if self.favour not in FAVOUR:
            known = ", ".join(map(repr, FAVOUR))
            raise ValueError(f"favour is {self.favour!r}: it can be one of {known}")

    @property
    def shift(self) -> float:
        """What is added to the log odds of every block."""
        return FAVOUR[self.favour]

    @property
    def columns(self) -> tuple[float, float]:
        """The preferences as features of all blocks."""
        return float(self.title == KEEP), float(self.comments == KEEP)


EVERYWHERE_SHARE, EVERYWHERE_PAGES = 0.8, 5


class Words(NamedTuple):
    """What words in the markup are worth: those of class and id for the text below, all for the kind of page."""

    classes: ClassWords
    kinds: KindWords

    @classmethod
    def none(cls) -> Words:
        """Return words that are worth nothing."""
        return cls(ClassWords({}), KindWords({}))


_PAGE_NAMES = (
    *PAGE,
    *(f"in {place}" for place in PLACES),
    *(f"page kind {kind}" for kind in KINDS),
    *SAID,
    *DECLARED,
)
# the features of a first look: those of the page, of its site, and the preferences; and those of a second look
LOCAL_NAMES = (*_PAGE_NAMES, *SITE, *PREFERENCE_COLUMNS)
BLOCK_NAMES = (*LOCAL_NAMES, *SCORES)


# --- a look at a page: all that is known of its blocks, and what the trees make of it


class Forests(NamedTuple):
    """The trees of the first look, which see a block by itself, and of the second, which see all scores too."""

    first: BoostedTrees
    second: BoostedTrees


@dataclass(eq=False)
class Look:
    """What is known of a page's blocks, and what the trees of some ``forests`` make of it, worked out once.

    ``title`` and ``description`` are what the page says of itself, ``declared`` how its blocks agree with what it
    declares (see :func:`declared_of`), ``kinds`` how much its markup speaks for each of ``KINDS``, ``units`` of
    what kind each block's unit is (see :func:`unit_kinds`), ``site_stats`` what its site says. Whether title and
    comments are to be kept is 1, 0, or ``UNSAID``.
    """

    title: str
    description: str
    declared: Table
    kinds: Numbers
    units: Numbers
    blocks: Blocks
    class_words: ClassWords
    forests: Forests | None = None
    site_stats: SiteStats | None = None
    preferences: tuple[float, float] = NO_PREFERENCES

    @classmethod
    def of(
        cls, page: Page, words: Words, forests: Forests | None = None, site_stats: SiteStats | None = None
    ) -> Look:
        """Look at ``page``, which the look does not hold on to."""
        return cls(
            page.title, page.once(description_of), page.once(declared_of), words.kinds.of(page),
            page.once(unit_kinds), page.once(blocks_of), words.classes, forests, site_stats,
        )  # fmt: skip

    def knowing(self, site_stats: SiteStats | None, preferences: tuple[float, float]) -> Look:
        """Look at the same page again, with what its site says and what the caller prefers."""
        if site_stats is None and self.site_stats is None and preferences == self.preferences:
            return self
        other = replace(self, site_stats=site_stats, preferences=preferences)
        other.headline, other.of_page = self.headline, self.of_page
        return other

    @cached_property
    def headline(self) -> Headline:
        """The block that is the page's title."""
        headline: Headline = kernel.active.headline_of(self.title, self.blocks)
        return headline

    @cached_property
    def everywhere(self) -> Flags:
        """Which blocks' texts stand on four of five of the site's other pages (of five pages or more)."""
        site_stats = self.site_stats
        if site_stats is None or site_stats.pages < EVERYWHERE_PAGES:
            return np.zeros(len(self.blocks), bool)
        return site_stats.texts >= EVERYWHERE_SHARE * site_stats.pages

    def asks(self, block: int) -> bool:
        """Return True if the box around a block asks something of the reader."""
        of_boxes = self.declared[-len(BOXES) :]
        return bool((of_boxes[:, block if of_boxes.shape[1] > 1 else 0] > 0.0).any())

    @cached_property
    def of_page(self) -> Table:
        """The features that the page alone says, by feature: they stay the same whatever its site says."""
        table: Table = kernel.active.page_table(
            self.blocks, self.headline, self.description, self.class_words.worth(self.blocks.around),
            self.kinds, self.units, self.declared,
        )  # fmt: skip
        return table

    @cached_property
    def _by_feature(self) -> Table:
        first = self.forests and self.forests.first.in_kernel
        table: Table = kernel.active.look_at(self.blocks, self.of_page, self.site_stats, self.preferences, first)
        return table

    @property
    def table(self) -> Table:
        """All features, a row for each block; without trees those of a first look."""
        return self._by_feature.T

    @cached_property
    def scores(self) -> Numbers:
        """By block, the log odds that it is content."""
        scores = self._scores(self._by_feature)
        del self._by_feature  # most of a look, which pages that wait keep; whoever asks for reasons makes it anew
        return scores

    def scores_of(self, blocks: Indices) -> Numbers:
        """Return the scores of some ``blocks``, without those of all."""
        if "scores" in self.__dict__:
            return self.scores[blocks]
        return self._scores(self._by_feature.take(blocks, axis=1))

    def _scores(self, by_feature: Table) -> Numbers:
        assert self.forests is not None  # noqa: S101
        scores: Numbers = self.forests.second.in_kernel.scores(by_feature)
        return scores

    def contributions(self, block: int) -> Numbers:
        """Return by feature what it adds to the score of a block.

        What the block's own first score adds is told by the features that made it.
        """
        assert self.forests is not None  # noqa: S101
        row, score = self.table[block], len(LOCAL_NAMES)
        added, first = self.forests.second.contributions(row), self.forests.first.contributions(row)
        whole, of_score = fsum(first.tolist()), float(added[score])
        added[score] = 0.0
        return added + first * (of_score / whole if of_score * whole > 0 else 0.0)

    def row(self, block: int) -> dict[str, float]:
        """Return the features of a block by name."""
        return dict(zip(BLOCK_NAMES, self.table[block].tolist(), strict=True))
