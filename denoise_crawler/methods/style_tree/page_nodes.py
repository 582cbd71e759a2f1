"""A page as a style tree reads it: the label (TAG, Attr) of each node, and the features of its actual content."""

from __future__ import annotations

import re
from array import array
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import accumulate
from re import Pattern
from sys import intern
from typing import TypeAlias
from urllib.parse import quote

import msgspec
import numpy as np
from numpy.typing import NDArray

from denoise_crawler.methods.stored_bytes import VersionedFormat, pack_numbers, unpack_numbers
from denoise_crawler.page import MAX_DEPTH, MAX_ELEMENTS, TEXT, Element, Page
from denoise_crawler.page.text import hash64, words

# The attributes that decide how an element looks. Inline ``style`` is left out: scripts and editors put positions,
# colours and images there, which would give each page a template of its own.
STYLE_ATTRIBUTES = ("class", "id", "width", "height", "align", "valign", "bgcolor", "border", "color", "size")
_LONGEST_VALUE = 200
# Digits and hashes number instances (post-1234, css-1q2w3e) rather than name a style.
_NUMBERED = re.compile(r"(?<![a-z])[0-9a-f]*\d[0-9a-f]{3,}(?![a-z])|\d+", re.IGNORECASE)
_SHORT_TEXT = 400
MAX_OCCURRENCES = (1 << 12) - 1  # of a feature on a page: more count as so many
# A feature of an element is one number: the hash (32 bits), the occurrences on a page (12 bits), and the number of
# pages that have so many (20 bits). So features are in the order of their hashes.
PAGES_BITS, BITS_BELOW_HASH = 20, 32
MAX_TREE_PAGES = (1 << PAGES_BITS) - 1

Labels: TypeAlias = "tuple[str, ...]"
Places: TypeAlias = "list[list[int]]"  # by place in a sequence of children, the nodes that stand there

_NO_CHILDREN: tuple[Labels, Places] = ((), [])


@dataclass(frozen=True, slots=True, eq=False)
class PageShape:
    """The nodes of a page in document order: node i has the label ``names[labels[i]]`` and ends at ``ends[i]``."""

    names: Labels
    labels: Sequence[int]
    ends: Sequence[int]

    def __len__(self) -> int:
        return len(self.ends)

    def styles(self, nodes: Sequence[int], *, collapse: bool) -> dict[Labels, Places]:
        """Return the different sequences of the labels of some nodes' children, with the children at each place.

        With ``collapse`` a run of equal siblings counts as one.

        Example:
            >>> PageShape(("ul", "li"), [0, 1, 1], [3, 2, 3]).styles([0, 1], collapse=True)
            {('li',): [[1, 2]], (): []}
        """
        styles: dict[Labels, Places] = {}
        for node in nodes:
            sequence, places = self._children(node, collapse)
            if (known := styles.setdefault(sequence, places)) is not places:
                for place, more in zip(known, places, strict=True):
                    place += more
        return styles

    def _children(self, node: int, collapse: bool) -> tuple[Labels, Places]:
        ends, child, end = self.ends, node + 1, self.ends[node]
        if child == end:
            return _NO_CHILDREN
        if ends[child] == end:  # one child, as most elements have
            return _sequence_of_one(self.names[self.labels[child]]), [[child]]
        sequence, places, last = list[str](), list[list[int]](), -1
        while child < end:
            label = self.labels[child]
            if label == last and collapse:
                places[-1].append(child)
            else:
                sequence.append(self.names[label])
                places.append([child])
            last, child = label, ends[child]
        return tuple(sequence), places


@lru_cache(maxsize=4_096)
def _sequence_of_one(label: str) -> Labels:
    return (label,)


def shape_of(page: Page) -> PageShape:
    """Return the shape of ``page``; call it by ``page.once``."""
    nodes, numbers, labels = page.nodes, dict[str, int](), list[int]()
    for index, (tag, element) in enumerate(zip(nodes.tags, nodes.elements, strict=True)):
        label = _label_of(tag, element) if tag is not TEXT and index else tag
        labels.append(numbers.setdefault(label, len(numbers)))
    return PageShape(tuple(numbers), labels, nodes.ends)


def _label_of(tag: str, element: Element) -> str:
    style = [(name, value[:_LONGEST_VALUE]) for name, value in element.items() if name in STYLE_ATTRIBUTES]
    return _label(tag, *style) if style else tag


@lru_cache(maxsize=16_384)
def _label(tag: str, *attributes: tuple[str, str]) -> str:
    parts = [tag]
    for name, value in sorted(attributes):
        shown = " ".join(_NUMBERED.sub("", value).split()) if name in ("class", "id") else value.strip()
        if shown:
            parts.append(f"{name}={shown}")
    return intern("|".join(parts))


