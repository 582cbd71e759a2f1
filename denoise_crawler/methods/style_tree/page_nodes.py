"""A page as a style tree sees it: the label (TAG, Attr) of each node, and the features of its actual content."""

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
from lxml.etree import _Element
from numpy.typing import NDArray

from denoise_crawler.errors import TreeFormatError
from denoise_crawler.methods.stored_bytes import VersionedFormat, pack_numbers
from denoise_crawler.page import MAX_DEPTH, MAX_ELEMENTS, TEXT, Page
from denoise_crawler.page.text import hash32, words

# The attributes that decide how an element looks. Inline ``style`` is left out: scripts and editors put positions,
# colours and images there, which would give each page a template of its own.
STYLE_ATTRIBUTES = ("class", "id", "width", "height", "align", "valign", "bgcolor", "border", "color", "size")
_NAMES = frozenset({"class", "id"})
_LONGEST_VALUE = 200
# Digits and hashes number instances (post-1234, css-1q2w3e) rather than name a style.
_NUMBERED = re.compile(r"(?<![a-z])[0-9a-f]*\d[0-9a-f]{3,}(?![a-z])|\d+", re.IGNORECASE)
_MAX_KEPT_CHARACTERS = 400
MAX_OCCURRENCES = (1 << 12) - 1  # of a feature on a page: more count as so many
MAX_TREE_PAGES = (1 << 20) - 1

Labels: TypeAlias = "tuple[str, ...]"
Places: TypeAlias = "list[list[int]]"  # by place in a sequence of children, the nodes that stand there

_NOTHING: tuple[Labels, Places] = ((), [])


@dataclass(frozen=True, slots=True, eq=False)
class Shape:
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
            >>> Shape(("ul", "li"), [0, 1, 1], [3, 2, 3]).styles([0, 1], collapse=True)
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
            return _NOTHING
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


@dataclass(frozen=True, slots=True, eq=False)
class Outline(Shape):
    """A page that is parsed, with the ``href`` of links and the ``src`` of elements without children, by node."""

    links: dict[int, str]
    sources: dict[int, str]


def outline_of(page: Page) -> Outline:
    """Return the outline of ``page``; call it by ``page.once``."""
    nodes, labels, names = page.nodes, list[int](), dict[str, int]()
    links, sources = dict[int, str](), dict[int, str]()
    columns = zip(nodes.tags, nodes.elements, nodes.ends, nodes.links, strict=True)
    for index, (tag, element, end, link) in enumerate(columns):
        if tag is TEXT or not index:
            labels.append(names.setdefault(tag, len(names)))
            continue
        attributes = element.items()
        style = [(name, value[:_LONGEST_VALUE]) for name, value in attributes if name in STYLE_ATTRIBUTES]
        labels.append(names.setdefault(_label(tag, *style) if style else tag, len(names)))
        if link == index:
            links[index] = element.get("href", "")
        if end == index + 1 and (source := element.get("src")) and not _is_pixel(element):
            sources[index] = source
    return Outline(tuple(names), labels, nodes.ends, links, sources)


def _is_pixel(element: _Element) -> bool:
    """Return True for a picture of a pixel: it counts visits, by an address that differs on each page."""
    return {element.get("width", "").strip(), element.get("height", "").strip()} <= {"0", "1", "0px", "1px"}


@lru_cache(maxsize=16_384)
def _label(tag: str, *attributes: tuple[str, str]) -> str:
    parts = [tag]
    for name, value in sorted(attributes):
        shown = " ".join(_NUMBERED.sub("", value).split()) if name in _NAMES else value.strip()
        if shown:
            parts.append(f"{name}={shown}")
    return intern("|".join(parts))


