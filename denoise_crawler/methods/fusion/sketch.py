"""What a site keeps of one page, a few kilobytes of hashes; hashes by number; which pages are copies."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

import msgspec
import numpy as np

from denoise_crawler.core import loops
from denoise_crawler.errors import EvidenceFormatError
from denoise_crawler.methods.fusion.kinds import KINDS, MOST_TYPE_SCORE
from denoise_crawler.methods.stored_bytes import VersionedFormat
from denoise_crawler.page import MAX_ELEMENTS

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from denoise_crawler.methods.fusion.blocks import Blocks, Hashes, Indices, Numbers


def groups_of(keys: Indices) -> tuple[Indices, Indices]:
    """Return by group of equal ``keys`` its first row, in the order of the rows, and by row its group."""
    first, group = np.empty(len(keys), np.int64), np.empty(len(keys), np.int64)
    count = loops.keys.group(np.ascontiguousarray(keys), first, group)
    return first[:count], group


def distinct(hashes: Hashes) -> Hashes:
    """Return the distinct ``hashes``, ascending."""
    ascending = np.sort(hashes)
    differs = np.ones(len(ascending), np.bool_)
    np.not_equal(ascending[1:], ascending[:-1], out=differs[1:])
    return ascending[differs]


T = TypeVar("T", bound=np.generic)


_FEWEST = 4  # bits of a place among the slots of a table


class Numbered:
    """Distinct hashes, numbered from 1 on in the order of their coming; 0 stands for all others."""

    def __init__(self) -> None:
        self._count, self._hashes = 0, np.zeros(0, np.uint32)
        self._make_room(_FEWEST)

    def __len__(self) -> int:
        return self._count

    @property
    def nbytes(self) -> int:
        """The bytes held."""
        return self._hashes.nbytes + self._slots.nbytes

    @property
    def table(self) -> tuple[Hashes, NDArray[np.int32], int]:
        """The hashes, their slots and the bits of a slot, as the loops take them."""
        return self._hashes, self._slots, self._bits

    def find(self, wanted: Hashes) -> Indices:
        """Return the numbers of ``wanted``."""
        found = np.empty(len(wanted), np.int64)
        loops.keys.find(*self.table, np.ascontiguousarray(wanted), found)
        return found

    def add(self, distinct: Hashes) -> Indices:
        """Return the numbers of ``distinct`` hashes, given to those that have none."""
        wanted, numbers, filled = np.ascontiguousarray(distinct), np.empty(len(distinct), np.int64), 0
        if not self._count:  # all of them are new
            self._make_room_for(len(wanted))
        add = loops.keys.add
        while filled < len(wanted):
            self._count, filled = add(*self.table, self._count, wanted, numbers, filled)
            if filled < len(wanted):
                self._make_room(self._bits + 1)
        return numbers

    def _make_room_for(self, count: int) -> None:
        """Take as many slots as the table would have after growing to so many hashes."""
        bits = self._bits
        while _most_hashes(bits) < count:
            bits += 1
        if bits > self._bits:
            self._make_room(bits)

    def _make_room(self, bits: int) -> None:
        """Take so many bits of slots."""
        hashes = np.zeros(_most_hashes(bits), np.uint32)
        hashes[: self._count] = self._hashes[: self._count]
        self._hashes, self._slots, self._bits = hashes, np.zeros(1 << bits, np.int32), bits
        if self._count:
            loops.keys.fill_slots(hashes, self._slots, bits, self._count)


def _most_hashes(bits: int) -> int:
    """Return for how many hashes there is room among so many bits of slots: three quarters."""
    return 3 << (bits - 2)


class PageCounts:
    """In how many pages each hash stands."""

    def __init__(self) -> None:
        self.numbered = Numbered()
        self.counts = np.zeros(1)

    @property
    def table(self) -> tuple[Hashes, NDArray[np.int32], int, Numbers]:
        """The table of the hashes with their counts, as the loops take them."""
        return *self.numbered.table, self.counts

    def add(self, distinct: Hashes) -> Indices:
        """Count one more page for each of ``distinct`` hashes and return their numbers."""
        numbers = self.numbered.add(distinct)
        self.counts = grown(self.counts, len(self.numbered) + 1)
        self.counts[numbers] += 1.0
        return numbers

    def of(self, wanted: Hashes, left_out: Sequence[NDArray[np.int32]]) -> Numbers:
        """Return the counts of ``wanted`` without the pages that have the numbers ``left_out``."""
        found: Numbers = np.empty(len(wanted))
        hashes, slots, bits, counts = self.table
        loops.keys.counts_of(hashes, slots, bits, np.ascontiguousarray(wanted), counts, tuple(left_out), found)
        return found


def grown(numbers: NDArray[T], length: int) -> NDArray[T]:
    """Return ``numbers`` with zeros behind it, ``length`` or more in all."""
    if len(numbers) >= length:
        return numbers
    longer = np.zeros((max(length, 2 * len(numbers)), *numbers.shape[1:]), numbers.dtype)
    longer[: len(numbers)] = numbers
    return longer


MAX_BLOCKS = 20_000
MOST_SCORE, HUNDREDTHS = 8.0, 100.0


@dataclass(frozen=True, slots=True, eq=False)
class Sketch:
    """One page by columns.

    Its paths that have text on or below them, parents first: ``paths`` (hashes), ``parents`` (indices, -1 for
    the body), ``elements`` (how many elements have that path). Its blocks: ``homes`` (indices of paths),
    ``texts`` (hashes), ``characters``, ``linked``, ``shapes`` (hashes, 0 where that of the text is the same).
    ``masked`` and ``links`` are the distinct hashes, ascending.
    So are its ``styles``; ``style_tokens`` are the tokens in each, ``style_scores`` the sum over them of what the
    look at the page alone gave, in hundredths. ``kinds`` is how much the page itself speaks for each of ``KINDS``,
    in hundredths.
    """

    key: int
    paths: Hashes
    parents: Indices
    elements: Indices
    homes: Indices
    texts: Hashes
    characters: Indices
    linked: Indices
    shapes: Hashes
    masked: Hashes
    links: Hashes
    styles: Hashes
    style_tokens: Indices
    style_scores: Indices
    kinds: Indices


def texts_digest(distinct_masked: Hashes) -> bytes:
    """Return what pages with the same texts share, numbers in them alike, whatever their address."""
    from hashlib import blake2b  # late: it loads OpenSSL, and only pages that are learned need it

    return blake2b(distinct_masked.tobytes(), digest_size=8).digest()


def sketch(key: int, blocks: Blocks, scores: Numbers, kinds: Numbers) -> Sketch:
    """Reduce a page's ``blocks`` (the first ``MAX_BLOCKS``) to what its site keeps of them.

    ``scores`` are those of a look at the page alone, which knows nothing of its site, as ``kinds`` does: so a
    sketch is the same whenever the page is learned.
    """
    around, limit = blocks.around, MAX_BLOCKS
    with_text = np.flatnonzero((around.last > around.first) & (around.first < limit))
    paths = around.paths[with_text]
    first, path_of_some = groups_of(paths.astype(np.int64))  # as they come in the page: parents first
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
        np.rint(HUNDREDTHS * kinds).astype(np.int64),
    )


class Copies:
    """Keys of pages by what they have in common."""

    def __init__(self) -> None:
        self._keys: dict[bytes, set[int]] = {}

    def first(self, common: bytes) -> int | None:
        """Return the lowest key of the pages with this in common, None without any."""
        return min(self._keys.get(common, ()), default=None)

    def firsts(self) -> Iterator[int]:
        """Yield the lowest key of each kind of page."""
        return map(min, self._keys.values())

    def add(self, common: bytes, key: int) -> int:
        """Note a page; return the lowest key of its kind."""
        keys = self._keys.setdefault(common, set())
        keys.add(key)
        return min(keys)

    def discard(self, common: bytes, key: int) -> int | None:
        """Forget a page; return the lowest key left of its kind, None if none is."""
        keys = self._keys[common]
        keys.discard(key)
        if not keys:
            del self._keys[common]
        return min(keys, default=None)


# --- the bytes of a site's sketches: versioned, compressed, data only

_FORMAT = VersionedFormat(b"FSE\x03", "site evidence", EvidenceFormatError)


_OLD_COLUMNS = 13
_MOST_PATHS = 2 * MAX_ELEMENTS  # the parser adds elements that the page leaves out


class _Record(msgspec.Struct, array_like=True):
    key: int
    columns: list[bytes]  # those of a sketch, in its order, as 32-bit numbers


def encode(sketches: Sequence[Sketch]) -> bytes:
    """Write ``sketches``, which come in the order of their keys."""
    return _FORMAT.write([_Record(one.key, [_pack(column) for column in _columns(one)]) for one in sketches])


def decode(data: bytes) -> list[Sketch]:
    """Read what :func:`encode` wrote; raise :class:`EvidenceFormatError` for anything else."""
    return _FORMAT.read(data, list[_Record], lambda records: [_sketch(record) for record in records])


def _columns(one: Sketch) -> list[NDArray[Any]]:
    of_paths: list[NDArray[Any]] = [one.paths, one.parents, one.elements]
    of_styles: list[NDArray[Any]] = [one.styles, one.style_tokens, one.style_scores]
    of_blocks: list[NDArray[Any]] = [one.homes, one.texts, one.characters, one.linked, one.masked, one.links]
    return [*of_paths, *of_blocks, *of_styles, one.kinds, one.shapes]


def _sketch(record: _Record) -> Sketch:
    columns = record.columns
    if len(columns) == _OLD_COLUMNS:  # of a release that knew no shapes
        columns = [*columns, bytes(len(columns[4]))]
    if len(columns) != _OLD_COLUMNS + 1 or not 0 <= record.key < 1 << 64:
        raise ValueError("a page that does not fit together")
    paths, parents, elements, homes, texts, characters, linked, masked, links, *of_styles = columns
    styles, style_tokens, style_scores, kinds, shapes = of_styles
    one = Sketch(
        key=record.key,
        paths=_hashes(paths),
        parents=_numbers(parents),
        elements=_numbers(elements),
        homes=_numbers(homes),
        texts=_hashes(texts),
        characters=_numbers(characters),
        linked=_numbers(linked),
        shapes=_hashes(shapes),
        masked=_hashes(masked),
        links=_hashes(links),
        styles=_hashes(styles),
        style_tokens=_numbers(style_tokens),
        style_scores=_numbers(style_scores),
        kinds=_numbers(kinds),
    )
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
    if len(one.kinds) != len(KINDS) or (np.abs(one.kinds) > HUNDREDTHS * MOST_TYPE_SCORE).any():
        raise ValueError("a page of a type that there is not")
    if (one.styles[1:] <= one.styles[:-1]).any():
        raise ValueError("a page whose styles are not in order")


def _pack(numbers: NDArray[Any]) -> bytes:
    kind = np.dtype("<u4" if numbers.dtype == np.uint32 else "<i4")
    return bytes(np.clip(numbers, np.iinfo(kind).min, np.iinfo(kind).max).astype(kind).tobytes())


def _hashes(data: bytes) -> Hashes:
    return np.frombuffer(data, "<u4").astype(np.uint32)


def _numbers(data: bytes) -> Indices:
    return np.frombuffer(data, "<i4").astype(np.int64)