@dataclass(frozen=True, slots=True, eq=False)
class PageNodes(PageShape):
    """A page as a site keeps it, in arrays that are as narrow as their numbers allow.

    Node i has the features from ``starts[i]`` up to ``starts[i + 1]``: the ``hashes`` of its content (32 bits,
    ascending) with their ``counts`` on this page.
    """

    key: int
    starts: Sequence[int]
    hashes: Sequence[int]
    counts: Sequence[int]

    def features(self, nodes: Sequence[int], most: int) -> list[tuple[int, int]]:
        """Return the features of some nodes together as (hash, count), the ``most`` lowest of them in order."""
        features = list[tuple[int, int]]()
        for node in nodes:
            if (start := self.starts[node]) < (end := self.starts[node + 1]):
                features += zip(self.hashes[start:end], self.counts[start:end], strict=True)
        if len(nodes) < 2 or not features:
            return features
        counts = Counter[int]()
        for feature, count in features:
            counts[feature] += count
        # no other can be among the lowest of all pages
        return [(feature, min(count, MAX_OCCURRENCES)) for feature, count in sorted(counts.items())[:most]]


def read_page(page: Page, features_per_leaf: int) -> PageNodes:
    """Return what a site keeps of ``page``: of each leaf the features with the lowest hashes."""
    shape, addresses, nodes = page.once(shape_of), _Addresses(page), page.nodes
    sizes, hashes, counts = list[int](), list[int](), list[int]()
    for index, (end, text) in enumerate(zip(nodes.ends, nodes.texts, strict=True)):
        features: Sequence[tuple[int, int]] = ()
        if end == index + 1:
            features = (_short_text_features if len(text) <= _SHORT_TEXT else _word_features)(
                text, features_per_leaf
            )
            if of_leaf := addresses.of_leaf(index):
                occurrences = Counter(dict(features))
                occurrences.update(of_leaf)
                features = sorted(occurrences.items())[:features_per_leaf]
        sizes.append(len(features))
        hashes += [feature for feature, _ in features]
        counts += [min(count, MAX_OCCURRENCES) for _, count in features]
    starts = list(accumulate(sizes, initial=0))
    columns = map(_narrow, (starts, hashes, counts))
    return PageNodes(shape.names, _narrow(shape.labels), _narrow(nodes.ends), page.key, *columns)


def _narrow(numbers: Sequence[int]) -> array[int]:
    """Return numbers of at most 32 bits in as few bytes as the largest needs."""
    most = max(numbers, default=0)
    return array("B" if most < 1 << 8 else "H" if most < 1 << 16 else "I", numbers)


def _hash32(text: str) -> int:
    """Return half of the hash. With another one a leaf would keep other words, and a tree another judgement."""
    return hash64(text) & 0xFFFFFFFF


def _word_features(text: str, features_per_leaf: int) -> Sequence[tuple[int, int]]:
    """Return the words of a text with the lowest hashes, as hash and number of occurrences."""
    if not text:
        return ()
    occurrences = Counter(map(_hash32, words(text)))
    return sorted(occurrences.items())[:features_per_leaf]


_short_text_features = lru_cache(maxsize=16_384)(_word_features)  # menus and bylines recur on other pages


class _Addresses:
    """The hashes of the addresses on a page, prefixed so that no word equals them.

    ``self`` replaces the page's own URL in a link (``#main``, "share this", "sign in and come back"); otherwise
    such links would differ on every page and look like content.
    """

    def __init__(self, page: Page) -> None:
        self._page = page
        self._links: dict[int, int] = {}
        url = page.url.partition("#")[0]
        path = "/" + url.partition("://")[2].partition("/")[2]
        self._urls = [url, quote(url, safe="", errors="replace")] if url else []
        self._paths = [path, quote(path, safe="", errors="replace")] if url else []

    def of_leaf(self, index: int) -> list[int]:
        """Return the ``href`` that a leaf stands in and its own ``src``."""
        nodes, addresses = self._page.nodes, list[int]()
        if (link := nodes.links[index]) >= 0 and (href := nodes.address_of(link)):
            if link not in self._links:
                self._links[link] = _hash32("href " + self._without_own_url(self._page.absolute(href)))
            addresses.append(self._links[link])
        if nodes.tags[index] is not TEXT:
            element = nodes.elements[index]
            if (source := element.get("src")) and not _is_pixel(element):
                addresses.append(_hash32("src " + self._page.absolute(source)))
        return addresses

    def _without_own_url(self, address: str) -> str:
        if any(url in address for url in self._urls) or any(f"={path}" in address for path in self._paths):
            return self._own_url.sub("self", address)
        return address

    @cached_property
    def _own_url(self) -> Pattern[str]:
        """The page's own URL in a link: the whole URL, or its path as the value of a parameter."""
        forms = [*map(re.escape, self._urls), *(f"(?<==){re.escape(path)}" for path in self._paths)]
        return re.compile(f"(?:{'|'.join(forms)})(?![\\w/.-])")


