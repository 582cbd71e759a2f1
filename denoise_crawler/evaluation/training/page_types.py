"""Learning what type a page is of, from pages whose type somebody said."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from math import sqrt
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from denoise_crawler.evaluation.training.boosting import Boosting
from denoise_crawler.evaluation.training.calibration import FOLDS, fold
from denoise_crawler.evaluation.training.examples import LabelledPage
from denoise_crawler.methods.fusion.kinds import KINDS
from denoise_crawler.methods.fusion.look import Look
from denoise_crawler.methods.fusion.page_type import page_type_row
from denoise_crawler.methods.fusion.weights import WrittenForest, feature_names

_THREADS = 3.0  # how often a thread counts, of which the sets have few


class TypedPage(NamedTuple):
    """A page whose type is known: its numbers, and how much it counts."""

    site: str
    kind: int
    row: NDArray[np.float32]
    weight: float


def typed_pages(site: Sequence[LabelledPage], looks: Mapping[LabelledPage, Look]) -> list[TypedPage]:
    """Return the pages of a site whose type is known; ``looks`` are by trees that saw no page of the site.

    The n pages of a type that a site has count as much as the square root of n, threads three times that.
    """
    known = [page for page in site if page.page_type in KINDS]
    times = Counter(page.page_type for page in known)
    found = []
    for page in known:
        row = page_type_row(page.traits, looks[page])
        weight = (_THREADS if page.page_type == "forum" else 1.0) / sqrt(times[page.page_type])
        found.append(TypedPage(page.site, KINDS.index(page.page_type), row, weight))
    return found


def page_type_forests(pages: Sequence[TypedPage], boosting: Boosting) -> dict[int | None, WrittenForest | None]:
    """Return the trees learned from all ``pages``, and without those of each fold; None where there are none."""
    found: dict[int | None, WrittenForest | None] = {}
    for left_out in (*range(FOLDS), None):
        used = [page for page in pages if left_out is None or fold(page.site) != left_out]
        if not used:
            found[left_out] = None
            continue
        kinds = np.array([page.kind for page in used])
        table, weights = np.array([page.row for page in used]), np.array([page.weight for page in used])
        trees = boosting.fit_kinds(table, kinds, weights, len(KINDS))
        found[left_out] = WrittenForest(feature_names().page_types, trees)
    return found
