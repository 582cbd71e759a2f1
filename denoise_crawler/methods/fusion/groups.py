"""Rows with equal keys."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from denoise_crawler.core import compiled

if TYPE_CHECKING:
    from denoise_crawler.methods.fusion.blocks import Hashes, Indices


def groups_of(keys: Indices) -> tuple[Indices, Indices]:
    """Return by group of equal ``keys`` its first row, in the order of the rows, and by row its group."""
    if (core := compiled("known")) is not None:
        first, group = np.empty(len(keys), np.int64), np.empty(len(keys), np.int64)
        return first[: core.group(np.ascontiguousarray(keys), first, group)], group
    _, some, of = np.unique(keys, return_index=True, return_inverse=True)
    order = np.argsort(some)
    place = np.empty_like(order)
    place[order] = np.arange(len(order))
    return some[order], place[of]


def distinct(hashes: Hashes) -> Hashes:
    """Return the distinct ``hashes``, ascending."""
    ascending = np.sort(hashes)
    differs = np.ones(len(ascending), np.bool_)
    np.not_equal(ascending[1:], ascending[:-1], out=differs[1:])
    return ascending[differs]
