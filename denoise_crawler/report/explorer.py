"""The style tree of a site: where it comes from, its nodes as data, and its drawing."""

from __future__ import annotations

import pickle
import zlib
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from heapq import heappop, heappush
from itertools import count, groupby
from typing import Any, NamedTuple

from denoise_crawler.methods import MethodChoice
from denoise_crawler.methods.style_tree import SiteStyleTree
from denoise_crawler.methods.style_tree.importance import node_importance
from denoise_crawler.methods.style_tree.page_nodes import Labels
from denoise_crawler.methods.style_tree.tree import ElementNode, StyleNode, TreeOptions
from denoise_crawler.page import TEXT, Page
from denoise_crawler.page.text import collapse_spaces, counted
from denoise_crawler.report.figures import RunFigures
from denoise_crawler.report.rendering import render_page
from denoise_crawler.store import Store

MAX_NODES = 4_000
MAX_PAGES = 50  # of a sample
_MAX_BYTES = 64 << 20
_MAX_TEXTS, _MAX_TEXT_CHARACTERS = 3, 90  # of a node
_MAX_PLACES = 50
_MAX_NAMES = 12


@dataclass(slots=True)
class SiteSample:
    """Compressed pages of one site, for its style tree."""

    packed: list[bytes] = field(default_factory=list)
    size: int = 0

    def add(self, url: str, html: str | bytes) -> None:
        """Keep a page while there is room."""
        if len(self.packed) < MAX_PAGES and self.size <= _MAX_BYTES:
            self.packed.append(zlib.compress(pickle.dumps((url[:], html[:])), 1))
            self.size += len(self.packed[-1])

    def pages(self) -> Iterator[tuple[str, str | bytes]]:
        """Yield the (url, html) of the pages in order."""
        for packed in self.packed:
            yield pickle.loads(zlib.decompress(packed))  # noqa: S301 - packed by this process


def style_tree_of(
    site: str, sample: SiteSample, choice: MethodChoice, store: Store | None
) -> tuple[SiteStyleTree | None, str]:
    """Return the style tree of a site, and a note where it comes from.

    Args:
        site: The name of the site.
        sample: Pages of the site, which are learned if the store has no tree.
        choice: The method of the project, whose options count if it is ``style_tree``.
        store: The store of a crawl.

    Returns:
        The tree, None if there is none; and the note, or why there is none.
    """
    method = _new_tree(choice)
    if stored := store.knowledge(site, method.store_key) if store else []:
        try:
            method.merge_bytes(stored[0])
        except ValueError as error:
            return None, f"The style tree in the store cannot be read: {error}."
        no_words = " It keeps hashes, not words: name pages beside the store to see what nodes say."
        return method, "The tree is the one in the store." + ("" if sample.packed else no_words)
    for url, html in sample.pages():
        page = Page.parse(url, html, site=site)
        if not page.skipped:
            method.observe(page)
    if method.pages_known:
        return method, f"Learned from {counted(method.pages_known, 'page')} of those given."
    if store and not sample.packed:
        return None, (
            f"The store holds no style tree of this site ({method.store_key}): the method of the crawl keeps "
            "none, or had other options. Name pages to have one learned."
        )
    return None, "No page of this site can be read, so there is no style tree."


def _new_tree(choice: MethodChoice) -> SiteStyleTree:
    """Return an empty tree, with the options of the project if its method is ``style_tree``."""
    return SiteStyleTree(**(choice.options if choice.name == SiteStyleTree.name else {}))  # type: ignore[arg-type]


