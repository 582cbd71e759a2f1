"""A look at a page: all that is known of its blocks, and what the trees say of them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from denoise_crawler.methods.fusion.features import (
    NO_WISHES,
    Evidence,
    block_names,
    fill_page,
    page_names,
    table_of,
)
from denoise_crawler.methods.fusion.site_sums import Standing

if TYPE_CHECKING:
    from denoise_crawler.methods.fusion.blocks import Numbers
    from denoise_crawler.methods.fusion.trees import BoostedTrees, Table

_KEPT_BLOCKS = 2_000


@dataclass(eq=False)
class Look:
    """What is seen of a page by some ``trees``: its ``evidence``, and what is wished of its text.

    ``of_page`` are the features of the page alone, which stay the same whatever is known of its site; None for a
    page of so many blocks that they are worked out again rather than kept.
    """

    trees: BoostedTrees | None
    evidence: Evidence
    wishes: tuple[float, float]
    of_page: Table | None

    @classmethod
    def alone(cls, trees: BoostedTrees | None, evidence: Evidence) -> Look:
        """Look at a page of which no site is known, and for which nothing is wished."""
        kept, count = None, len(evidence.blocks)
        if count <= _KEPT_BLOCKS:
            fill_page(kept := np.empty((len(page_names()), count), np.float32), evidence)
        return cls(trees, evidence, NO_WISHES, kept)

    def knowing(self, standing: Standing | None, wishes: tuple[float, float]) -> Look:
        """Look at the same page again, with what its site says and what is wished."""
        if standing is None and wishes == self.wishes:
            return self
        return Look(self.trees, self.evidence.knowing(standing), wishes, self.of_page)

    @cached_property
    def table(self) -> Table:
        """All features, a row for each block."""
        return table_of(self.evidence, self.wishes, self.of_page)

    @cached_property
    def scores(self) -> Numbers:
        """By block, the log odds that it is content."""
        assert self.trees is not None  # noqa: S101
        return self.trees.scores(self.table)

    def row(self, block: int) -> dict[str, float]:
        """Return the features of a block by name."""
        return dict(zip(block_names(), self.table[block].tolist(), strict=True))
