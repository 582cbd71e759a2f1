"""A page as its site's tree keeps it: labels, shape and feature counts, a few kilobytes."""

from __future__ import annotations

import re
from array import array
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import quote

from denoise_crawler.methods.style_tree.node_labels import labels_of
from denoise_crawler.page import TEXT
from denoise_crawler.page.text import hash32, words

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from re import Pattern

    from denoise_crawler.methods.style_tree.nodes import Labels
    from denoise_crawler.page import Page


class ChildGroup(NamedTuple):
    """Nodes of a page with the same sequence of children, and the child nodes at each place of the sequence."""

    parents: list[int]
    columns: list[list[int]]


_NO_CHILDREN = ChildGroup([], [])
_LEAF: Mapping[Labels, ChildGroup] = {(): _NO_CHILDREN}


@dataclass(slots=True)
class PageDigest:
    """One page as columns over its nodes in document order.

    The subtree of node i is ``range(i, ends[i])``. The features of leaf i are ``hashes[starts[i]:starts[i + 1]]``
    (32 bits, ascending); ``counts`` are their occurrences on this page. As lists, these three would be the largest
    part of a page.
    """

    key: int
    labels: list[str]
    ends: list[int]
    starts: array[int]
    hashes: array[int]
    counts: array[int]

    def children(self, index: int) -> list[int]:
        """Return the children of node ``index``."""
        ends, found = self.ends, []
        child, end = index + 1, ends[index]
        while child < end:
            found.append(child)
            child = ends[child]
        return found

    def group_by_children(self, nodes: Sequence[int], *, collapse: bool) -> Mapping[Labels, ChildGroup]:
        """Group ``nodes`` of one element node by their sequence of children.

        Args:
            nodes: The nodes.
            collapse: Whether a run of equal siblings counts as one child.

        Returns:
            The groups by sequence; the group of nodes without children lists no nodes.

        """
        labels, ends = self.labels, self.ends
        if len(nodes) == 1 and ends[nodes[0]] == nodes[0] + 1:
            return _LEAF
        found: dict[Labels, ChildGroup] = {}
        for node in nodes:
            if ends[node] == node + 1:
                found[()] = _NO_CHILDREN
                continue
            sequence: list[str] = []
            columns: list[list[int]] = []
            child, end, last = node + 1, ends[node], None
            while child < end:
                label = labels[child]
                if label == last and collapse:
                    columns[-1].append(child)
                else:
                    sequence.append(label)
                    columns.append([child])
                    last = label
                child = ends[child]
            known = found.get(key := tuple(sequence))
            if known is None:
                found[key] = ChildGroup([node], columns)
                continue
            known.parents.append(node)
            for column, more in zip(known.columns, columns, strict=True):
                column.extend(more)
        return found

    def features(self, nodes: Iterable[int]) -> dict[int, int]:
        """Return by hash how often each feature occurs in ``nodes``."""
        starts, counted = self.starts, dict[int, int]()
        for node in nodes:
            first, last = starts[node], starts[node + 1]
            if first == last:
                continue
            having = zip(self.hashes[first:last], self.counts[first:last], strict=True)
            if not counted:
                counted = dict(having)
                continue
            for feature, count in having:
                counted[feature] = counted.get(feature, 0) + count
        return counted


def outline_page(page: Page) -> PageDigest:
    """Return the labels and shape of ``page``, without features."""
    return PageDigest(page.key, labels_of(page), page.nodes.ends, array("I", [0]), array("I"), array("I"))


def digest_page(page: Page, features_per_leaf: int) -> PageDigest:
    """Reduce ``page`` to what a tree keeps: for each leaf at most ``features_per_leaf`` features."""
    nodes = page.nodes
    result = outline_page(page)
    own = _own_url_pattern(page.url)
    for index, (tag, text, link) in enumerate(zip(nodes.tags, nodes.texts, nodes.links, strict=True)):
        if tag is TEXT or nodes.ends[index] == index + 1:
            counted = Counter(hash32(word) for word in words(text)) if text else Counter[int]()
            counted.update(hash32(url) for url in _leaf_urls(page, index, link, own))
            lowest = sorted(counted)[:features_per_leaf]
            result.hashes.extend(lowest)
            result.counts.extend(counted[feature] for feature in lowest)
        result.starts.append(len(result.hashes))
    return result


def _own_url_pattern(url: str) -> Pattern[str]:
    """Match the page's own URL in a link: the whole URL, or its path as the value of a parameter."""
    whole = url.partition("#")[0]
    if not whole:
        return re.compile("(?!)")  # matches nothing
    path = "/" + whole.partition("://")[2].partition("/")[2]
    forms = [re.escape(form) for form in (whole, quote(whole, safe="", errors="replace"))]
    forms += ["(?<==)" + re.escape(form) for form in (path, quote(path, safe="", errors="replace"))]
    return re.compile(f"(?:{'|'.join(forms)})(?![\\w/.-])")


def _leaf_urls(page: Page, index: int, link: int, own: Pattern[str]) -> Iterator[str]:
    """Yield the leaf's ``src`` and the ``href`` around it, prefixed so that no word equals them.

    ``self`` replaces the page's own URL in a link (``#main``, "share this", "sign in and come back"); otherwise
    such links would differ on every page and look like content.
    """
    if page.nodes.tags[index] is not TEXT and (src := page.nodes.elements[index].get("src")):
        yield "src " + page.absolute(src)
    if link >= 0 and (href := page.nodes.elements[link].get("href")):
        yield "href " + own.sub("self", page.absolute(href))
