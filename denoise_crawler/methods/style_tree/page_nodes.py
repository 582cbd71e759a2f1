"""A page as a style tree sees it: the label (TAG, Attr) of each node, and the features of its actual content."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from re import Pattern
from sys import intern
from typing import Any, TypeAlias
from urllib.parse import quote

import numpy as np
from numpy.typing import NDArray

from denoise_crawler.page import TEXT, Page
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

Column: TypeAlias = "NDArray[np.unsignedinteger]"


@dataclass(frozen=True, slots=True, eq=False)
class Outline:
    """The labels of a page's nodes: that of node i is ``names[labels[i]]``.

    ``links`` are the ``href`` of links, ``sources`` the ``src`` of elements without children, both by node.
    """

    labels: list[int]
    names: list[str]
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
        if end == index + 1 and (source := element.get("src")):
            sources[index] = source
    return Outline(labels, list(names), links, sources)


@lru_cache(maxsize=16_384)
def _label(tag: str, *attributes: tuple[str, str]) -> str:
    parts = [tag]
    for name, value in sorted(attributes):
        shown = " ".join(_NUMBERED.sub("", value).split()) if name in _NAMES else value.strip()
        if shown:
            parts.append(f"{name}={shown}")
    return intern("|".join(parts))


@dataclass(frozen=True, slots=True, eq=False)
class PageDigest:
    """One page as a site keeps it: columns over its nodes in document order, as narrow as their numbers allow.

    Node i has the label ``names[labels[i]]`` and the depth ``depths[i]``. It has the next ``features[i]`` of the
    ``hashes`` (32 bits, ascending); ``counts`` are their occurrences on this page.
    """

    key: int
    names: tuple[str, ...]
    labels: Column
    sizes: Column
    features: Column
    hashes: NDArray[np.uint32]
    counts: Column

    @property
    def ends(self) -> NDArray[np.int64]:
        """Where the subtree of each node ends."""
        return np.arange(len(self.sizes)) + self.sizes


def narrow(numbers: Sequence[int] | NDArray[Any]) -> Column:
    """Return numbers of at most 32 bits in as few bytes as the largest needs."""
    column = np.asarray(numbers, np.uint32)
    most = int(column.max(initial=0))
    return column.astype(np.uint8 if most < 1 << 8 else np.uint16 if most < 1 << 16 else np.uint32)


def digest_page(page: Page, features_per_leaf: int) -> PageDigest:
    """Reduce ``page`` to what a site keeps of it: of each leaf the features with the lowest hashes."""
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
    shape = narrow(outline.labels), narrow(np.subtract(nodes.ends, range(len(nodes)))), narrow(features)
    return PageDigest(page.key, tuple(outline.names), *shape, np.array(hashes, np.uint32), narrow(counts))


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
