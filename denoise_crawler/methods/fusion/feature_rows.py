"""The features of a page as the compiled core works them out: rows in the order of their names."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

from denoise_crawler.core import compiled
from denoise_crawler.methods.fusion.blocks import PLACES

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from denoise_crawler.methods.fusion.blocks import Numbers
    from denoise_crawler.methods.fusion.evidence import Evidence
    from denoise_crawler.methods.fusion.first_look import FirstLook

_UNKNOWN = -1.0
_SITE_ROWS = 29


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


def compiled_columns(evidence: Evidence) -> Any | None:
    """Return the columns of ``evidence`` for the compiled core; None without it, or for a page without blocks."""
    blocks = evidence.blocks
    if (core := compiled("features")) is None or not len(blocks):
        return None
    around = blocks.around
    return core.Features(
        (
            blocks.characters, blocks.linked, blocks.commas, blocks.closed, blocks.tokens,
            blocks.elements, blocks.text_hashes,
        ),
        (
            around.parents, around.first, around.last, around.places, around.tags, around.depths,
            around.paths,
        ),
        (
            evidence.character_sums, evidence.linked_sums, evidence.element_characters,
            evidence.element_linked, evidence.link_shares, evidence.named, evidence.unlinked,
        ),
    )  # fmt: skip


def page_rows(evidence: Evidence, names: tuple[str, ...], said: Sequence[Numbers]) -> Rows:
    """Return what the page alone says; ``said`` are the columns made of what it says of itself."""
    core, headline = evidence.compiled, evidence.headline
    rows, logs = _empty(evidence, names), np.empty(core.count_page_logs())
    core.take_page_logs(logs, headline.best)
    np.log1p(logs, out=logs)
    own = headline.overlap, headline.first_heading, headline.best
    core.page(rows, logs, len(PLACES), evidence.kinds, *own, tuple(said))
    return Rows(names, rows)


def site_rows(evidence: Evidence, names: tuple[str, ...]) -> Rows:
    """Return what depends on what is known of the site: where the main text is, what comes back."""
    core: Any = compiled("sites")
    page, region, standing, blocks = evidence.compiled, evidence.region, evidence.standing, evidence.blocks
    rows = _empty(evidence, names)
    where = region.scores, region.top, region.first, region.last
    row = core.region(page, rows, 0, *where, float(np.log1p(region.top_score)))
    if standing is None:
        rows[row:] = _UNKNOWN
        rows[row] = 0.0
        return Rows(names, rows)
    by_element = (
        standing.path_pages, standing.path_elements, standing.path_characters, standing.path_linked,
        standing.path_repeated,
    )  # fmt: skip
    logs = np.empty(2 * len(blocks.around))
    core.take_site_logs(page, logs, by_element[:3])
    np.log1p(logs, out=logs)
    by_block = standing.texts, standing.masked, standing.links
    core.site(page, rows, row, logs, float(standing.pages), by_block, by_element, blocks.link_hashes)
    return Rows(names, rows)


def surrounding_rows(first: FirstLook, names: tuple[str, ...], siblings: int) -> Rows:
    """Return what the first look says of the surroundings of each block."""
    evidence = first.evidence
    rows = _empty(evidence, names)
    looked = (
        first.scores, first.chances, first.token_sums, first.likely_sums, first.element_tokens,
        first.element_chances,
    )  # fmt: skip
    order = np.argsort(-first.scores, kind="stable")
    logs = float(np.log1p(float(first.likely_sums[-1]))), _log_sizes(len(evidence.blocks.around) + 1)
    core: Any = compiled("surroundings")
    core.surroundings(evidence.compiled, rows, looked, order, *logs, siblings)
    return Rows(names, rows)


def _empty(evidence: Evidence, names: tuple[str, ...]) -> NDArray[np.float32]:
    return np.empty((len(names), len(evidence.blocks)), np.float32)


def _log_sizes(count: int) -> Numbers:
    """Return the logarithms of the numbers below ``count``, as the specification takes them."""
    return _logs_below(1 << max(count.bit_length(), 12))


@lru_cache(maxsize=16)
def _logs_below(count: int) -> Numbers:
    logs: Numbers = np.log1p(np.arange(count))
    return logs


@lru_cache(maxsize=16)
def numbers_of(names: tuple[str, ...]) -> Mapping[str, int]:
    """Return the features by name, each with its number."""
    return {name: number for number, name in enumerate(names)}


@lru_cache(maxsize=64)
def places_of(found: tuple[str, ...], wanted: tuple[str, ...]) -> tuple[Any, Any]:
    """Return which of the features ``found`` are among those ``wanted``, and where."""
    numbers = numbers_of(wanted)
    pairs = [(row, numbers[name]) for row, name in enumerate(found) if name in numbers]
    rows, places = [row for row, _ in pairs], [place for _, place in pairs]
    if rows and rows == list(range(len(found))) and places == list(range(places[0], places[0] + len(places))):
        return slice(None), slice(places[0], places[-1] + 1)  # the shipped weights know all features, in order
    return rows, places
