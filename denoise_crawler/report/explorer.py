"""A site style tree as data to explore: its nodes in columns, with where they stand and what they say."""

from __future__ import annotations

from dataclasses import dataclass, field
from heapq import heappop, heappush
from itertools import count, groupby
from typing import TYPE_CHECKING, Any

from denoise_crawler.methods.style_tree.digest import outline
from denoise_crawler.page import TEXT
from denoise_crawler.page.text import normalised

if TYPE_CHECKING:
    from collections.abc import Sequence

    from denoise_crawler.methods.style_tree import SiteStyleTree
    from denoise_crawler.methods.style_tree.digest import PageDigest
    from denoise_crawler.methods.style_tree.nodes import ElementNode, StyleNode
    from denoise_crawler.page import Page

MAX_NODES = 4_000
_TEXTS, _CHARACTERS = 3, 90
_PLACES = 50
_NAMES_IN_A_SEQUENCE = 12


@dataclass(slots=True)
class TreeData:
    """The nodes by columns, parents first: node i stands below ``parents[i]`` (-1: the root).

    ``labels[names[i]]`` is its name: of an element as a CSS selector has it, of a style (``styles[i]``: one
    sequence of children) the names of the children. ``counts`` are pages, ``importance`` and ``peaks`` CompImp of
    the node and the highest in it, ``texts`` what it says on the pages shown (indices into ``strings``),
    ``places`` on which of these (their numbers). ``left_out`` nodes had no place, ``left[i]`` of them below i.
    """

    pages: int
    threshold: float
    parents: list[int] = field(default_factory=list)
    names: list[int] = field(default_factory=list)
    styles: list[int] = field(default_factory=list)
    counts: list[int] = field(default_factory=list)
    importance: list[float] = field(default_factory=list)
    peaks: list[float] = field(default_factory=list)
    texts: list[list[int]] = field(default_factory=list)
    places: list[list[int]] = field(default_factory=list)
    left: dict[int, int] = field(default_factory=dict)
    labels: list[str] = field(default_factory=list)
    strings: list[str] = field(default_factory=list)
    left_out: int = 0

    def as_json(self) -> dict[str, Any]:
        """Return the columns to be written as JSON."""
        return {name: getattr(self, name) for name in self.__slots__}


def tree_data(
    tree: SiteStyleTree, pages: Sequence[Page], *, threshold: float, max_nodes: int = MAX_NODES
) -> TreeData:
    """Return ``tree`` with at most ``max_nodes`` nodes: those that most pages have first.

    ``pages`` are the pages whose texts and numbers (from 1) the nodes tell; they need not be in the tree.
    Where an element has one sequence of children on all its pages, they stand below it at once.
    """
    explored = _Explorer(tree, threshold, max_nodes)
    for number, page in enumerate(pages, 1):
        explored.lay(number, page)
    return explored.data


@dataclass(order=True)
class _Waiting:
    fewer_pages: int  # negated, so that many pages come first
    level: int
    number: int
    node: Any = field(compare=False)
    parent: int = field(compare=False)
    sequence: tuple[str, ...] | None = field(compare=False, default=None)  # of a style node


