"""The text blocks of a page and the block-level elements around them, as columns."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from denoise_crawler.core import compiled
from denoise_crawler.methods.fusion.class_words import words_of
from denoise_crawler.methods.fusion.own_names import HEADINGS, LONGEST_HEADING, NEAR, WHOLE, spoken_names
from denoise_crawler.methods.fusion.places import LONGEST_NAMES, PLACE_OF_TAG, READ, attributes_of, comment_place
from denoise_crawler.methods.fusion.styles import styles_of
from denoise_crawler.page import TEXT
from denoise_crawler.page.markup import INLINE
from denoise_crawler.page.text import hash32

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from denoise_crawler.page import Nodes, Page

    Numbers: TypeAlias = NDArray[np.float64]
    Indices: TypeAlias = NDArray[np.int64]
    Hashes: TypeAlias = NDArray[np.uint32]

TAGS = ("", "p", "h1", "h2", "h3", "li", "td", "div", "body", "br", "pre", "section", "dd", "blockquote")
_TAG_CODES = {tag: code for code, tag in enumerate(TAGS)} | {
    "h4": 4, "h5": 4, "h6": 4, "th": 6, "dt": 12, "article": 11, "main": 11, "code": 10, "figcaption": 13,
}  # fmt: skip
_DIGITS = re.compile(r"\d+")
_MASKED_CHARACTERS = 200
_REMEMBERED_CHARACTERS = 200
_LONGEST_ADDRESS = 1_000  # what is remembered must be bounded
_COMMAS = ",，、。"
_ENDS = frozenset('.!?。！？…:：;；"”»')
_IDEOGRAPHS = ("぀", "ヿ"), ("㐀", "鿿")
IDEOGRAPH = re.compile(f"[{''.join(f'{first}-{last}' for first, last in _IDEOGRAPHS)}]+")


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

    def ancestors(self) -> Iterator[Indices]:
        """Yield by element the ancestor 1, 2, 4, 8 … levels up, ``len(self)`` where there is none.

        What is joined with that of each of these in turn is joined with that of all ancestors (pointer jumping).
        """
        nowhere = len(self)
        above = np.append(np.where(self.parents < 0, nowhere, self.parents), nowhere)
        while (above != nowhere).any():
            yield above
            above = above[above]


@dataclass(eq=False)
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

    @cached_property
    def starts(self) -> list[int]:
        """By block, its first text node."""
        return [line[0] for line in self.nodes]

    @cached_property
    def styles(self) -> Hashes:
        """By block, the hash of what it looks like; see :func:`styles_of`."""
        return styles_of(self)


def blocks_of(page: Page) -> Blocks:
    """Cut ``page`` into blocks."""
    nodes, core, title = page.nodes, compiled("blocks"), frozenset(words_of(page.title[:LONGEST_NAMES]))
    if core is None or nodes.compiled is None:
        return _blocks(nodes, title)
    return _compiled_blocks(core, nodes, title)


def _blocks(nodes: Nodes, title: frozenset[str]) -> Blocks:
    lines, homes, elements = _walk(nodes, title)
    texts, with_text, table = _measured_lines(nodes, lines)
    lines = [lines[number] for number in with_text]
    first_nodes = np.array([line[0] for line in lines], np.int64)
    elements.first = np.searchsorted(first_nodes, elements.nodes)
    elements.last = np.searchsorted(first_nodes, elements.last)
    characters, tokens, commas, closed = table[:, :4].T.astype(np.float64, order="C")
    text_hashes, masked_hashes = table[:, 4:6].T.astype(np.uint32, order="C")
    return Blocks(
        texts=texts,
        nodes=lines,
        elements=np.array(homes, np.int64)[with_text] if lines else np.zeros(0, np.int64),
        characters=characters,
        linked=table[:, 6].astype(np.float64),
        tokens=tokens,
        commas=commas,
        closed=closed,
        text_hashes=text_hashes,
        masked_hashes=masked_hashes,
        link_hashes=table[:, 7].astype(np.uint32),
        around=elements,
    )


def _compiled_blocks(core: Any, nodes: Nodes, title: frozenset[str]) -> Blocks:
    """Do the same by the compiled core."""
    count = len(nodes)
    table, paths, homes = np.empty((6, count), np.int64), np.empty(count, np.uint32), np.empty(count, np.int64)
    lines, names = _compiled_rules(core).walk(nodes.compiled, table, paths, homes, title)
    own, parents, places, tags, depths, ends = table[:, : len(names)].copy()
    numbers, hashes = np.empty((5, len(lines))), np.empty((3, len(lines)), np.uint32)
    first_nodes = np.empty(len(lines), np.int64)
    texts, with_text = _compiled_measures().lines(nodes.compiled, lines, numbers, hashes, first_nodes)
    homes, first_nodes = homes[: len(lines)], first_nodes[: len(texts)]
    if len(texts) < len(lines):
        lines, homes = [lines[number] for number in with_text], homes[with_text]
    characters, tokens, commas, closed, linked = numbers[:, : len(texts)]
    text_hashes, masked_hashes, link_hashes = (column[: len(texts)].copy() for column in hashes)
    return Blocks(
        texts=texts,
        nodes=lines,
        elements=homes.copy(),
        characters=characters,
        linked=linked,
        tokens=tokens,
        commas=commas,
        closed=closed,
        text_hashes=text_hashes,
        masked_hashes=masked_hashes,
        link_hashes=link_hashes,
        around=Elements(
            nodes=own,
            parents=parents,
            first=first_nodes.searchsorted(own),
            last=first_nodes.searchsorted(ends),
            places=places,
            tags=tags,
            names=names,
            paths=paths[: len(names)].copy(),
            depths=depths,
        ),
    )


def _measured_lines(nodes: Nodes, lines: list[list[int]]) -> tuple[list[str], list[int], Indices]:
    """Return the normalised texts, which lines have text, and a row of numbers for each of these."""
    texts, with_text, rows = [], [], []
    for number, line in enumerate(lines):
        text, measures = _measure("".join([nodes.texts[index] for index in line]))
        if text:
            texts.append(text)
            with_text.append(number)
            rows.append((*measures, *_linked(nodes, line, measures[0])))
    return texts, with_text, np.array(rows, np.int64).reshape(-1, 8)


def _walk(nodes: Nodes, title: frozenset[str]) -> tuple[list[list[int]], list[int], Elements]:
    """Return the lines (text nodes), the element each stands in, and the elements (``last`` still in nodes)."""
    lines: list[list[int]] = []
    homes: list[int] = []
    line: list[int] | None = None
    home_of = [0] * len(nodes)  # of each node, the nearest block-level element at or above it
    place, name = attributes_of(nodes, 0, 0, title)
    places, paths, depths, names = [place], [0], [0], [name]
    columns = [(0, -1, _TAG_CODES["body"])]
    open_ends, end = [len(nodes)], len(nodes)  # of the block-level elements that are open; of the innermost
    for index, tag in enumerate(nodes.tags[1:], 1):
        while index >= end:
            open_ends.pop()
            end, line = open_ends[-1], None
        home = home_of[nodes.parents[index]]
        if tag is TEXT:
            if line is None:
                line = []
                lines.append(line)
                homes.append(home)
            line.append(index)
        elif tag in INLINE:
            home_of[index] = home
        else:
            home_of[index] = len(columns)
            columns.append((index, home, _TAG_CODES.get(tag, 0)))
            place, name = attributes_of(nodes, index, places[home] | PLACE_OF_TAG.get(tag, 0), title)
            places.append(place)
            names.append(name)
            paths.append(_step(paths[home], tag, name))
            depths.append(depths[home] + 1)
            end, line = nodes.ends[index], None
            open_ends.append(end)
    own, parents, tags = np.ascontiguousarray(np.array(columns, np.int64).T)
    ends = np.array(nodes.ends, np.int64)
    return lines, homes, Elements(
        own, parents, own, ends[own], np.array(places, np.int64), tags, names,
        np.array(paths, np.uint32), np.array(depths, np.int64),
    )  # fmt: skip


@lru_cache(maxsize=1)
def _compiled_measures() -> Any:
    core: Any = compiled("lines")
    return core.Measures(_COMMAS, _ENDS, _IDEOGRAPHS, _MASKED_CHARACTERS)


@lru_cache(maxsize=1)
def _compiled_rules(core: Any) -> Any:
    own = HEADINGS, WHOLE, NEAR, LONGEST_HEADING, spoken_names
    return core.Rules(INLINE, _TAG_CODES, PLACE_OF_TAG, READ, comment_place, _step, LONGEST_NAMES, own)


@lru_cache(maxsize=65_536)
def _step(path: int, tag: str, names: str) -> int:
    """Return the path one element further down; digits in class and id do not count."""
    return hash32(f"{path} {tag} {_DIGITS.sub('', names)}")


def _measured(written: str) -> tuple[str, tuple[int, int, int, int, int, int]]:
    """Return the normalised text, its characters, tokens, commas, how it ends, its hash and its masked hash."""
    parts = written.split()
    text, words = " ".join(parts), len(parts)
    characters = len(text) - words + 1
    own_hash = hash32(text)
    if text.isascii():
        tokens, commas = words, text.count(",")
    else:
        ideographic = len(text) - len(IDEOGRAPH.sub("", text)) > characters // 3
        tokens, commas = characters if ideographic else words, sum(map(text.count, _COMMAS))
    masked = own_hash if len(text) > _MASKED_CHARACTERS else hash32(_DIGITS.sub("0", text))
    return text, (characters, tokens, commas, text[-1:] in _ENDS, own_hash, masked)


# what stands in every page of a site is measured once
_remembered = lru_cache(maxsize=16_384)(_measured)


def _measure(written: str) -> tuple[str, tuple[int, int, int, int, int, int]]:
    return _remembered(written) if len(written) <= _REMEMBERED_CHARACTERS else _measured(written)


def _linked(nodes: Nodes, line: list[int], characters: int) -> tuple[int, int]:
    """Return the characters of a line that are inside links, and the hash of the first link's address (else 0)."""
    links = nodes.links
    if len(line) == 1:
        link = links[line[0]]
        return (characters, _address_hash(nodes.elements[link].get("href"))) if link >= 0 else (0, 0)
    linked = link_hash = 0
    for index in line:
        if (link := links[index]) >= 0:
            linked += len(nodes.texts[index].replace(" ", ""))
            link_hash = link_hash or _address_hash(nodes.elements[link].get("href"))
    return min(linked, characters), link_hash


def _address_hash(href: str | None) -> int:
    if not href:
        return 0
    return _remembered_hash(href) if len(href) <= _LONGEST_ADDRESS else hash32(href)


_remembered_hash = lru_cache(maxsize=16_384)(hash32)
