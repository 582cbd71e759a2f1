"""What a site keeps of one page, a few kilobytes of hashes, and how it is written."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields
from typing import TYPE_CHECKING, Any

import msgspec
import numpy as np
from xxhash import xxh3_64_intdigest

from denoise_crawler.errors import EvidenceFormatError
from denoise_crawler.kernel.columns import HUNDREDTHS, Sketch
from denoise_crawler.methods.stored_bytes import VersionedFormat
from denoise_crawler.page import MAX_ELEMENTS

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from denoise_crawler.kernel.columns import Blocks, Hashes, Numbers


def distinct(hashes: Hashes) -> Hashes:
    """Return the distinct ``hashes``, ascending."""
    ascending = hashes.copy()
    ascending.sort()
    differs = np.ones(len(ascending), np.bool_)
    np.not_equal(ascending[1:], ascending[:-1], out=differs[1:])
    return ascending[differs]


MAX_BLOCKS = 20_000
MOST_SCORE = 8.0


def texts_hash(distinct_masked: Hashes) -> int:
    """Return what pages with the same texts share, numbers in them alike, whatever their address."""
    digest: int = xxh3_64_intdigest(distinct_masked.tobytes())
    return digest


def sketch(key: int, blocks: Blocks, scores: Numbers) -> Sketch:
    """Reduce a page's ``blocks`` (the first ``MAX_BLOCKS``) to what its site keeps of them.

    ``scores`` are those of a look at the page alone, which knows nothing of its site: so a sketch is the same
    whenever the page is learned.
    """
    around, limit = blocks.around, MAX_BLOCKS
    with_text = np.flatnonzero((around.last > around.first) & (around.first < limit))
    paths = around.paths[with_text]
    _, firsts, group = np.unique(paths, return_index=True, return_inverse=True)
    order = np.argsort(firsts)  # as they come in the page: parents first
    first, path_of_some = firsts[order], np.argsort(order)[group]
    path_of = np.zeros(len(around), np.int64)
    path_of[with_text] = path_of_some
    parents = path_of[around.parents[with_text[first]]]
    parents[:1] = -1
    styles = distinct(blocks.styles[:limit])
    style_of = styles.searchsorted(blocks.styles[:limit])
    tokens = blocks.tokens[:limit]
    scored = np.bincount(style_of, weights=np.clip(scores[:limit], -MOST_SCORE, MOST_SCORE) * tokens)
    return Sketch(
        key,
        paths[first],
        parents,
        np.bincount(path_of_some, minlength=len(first)),
        path_of[blocks.elements[:limit]],
        blocks.text_hashes[:limit],
        blocks.characters[:limit].astype(np.int64),
        blocks.linked[:limit].astype(np.int64),
        np.where(blocks.shapes == blocks.text_hashes, np.uint32(0), blocks.shapes)[:limit],
        distinct(blocks.masked_hashes[:limit]),
        distinct(blocks.link_hashes[:limit]),
        styles,
        np.bincount(style_of, weights=tokens).astype(np.int64),
        np.rint(HUNDREDTHS * scored).astype(np.int64),
    )


# --- the bytes of a site's sketches: versioned, compressed, data only

_FORMAT = VersionedFormat(b"FSE\x04", "site evidence", EvidenceFormatError)

_MOST_PATHS = 2 * MAX_ELEMENTS  # the parser adds elements that the page leaves out
_COLUMNS = tuple(field.name for field in fields(Sketch))[1:]
_HASHES = frozenset({"paths", "texts", "shapes", "masked", "links", "styles"})


class _Record(msgspec.Struct, array_like=True):
    key: int
    columns: list[bytes]  # those of a sketch, in its order, as 32-bit numbers


def encode(sketches: Sequence[Sketch]) -> bytes:
    """Write ``sketches``, which come in the order of their keys."""
    return _FORMAT.write([_Record(one.key, [_pack(getattr(one, name)) for name in _COLUMNS]) for one in sketches])


def decode(data: bytes) -> list[Sketch]:
    """Read what :func:`encode` wrote; raise :class:`EvidenceFormatError` for anything else."""
    return _FORMAT.read(data, list[_Record], lambda records: [_sketch(record) for record in records])


def _sketch(record: _Record) -> Sketch:
    if len(record.columns) != len(_COLUMNS) or not 0 <= record.key < 1 << 64:
        raise ValueError("a page that does not fit together")
    columns = zip(_COLUMNS, record.columns, strict=True)
    one = Sketch(record.key, **{name: _unpack(data, is_hash=name in _HASHES) for name, data in columns})
    _check(one)
    return one


def _check(one: Sketch) -> None:
    """Raise an error unless paths come after their parents and blocks stand on known paths."""
    paths, blocks = len(one.paths), len(one.homes)
    if max(blocks, len(one.masked), len(one.links), len(one.styles)) > MAX_BLOCKS or paths > _MOST_PATHS:
        raise ValueError("a page larger than any that is learned")
    lengths = [len(one.parents), len(one.elements)], [
        len(one.texts), len(one.characters), len(one.linked), len(one.shapes),
    ]  # fmt: skip
    fits = all(length == paths for length in lengths[0]) and all(length == blocks for length in lengths[1])
    fits = fits and len(one.styles) == len(one.style_tokens) == len(one.style_scores)
    if not fits or (blocks and not paths):
        raise ValueError("a page whose columns differ in length")
    if paths and (one.parents[0] != -1 or (one.parents[1:] < 0).any() or (one.parents >= np.arange(paths)).any()):
        raise ValueError("a page whose paths are not in order")
    if blocks and not (one.homes.min() >= 0 and one.homes.max() < paths):
        raise ValueError("a page whose blocks stand on no path")
    if any((column < 0).any() for column in (one.elements, one.characters, one.linked, one.style_tokens)):
        raise ValueError("a page with negative counts")
    if (np.abs(one.style_scores) > HUNDREDTHS * MOST_SCORE * one.style_tokens + 1).any():
        raise ValueError("a page with scores that no page has")
    if any((hashes[1:] <= hashes[:-1]).any() for hashes in (one.masked, one.links, one.styles)):
        raise ValueError("a page whose texts, links or styles are not in order")


def _pack(numbers: NDArray[Any]) -> bytes:
    kind = np.dtype("<u4" if numbers.dtype == np.uint32 else "<i4")
    return bytes(np.clip(numbers, np.iinfo(kind).min, np.iinfo(kind).max).astype(kind).tobytes())


def _unpack(data: bytes, *, is_hash: bool) -> NDArray[Any]:
    return np.frombuffer(data, "<u4").astype(np.uint32) if is_hash else np.frombuffer(data, "<i4").astype(np.int64)
