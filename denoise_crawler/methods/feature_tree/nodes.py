"""Feature nodes (CNode): the elements of a page with the features to compare, as columns in level order."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TypeAlias

import msgspec
import numpy as np
import numpy.typing as npt

from denoise_crawler.methods.base import inherit, subtree_sums
from denoise_crawler.methods.stored_bytes import VersionedFormat, pack_numbers, unpack_numbers
from denoise_crawler.page import TEXT, Element, Page
from denoise_crawler.page.geometry import BOX_ATTRIBUTE, Box, declared_length, drawn_boxes
from denoise_crawler.page.nodes import URL_ATTRIBUTES
from denoise_crawler.page.text import collapse_spaces, hash64

Features: TypeAlias = npt.NDArray[np.uint64]
Numbers: TypeAlias = npt.NDArray[np.int64]
Attributes: TypeAlias = "list[dict[str, str]]"  # by node

CONTENT_TAGS = frozenset({"p", "span", "b", "strong", "h1", "h2", "h3", "h4", "h5", "h6"})
CONTENT_TEXT_RATE = 0.75
MAX_NODES = 20_000  # per reference page
# The columns of a table of features; 0 stands for a missing feature.
TAG, INNER, ID, CLASS, DEPTH, WIDTH, HEIGHT, LEFT, TOP = range(9)
GEOMETRY = ("width", "height", "left", "top")
_GEOMETRY_ATTRIBUTES = frozenset({*GEOMETRY, "style"})
_ZERO_LENGTH = 1 << 32


@dataclass(eq=False)
class FeatureTree:
    """A page's feature nodes in level order (node 0 is the body), as kept of a reference page.

    Nodes with the same features below parents of the same kind are one *kind*, numbered by its first node; they
    are similar to the same nodes. ``features[k]`` holds the features of kind k: hashes (64 bits) of tag, id, class
    and inner HTML, depth and lengths as numbers. ``INNER`` is 0 for a structure node. ``drawn`` says whether the
    lengths come from a rendered page rather than from the markup. ``text`` is a hash of the page's text.
    """

    key: int
    text: int
    drawn: bool
    parents: Numbers  # of each node; -1 for the body
    kinds: Numbers  # of each node
    features: Features

    def __len__(self) -> int:
        return len(self.kinds)

    @cached_property
    def kind_parents(self) -> Numbers:
        """The kind of each kind's parent; 0 for the body's."""
        parents = np.zeros(len(self.features), np.int64)
        parents[self.kinds[1:]] = self.kinds[self.parents[1:]]
        return parents

    @cached_property
    def names(self) -> Counter[int]:
        """How many nodes have the same depth, tag, id and class, by a hash of these."""
        of_kinds = [hash(tuple(names)) for names in self.features[:, [DEPTH, TAG, ID, CLASS]].tolist()]
        return Counter(map(of_kinds.__getitem__, self.kinds.tolist()))

    def first(self, count: int) -> FeatureTree:
        """Return the tree of the first ``count`` nodes in level order."""
        if len(self) <= count:
            return self
        kinds = self.kinds[:count].copy()
        return replace(
            self,
            parents=self.parents[:count].copy(),
            kinds=kinds,
            features=self.features[: kinds.max() + 1].copy(),
        )


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
    attributes: Attributes = [
        {} if tag is TEXT else dict(element.items())  # type: ignore[arg-type]
        for tag, element in zip(nodes.tags, nodes.elements, strict=True)
    ]
    boxes = drawn_boxes(page) if page.boxes or any(BOX_ATTRIBUTE in names for names in attributes) else None
    measures = _measures(page, texts, attributes, boxes)
    depths = _depths(nodes.parents)
    elements = np.array([index for index, tag in enumerate(nodes.tags) if tag is not TEXT], np.int64)
    order = elements[np.argsort(depths[elements], kind="stable")]
    parents, kinds, features = _kinds(
        page, order, depths, attributes, _inner_hashes(page, texts, attributes, measures), boxes
    )
    text = hash64("\n".join(filter(None, texts)))
    return Target(FeatureTree(page.key, text, boxes is not None, parents, kinds, features), order, measures)


def _measures(page: Page, texts: list[str], attributes: Attributes, boxes: list[Box | None] | None) -> Measures:
    nodes = page.nodes
    text = np.array([len(text) for text in texts], np.int64)
    code = np.array(list(map(_code_length, nodes.tags, texts, attributes)), np.int64)
    content_tags = np.array([tag in CONTENT_TAGS for tag in nodes.tags], np.int64)
    return Measures(text, code, code * (np.array(nodes.links) >= 0), content_tags, boxes)


def _code_length(tag: str, text: str, attributes: dict[str, str]) -> int:
    if tag is TEXT:
        return len(text)
    length = 2 * len(tag) + 5  # <tag></tag>
    for name, value in attributes.items():
        if name != BOX_ATTRIBUTE:
            length += len(name) + len(value) + 4  # a space, =""
    return length


def _depths(parents: Sequence[int]) -> Numbers:
    """Return the depth of each node, 1 for the body."""
    depths = [1]
    for parent in parents[1:]:
        depths.append(depths[parent] + 1)
    return np.array(depths, np.int64)


def _content_mask(page: Page, measures: Measures) -> npt.NDArray[np.bool_]:
    """Mark the content nodes: those with a content tag, or with more than 75 % of the text below as their own."""
    nodes = page.nodes
    texts = np.flatnonzero(measures.text)
    parents = np.array(nodes.parents, np.int64)
    own = np.bincount(parents[texts], measures.text[texts], len(parents))
    mask: npt.NDArray[np.bool_] = own > CONTENT_TEXT_RATE * subtree_sums(measures.text, nodes.ends)
    mask |= measures.content_tags > 0
    mask[0] = False
    return mask


def _inner_hashes(page: Page, texts: list[str], attributes: Attributes, measures: Measures) -> list[int]:
    """Return a hash of the inner HTML of each content node, 0 for others.

    Hashes are computed bottom-up from those of the children, only in and below content nodes.
    """
    nodes, content = page.nodes, _content_mask(page, measures)
    within, is_content = inherit(content, nodes.ends), content.tolist()
    hashes = [0] * len(nodes)
    parts: dict[int, list[str]] = {}  # by node, its children from the last to the first
    absolute: dict[str, str] = {}
    for index in range(len(nodes) - 1, 0, -1):
        if not within[index]:
            continue
        parent = nodes.parents[index]
        if nodes.tags[index] is TEXT:
            parts.setdefault(parent, []).append(texts[index])
            continue
        inner = hash64("".join(reversed(parts.pop(index, [])))) or 1
        if is_content[index]:
            hashes[index] = inner
        if within[parent]:
            opened = _opening_tag(page, nodes.tags[index], attributes[index], absolute)
            parts.setdefault(parent, []).append(f"{opened}{inner:016x}\1")
    return hashes


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


def _kinds(
    page: Page,
    order: Numbers,
    depths: Numbers,
    attributes: Attributes,
    inner: list[int],
    boxes: list[Box | None] | None,
) -> tuple[Numbers, Numbers, Features]:
    """Return the parent and the kind of each feature node, and the features of each kind."""
    nodes = page.nodes
    numbers: dict[tuple[int, ...], int] = {}  # the number of a kind, by that of its parent's and its features
    place, kinds, parents = [0] * len(nodes), list[int](), [-1]
    for position, (index, depth) in enumerate(zip(order.tolist(), depths[order].tolist(), strict=True)):
        place[index] = position
        if position:
            parents.append(place[nodes.parents[index]])
        own = attributes[index]
        id_hash, class_hash = (
            _hash_of_name(own.get("id", "")),
            _hash_of_name(" ".join(own.get("class", "").split())),
        )
        lengths = _declared_lengths(nodes.elements[index], own) if boxes is None else _box_lengths(boxes[index])
        above = kinds[parents[-1]] if position else -1
        kind = (above, _hash_of_name(nodes.tags[index]), inner[index], id_hash, class_hash, depth, *lengths)
        kinds.append(numbers.setdefault(kind, len(numbers)))
    features = np.array([kind[1:] for kind in numbers], np.uint64)
    return np.array(parents, np.int64), np.array(kinds, np.int64), features


def _hash_of_name(name: str) -> int:
    return (hash64(name) or 1) if name else 0


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


# --- reference pages as bytes: versioned, compressed, data only

_FORMAT = VersionedFormat(b"FTR\x02", "reference pages")


class _PageRecord(msgspec.Struct, array_like=True):
    key: int
    text: int
    drawn: bool
    parents: bytes  # differences between neighbours
    kinds: bytes
    features: bytes  # column by column


def encode(trees: Sequence[FeatureTree]) -> bytes:
    """Convert ``trees``, in the order of their keys, to bytes."""
    records = []
    for tree in trees:
        parents, features = np.diff(tree.parents[1:], prepend=0), tree.features.T.astype("<u8").tobytes()
        columns = pack_numbers(parents), pack_numbers(tree.kinds), features
        records.append(_PageRecord(tree.key, tree.text, tree.drawn, *columns))
    return _FORMAT.write(records)


def decode(data: bytes) -> list[FeatureTree]:
    """Read what :func:`encode` returned; raise :class:`KnowledgeFormatError` for anything else."""
    return _FORMAT.read(data, list[_PageRecord], lambda records: list(map(_read_record, records)))


def _read_record(record: _PageRecord) -> FeatureTree:
    """Read a tree; raise ValueError unless its nodes are in level order, its kinds in that of their nodes."""
    parents = np.concatenate(([-1], np.cumsum(unpack_numbers(record.parents))))
    kinds = unpack_numbers(record.kinds)
    features = np.frombuffer(record.features, "<u8").astype(np.uint64).reshape(TOP + 1, -1).T
    tree = FeatureTree(record.key, record.text, record.drawn, parents, kinds, features.copy())
    if not 0 < len(parents) == len(kinds) <= MAX_NODES:
        raise ValueError(f"a page that does not fit together, or of more than {MAX_NODES:,} nodes")
    later, highest = np.arange(1, len(kinds)), np.maximum.accumulate(kinds)
    ordered = (parents[1:] < later).all() and (np.diff(parents) >= 0).all() and (np.diff(highest) <= 1).all()
    if not ordered or kinds[0] or not kinds[1:].all() or highest[-1] != len(features) - 1:
        raise ValueError("a page whose nodes are not in level order")
    if (tree.kind_parents[kinds[1:]] != kinds[parents[1:]]).any():
        raise ValueError("a page whose kinds do not fit its nodes")
    return tree
