"""The nodes of a page's tree in document order: elements and runs of text that readers see."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate, compress
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from lxml.etree import _Element

from denoise_crawler import kernel
from denoise_crawler.kernel.html_names import INLINE, TEXT, URL_ATTRIBUTES
from denoise_crawler.page.opaque import BLOCKS, HEADINGS, NOTICE, OPAQUE, LineNumbers, is_no_notice, is_read
from denoise_crawler.page.parsing import parse

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from typing_extensions import Self


__all__ = ["INLINE", "TEXT", "URL_ATTRIBUTES", "Columns", "Element", "Nodes", "hidden_nodes", "nodes_of"]

Element: TypeAlias = "_Element"
_NEVER_TEXT = frozenset({"script", "style"})
_SKIPPED = _NEVER_TEXT | {"head", "noscript", "template"}
_LONGEST_LINK = 1_000  # characters: an ``a`` that holds more was never closed, or holds an article
_MADE_WHEN_ASKED_FOR = "tags", "parents", "ends", "links"
_COMPILED = (
    "hold", "attributes_of", "address_of", "tagged", "holds", "lines", "tag_of",
    "end_of", "link_of", "count_tags", "rename", "length", "characters", "counts",
)  # fmt: skip
_TEXTS = frozenset({TEXT})


@dataclass(frozen=True, slots=True, eq=False)
class Columns:
    """The nodes of a page as the kernel reads them: ``tags`` are numbers of ``names``, all columns int32."""

    names: list[str]
    tags: NDArray[np.int32]
    parents: NDArray[np.int32]
    ends: NDArray[np.int32]
    links: NDArray[np.int32]


@dataclass(eq=False)
class Nodes:
    """The nodes of a page in document order, one column per property; node 0 is the body.

    A node is an element or a non-empty run of text (``tags[i] == "#text"``). The subtree of node ``i`` is
    ``range(i, ends[i])``; ``links[i]`` is the nearest link at or above it, -1 without one: an ``a`` with an
    address and not a whole article in it. ``elements[i]`` is the element, for text the one it stands in; they are
    for reading, and who changes a tree reads :attr:`Page.root` first.
    ``signed`` is what :func:`~denoise_crawler.page.signs.signed` found, ``formulas`` what
    :func:`~denoise_crawler.page.signs.may_be_formulas` did; the walk of the compiled core finds both.
    ``compiled`` are the same columns as the compiled core keeps them, None without the core; of these the lists
    are made when they are asked for, and its methods stand in the place of those here.
    """

    tags: list[str]
    parents: list[int]
    ends: list[int]
    texts: list[str]
    links: list[int]
    elements: Sequence[Element]
    compiled: Any = None
    signed: Sequence[int] | None = None
    formulas: Sequence[int] | None = None

    @classmethod
    def of_compiled(cls, columns: Any) -> Self:
        """Return the nodes that the compiled core keeps."""
        nodes = cls.__new__(cls)
        nodes.compiled, nodes.elements, nodes.texts = columns, columns, columns.texts
        vars(nodes).update([(name, getattr(columns, name)) for name in _COMPILED])
        return nodes

    if not TYPE_CHECKING:  # which would take any name

        def __getattr__(self, name: str) -> list[Any]:
            if name not in _MADE_WHEN_ASKED_FOR:
                raise AttributeError(name)
            numbers = self._table()[_MADE_WHEN_ASKED_FOR.index(name)].tolist()
            made = list(map(self.compiled.names.__getitem__, numbers)) if name == "tags" else numbers
            setattr(self, name, made)
            return made

    def __len__(self) -> int:
        return len(self.elements)

    @cached_property
    def columns(self) -> Columns:
        """The columns that the kernel reads."""
        if self.compiled is not None:
            return Columns(self.compiled.names, *self._table())
        numbers = {name: number for number, name in enumerate(dict.fromkeys(self.tags))}
        columns = [numbers[tag] for tag in self.tags], self.parents, self.ends, self.links
        return Columns(list(numbers), *np.array(columns, np.int32))

    def _table(self) -> NDArray[np.int32]:
        """Return the columns that the compiled core keeps, as they are now."""
        table = np.empty((4, len(self)), np.int32)
        self.compiled.fill(table)
        return table

    @property
    def names(self) -> Iterable[str]:
        """All tags that nodes have, and others that were met."""
        return self.compiled.names if self.compiled is not None else self.tags

    @property
    def has_text(self) -> bool:
        """Whether any node is a run of text."""
        return self.holds(0, len(self), _TEXTS)

    def kept_share(self, index: int, noise: Sequence[bool] | None) -> float:
        """Return the share of the characters below a node that is kept; 1 without any."""
        end = self.end_of(index)
        if noise is None or not any(noise[index:end]):
            return 1.0
        texts = self.texts[index:end]
        size, dropped = sum(map(len, texts)), sum(map(len, compress(texts, noise[index:end])))
        return (size - dropped) / size if size else 1.0

    def hold(self) -> None:
        """Keep a reference to all elements: the owner of the tree may remove them."""

    def attributes_of(
        self, index: int, readers: Mapping[str, Callable[[str], int | None]]
    ) -> tuple[str, str, int] | None:
        """Return the class and id of a node, and what ``readers`` make of its others; None if it has none."""
        if not (attributes := {str(name): str(value) for name, value in self.elements[index].items()}):
            return None
        bits = 0
        for name in attributes.keys() & readers.keys():
            bits |= readers[name](attributes[name]) or 0
        return attributes.get("class", ""), attributes.get("id", ""), bits

    def address_of(self, link: int) -> str | None:
        """Return the address of a link."""
        return self.elements[link].get("href")

    def tagged(self, tags: frozenset[str]) -> list[int]:
        """Return the nodes that have one of the ``tags``."""
        return [index for index, tag in enumerate(self.tags) if tag in tags]

    def holds(self, start: int, stop: int, tags: frozenset[str], *, other: bool = False) -> bool:
        """Return True if a node from ``start`` up to ``stop`` has one of the ``tags``, or any ``other``."""
        return any((tag in tags) is not other for tag in map(self.tags.__getitem__, range(start, stop)))

    def lines(self, start: int, stop: int, inline: frozenset[str], most: int) -> list[list[int]]:
        """Return the texts from ``start`` up to ``stop`` by line: what stands in one block, up to a line break.

        The text that exceeds ``most`` characters of all is the last.
        """
        lines, last = list[list[int]](), -1  # the block of the last text
        for index in range(start, stop):
            if (tag := self.tags[index]) not in inline:
                last = -1
            elif tag == TEXT and most >= 0:
                most -= len(self.texts[index])
                block = self.parents[index]
                while block > 0 and self.tags[block] in inline:
                    block = self.parents[block]
                if block != last:
                    lines.append([])
                lines[-1].append(index)
                last = block
        return lines

    def tag_of(self, index: int) -> str:
        """Return ``tags[index]``, without a list of all."""
        return self.tags[index]

    def end_of(self, index: int) -> int:
        """Return ``ends[index]``, without a list of all."""
        return self.ends[index]

    def link_of(self, index: int) -> int:
        """Return ``links[index]``, without a list of all."""
        return self.links[index]

    def count_tags(self) -> Mapping[str, int]:
        """Return how many nodes have each tag."""
        return Counter(self.tags)

    def rename(self, index: int, tag: str) -> None:
        """Change the tag of a node; only before the columns are read."""
        self.tags[index] = tag

    def length(self) -> int:
        """Return the number of characters in all texts."""
        return sum(map(len, self.texts))

    def characters(self) -> list[int]:
        """Return the number of characters in each text, without white space."""
        return [len("".join(text.split())) if text else 0 for text in self.texts]

    def counts(self, noise: Sequence[bool] | None) -> tuple[int, int, int, int]:
        """Return the characters: all, those outside links, and of both those that are no ``noise``."""
        every, is_unlinked = self.characters(), [link < 0 for link in self.links]
        kept = every if noise is None else [0 if gone else one for one, gone in zip(every, noise, strict=True)]
        return sum(every), sum(compress(every, is_unlinked)), sum(kept), sum(compress(kept, is_unlinked))

    def children(self, index: int) -> Iterator[int]:
        """Yield the children of node ``index``."""
        ends, child, end = self.ends, index + 1, self.ends[index]
        while child < end:
            yield child
            child = ends[child]


def nodes_of(
    root: Element, skipped: frozenset[str] = _SKIPPED, *, hints: Callable[[Any], tuple[Any, ...]] | None = None
) -> tuple[Nodes, int]:
    """Walk a tree once, without recursion; return its nodes, without ``skipped`` tags, and its depth.

    ``hints`` returns the hints of the compiled core for elements with signs, and formulas: those of both first.
    """
    if (core := kernel.reader) is None:
        nodes, depth = _walk_tree(root, skipped)
        _leave_out_endless_links(nodes)
        return nodes, depth
    columns, depth = core.walk_tree(
        root, skipped, OPAQUE, frozenset(BLOCKS), HEADINGS, TEXT, NOTICE, is_no_notice, is_read,
        LineNumbers().fill, hints(core) if hints is not None else (),
    )  # fmt: skip
    columns.leave_out_links(_LONGEST_LINK)
    nodes = Nodes.of_compiled(columns)
    if columns.marked:
        nodes.signed, nodes.formulas = columns.marked
    return nodes, depth


def _walk_tree(root: Element, skipped: frozenset[str]) -> tuple[Nodes, int]:  # noqa: C901
    """Walk the tree in Python: one long function, since calls for each node would cost too much."""
    elements: list[Element] = [root]
    nodes = Nodes(["body"], [-1], [0], [""], [-1], elements)
    tags, parents, ends, texts = nodes.tags, nodes.parents, nodes.ends, nodes.texts
    links, runs, line_numbers = nodes.links, _TextRuns(nodes, elements), LineNumbers()
    # the parser puts what follows </html> beside the root
    children: Iterator[Element] = iter((root, *root.itersiblings("html")))
    above: list[tuple[Iterator[Element], int, Element]] = []
    swallowing: set[Element] = set()
    parent = deepest = 0
    while True:
        if (child := next(children, None)) is None:
            ends[parent] = len(tags)
            if not above:
                break
            children, parent, child = above.pop()
        elif type(tag := child.tag) is str and (
            tag not in skipped or (tag == "noscript" and is_no_notice(child, swallowing))
        ):
            if parent == 0 and (tag == "body" or not above):  # what stands beside the body belongs to it
                index = 0
                if tag == "body":
                    elements[0] = child
            else:
                index = len(tags)
                tags.append(tag)
                parents.append(parent)
                ends.append(index + 1)
                texts.append("")
                links.append(index if tag == "a" and child.get("href") is not None else links[parent])
                elements.append(child)
            if (tag not in OPAQUE or is_read(child, swallowing)) and not line_numbers.fill(child):
                if text := child.text:
                    if text.isspace():
                        runs.gap = True
                    else:
                        runs.add(index, text)
                if len(child):
                    above.append((children, parent, child))
                    deepest = max(deepest, len(above))
                    children, parent = iter(child), index
                    continue
            ends[index] = len(tags)
        if text := child.tail:
            if text.isspace():
                runs.gap = True
            else:
                runs.add(parent, text)
    runs.close()
    return nodes, deepest


def _leave_out_endless_links(nodes: Nodes) -> None:
    """Drop links that hold too much of the text around them: their content does not count as linked."""
    links = nodes.links
    own = [index for index, link in enumerate(links) if link == index]
    if not own:
        return
    until = list(accumulate(map(len, nodes.texts), initial=0))
    instead: dict[int, int] = {}
    for index in own:
        if until[nodes.ends[index]] - until[index] > _LONGEST_LINK:
            outer = links[nodes.parents[index]]
            instead[index] = instead.get(outer, outer)
    if instead:
        links[:] = [instead.get(link, link) for link in links]


def hidden_nodes(root: Element, otherwise: Nodes, too_much: Callable[[str], bool]) -> Nodes | None:
    """Find the text of a page that broken markup hides in head, noscript or an unclosed raw-text element.

    Return its nodes, ``otherwise`` if no text is hidden, None if some hidden markup is ``too_much`` to parse.
    """
    nodes, _ = nodes_of(root, _NEVER_TEXT | {"title", "noframes"})
    if nodes.has_text:
        return nodes
    swallowed = [element.text for element in root.iter("title", "noframes") if element.text]
    if not any("<" in text or len(text) > 500 for text in swallowed):
        return otherwise
    if too_much(longest := max(swallowed, key=len)):  # decoded entities may be tags
        return None
    if (inner := parse(longest)) is None:
        return otherwise
    nodes, _ = nodes_of(inner)
    return nodes if nodes.has_text else otherwise


class _TextRuns:
    """Adds runs of text to ``nodes``. Texts that only a comment or script separates are one run.

    ``gap`` says that white space followed the last text, so that the next word needs a space.
    """

    __slots__ = ("elements", "gap", "last", "nodes", "pending")

    def __init__(self, nodes: Nodes, elements: list[Element]) -> None:
        self.nodes, self.elements = nodes, elements
        self.last = 0  # the last run; 0 without one
        self.gap = False
        self.pending: dict[int, list[str]] = {}  # by run, the texts to append

    def add(self, parent: int, text: str) -> None:
        """Add ``text``, which is not blank, to node ``parent``."""
        if self.gap:
            self._add_space()
        nodes, index = self.nodes, len(self.nodes.tags)
        if self.last == index - 1 and self.last and nodes.parents[self.last] == parent:
            self.pending.setdefault(self.last, []).append(text)
            return
        self.last = index
        nodes.tags.append(TEXT)
        nodes.parents.append(parent)
        nodes.ends.append(index + 1)
        nodes.texts.append(text)
        nodes.links.append(nodes.links[parent])
        self.elements.append(self.elements[parent])

    def close(self) -> None:
        """Finish the runs."""
        if self.gap:
            self._add_space()
        for index, parts in self.pending.items():
            self.nodes.texts[index] += "".join(parts)

    def _add_space(self) -> None:
        """End the last run with a space."""
        self.gap = False
        texts, last = self.nodes.texts, self.last
        if last in self.pending:
            if not self.pending[last][-1][-1].isspace():
                self.pending[last].append(" ")
        elif last and not texts[last][-1].isspace():
            texts[last] += " "