@dataclass(frozen=True, slots=True, eq=False)
class PageNodes(Shape):
    """One page as a site keeps it, in arrays that are as narrow as their numbers allow.

    Node i has the features from ``starts[i]`` up to ``starts[i + 1]``: the ``hashes`` of its content (32 bits,
    ascending) with their ``counts`` on this page.
    """

    key: int
    starts: Sequence[int]
    hashes: Sequence[int]
    counts: Sequence[int]

    def features(self, nodes: Sequence[int], most: int) -> list[tuple[int, int]]:
        """Return the features of some nodes together as (hash, count), the ``most`` lowest of them in order."""
        starts, found = self.starts, list[tuple[int, int]]()
        for node in nodes:
            if (begin := starts[node]) < (end := starts[node + 1]):
                found += zip(self.hashes[begin:end], self.counts[begin:end], strict=True)
        if len(nodes) < 2 or not found:
            return found
        counts = Counter[int]()
        for feature, count in found:
            counts[feature] += count
        # no other can be among the lowest of all pages
        return [(feature, min(count, MAX_OCCURRENCES)) for feature, count in sorted(counts.items())[:most]]


def narrow(numbers: Sequence[int]) -> array[int]:
    """Return numbers of at most 32 bits in as few bytes as the largest needs."""
    most = max(numbers, default=0)
    return array("B" if most < 1 << 8 else "H" if most < 1 << 16 else "I", numbers)


def read_page(page: Page, features_per_leaf: int) -> PageNodes:
    """Return what a site keeps of ``page``: of each leaf the features with the lowest hashes."""
    outline, nodes, addresses = page.once(outline_of), page.nodes, _Addresses(page)
    links = {link: addresses.of_link(href) for link, href in outline.links.items() if href}
    features, hashes, counts = list[int](), list[int](), list[int]()
    for index, (end, link, text) in enumerate(zip(nodes.ends, nodes.links, nodes.texts, strict=True)):
        if end > index + 1:
            features.append(0)
            continue
        lowest = word_features(text, features_per_leaf)
        if link in links or index in outline.sources:
            occurrences = Counter(dict(lowest))
            if link in links:
                occurrences[links[link]] += 1
            if index in outline.sources:
                occurrences[addresses.of_source(outline.sources[index])] += 1
            lowest = sorted(occurrences.items())[:features_per_leaf]
        features.append(len(lowest))
        hashes += [feature for feature, _ in lowest]
        counts += [min(count, MAX_OCCURRENCES) for _, count in lowest]
    shape = outline.names, narrow(outline.labels), narrow(nodes.ends)
    starts = narrow(list(accumulate(features, initial=0)))
    return PageNodes(*shape, page.key, starts, array("I", hashes), narrow(counts))


def word_features(text: str, features_per_leaf: int) -> Sequence[tuple[int, int]]:
    """Return the words of a text with the lowest hashes, as hash and number of occurrences.

    Those of short texts are kept, since menus and bylines recur on other pages.
    """
    return (_kept if len(text) <= _MAX_KEPT_CHARACTERS else _word_features)(text, features_per_leaf)


def _word_features(text: str, features_per_leaf: int) -> Sequence[tuple[int, int]]:
    if not text:
        return ()
    occurrences = Counter(map(hash32, words(text)))
    return sorted(occurrences.items())[:features_per_leaf]


_kept = lru_cache(maxsize=16_384)(_word_features)


class _Addresses:
    """The hashes of the addresses on a page, prefixed so that no word equals them.

    ``self`` replaces the page's own URL in a link (``#main``, "share this", "sign in and come back"); otherwise
    such links would differ on every page and look like content.
    """

    def __init__(self, page: Page) -> None:
        self._page = page
        whole = page.url.partition("#")[0]
        path = "/" + whole.partition("://")[2].partition("/")[2]
        self._forms = [whole, quote(whole, safe="", errors="replace")] if whole else []
        self._paths = [path, quote(path, safe="", errors="replace")] if whole else []
        self._signs = [*self._forms, *(f"={path}" for path in self._paths)]

    def of_source(self, source: str) -> int:
        """Return the hash of a ``src``."""
        return hash32("src " + self._page.absolute(source))

    def of_link(self, href: str) -> int:
        """Return the hash of an ``href``."""
        address = self._page.absolute(href)
        if any(sign in address for sign in self._signs):
            address = self._own_url.sub("self", address)
        return hash32("href " + address)

    @cached_property
    def _own_url(self) -> Pattern[str]:
        """The page's own URL in a link: the whole URL, or its path as the value of a parameter."""
        forms = [*map(re.escape, self._forms), *(f"(?<==){re.escape(path)}" for path in self._paths)]
        return re.compile(f"(?:{'|'.join(forms)})(?![\\w/.-])")


