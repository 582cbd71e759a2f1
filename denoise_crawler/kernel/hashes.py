"""Hashes of texts; ``hashes.pxi`` works out the same."""

from __future__ import annotations

import xxhash


def hash64(text: str) -> int:
    """Return a 64-bit hash (XXH3) that is the same in every process."""
    return xxhash.xxh3_64_intdigest(text.encode("utf-8", "surrogatepass"))


def hash32(text: str) -> int:
    """Return the low half of :func:`hash64`."""
    return hash64(text) & 0xFFFFFFFF
