"""The evidence for each block of a page, page and site, as one table of numbers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from denoise_crawler.core import loops
from denoise_crawler.methods.fusion.blocks import blocks_of
from denoise_crawler.methods.fusion.declared_text import DECLARED
from denoise_crawler.methods.fusion.evidence import Evidence, Words
from denoise_crawler.methods.fusion.kinds import KINDS
from denoise_crawler.methods.fusion.places import PLACES
from denoise_crawler.methods.fusion.title import begins
from denoise_crawler.page import Page

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray

    from denoise_crawler.methods.fusion.trees import Table

# made here, of texts and words, or as simple as a row of bits; all other features are made by the loops
_SAID = "title overlap", "first heading", "begins description", *DECLARED
_IN = tuple(f"in {place}" for place in PLACES)
_KINDS = tuple(f"page kind {kind}" for kind in KINDS)


class Rows(Mapping[str, "NDArray[np.float32]"]):
    """Some features by name, a row of ``numbers`` each."""

    def __init__(self, names: tuple[str, ...], numbers: NDArray[np.float32]) -> None:
        self.names, self.numbers = names, numbers

    def __getitem__(self, name: str) -> NDArray[np.float32]:
        row: NDArray[np.float32] = self.numbers[self.names.index(name)]
        return row

    def __iter__(self) -> Iterator[str]:
        return iter(self.names)

    def __len__(self) -> int:
        return len(self.names)


@lru_cache(maxsize=1)
def page_names() -> tuple[str, ...]:
    """Return the names of the features that the page alone says."""
    return (*loops("features").PAGE, *_IN, *_KINDS, *_SAID)


def page_groups(evidence: Evidence) -> Iterator[Rows]:
    """Yield the features that the page alone says, a number for each block."""
    core, columns, headline, blocks = loops("features"), evidence.columns, evidence.headline, evidence.blocks
    names, made = page_names(), len(core.PAGE)
    rows = np.empty((len(names), len(blocks)), np.float32)
    core.page(rows[:made], *columns, evidence.named, evidence.unlinked, headline.best)
    core.bits(rows, made, len(_IN), blocks.around.places, blocks.elements)
    core.constants(rows, made + len(_IN), evidence.kinds)
    said = headline.overlap, headline.first_heading, begins(evidence.description, blocks)
    for row, column in enumerate(said, len(names) - len(_SAID)):
        rows[row] = column
    rows[-len(DECLARED) :] = evidence.declared
    yield Rows(names, rows)


def site_groups(evidence: Evidence) -> Iterator[Rows]:
    """Yield the features that depend on what is known of the site."""
    core, columns, region, standing = loops("features"), evidence.columns, evidence.region, evidence.standing
    rows = np.empty((len(core.SITE), len(evidence.blocks)), np.float32)
    core.region(rows, *columns, evidence.unlinked, region.scores, region.top, region.top_score)
    if standing is None:
        core.no_site(rows)
    else:
        by_block = standing.texts, standing.masked, standing.links
        by_element = (
            standing.path_pages, standing.path_elements, standing.path_characters, standing.path_linked,
            standing.path_repeated,
        )  # fmt: skip
        links, pages = evidence.blocks.link_hashes, float(standing.pages)
        core.site(rows, *columns, links, pages, by_block, by_element)
        core.places(rows, *columns[:2], standing.texts, standing.path_pages, tuple(standing.places))
    yield Rows(core.SITE, rows)


@lru_cache(maxsize=1)
def evidence_of_nothing() -> Evidence:
    """Return the evidence of a page without text: its features have the names of all others."""
    page = Page.parse("", "")
    return Evidence.of(page, blocks_of(page), None, Words.none())


def table_of(groups: Iterable[Rows], names: Sequence[str], count: int) -> Table:
    """Return all features as a table, a row for each of ``count`` blocks.

    Groups are read one after the other: all of them at once take twice the table's memory.

    Args:
        groups: All features.
        names: Their names, in order; none for no features.
        count: The number of blocks.

    Raises:
        KeyError: The features have other names.

    """
    by_feature, first, wanted = np.empty((len(names), count), np.float32), 0, tuple(names)
    for group in groups if wanted else ():  # the trees of a look that is to score nothing want none
        rows = slice(first, first + len(group))
        if wanted[rows] != group.names:
            raise KeyError(f"the features from number {first} on are not {group.names[0]} and those behind it")
        by_feature[rows], first = group.numbers, rows.stop
    if first != len(wanted):
        raise KeyError(f"there are no features {', '.join(wanted[first:])}")
    return by_feature.T
