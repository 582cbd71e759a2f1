"""A look at a page: all that is known of its blocks, and what the trees say of them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from typing import TYPE_CHECKING

import numpy as np

from denoise_crawler.methods.fusion.evidence import running
from denoise_crawler.methods.fusion.features import page_groups, site_groups, table_of
from denoise_crawler.methods.fusion.wishes import UNSAID, wish_columns

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from denoise_crawler.methods.fusion.blocks import Numbers
    from denoise_crawler.methods.fusion.evidence import Evidence
    from denoise_crawler.methods.fusion.features import Rows
    from denoise_crawler.methods.fusion.standing import Standing
    from denoise_crawler.methods.fusion.trees import BoostedTrees, Table

_KEPT_BLOCKS = 2_000


def chances_of(scores: Numbers) -> Numbers:
    """Return log odds as chances."""
    return 1.0 / (1.0 + np.exp(-scores))


@dataclass(frozen=True)
class Forest:
    """Boosted trees ready for use, and the names of the features that their splits number."""

    features: Sequence[str]
    trees: BoostedTrees


@dataclass(eq=False)
class Look:
    """What is seen of a page by a ``forest``: its ``evidence``, and what is wished of its text.

    ``of_page`` are the features of the page alone, which stay the same whatever is known of its site; None for a
    page of so many blocks that they are worked out again rather than kept.
    """

    forest: Forest
    evidence: Evidence
    wishes: Rows
    of_page: list[Rows] | None

    @classmethod
    def alone(cls, forest: Forest, evidence: Evidence) -> Look:
        """Look at a page of which no site is known, and for which nothing is wished."""
        count = len(evidence.blocks)
        kept = list(page_groups(evidence)) if count <= _KEPT_BLOCKS else None
        return cls(forest, evidence, wish_columns(count, UNSAID, UNSAID), kept)

    def knowing(self, standing: Standing | None, wishes: Rows) -> Look:
        """Look at the same page again, with what its site says and what is wished."""
        return Look(self.forest, self.evidence.knowing(standing), wishes, self.of_page)

    def groups(self) -> Iterator[Rows]:
        """Yield all features, some at a time."""
        own = page_groups(self.evidence) if self.of_page is None else self.of_page
        return chain(own, site_groups(self.evidence), [self.wishes])

    @cached_property
    def table(self) -> Table:
        """The features that the forest knows, a row for each block."""
        return table_of(self.groups(), self.forest.features, len(self.evidence.blocks))

    @cached_property
    def scores(self) -> Numbers:
        """By block, the log odds that it is content."""
        return self.forest.trees.scores(self.table)

    @cached_property
    def chances(self) -> Numbers:
        """By block, how likely it is content."""
        return chances_of(self.scores)

    @cached_property
    def likely_sums(self) -> Numbers:
        """Running sums of the tokens that are expected to be content."""
        return running(self.evidence.blocks.tokens * self.chances)