@dataclass(slots=True)
class TreeData:
    """The nodes in columns, parents first: node i is a child of ``parents[i]`` (-1: it is the root).

    ``labels[names[i]]`` is its name: the CSS selector of an element, or the selectors of the children of a style
    (``styles[i]`` is 1). ``counts`` are pages, ``importance`` is the node's CompImp and ``peaks`` the highest
    below it. ``texts`` are its texts on the pages shown (indices into ``strings``), ``places`` their numbers.
    ``left_out`` nodes are not included, ``left[i]`` of them children of i.
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
        """Return the columns for JSON."""
        return {name: getattr(self, name) for name in self.__slots__}


def tree_data(
    tree: SiteStyleTree, pages: Sequence[Page], *, threshold: float, max_nodes: int = MAX_NODES
) -> TreeData:
    """Return the nodes of a tree as data.

    Children of an element that has the same sequence of children on all its pages are its direct children.

    Args:
        tree: The tree; only its importance is refreshed.
        pages: Pages whose texts and numbers (from 1) the nodes show. They need not be in the tree.
        threshold: Below this importance a node is noise.
        max_nodes: How many nodes to include, those on most pages first.
    """
    explored = Explorer(tree, threshold, max_nodes)
    for number, page in enumerate(pages, 1):
        explored.add_page(number, page)
    return explored.data


class _Waiting(NamedTuple):
    """A node that may be shown, in the order of its worth: by pages, then by level; ``parent`` is a row."""

    negative_pages: int
    level: int
    number: int  # no two are equal, so nodes are never compared
    node: ElementNode | StyleNode
    parent: int
    labels: Labels  # the sequence of children of a style node


class Explorer:
    """Collects the nodes of a tree, then the texts of pages on them."""

    def __init__(self, tree: SiteStyleTree, threshold: float, max_nodes: int) -> None:
        tree.refresh()
        self.tree = tree
        self.data = TreeData(tree.pages_known, threshold)
        self._labels: dict[str, int] = {}
        self._strings: dict[str, int] = {}
        self.rows: dict[ElementNode, int] = {}
        self._waiting: list[_Waiting] = []  # a heap
        self._numbers = count()
        self._queue(tree.root, 0, -1)
        for _ in range(max_nodes):
            if self._waiting:
                self._add(heappop(self._waiting))
        self.data.left = dict(Counter(waiting.parent for waiting in self._waiting))
        self.data.left_out = len(self._waiting)

    def add_page(self, number: int, page: Page) -> None:
        """Add the texts of ``page`` to its nodes."""
        data = self.data
        for element, first in self.tree.first_nodes(page):
            row = self.rows.get(element)
            if row is None:
                continue
            if len(data.places[row]) < _MAX_PLACES:
                data.places[row].append(number)
            if len(data.texts[row]) < _MAX_TEXTS and (shown := _text_of_node(page, first)):
                text = self._index_of(self._strings, data.strings, shown)
                if text not in data.texts[row]:
                    data.texts[row].append(text)

    def _queue(self, node: ElementNode | StyleNode, level: int, parent: int, labels: Labels = ()) -> None:
        heappush(self._waiting, _Waiting(-node.pages, level, next(self._numbers), node, parent, labels))

    def _add(self, waiting: _Waiting) -> None:
        node, level, data, row = waiting.node, waiting.level, self.data, len(self.data.parents)
        name = _sequence_name(waiting.labels) if isinstance(node, StyleNode) else selector(node.label)
        data.parents.append(waiting.parent)
        data.names.append(self._index_of(self._labels, data.labels, name))
        data.styles.append(int(isinstance(node, StyleNode)))
        data.counts.append(node.pages)
        data.importance.append(round(node.importance, 3))
        data.peaks.append(round(node.peak, 3))
        data.texts.append([])
        data.places.append([])
        if isinstance(node, StyleNode):
            self._queue_children(node, row, level)
            return
        self.rows[node] = row
        styles = sorted(node.style_nodes.items(), key=lambda item: (-item[1].pages, item[0]))
        if len(styles) == 1 and styles[0][1].pages == node.pages:
            self._queue_children(styles[0][1], row, level)
            return
        for labels, style in styles:
            self._queue(style, level + 1, row, labels)

    def _queue_children(self, style: StyleNode, row: int, level: int) -> None:
        for child in self.tree.children_of(style):
            self._queue(child, level + 1, row)

    def _index_of(self, numbers: dict[str, int], names: list[str], name: str) -> int:
        if name not in numbers:
            numbers[name] = len(names)
            names.append(name)
        return numbers[name]


def _text_of_node(page: Page, index: int) -> str:
    """Return the beginning of the text in node ``index``, or the address of its picture."""
    nodes, parts, size = page.nodes, [], 0
    for text in nodes.texts[index : nodes.ends[index]]:
        if text:
            parts.append(text)
            size += len(text)
            if size > 4 * _MAX_TEXT_CHARACTERS:
                break
    shown = collapse_spaces(" ".join(parts))
    if not shown and nodes.tags[index] == "img":
        shown = f"picture {page.absolute(nodes.elements[index].get('src') or '')}"
    return shown if len(shown) <= _MAX_TEXT_CHARACTERS else shown[: _MAX_TEXT_CHARACTERS - 1] + "…"


def selector(label: str) -> str:
    """Return a label as a CSS selector.

    Example:
        >>> selector("div|class=wide|id=main|width=50%")
        'div.wide#main[width="50%"]'
    """
    if label == TEXT:
        return "text"
    tag, *attributes = label.split("|")
    parts = [tag]
    for attribute in attributes:
        name, _, value = attribute.partition("=")
        if name in ("class", "id"):
            parts += [f"{'#' if name == 'id' else '.'}{part}" for part in value.split()]
        else:
            parts.append(f'[{name}="{value}"]')
    return "".join(parts)


def _sequence_name(labels: Labels) -> str:
    """Return the selectors of a sequence of children, runs of equal ones as ``li+``."""
    names = [selector(label) + ("+" if len(list(run)) > 1 else "") for label, run in groupby(labels)]
    rest = [f"… {len(names) - _MAX_NAMES} more"] if len(names) > _MAX_NAMES else []
    return " ".join([*names[:_MAX_NAMES], *rest])


# --- the drawing of a few small pages and the style tree that they become, with CompImp as a formula

FORMULA = "CompImp(E) = (1 − γˡ)·NodeImp(E) + γˡ·Σ p·CompImp(S), and CompImp(S) is the mean over its children"
_RAISED = str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")


class DrawnNode(NamedTuple):
    """A node of a drawn tree, in document order.

    Attributes:
        row: Its row in the columns of the tree.
        calculation: How its CompImp comes about; empty for a leaf and for a style node.
        is_leaf: Whether nothing hangs below it.
        closes: How many nodes end with this leaf.
    """

    row: int
    calculation: str
    is_leaf: bool
    closes: int


def pages_html(pages: Sequence[Page], choice: MethodChoice, run: RunFigures, *, max_nodes: int) -> str:
    """Return a drawing of the tree of each page beside the style tree of all of them, with CompImp in numbers.

    Args:
        pages: The pages.
        choice: The method of the project, whose options count if it is ``style_tree``.
        run: What the page says of itself.
        max_nodes: The nodes drawn of each tree, those on most pages first.
    """
    trees = list[tuple[str, TreeData, list[DrawnNode]]]()
    names = [page.title or page.url for page in pages]
    for name, some in [*zip(names, ([page] for page in pages), strict=True), ("The style tree of both", pages)]:
        tree = _new_tree(choice)
        for page in some:
            tree.observe(page)
        explored = Explorer(tree, tree.threshold, max_nodes)
        for number, page in enumerate(some, 1):
            explored.add_page(number, page)
        trees.append((name, explored.data, _drawn(explored)))
    return render_page("pages.html", trees=trees, formula=FORMULA, run=run, threshold=trees[-1][1].threshold)


def _drawn(explored: Explorer) -> list[DrawnNode]:
    elements = {row: element for element, row in explored.rows.items()}
    below: list[list[int]] = [[] for _ in explored.data.parents]
    for row, parent in enumerate(explored.data.parents[1:], 1):
        below[parent].append(row)
    nodes, waiting = list[DrawnNode](), [(0, 0)]
    while waiting:
        row, closes = waiting.pop()  # closes: of the nodes around it
        calculation = _calculation(elements[row], explored.tree.options) if row in elements else ""
        nodes.append(DrawnNode(row, calculation, not below[row], closes))
        last = below[row][-1:]
        waiting += [(child, closes + 1 if [child] == last else 0) for child in reversed(below[row])]
    return nodes


def _calculation(element: ElementNode, options: TreeOptions) -> str:
    """Return how the CompImp of an element comes about, by the formulas of the paper."""
    styles = sorted(element.styles.values(), key=lambda style: -style.pages)
    counts = [style.pages for style in styles]
    if len(counts) < 2:
        return f"{options.gamma:g}·{styles[0].importance:.2f}" if element.style_nodes else ""
    own = node_importance(counts, element.pages, options.single_page)
    damping = f"{options.gamma:g}{str(len(counts)).translate(_RAISED)}"
    below = " + ".join(f"{style.pages}/{sum(counts)}·{style.importance:.2f}" for style in styles)
    return f"(1 − {damping})·{own:.2f} + {damping}·({below})"
