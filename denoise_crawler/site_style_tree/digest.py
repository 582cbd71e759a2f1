"""A page as its site's tree keeps it: labels, shape and counted features, a few kilobytes."""

from __future__ import annotations

import re
from array import array
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import quote

from denoise_crawler.page import TEXT
from denoise_crawler.site_style_tree.labels import labels_of
from denoise_crawler.text import hash64, words

if TYPE_CHECKING:
    from collections.abc import Iterator
    from re import Pattern

    from denoise_crawler.page import Page

LOW_BITS = 0xFFFFFFFF


@dataclass(slots=True)
class PageDigest:
    """One page, by columns over its nodes in document order.

    ``labels`` and ``ends`` (the subtree of node i is ``range(i, ends[i])``); the features of leaf i are
    ``hashes[starts[i]:starts[i + 1]]`` (32 bits, ascending) with ``counts``, the occurrences on this page.
    """

    key: int
    labels: list[str]
    ends: array[int]
    starts: array[int]
    hashes: array[int]
    counts: array[int]

    def children(self, index: int) -> Iterator[int]:
        """Yield the indices of the children of node ``index``."""
        child, end = index + 1, self.ends[index]
        while child < end:
            yield child
            child = self.ends[child]

    def features(self, index: int) -> Iterator[tuple[int, int]]:
        """Yield (hash, occurrences) of the features of node ``index``."""
        first, last = self.starts[index], self.starts[index + 1]
        return zip(self.hashes[first:last], self.counts[first:last], strict=True)

    def has_features(self, index: int) -> bool:
        """Tell whether node ``index`` has any feature."""
        return self.starts[index + 1] > self.starts[index]


def outline(page: Page) -> PageDigest:
    """Return the labels and the shape of ``page``, without features."""
    ends = array("I", page.nodes.ends)
    return PageDigest(page.key, labels_of(page), ends, array("I", [0]), array("I"), array("I"))


def digest(page: Page, features_per_leaf: int) -> PageDigest:
    """Reduce ``page`` to what a tree keeps of it; of a leaf with more features, those with the lowest hash."""
    nodes = page.nodes
    result = outline(page)
    own = _own_address(page.url)
    for index, (tag, text, link) in enumerate(zip(nodes.tags, nodes.texts, nodes.links, strict=True)):
        if tag is TEXT or nodes.ends[index] == index + 1:
            counted = Counter(_feature(word) for word in words(text)) if text else Counter[int]()
            counted.update(_feature(url) for url in _addresses(page, index, link, own))
            lowest = sorted(counted)[:features_per_leaf]
            result.hashes.extend(lowest)
            result.counts.extend(counted[feature] for feature in lowest)
        result.starts.append(len(result.hashes))
    return result


def _own_address(url: str) -> Pattern[str]:
    """Match what a link may hold of its own page's address: all of it, or its path as a parameter's value."""
    whole = url.partition("#")[0]
    if not whole:
        return re.compile("(?!)")  # matches nothing
    path = "/" + whole.partition("://")[2].partition("/")[2]
    forms = [re.escape(form) for form in (whole, quote(whole, safe="", errors="replace"))]
    forms += ["(?<==)" + re.escape(form) for form in (path, quote(path, safe="", errors="replace"))]
    return re.compile(f"(?:{'|'.join(forms)})(?![\\w/.-])")


def _addresses(page: Page, index: int, link: int, own: Pattern[str]) -> Iterator[str]:
    """Yield the leaf's ``src`` and the ``href`` it stands in, marked so that no word equals them.

    The page's own address in a link (``#main``, "share this", "sign in and come back") reads ``self``: else
    such links would differ on every page and look like content.
    """
    if page.nodes.tags[index] is not TEXT and (src := page.nodes.elements[index].get("src")):
        yield "src " + page.absolute(src)
    if link >= 0 and (href := page.nodes.elements[link].get("href")):
        yield "href " + own.sub("self", page.absolute(href))


def _feature(name: str) -> int:
    return hash64(name) & LOW_BITS
