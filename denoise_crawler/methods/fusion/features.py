"""All that is known of a page's blocks, by page and site, as one table of numbers; what a caller wants of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from math import fsum
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from denoise_crawler.core import loops
from denoise_crawler.methods.fusion.blocks import unit_kinds
from denoise_crawler.methods.fusion.declared import (
    DECLARED,
    Headline,
    begins,
    declared_of,
    description_of,
    headline_of,
)
from denoise_crawler.methods.fusion.kinds import KINDS, KindWords
from denoise_crawler.methods.fusion.names import PLACES, ClassWords
from denoise_crawler.methods.fusion.site_sums import Standing
from denoise_crawler.page import Page

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from denoise_crawler.methods.fusion.blocks import Blocks, Numbers
    from denoise_crawler.methods.fusion.trees import BoostedTrees, Table


WORDS = KEEP, LEAVE = "keep", "leave"
# What is added to the log odds of every block before the best text is chosen.
FAVOUR = {"precision": -0.5, "balanced": 0.0, "recall": 0.5}
UNSAID = -1.0
NO_WISHES = UNSAID, UNSAID
WISH_COLUMNS = ("wish title", "wish comments")


@dataclass(frozen=True, slots=True)
class Wishes:
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
        """The wishes as features of all blocks."""
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


class Sums(NamedTuple):
    """The characters of a page and those of them inside links.

    By block they are running sums, which begin with 0; by element what stands below it, and the share in links.
    """

    characters: Numbers
    linked: Numbers
    element_characters: Numbers
    element_linked: Numbers
    link_shares: Numbers


@dataclass(eq=False)
class Evidence:
    """All there is to know of a page's blocks; what several features need is worked out once.

    ``title`` and ``description`` are what the page says of itself, ``declared`` how its blocks agree with what it
    declares (see :func:`declared_of`), ``kinds`` how much its markup speaks for each of ``KINDS``, ``units`` of
    what kind each block's unit is (see :func:`unit_kinds`).
    """

    title: str
    description: str
    declared: NDArray[np.float32]
    kinds: Numbers
    units: Numbers
    blocks: Blocks
    standing: Standing | None
    class_words: ClassWords

    @classmethod
    def of(cls, page: Page, blocks: Blocks, standing: Standing | None, words: Words) -> Evidence:
        """Return the evidence for the ``blocks`` of ``page``, which it does not hold on to."""
        return cls(
            page.title, page.once(description_of), page.once(declared_of), words.kinds.of(page),
            page.once(unit_kinds), blocks, standing, words.classes,
        )  # fmt: skip

    @cached_property
    def named(self) -> Numbers:
        """By element, how much its class and id speak for content."""
        return self.class_words.worth(self.blocks.around.names)

    @cached_property
    def sums(self) -> Sums:
        """The characters up to each block and below each element."""
        return Sums(*self.columns[2])

    def parent(self, block: int) -> int:
        """Return the element above that of a block; the body has itself above it."""
        around = self.blocks.around
        return max(int(around.parents[self.blocks.elements[block]]), 0)

    @cached_property
    def everywhere(self) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
        """Which blocks' texts stand on four of five of the site's other pages (of five pages or more)."""
        standing = self.standing
        if standing is None or standing.pages < EVERYWHERE_PAGES:
            return np.zeros(len(self.blocks), bool)
        return standing.texts >= EVERYWHERE_SHARE * standing.pages

    @cached_property
    def columns(self) -> tuple[tuple[NDArray[Any], ...], ...]:
        """The columns of blocks, of elements and of sums, as the loops take them."""
        blocks, around = self.blocks, self.blocks.around
        own = blocks.characters, blocks.linked, blocks.commas, blocks.closed, blocks.elements, blocks.text_hashes
        elements = around.parents, around.first, around.last, around.tags, around.depths, around.paths
        by_block, by_element = np.empty((2, len(blocks) + 1)), np.empty((3, len(around)))
        loops.features.add_up(own, elements, by_block, by_element)
        return own, elements, (*by_block, *by_element)

    @cached_property
    def headline(self) -> Headline:
        """The block that is the page's title."""
        return headline_of(self.title, self.blocks)

    def knowing(self, standing: Standing | None) -> Evidence:
        """Return the same evidence with what the site says; the rest is not worked out again."""
        if standing is None and self.standing is None:
            return self
        other = replace(self, standing=standing)
        other.__dict__.update({name: self.__dict__[name] for name in _OF_THE_PAGE & self.__dict__.keys()})
        return other


# What of the evidence is the same whatever is known of the site.
_OF_THE_PAGE = frozenset({"named", "sums", "headline", "columns"})


# made by Python, of texts and words; all other features are made by the loops
_SAID = "title overlap", "first heading", "begins description", "unit", *DECLARED


@lru_cache(maxsize=1)
def page_names() -> tuple[str, ...]:
    """Return the names of the features that the page alone says."""
    kinds = (f"page kind {kind}" for kind in KINDS)
    return (*loops.features.PAGE, *(f"in {place}" for place in PLACES), *kinds, *_SAID)


