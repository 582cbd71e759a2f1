"""A page as its site's tree keeps it: the outline that pages of a template share, its shape and features."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import chain
from re import Pattern
from typing import Any, TypeAlias
from urllib.parse import quote

import numpy as np
from numpy.typing import NDArray

from denoise_crawler.core import compiled
from denoise_crawler.page import TEXT, Page
from denoise_crawler.page.text import HAN, KANA, hash32, words

# The attributes that decide how an element looks. Inline ``style`` is left out: scripts and editors put positions,
# colours and images there, which would give each page a template of its own.
STYLE_ATTRIBUTES = ("class", "id", "width", "height", "align", "valign", "bgcolor", "border", "color", "size")
_NAMES = frozenset({"class", "id"})
_LONGEST_VALUE = 200
# Digits and hashes number instances (post-1234, css-1q2w3e) rather than name a style.
_NUMBERED = re.compile(r"(?<![a-z])[0-9a-f]*\d[0-9a-f]{3,}(?![a-z])|\d+", re.IGNORECASE)

Attributes: TypeAlias = "tuple[tuple[str, str], ...]"


@dataclass(frozen=True, slots=True, eq=False)
class Outline:
    """The labels and the shape of a page, as columns over its nodes.

    ``labels[numbers[i]]`` is the label of node i, ``ends[i]`` is where its subtree ends, ``linked[i]`` is the link
    that it stands in, -1 for none. ``links`` are the ``href`` of links, ``sources`` the ``src`` of elements
    without children, both by node.
    """

    labels: list[str]
    numbers: NDArray[np.int32]
    ends: NDArray[np.int32]
    linked: NDArray[np.int32]
    links: dict[int, str]
    sources: dict[int, str]


def outline_of(page: Page) -> Outline:
    """Return the outline of ``page``; call it by ``page.once``."""
    nodes, core = page.nodes, compiled.looks
    links, sources = dict[int, str](), dict[int, str]()
    if core is not None and nodes.compiled is not None:
        numbers, ends, linked = np.empty((3, len(nodes)), np.int32)
        looks = core.outline(
            nodes.compiled, STYLE_ATTRIBUTES, _LONGEST_VALUE, numbers, ends, linked, links, sources
        )
    else:
        looks, found = _read_looks(page, links, sources)
        numbers, ends, linked = np.array([found, nodes.ends, nodes.links], np.int32)
    by_label: dict[str, int] = {}
    of_looks = [by_label.setdefault(_label(tag, own), len(by_label)) for tag, own in looks]
    numbers = np.array(of_looks, np.int32)[numbers]
    numbers[0] = by_label.setdefault("body", len(by_label))
    return Outline(list(by_label), numbers, ends, linked, links, sources)


def _read_looks(
    page: Page, links: dict[int, str], sources: dict[int, str]
) -> tuple[Sequence[tuple[str, Attributes]], list[int]]:
    """Return the looks of a page, and by node the number of its look; fill ``links`` and ``sources``."""
    nodes, numbers = page.nodes, dict[tuple[str, Attributes], int]()
    found = []
    for index, (tag, element) in enumerate(zip(nodes.tags, nodes.elements, strict=True)):
        own: Attributes = ()
        if tag is not TEXT:
            own = tuple(
                (str(name), str(value)[:_LONGEST_VALUE])
                for name, value in element.items()
                if name in STYLE_ATTRIBUTES
            )
            if nodes.links[index] == index:
                links[index] = element.get("href", "")
            if nodes.ends[index] == index + 1 and (source := element.get("src")) is not None:
                sources[index] = source
        found.append(numbers.setdefault((tag, own), len(numbers)))
    return list(numbers), found


@lru_cache(maxsize=16_384)
def _label(tag: str, attributes: Attributes) -> str:
    if not attributes:
        return tag
    parts = [tag]
    for name, value in sorted(attributes):
        shown = " ".join(_NUMBERED.sub("", value).split()) if name in _NAMES else value.strip()
        if shown:
            parts.append(f"{name}={shown}")
    return "|".join(parts)


# the first and last of the letters that are words, or of which words are cut
_LETTERS = np.array([tuple(map(ord, part.split("-"))) for part in re.findall(".-.", HAN + KANA)], np.uint32)


@dataclass(frozen=True, slots=True, eq=False)
class PageDigest:
    """One page as columns over its nodes in document order, as narrow as its numbers allow.

    The label of node i has the number ``labels[i]``, its subtree is ``range(i, i + sizes[i])``. It has the next
    ``features[i]`` of the ``hashes`` (32 bits, ascending); ``counts`` are their occurrences on this page.
    """

    key: int
    labels: NDArray[np.unsignedinteger]
    sizes: NDArray[np.unsignedinteger]
    features: NDArray[np.unsignedinteger]
    hashes: NDArray[np.uint32]
    counts: NDArray[np.unsignedinteger]

    @property
    def ends(self) -> NDArray[np.int32]:
        """Where the subtree of each node ends."""
        return np.arange(len(self.sizes), dtype=np.int32) + self.sizes.astype(np.int32)


def narrow(numbers: NDArray[Any]) -> NDArray[np.unsignedinteger]:
    """Return numbers of at most 32 bits in as few bytes as the largest needs."""
    most = int(numbers.max(initial=0))
    return numbers.astype(np.uint8 if most < 1 << 8 else np.uint16 if most < 1 << 16 else np.uint32)


def digest_page(page: Page, features_per_leaf: int, numbers: NDArray[np.uint32]) -> PageDigest:
    """Reduce ``page`` to what a tree keeps; ``numbers`` are the tree's of the labels of the page's outline."""
    outline, nodes = page.once(outline_of), page.nodes
    leaves = np.flatnonzero(outline.ends == np.arange(1, len(nodes) + 1))
    sizes, hashes = _word_hashes(nodes.texts, leaves)
    of_leaf, of_hash = _address_hashes(page, outline, leaves)
    of_leaf = np.concatenate([np.repeat(np.arange(len(leaves)), sizes), of_leaf])
    features, found, counts = _count(of_leaf, np.concatenate([hashes, of_hash]), len(leaves), features_per_leaf)
    by_node = np.zeros(len(nodes), np.int64)
    by_node[leaves] = features
    labels, shape = narrow(numbers[outline.numbers]), narrow(outline.ends - np.arange(len(nodes)))
    return PageDigest(page.key, labels, shape, narrow(by_node), found, narrow(counts))


def _count(
    leaves: NDArray[np.int64], hashes: NDArray[np.uint32], size: int, at_most: int
) -> tuple[NDArray[np.int64], NDArray[np.uint32], NDArray[np.int64]]:
    """Count the features of leaves.

    Args:
        leaves: The number of the leaf of each feature.
        hashes: The hash of each.
        size: The number of leaves.
        at_most: The most features of a leaf, those with the lowest hashes.

    Returns:
        By leaf how many it has that differ; their hashes, leaf by leaf and ascending; how often each occurs.

    """
    rows, counts = np.unique(leaves.astype(np.uint64) << np.uint64(32) | hashes, return_counts=True)
    leaves = (rows >> np.uint64(32)).astype(np.int64)
    features = np.bincount(leaves, minlength=size)
    lowest = np.arange(len(rows)) - (np.cumsum(features) - features)[leaves] < at_most
    return np.minimum(features, at_most), rows[lowest].astype(np.uint32), counts[lowest]


def _word_hashes(texts: list[str], leaves: NDArray[np.int64]) -> tuple[NDArray[np.uint32], NDArray[np.uint32]]:
    """Return how many words each leaf has, and their hashes."""
    if (core := compiled.words) is not None:
        sizes, found = core.word_hashes(texts, leaves.tolist(), _LETTERS, _hashes_of)
        return np.frombuffer(sizes, np.uint32), np.frombuffer(found, np.uint32)
    hashes = [_hashes_of(texts[leaf]) for leaf in leaves.tolist()]
    return np.array([*map(len, hashes)], np.uint32), np.fromiter(chain.from_iterable(hashes), np.uint32)


def _hashes_of(text: str) -> list[int]:
    """Return the hashes of the words of a text."""
    return list(map(hash32, words(text)))


def _address_hashes(
    page: Page, outline: Outline, leaves: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.uint32]]:
    """Return numbers of leaves and the hashes of their addresses: those of pictures, and those they link to."""
    addresses, sources = _Addresses(page), outline.sources
    of_links = {link: addresses.link(href) for link, href in outline.links.items() if href}
    of_sources = {leaf: hash32("src " + page.absolute(source)) for leaf, source in sources.items() if source}
    by_link, by_leaf = np.full(len(outline.ends) + 1, -1), np.full(len(outline.ends), -1)
    by_link[list(of_links)] = list(of_links.values())
    by_leaf[list(of_sources)] = list(of_sources.values())
    both = np.concatenate([by_link[outline.linked[leaves]], by_leaf[leaves]])
    said = np.flatnonzero(both >= 0)
    return said % max(len(leaves), 1), both[said].astype(np.uint32)


class _Addresses:
    """The hashes of the links of a page, prefixed so that no word equals them.

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

    def link(self, href: str) -> int:
        """Return the hash of an ``href``."""
        address = self._page.absolute(href)
        if any(sign in address for sign in self._signs):
            address = self._own_url.sub("self", address)
        return hash32("href " + address)

    @cached_property
    def _own_url(self) -> Pattern[str]:
        """The page's own URL in a link: the whole URL, or its path as the value of a parameter."""
        forms: Iterable[str] = map(re.escape, self._forms)
        paths = (f"(?<==){re.escape(path)}" for path in self._paths)
        return re.compile(f"(?:{'|'.join([*forms, *paths])})(?![\\w/.-])")
