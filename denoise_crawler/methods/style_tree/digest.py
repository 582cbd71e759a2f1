"""A page as its site's tree keeps it: labels, shape and counted features, a few kilobytes."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import quote

from denoise_crawler.methods.style_tree.labels import labels_of
from denoise_crawler.page import TEXT
from denoise_crawler.page.text import hash32, words

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from re import Pattern

    from denoise_crawler.methods.style_tree.nodes import Labels
    from denoise_crawler.page import Page


class Below(NamedTuple):
    """Nodes of a page with one sequence of children, and by place in it the nodes that stand there."""

    parents: list[int]
    columns: list[list[int]]


_NOTHING = Below([], [])
_LEAF: Mapping[Labels, Below] = {(): _NOTHING}


@dataclass(slots=True)
class PageDigest:
    """One page, by columns over its nodes in document order.

    ``labels`` and ``ends`` (the subtree of node i is ``range(i, ends[i])``); the features of leaf i are
    ``hashes[starts[i]:starts[i + 1]]`` (32 bits, ascending) with ``counts``, the occurrences on this page.
    """

    key: int
    labels: list[str]
    ends: list[int]
    starts: list[int]
    hashes: list[int]
    counts: list[int]

    def children(self, index: int) -> list[int]:
        """Return the indices of the children of node ``index``."""
        ends, found = self.ends, []
        child, end = index + 1, ends[index]
        while child < end:
            found.append(child)
            child = ends[child]
        return found

    def below(self, nodes: Sequence[int], *, collapse: bool) -> Mapping[Labels, Below]:
        """Group ``nodes``, all of one element node, by their sequence of children.

        With ``collapse`` a run of equal siblings is one child. Which nodes have none is not said.
        """
        labels, ends = self.labels, self.ends
        if len(nodes) == 1 and ends[nodes[0]] == nodes[0] + 1:
            return _LEAF
        found: dict[Labels, Below] = {}
        for node in nodes:
            if ends[node] == node + 1:
                found[()] = _NOTHING
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
                found[key] = Below([node], columns)
                continue
            known.parents.append(node)
            for column, more in zip(known.columns, columns, strict=True):
                column.extend(more)
        return found

    def features(self, nodes: Iterable[int]) -> dict[int, int]:
        """Return the occurrences of the features of all ``nodes``, by hash."""
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


def outline(page: Page) -> PageDigest:
    """Return the labels and the shape of ``page``, without features."""
    return PageDigest(page.key, labels_of(page), page.nodes.ends, [0], [], [])


def digest(page: Page, features_per_leaf: int) -> PageDigest:
    """Reduce ``page`` to what a tree keeps of it; of a leaf with more features, those with the lowest hash."""
    nodes = page.nodes
    result = outline(page)
    own = _own_address(page.url)
    for index, (tag, text, link) in enumerate(zip(nodes.tags, nodes.texts, nodes.links, strict=True)):
        if tag is TEXT or nodes.ends[index] == index + 1:
            counted = Counter(hash32(word) for word in words(text)) if text else Counter[int]()
            counted.update(hash32(url) for url in _addresses(page, index, link, own))
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