class _Explorer:
    """Takes the nodes out of a tree, then lays pages over them. Of the tree only the importance is refreshed."""

    def __init__(self, tree: SiteStyleTree, threshold: float, max_nodes: int) -> None:
        tree.refresh()
        self.tree = tree
        self.data = TreeData(tree.pages, threshold)
        self._labels: dict[str, int] = {}
        self._strings: dict[str, int] = {}
        self._numbers = count()
        self._of: dict[int, int] = {}  # the row of an element node, by its identity
        self._children: dict[int, Sequence[ElementNode]] = {}  # of style nodes, by identity: unfolded ones too
        self._heap: list[_Waiting] = []
        self._wait(tree.root, 0, -1)
        while self._heap:
            waiting = heappop(self._heap)
            if len(self.data.parents) < max_nodes:
                self._add(waiting)
            else:
                self.data.left_out += 1
                self.data.left[waiting.parent] = self.data.left.get(waiting.parent, 0) + 1

    def lay(self, number: int, page: Page) -> None:
        """Note what the nodes say on ``page``."""
        shape, data = outline(page), self.data
        waiting = [(self.tree.root, [0])]
        while waiting:
            element, found = waiting.pop()
            row = self._of.get(id(element))
            if row is None:
                continue
            if len(data.places[row]) < _PLACES:
                data.places[row].append(number)
            if len(data.texts[row]) < _TEXTS and (said := _said(page, found[0])):
                text = self._number(self._strings, data.strings, said)
                if text not in data.texts[row]:
                    data.texts[row].append(text)
            waiting += self._below(element, shape, found)

    def _below(
        self, element: ElementNode, shape: PageDigest, found: list[int]
    ) -> list[tuple[ElementNode, list[int]]]:
        below: list[tuple[ElementNode, list[int]]] = []
        for style, places in self.tree.known_below(element, shape, found):
            below += zip(self._children.get(id(style), ()), places.columns, strict=False)
        return below

    def _wait(
        self, node: ElementNode | StyleNode, level: int, parent: int, sequence: tuple[str, ...] | None = None
    ) -> None:
        heappush(self._heap, _Waiting(-node.pages, level, next(self._numbers), node, parent, sequence))

    def _add(self, waiting: _Waiting) -> None:
        node, data, row = waiting.node, self.data, len(self.data.parents)
        name = _shown(node.label) if waiting.sequence is None else _sequence(waiting.sequence)
        data.parents.append(waiting.parent)
        data.names.append(self._number(self._labels, data.labels, name))
        data.styles.append(int(waiting.sequence is not None))
        data.counts.append(node.pages)
        data.importance.append(round(node.importance or 0.0, 3))
        data.peaks.append(round(node.peak, 3))
        data.texts.append([])
        data.places.append([])
        if waiting.sequence is not None:
            self._wait_for_children(node, row, waiting.level)
            return
        self._of[id(node)] = row
        styles = [(sequence, style) for sequence, style in node.styles.items() if sequence]
        if len(styles) == 1 and styles[0][1].pages == node.pages:
            self._wait_for_children(styles[0][1], row, waiting.level)
            return
        for sequence, style in sorted(styles, key=lambda item: (-item[1].pages, item[0])):
            self._wait(style, waiting.level + 1, row, sequence)

    def _wait_for_children(self, style: StyleNode, row: int, level: int) -> None:
        children = self._children[id(style)] = self.tree.children_of(style)
        for child in children:
            self._wait(child, level + 1, row)

    def _number(self, numbers: dict[str, int], names: list[str], name: str) -> int:
        if name not in numbers:
            numbers[name] = len(names)
            names.append(name)
        return numbers[name]


def _said(page: Page, index: int) -> str:
    """Return the beginning of the text in node ``index``, or where its picture comes from."""
    nodes, parts, size = page.nodes, [], 0
    for text in nodes.texts[index : nodes.ends[index]]:
        if text:
            parts.append(text)
            size += len(text)
            if size > 4 * _CHARACTERS:
                break
    said = normalised(" ".join(parts))
    if not said and nodes.tags[index] == "img":
        said = f"picture {page.absolute(nodes.elements[index].get('src') or '')}"
    return said if len(said) <= _CHARACTERS else said[: _CHARACTERS - 1] + "…"


def _sequence(labels: tuple[str, ...]) -> str:
    """Return the names of a sequence of children, runs as ``li+``."""
    runs = [_shown(label) + "+" * (len(list(run)) > 1) for label, run in groupby(labels)]
    more = [f"… {len(runs) - _NAMES_IN_A_SEQUENCE} more"] if len(runs) > _NAMES_IN_A_SEQUENCE else []
    return " ".join(runs[:_NAMES_IN_A_SEQUENCE] + more)


def _shown(label: str) -> str:
    """Return a label as a CSS selector would have it: ``div#main.wide[width="50%"]``."""
    if label == TEXT:
        return "text"
    tag, *attributes = label.split("|")
    selector = tag
    for attribute in attributes:
        name, _, value = attribute.partition("=")
        if name in ("class", "id"):
            selector += "".join(("#" if name == "id" else ".") + part for part in value.split())
        else:
            selector += f'[{name}="{value}"]'
    return selector