def _is_pixel(element: Element) -> bool:
    """Return True for a picture of a pixel: it counts visits, by an address that differs on each page."""
    return {element.get("width", "").strip(), element.get("height", "").strip()} <= {"0", "1", "0px", "1px"}


# --- the pages of a site as bytes: versioned, compressed, data only

_FORMAT = VersionedFormat(b"SST\x03", "site style tree", level=1)
_MAX_NODES = 4 * MAX_ELEMENTS  # per page: the parser adds omitted elements, and each has a text


class _PageRecord(msgspec.Struct, array_like=True):
    """The columns of one page as bytes, with a number for each label."""

    key: int
    labels: bytes
    sizes: bytes
    features: bytes
    hashes: bytes
    counts: bytes


class _TreeRecord(msgspec.Struct, array_like=True):
    features_per_leaf: int
    labels: list[str]
    pages: list[_PageRecord]


def encode(features_per_leaf: int, pages: Sequence[PageNodes]) -> bytes:
    """Convert pages of one site, in the order of their keys, to bytes."""
    labels = sorted({name for page in pages for name in page.names})
    numbers = {label: number for number, label in enumerate(labels)}
    records = [_record_of(page, np.array([numbers[name] for name in page.names])) for page in pages]
    return _FORMAT.write(_TreeRecord(features_per_leaf, labels, records))


def decode(data: bytes, features_per_leaf: int) -> list[PageNodes]:
    """Read what :func:`encode` returned; raise :class:`KnowledgeFormatError` for anything else."""

    def read(record: _TreeRecord) -> list[PageNodes]:
        if record.features_per_leaf != features_per_leaf:
            raise ValueError(f"features_per_leaf is {record.features_per_leaf}, not {features_per_leaf}")
        return [_read_page_record(page, record.labels) for page in record.pages]

    return _FORMAT.read(data, _TreeRecord, read)


def _record_of(page: PageNodes, numbers: NDArray[np.int64]) -> _PageRecord:
    sizes = np.subtract(page.ends, np.arange(len(page)))
    columns = numbers[np.asarray(page.labels)], sizes, np.diff(page.starts), page.hashes, page.counts
    return _PageRecord(page.key, *map(pack_numbers, columns))


def _read_page_record(record: _PageRecord, labels: Sequence[str]) -> PageNodes:
    columns = record.labels, record.sizes, record.features, record.hashes, record.counts
    numbers, sizes, features, hashes, counts = map(unpack_numbers, columns)
    if not 0 < len(numbers) == len(sizes) == len(features) <= _MAX_NODES:
        raise ValueError("a page that does not fit together, or larger than any that is learned")
    if not features.sum() == len(hashes) == len(counts) or ((counts < 1) | (counts > MAX_OCCURRENCES)).any():
        raise ValueError("a page whose features do not fit together")
    nodes = np.repeat(np.arange(len(features)), features)
    if (np.diff(hashes)[np.diff(nodes) == 0] <= 0).any():
        raise ValueError("a page whose features are out of order")
    _check_nesting(sizes.tolist())
    used, own = np.unique(numbers, return_inverse=True)
    names = tuple(intern(labels[number]) for number in used.tolist())
    ends, starts = np.arange(len(sizes)) + sizes, np.cumsum([0, *features.tolist()])
    own_labels, own_ends, *of_features = (_narrow(each.tolist()) for each in (own, ends, starts, hashes, counts))
    return PageNodes(names, own_labels, own_ends, record.key, *of_features)


def _check_nesting(sizes: Sequence[int]) -> None:
    """Raise ValueError unless the first subtree holds all nodes, and each other one is inside those around it."""
    ends_around = [len(sizes)]
    for node, size in enumerate(sizes):
        while node >= ends_around[-1]:
            ends_around.pop()
        if not 0 < size <= ends_around[-1] - node or (node == 0 and size < len(sizes)):
            raise ValueError("a page whose nodes are not nested")
        ends_around.append(node + size)
        if len(ends_around) > MAX_DEPTH + 3:
            raise ValueError("a page whose nodes are too deep")
