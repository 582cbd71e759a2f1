"""Rows with equal keys."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from denoise_crawler.core import loops

if TYPE_CHECKING:
    from denoise_crawler.methods.fusion.blocks import Hashes, Indices


def groups_of(keys: Indices) -> tuple[Indices, Indices]:
    """Return by group of equal ``keys`` its first row, in the order of the rows, and by row its group."""
    first, group = np.empty(len(keys), np.int64), np.empty(len(keys), np.int64)
    count = loops("keys").group(np.ascontiguousarray(keys), first, group)
    return first[:count], group


def distinct(hashes: Hashes) -> Hashes:
    """Return the distinct ``hashes``, ascending."""
    ascending = np.sort(hashes)
    differs = np.ones(len(ascending), np.bool_)
    np.not_equal(ascending[1:], ascending[:-1], out=differs[1:])
    return ascending[differs]