@lru_cache(maxsize=1)
def local_names() -> tuple[str, ...]:
    """Return the names of what a first look sees: the features of the page, those of its site, and the wishes."""
    return (*page_names(), *loops.features.SITE, *WISH_COLUMNS)


@lru_cache(maxsize=1)
def block_names() -> tuple[str, ...]:
    """Return the names of all features: those of the first look, and what the second makes of its scores."""
    return (*local_names(), *loops.features.SCORES)


def fill_page(rows: Table, evidence: Evidence) -> None:
    """Fill the ``rows`` of ``page_names``, a number for each block."""
    headline, around = evidence.headline, evidence.blocks.around
    said = (
        *(headline.overlap, headline.first_heading),
        *(begins(evidence.description, evidence.blocks), evidence.units),
    )
    places = around.places, len(PLACES)
    loops.features.page(rows, *evidence.columns, evidence.named, headline.best, *places, evidence.kinds, said)
    rows[-len(DECLARED) :] = evidence.declared


def fill_site(rows: Table, evidence: Evidence) -> None:
    """Fill the rows of the features that depend on what is known of the site."""
    standing, blocks = evidence.standing, evidence.blocks
    columns, pages = ((), 0.0) if standing is None else (standing.columns, float(standing.pages))
    loops.features.site_rows(rows, blocks.elements, blocks.link_hashes, pages, columns)


def fill_scores(rows: Table, scores: Numbers, blocks: Blocks) -> None:
    """Fill the rows of ``SCORES``: what the ``scores`` of a first look say of each block's surroundings."""
    around = blocks.around
    loops.features.score_rows(rows, scores, blocks.tokens, blocks.elements, around.parents, around.paths)


# --- a look at a page: all that is known of its blocks, and what the trees make of it

_KEPT_BLOCKS = 2_000


class Forests(NamedTuple):
    """The trees of the first look, which see a block by itself, and of the second, which see all scores too."""

    first: BoostedTrees
    second: BoostedTrees


@dataclass(eq=False)
class Look:
    """What is seen of a page by the trees of some ``forests``: its ``evidence``, and what is wished of its text.

    Whether title and comments are wished is 1, 0, or ``UNSAID``. ``of_page`` are the features of the page alone,
    which stay the same whatever is known of its site; None for a page of so many blocks that they are worked out
    again rather than kept.
    """

    forests: Forests | None
    evidence: Evidence
    wishes: tuple[float, float]
    of_page: Table | None

    @classmethod
    def alone(cls, forests: Forests | None, evidence: Evidence) -> Look:
        """Look at a page of which no site is known, and for which nothing is wished."""
        kept, count = None, len(evidence.blocks)
        if count <= _KEPT_BLOCKS:
            fill_page(kept := np.empty((len(page_names()), count), np.float32), evidence)
        return cls(forests, evidence, NO_WISHES, kept)

    def knowing(self, standing: Standing | None, wishes: tuple[float, float]) -> Look:
        """Look at the same page again, with what its site says and what is wished."""
        evidence = self.evidence.knowing(standing)
        if evidence is self.evidence and wishes == self.wishes:
            return self
        return Look(self.forests, evidence, wishes, self.of_page)

    @cached_property
    def local_table(self) -> Table:
        """What the first look sees, a row for each block."""
        by_feature = self._empty(local_names())
        self._fill_local(by_feature)
        return by_feature.T

    @cached_property
    def table(self) -> Table:
        """All features, a row for each block."""
        assert self.forests is not None  # noqa: S101
        by_feature, count = self._empty(block_names()), len(local_names())
        self._fill_local(by_feature[:count])
        scores = self.forests.first.scores(by_feature[:count].T)
        fill_scores(by_feature[count:], scores, self.evidence.blocks)
        return by_feature.T

    @cached_property
    def scores(self) -> Numbers:
        """By block, the log odds that it is content."""
        assert self.forests is not None  # noqa: S101
        return self.forests.second.scores(self.table)

    def contributions(self, block: int) -> dict[str, float]:
        """Return by feature what it adds to the score of a block.

        What the block's own first score adds is told by the features that made it.
        """
        assert self.forests is not None  # noqa: S101
        names, values, score = block_names(), self.table[block].tolist(), len(local_names())
        added = self.forests.second.contributions(values)
        first = self.forests.first.contributions(values)
        whole, of_score = fsum(first.values()), added.pop(score, 0.0)
        share = of_score / whole if of_score * whole > 0 else 0.0
        for number, amount in first.items():
            added[number] = added.get(number, 0.0) + share * amount
        return {names[number]: amount for number, amount in added.items()}

    def _empty(self, names: Sequence[str]) -> Table:
        return np.empty((len(names), len(self.evidence.blocks)), np.float32)

    def _fill_local(self, by_feature: Table) -> None:
        of_page = len(page_names())
        if self.of_page is None:
            fill_page(by_feature[:of_page], self.evidence)
        else:
            by_feature[:of_page] = self.of_page
        fill_site(by_feature[of_page:-2], self.evidence)
        by_feature[-2], by_feature[-1] = self.wishes

    def row(self, block: int) -> dict[str, float]:
        """Return the features of a block by name."""
        return dict(zip(block_names(), self.table[block].tolist(), strict=True))
