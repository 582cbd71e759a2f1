"""The text blocks of a page and the block-level elements around them, as columns."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from denoise_crawler.markup import INLINE
from denoise_crawler.page import TEXT
from denoise_crawler.text import hash64

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from denoise_crawler.page import Element, Nodes, Page

    Numbers: TypeAlias = NDArray[np.float64]
    Indices: TypeAlias = NDArray[np.int64]
    Hashes: TypeAlias = NDArray[np.uint32]

LOW_BITS = 0xFFFFFFFF
TAGS = ("", "p", "h1", "h2", "h3", "li", "td", "div", "body", "br", "pre", "section", "dd", "blockquote")
_TAG_CODES = {tag: code for code, tag in enumerate(TAGS)} | {
    "h4": 4, "h5": 4, "h6": 4, "th": 6, "dt": 12, "article": 11, "main": 11, "code": 10, "figcaption": 13,
}  # fmt: skip
# What a block can stand in, one bit each.
PLACES = (
    "article", "main", "header", "footer", "nav", "aside", "form", "table", "list", "figure", "quote",
    "hidden", "comment", "body_role", "chrome_role", "itemprop",
)  # fmt: skip
_BITS = {place: 1 << bit for bit, place in enumerate(PLACES)}
_PLACE_OF_TAG = {
    tag: _BITS[place]
    for place, tags in {
        "article": ("article",), "main": ("main",), "header": ("header",), "footer": ("footer",), "nav": ("nav",),
        "aside": ("aside",), "form": ("form",), "table": ("table",), "list": ("ul", "ol", "dl"),
        "figure": ("figure", "figcaption"), "quote": ("blockquote",),
    }.items()
    for tag in tags
}  # fmt: skip
_ROLES = dict.fromkeys(("main", "article"), _BITS["body_role"]) | dict.fromkeys(
    ("navigation", "banner", "contentinfo", "complementary", "search", "menu", "dialog"), _BITS["chrome_role"]
)
_TEXT_PROPERTIES = frozenset({"articleBody", "description", "text", "reviewBody"})
_HIDING = re.compile(r"display\s*:\s*none|visibility\s*:\s*hidden")
_COMMENTS = re.compile(r"comment|disqus|respond|repl(?:y|ies)|reviews?\b|discuss", re.IGNORECASE)
_DIGITS = re.compile(r"\d+")
_MASKED_CHARACTERS = 200
_COMMAS = ",，、。"
_ENDS = frozenset('.!?。！？…:：;；"”»')
_HAN_OR_KANA = re.compile("[぀-ヿ㐀-鿿]")


@dataclass(slots=True, eq=False)
class Elements:
    """The block-level elements of a page in document order; element 0 is the body.

    ``first`` and ``last`` bound the blocks below each (``range(first, last)``), ``places`` are the bits of
    ``PLACES`` it stands in, ``names`` its class and id as written, ``paths`` a hash of the labels from the body
    down to it.
    """

    nodes: Indices
    parents: Indices
    first: Indices
    last: Indices
    places: Indices
    tags: Indices
    names: list[str]
    paths: Hashes
    depths: Indices

    def __len__(self) -> int:
        return len(self.names)


@dataclass(slots=True, eq=False)
class Blocks:
    """The blocks of a page in document order: a block is the text of one line, as ``clean_text`` parts lines.

    ``elements[i]`` is the block-level element that block i stands in, ``nodes[i]`` its text nodes. ``characters``
    and ``linked`` (those inside links) leave white space out; ``tokens`` counts words, in Chinese and Japanese
    characters. ``texts`` are normalised; ``text_hashes``, ``masked_hashes`` (every number alike) and
    ``link_hashes`` (of the first link, 0 without one) are what the site knows them by.
    """

    texts: list[str]
    nodes: list[list[int]]
    elements: Indices
    characters: Numbers
    linked: Numbers
    tokens: Numbers
    commas: Numbers
    closed: Numbers
    text_hashes: Hashes
    masked_hashes: Hashes
    link_hashes: Hashes
    around: Elements

    def __len__(self) -> int:
        return len(self.texts)


def blocks_of(page: Page) -> Blocks:
    """Cut ``page`` into blocks."""
    nodes = page.nodes
    lines, homes, elements = _walk(nodes)
    columns: list[tuple[int, int, int, int, bool, int, int, int]] = []
    texts, kept, kept_homes = [], [], []
    for line, home in zip(lines, homes, strict=True):
        text = "".join([nodes.texts[index] for index in line]) if len(line) > 1 else nodes.texts[line[0]]
        words = text.split()
        if not words:
            continue
        text = " ".join(words)
        texts.append(text)
        kept.append(line)
        kept_homes.append(home)
        columns.append(_measured(nodes, line, text, len(words)))
    table = np.array(columns, np.int64).reshape(-1, 8)
    first_nodes = np.array([line[0] for line in kept], np.int64)
    elements.first = np.searchsorted(first_nodes, elements.nodes)
    elements.last = np.searchsorted(first_nodes, elements.last)
    numbers, hashes = table[:, :5].astype(np.float64), table[:, 5:].astype(np.uint32)
    characters, linked, tokens, commas, closed = numbers.T.copy()
    text_hashes, masked_hashes, link_hashes = hashes.T.copy()
    return Blocks(
        texts=texts,
        nodes=kept,
        elements=np.array(kept_homes, np.int64),
        characters=characters,
        linked=linked,
        tokens=tokens,
        commas=commas,
        closed=closed,
        text_hashes=text_hashes,
        masked_hashes=masked_hashes,
        link_hashes=link_hashes,
        around=elements,
    )


def _walk(nodes: Nodes) -> tuple[list[list[int]], list[int], Elements]:
    """Return the lines (text nodes), the element each stands in, and the elements (``last`` still in nodes)."""
    lines: list[list[int]] = []
    homes: list[int] = []
    line: list[int] | None = None
    open_ends: list[int] = []
    home_of = [0] * len(nodes)  # of each node, the nearest block-level element at or above it
    own, parents, places, tags, names, paths, depths = [0], [-1], [0], [_TAG_CODES["body"]], [""], [0], [0]
    for index, (tag, parent) in enumerate(zip(nodes.tags, nodes.parents, strict=True)):
        while open_ends and open_ends[-1] <= index:
            open_ends.pop()
            line = None
        if parent < 0:
            places[0], names[0] = _attributes(nodes.elements[0], 0)
            continue
        home = home_of[parent]
        if tag is TEXT:
            if line is None:
                line = []
                lines.append(line)
                homes.append(home)
            line.append(index)
        elif tag in INLINE:
            home_of[index] = home
        else:
            place, name = _attributes(nodes.elements[index], places[home] | _PLACE_OF_TAG.get(tag, 0))
            home_of[index] = len(own)
            own.append(index)
            parents.append(home)
            places.append(place)
            tags.append(_TAG_CODES.get(tag, 0))
            names.append(name)
            paths.append(_step(paths[home], tag, name))
            depths.append(depths[home] + 1)
            open_ends.append(nodes.ends[index])
            line = None
    ends = np.array(nodes.ends, np.int64)
    own_nodes = np.array(own, np.int64)
    integers = [np.array(column, np.int64) for column in (parents, places, tags, depths)]
    return lines, homes, Elements(
        own_nodes, integers[0], own_nodes, ends[own_nodes], integers[1], integers[2], names,
        np.array(paths, np.uint32), integers[3],
    )  # fmt: skip


def _attributes(element: Element, places: int) -> tuple[int, str]:
    """Return ``places`` with what the element's attributes add, and its class and id."""
    class_name = identity = ""
    for name, value in element.items():
        if name == "class":
            class_name = str(value)
        elif name == "id":
            identity = str(value)
        elif name in _READ:
            places |= _READ[name](str(value))
    names = f"{class_name} {identity}" if identity else class_name
    return (places | _comment_place(names) if names else places), names


