"""Hashes of texts that are the same in every process; ``hashes.pxi`` works out the shorter ones."""

from __future__ import annotations

import xxhash

from denoise_crawler.kernel.columns import SPREAD


def hash64(text: str) -> int:
    """Return a 64-bit hash (XXH3)."""
    return xxhash.xxh3_64_intdigest(text.encode("utf-8", "surrogatepass"))


def hash32(text: str) -> int:
    """Return a 32-bit hash (XXH32)."""
    return xxhash.xxh32_intdigest(text.encode("utf-8", "surrogatepass"))


def joined(one: int, other: int) -> int:
    """Return the hash of two hashes of 32 bits, in this order."""
    return ((one << 32 | other) * SPREAD & 0xFFFFFFFFFFFFFFFF) >> 32
