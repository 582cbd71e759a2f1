"""The first look at a page, which knows nothing of its site, and what it says of each block's surroundings."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

from denoise_crawler.core import compiled
from denoise_crawler.methods.fusion.evidence import ratio, running
from denoise_crawler.methods.fusion.features import Rows, evidence_of_nothing, page_groups, table_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from numpy.typing import NDArray

    from denoise_crawler.methods.fusion.blocks import Indices, Numbers
    from denoise_crawler.methods.fusion.evidence import Evidence
    from denoise_crawler.methods.fusion.features import Columns
    from denoise_crawler.methods.fusion.trees import BoostedTrees

FAR = 60.0
NOTHING = -9.0  # log odds where there is no block
_WIDTHS = (3, 8, 20)
_LEVELS = 4
_SIBLINGS = 3  # elements of one kind below the same one are a list
_LIMIT = 8.0
_KEPT_BLOCKS = 2_000


def chances_of(scores: Numbers) -> Numbers:
    """Return log odds as chances."""
    return 1.0 / (1.0 + np.exp(-scores))


@dataclass(eq=False)
class FirstLook:
    """What the first look at a page saw, and the ``scores`` (log odds) that the first trees gave its blocks.

    ``seen`` are the columns of the page without the site, None for a page of so many blocks that they are worked
    out again rather than kept.
    """

    evidence: Evidence
    scores: Numbers
    seen: Sequence[Columns | Rows] | None = None

    @classmethod
    def at(cls, evidence: Evidence, trees: BoostedTrees, features: Sequence[str]) -> FirstLook:
        """Look at the page of ``evidence``, whose ``features`` the trees number."""
        count = len(evidence.blocks)
        seen = list(page_groups(evidence)) if count <= _KEPT_BLOCKS else None
        scores = trees.scores(table_of(page_groups(evidence) if seen is None else seen, features, count))
        return cls(evidence, scores, seen)

    def page(self) -> Iterable[Columns | Rows]:
        """Return the columns of the page without the site, some at a time."""
        return page_groups(self.evidence) if self.seen is None else self.seen

    def surroundings(self) -> Iterator[Columns | Rows]:
        """Yield what the scores say of the surroundings of each block, some columns at a time."""
        if (core := compiled("surroundings")) is not None and len(self.evidence.blocks):
            yield _compiled_surroundings(core, self)
            return
        yield self._near()
        yield self._above()
        yield self._page()
        yield self._siblings()

    @cached_property
    def chances(self) -> Numbers:
        """By block, how likely it is content."""
        return chances_of(self.scores)

    @cached_property
    def token_sums(self) -> Numbers:
        """Running sums of tokens."""
        return running(self.evidence.blocks.tokens)

    @cached_property
    def likely_sums(self) -> Numbers:
        """Running sums of the tokens that are expected to be content."""
        return running(self.evidence.blocks.tokens * self.chances)

    @cached_property
    def element_tokens(self) -> Numbers:
        """By element, the tokens below it."""
        return self.evidence.below(self.token_sums)

    @cached_property
    def element_chances(self) -> Numbers:
        """By element, the share of the tokens below it that is expected to be content."""
        return ratio(self.evidence.below(self.likely_sums), self.element_tokens)

    def _near(self) -> Columns:
        scores = np.clip(self.scores, -_LIMIT, _LIMIT)
        count = len(scores)
        order = np.arange(count)
        padded = np.concatenate((np.full(3, NOTHING), scores, np.full(3, NOTHING)))
        columns = {"first score": scores}
        for distance in (-3, -2, -1, 1, 2, 3):
            columns[f"first score {distance:+}"] = padded[3 + distance : 3 + distance + count]
        for width in _WIDTHS:
            low, high = np.maximum(order - width, 0), np.minimum(order + width + 1, count)
            inside = self.likely_sums[high] - self.likely_sums[low]
            columns[f"first chance within {width}"] = ratio(inside, self.token_sums[high] - self.token_sums[low])
        return columns

    def _above(self) -> Columns:
        blocks, ancestors = self.evidence.blocks, self.evidence.ancestors
        columns = {
            f"first chance above {level}": self.element_chances[ancestors[level]] for level in range(_LEVELS)
        }
        _, paths = np.unique(blocks.around.paths[blocks.elements], return_inverse=True)
        tokens, likely = _sums(paths, blocks.tokens), _sums(paths, blocks.tokens * self.chances)
        return columns | {"first chance on path": ratio(likely, tokens)[paths]}

    def _page(self) -> Columns:
        """Return what the whole page holds, and where a block stands among what is likely content."""
        blocks, count = self.evidence.blocks, len(self.scores)
        likely = np.flatnonzero(self.chances > 1 / 2)
        first, last = (int(likely[0]), int(likely[-1])) if len(likely) else (0, count - 1)
        order = np.arange(count)
        rank = np.empty(count)
        rank[np.argsort(-self.scores, kind="stable")] = order
        whole = max(float(self.likely_sums[-1]), 1.0)
        page = {
            "first tokens": np.log1p(float(self.likely_sums[-1])),
            "first share of tokens": float(self.likely_sums[-1]) / max(float(self.token_sums[-1]), 1.0),
            "first share of blocks": len(likely) / max(count, 1),
            "first best score": float(self.scores.max(initial=-_LIMIT)),
        }
        return {name: np.full(count, value) for name, value in page.items()} | {
            "first rank": rank / max(count, 1),
            "first content before": self.likely_sums[:-1] / whole,
            "first blocks to begin": np.clip(order - first, -FAR, FAR).astype(np.float64),
            "first blocks to end": np.clip(order - last, -FAR, FAR).astype(np.float64),
            "first share of content": blocks.tokens * self.chances / whole,
        }

    def _siblings(self) -> Columns:
        """Return what is said of the list that a block stands in: the innermost and the outermost."""
        around, chances = self.evidence.blocks.around, self.element_chances
        held = around.last > around.first
        kinds = np.where(held, around.parents * np.int64(1 << 32) + around.paths.astype(np.int64), -1)
        _, group, sizes = np.unique(kinds, return_inverse=True, return_counts=True)
        sums = _sums(group, self.element_tokens)
        likely = ratio(_sums(group, self.element_tokens * chances), sums)
        agreeing = _sums(group, (chances > 1 / 2).astype(np.float64)) / sizes
        listed = held & (sizes[group] >= _SIBLINGS)
        listed[0] = False
        columns: Columns = {}
        for name, member in self._members(listed).items():
            found = member >= 0
            of = group[member]
            values = {
                "size": np.log1p(sizes[of]), "chance": likely[of], "agreeing": agreeing[of],
                "share of text": sums[of] / max(float(self.token_sums[-1]), 1.0), "own chance": chances[member],
            }  # fmt: skip
            columns |= {f"{name} list {key}": np.where(found, value, -1.0) for key, value in values.items()}
        return columns

    def _members(self, listed: np.ndarray[tuple[int], np.dtype[np.bool_]]) -> dict[str, Indices]:
        """Return by block the innermost and the outermost member of a list that it stands in, -1 without one."""
        inner, outer = [-1] * len(listed), [-1] * len(listed)
        parents = self.evidence.blocks.around.parents.tolist()
        for index, is_member in enumerate(listed.tolist()):
            parent = parents[index]
            if parent >= 0:
                inner[index], outer[index] = inner[parent], outer[parent]
            if is_member:
                inner[index] = index
                if outer[index] < 0:
                    outer[index] = index
        at = self.evidence.blocks.elements
        return {"inner": np.array(inner, np.int64)[at], "outer": np.array(outer, np.int64)[at]}


def _compiled_surroundings(core: Any, first: FirstLook) -> Rows:
    blocks, around, names = first.evidence.blocks, first.evidence.blocks.around, _names_of_surroundings()
    rows = np.empty((len(names), len(blocks)), np.float32)
    columns = blocks.elements, blocks.tokens, around.parents, around.first, around.last, around.paths
    looked = (
        first.scores, first.chances, first.token_sums, first.likely_sums, first.element_tokens,
        first.element_chances,
    )  # fmt: skip
    order = np.argsort(-first.scores, kind="stable")
    logs = float(np.log1p(float(first.likely_sums[-1]))), np.log1p(np.arange(len(around) + 1))
    core.surroundings(core.Features(*columns), rows, looked, order, *logs, _SIBLINGS)
    return Rows(names, rows)


@lru_cache(maxsize=1)
def _names_of_surroundings() -> tuple[str, ...]:
    look = FirstLook(evidence_of_nothing(), np.zeros(0))
    return tuple(name for columns in look.surroundings() for name in columns)


def _sums(groups: NDArray[np.intp], numbers: Numbers) -> Numbers:
    """Return the sums of ``numbers`` by group."""
    sums: Numbers = np.bincount(groups, weights=numbers).astype(np.float64)
    return sums