_READ: dict[str, Callable[[str], int]] = {
    "style": lambda value: _BITS["hidden"] if _HIDING.search(value) else 0,
    "hidden": lambda _: _BITS["hidden"],
    "aria-hidden": lambda value: _BITS["hidden"] if value == "true" else 0,
    "role": lambda value: _ROLES.get(value, 0),
    "itemprop": lambda value: _BITS["itemprop"] if value in _TEXT_PROPERTIES else 0,
}


@lru_cache(maxsize=16_384)
def _comment_place(names: str) -> int:
    return _BITS["comment"] if _COMMENTS.search(names) else 0


@lru_cache(maxsize=65_536)
def _step(path: int, tag: str, names: str) -> int:
    """Return the path one element further down; digits in class and id do not count."""
    return hash64(f"{path} {tag} {_DIGITS.sub('', names)}") & LOW_BITS


def _measured(
    nodes: Nodes, line: list[int], text: str, words: int
) -> tuple[int, int, int, int, bool, int, int, int]:
    characters = len(text) - words + 1
    linked, link_hash = 0, 0
    for index in line:
        if (link := nodes.links[index]) >= 0:
            linked += len(nodes.texts[index].replace(" ", ""))
            link_hash = link_hash or _address_hash(nodes.elements[link].get("href"))
    ideographic = not text.isascii() and len(_HAN_OR_KANA.findall(text)) > characters // 3
    return (
        characters,
        min(linked, characters),
        characters if ideographic else words,
        sum(map(text.count, _COMMAS)),
        text[-1] in _ENDS,
        hash64(text) & LOW_BITS,
        _masked(text),
        link_hash,
    )


def _masked(text: str) -> int:
    if len(text) > _MASKED_CHARACTERS:
        return hash64(text) & LOW_BITS
    return hash64(_DIGITS.sub("0", text)) & LOW_BITS


def _address_hash(href: str | None) -> int:
    return (hash64(href) & LOW_BITS) if href else 0