# --- the pages of a site as bytes: versioned, compressed, data only

_FORMAT = VersionedFormat(b"SST\x02", "site style tree", TreeFormatError, level=1)
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
    max_pages: int
    features_per_leaf: int
    labels: list[str]
    pages: list[_PageRecord]


def encode(max_pages: int, features_per_leaf: int, pages: Sequence[PageNodes]) -> bytes:
    """Convert a tree to bytes: its limits, its labels, its pages in the order of their keys."""
    labels = sorted({name for page in pages for name in page.names})
    numbers = {label: number for number, label in enumerate(labels)}
    records = [_record_of(page, np.array([numbers[name] for name in page.names])) for page in pages]
    return _FORMAT.write(_TreeRecord(max_pages, features_per_leaf, labels, records))


def decode(data: bytes) -> tuple[int, int, list[PageNodes]]:
    """Read what :func:`encode` was given; raise :class:`TreeFormatError` for other bytes."""
    return _FORMAT.read(data, _TreeRecord, _read_tree)


def _record_of(page: PageNodes, numbers: NDArray[np.int64]) -> _PageRecord:
    sizes = np.subtract(page.ends, np.arange(len(page)))
    columns = numbers[np.asarray(page.labels)], sizes, np.diff(page.starts), page.hashes, page.counts
    return _PageRecord(page.key, *map(pack_numbers, columns))


def _read_tree(record: _TreeRecord) -> tuple[int, int, list[PageNodes]]:
    if not 1 <= record.max_pages <= MAX_TREE_PAGES or record.features_per_leaf < 1:
        raise ValueError(f"limits below 1, or more than {MAX_TREE_PAGES:,} pages")
    if any(len(page.labels) > 4 * _MAX_NODES for page in record.pages):
        raise ValueError("a page larger than any that is learned")
    return record.max_pages, record.features_per_leaf, [_read_record(page, record.labels) for page in record.pages]


def _read_record(record: _PageRecord, labels: Sequence[str]) -> PageNodes:
    columns = record.labels, record.sizes, record.features, record.hashes, record.counts
    numbers, sizes, features, hashes, counts = (np.frombuffer(column, "<u4") for column in columns)
    if not 0 < len(numbers) == len(sizes) == len(features) or len(hashes) != len(counts):
        raise ValueError("a page that does not fit together")
    if features.sum(dtype=np.uint64) != len(hashes) or not (counts > 0).all() or (counts > MAX_OCCURRENCES).any():
        raise ValueError("a page whose features do not fit together")
    nodes = np.repeat(np.arange(len(features)), features)
    if (np.diff(hashes.astype(np.int64))[np.diff(nodes) == 0] <= 0).any():
        raise ValueError("a page whose features are out of order")
    _check_nesting(sizes.tolist())
    used, own = np.unique(numbers, return_inverse=True)
    names = tuple(intern(labels[number]) for number in used.tolist())
    ends, starts = np.arange(len(sizes)) + sizes, np.cumsum([0, *features.tolist()])
    own_labels, own_ends, *features_of = (narrow(one.tolist()) for one in (own, ends, starts, hashes, counts))
    return PageNodes(names, own_labels, own_ends, record.key, *features_of)


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
