"""Feature nodes (CNode): the elements of a page with the features to compare, as columns in level order."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from denoise_crawler.methods.base import subtree_sums
from denoise_crawler.page import TEXT, Element, Page
from denoise_crawler.page.geometry import BOX_ATTRIBUTE, Box, declared_length, drawn_boxes
from denoise_crawler.page.nodes import URL_ATTRIBUTES
from denoise_crawler.page.text import collapse_spaces, hash64

Features: TypeAlias = npt.NDArray[np.uint64]
Numbers: TypeAlias = npt.NDArray[np.int64]

CONTENT_TAGS = frozenset({"p", "span", "b", "strong", "h1", "h2", "h3", "h4", "h5", "h6"})
CONTENT_TEXT_RATE = 0.75
MAX_NODES = 20_000  # per reference page
# The columns of a table of features; 0 stands for a missing feature.
TAG, INNER, ID, CLASS, DEPTH, WIDTH, HEIGHT, LEFT, TOP = range(9)
GEOMETRY = ("width", "height", "left", "top")
_GEOMETRY_ATTRIBUTES = frozenset({*GEOMETRY, "style"})
_ZERO_LENGTH = 1 << 32
_PRIMES = np.array([0x9E3779B185EBCA87, 0xC2B2AE3D27D4EB4F, 0x165667B19E3779F9, 0x27D4EB2F165667C5], np.uint64)


@dataclass(eq=False)
class FeatureTree:
    """A page's feature nodes in level order (node 0 is the body), as kept of a reference page.

    Nodes with the same features below parents of the same kind are one *kind*; they are similar to the same nodes.
    ``features[k]`` holds the features of kind k: 64-bit hashes of tag, id, class and inner HTML, depth and lengths
    as numbers. ``INNER`` is 0 for a structure node. ``drawn`` tells whether the lengths come from a rendered page
    rather than from the markup. ``text`` is a hash of the page's text.
    """

    key: int
    text: int
    drawn: bool
    parents: Numbers  # of each node; -1 for the body
    kinds: Numbers  # of each node
    kind_parents: Numbers  # of each kind, the kind of its parent; 0 for the body's
    features: Features

    def __len__(self) -> int:
        return len(self.kinds)

    @cached_property
    def shape(self) -> tuple[Features, Numbers]:
        """Sorted hashes of the distinct (depth, tag, id, class) of the nodes, and the number of nodes of each."""
        mixed = self.features[:, [DEPTH, TAG, ID, CLASS]] * _PRIMES
        mixed ^= mixed >> np.uint64(29)
        of_kinds = (mixed * _PRIMES[::-1]).sum(axis=1, dtype=np.uint64)
        names, inverse = np.unique(of_kinds, return_inverse=True)
        return names, np.bincount(inverse[self.kinds], minlength=len(names))

    def first(self, count: int) -> FeatureTree:
        """Return the tree of the first ``count`` nodes in level order."""
        if len(self) <= count:
            return self
        kinds = self.kinds[:count]
        known = int(kinds.max()) + 1  # kinds are numbered in order of appearance
        kind_parents, features = self.kind_parents[:known].copy(), self.features[:known].copy()
        parents = self.parents[:count].copy()
        return replace(self, parents=parents, kinds=kinds.copy(), kind_parents=kind_parents, features=features)


@dataclass(slots=True, eq=False)
class Measures:
    """The input of the indicators: one row per node of the page, in document order.

    Lengths are in characters. ``code`` is what the node adds to the page's markup, ``linked`` the part of it that
    is or is in a link.
    """

    text: Numbers
    code: Numbers
    linked: Numbers
    content_tags: Numbers
    boxes: list[Box | None] | None


@dataclass(slots=True, eq=False)
class Target:
    """A page to judge: its feature tree, the page node of each feature node (``order``), and its measures."""

    tree: FeatureTree
    order: Numbers
    measures: Measures


def build_target(page: Page) -> Target:
    """Return the feature tree and the measures of ``page``; a run of text belongs to its element."""
    nodes = page.nodes
    texts = [collapse_spaces(text) if text else "" for text in nodes.texts]
    attributes = [
        {} if tag is TEXT else _attributes_of(element)
        for tag, element in zip(nodes.tags, nodes.elements, strict=True)
    ]
    boxes = drawn_boxes(page) if page.boxes or any(BOX_ATTRIBUTE in names for names in attributes) else None
    measures = _measures(page, texts, attributes, boxes)
    order = _level_order(page)
    inner = _inner_hashes(page, texts, attributes, measures)
    return Target(_build_tree(page, order, texts, attributes, inner, boxes), order, measures)


def _attributes_of(element: Element) -> dict[str, str]:
    return dict(element.items())  # type: ignore[arg-type]


def _measures(
    page: Page, texts: list[str], attributes: list[dict[str, str]], boxes: list[Box | None] | None
) -> Measures:
    nodes = page.nodes
    text = np.fromiter(map(len, texts), np.int64, len(texts))
    code = np.fromiter(map(_code_length, nodes.tags, texts, attributes), np.int64, len(texts))
    in_link = np.fromiter(nodes.links, np.int64, len(texts)) >= 0
    content_tags = np.fromiter((tag in CONTENT_TAGS for tag in nodes.tags), np.int64, len(texts))
    return Measures(text, code, code * in_link, content_tags, boxes)


def _code_length(tag: str, text: str, attributes: dict[str, str]) -> int:
    if tag is TEXT:
        return len(text)
    length = 2 * len(tag) + 5  # <tag></tag>
    for name, value in attributes.items():
        if name != BOX_ATTRIBUTE:
            length += len(name) + len(value) + 4  # a space, =""
    return length


def _level_order(page: Page) -> Numbers:
    """Return the indices of the elements, level by level."""
    tags, parents = page.nodes.tags, page.nodes.parents
    depths = [0] * len(tags)
    for index in range(1, len(tags)):
        depths[index] = depths[parents[index]] + 1
    elements = np.array([index for index, tag in enumerate(tags) if tag is not TEXT], np.int64)
    levels = np.array(depths, np.int64)[elements]
    return elements[np.argsort(levels, kind="stable")]


def _content_mask(page: Page, measures: Measures) -> npt.NDArray[np.bool_]:
    """Mark the content nodes: those with a content tag, or with more than 75 % of the text below as their own."""
    nodes = page.nodes
    runs = np.flatnonzero(measures.text)
    parents = np.array(nodes.parents, np.int64)
    own = np.bincount(parents[runs], measures.text[runs], len(parents))
    result: npt.NDArray[np.bool_] = own > CONTENT_TEXT_RATE * subtree_sums(measures.text, nodes.ends)
    result |= measures.content_tags > 0
    result[0] = False
    return result


def _inner_hashes(page: Page, texts: list[str], attributes: list[dict[str, str]], measures: Measures) -> list[int]:
    """Return a hash of the inner HTML of each content node, 0 for others.

    Hashes are computed bottom-up from those of the children, only in and below content nodes.
    """
    nodes = page.nodes
    content = _content_mask(page, measures)
    edges = np.zeros(len(nodes) + 1, np.int64)
    edges[:-1] += content
    np.subtract.at(edges, np.asarray(nodes.ends)[content], 1)
    wanted = (np.cumsum(edges[:-1]) > 0).tolist()
    is_content = content.tolist()
    result = [0] * len(nodes)
    parts: dict[int, list[str]] = {}
    absolute: dict[str, str] = {}
    for index in range(len(nodes) - 1, 0, -1):
        if not wanted[index]:
            continue
        parent = nodes.parents[index]
        if nodes.tags[index] is TEXT:
            parts.setdefault(parent, []).append(texts[index])
            continue
        inner = hash64("".join(reversed(parts.pop(index, [])))) or 1
        if is_content[index]:
            result[index] = inner
        if wanted[parent]:
            opened = _opening_tag(page, nodes.tags[index], attributes[index], absolute)
            parts.setdefault(parent, []).append(f"{opened}{inner:016x}\1")
    return result


def _opening_tag(page: Page, tag: str, attributes: dict[str, str], absolute: dict[str, str]) -> str:
    """Return a tag with its attributes and absolute URLs, in a form that no text has."""
    parts = ["\1", tag]
    for name, value in attributes.items():
        if name in URL_ATTRIBUTES:
            if value not in absolute:
                absolute[value] = page.absolute(value)
            value = absolute[value]
        if name != BOX_ATTRIBUTE:
            parts += ("\2", name, "\3", value)
    parts.append("\1")
    return "".join(parts)


def _build_tree(
    page: Page,
    order: Numbers,
    texts: list[str],
    attributes: list[dict[str, str]],
    inner: list[int],
    boxes: list[Box | None] | None,
) -> FeatureTree:
    nodes = page.nodes
    numbers: dict[tuple[int, ...], int] = {}  # the number of a kind, by its parent's and its features
    kinds: list[int] = []
    place, parents = [0] * len(nodes), [-1]
    for position, index in enumerate(order.tolist()):
        place[index] = position
        if position:
            parents.append(place[nodes.parents[index]])
        own = attributes[index]
        names = (nodes.tags[index], own.get("id", ""), " ".join(own.get("class", "").split()))
        lengths = _declared_lengths(nodes.elements[index], own) if boxes is None else _box_lengths(boxes[index])
        above = kinds[parents[-1]] if position else -1
        kind = (above, inner[index], *map(_hash_of_name, names), *lengths)
        kinds.append(numbers.setdefault(kind, len(numbers)))
    kind_parents = np.maximum([kind[0] for kind in numbers], 0).astype(np.int64)
    features = np.zeros((len(numbers), 9), np.uint64)
    given = [INNER, TAG, ID, CLASS, WIDTH, HEIGHT, LEFT, TOP]
    features[:, given] = np.array([kind[1:] for kind in numbers], np.uint64)
    features[:, DEPTH] = depths_of(kind_parents)
    text, drawn = hash64("\n".join(filter(None, texts))), boxes is not None
    of_nodes = np.array(parents, np.int64), np.array(kinds, np.int64)
    return FeatureTree(page.key, text, drawn, *of_nodes, kind_parents, features)


def _hash_of_name(name: str) -> int:
    return (hash64(name) or 1) if name else 0


def depths_of(kind_parents: Numbers) -> Numbers:
    """Return the depth of each kind, 1 for the body's."""
    depths = [1]
    for parent in kind_parents[1:].tolist():
        depths.append(depths[parent] + 1)
    return np.array(depths, np.int64)


def _declared_lengths(element: Element, attributes: dict[str, str]) -> Sequence[int]:
    """Return the declared width, height, left and top as positive numbers; 0 for those not declared."""
    if _GEOMETRY_ATTRIBUTES.isdisjoint(attributes):
        return (0, 0, 0, 0)
    lengths = (declared_length(element, name) for name in GEOMETRY)
    return [0 if length is None else _length_code(length.value, length.percent) for length in lengths]


def _box_lengths(box: Box | None) -> Sequence[int]:
    if box is None:
        return (0, 0, 0, 0)
    return [_length_code(length) for length in (box.width, box.height, box.left, box.top)]


def _length_code(length: float, percent: bool = False) -> int:
    """Return a length, rounded to whole pixels or per cent, as a positive number."""
    rounded = round(max(-1e9, min(length, 1e9)))
    return _ZERO_LENGTH + 2 * rounded + percent
