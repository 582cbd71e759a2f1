"""The paths of a site's pages merged to one tree, and the fewest marks and shortest selectors for its content.

Each path has the weight of the text that was kept there, and of the text that was dropped. A mark says of a path
that all below it is kept, or dropped, down to the next mark. What a mark costs is set against what it mends, so
that few are made. Time is linear in the number of paths.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import combinations

from denoise_crawler.page import TEXT, Page
from denoise_crawler.rules.selectors import Names, PathSelector, names_of

LEAST_TEXT = 200  # characters: a page with less kept text weighs less than others
MAX_PATHS = 200_000
# Tags that say by themselves what stands in them.
_MEANINGFUL_TAGS = frozenset(
    {"article", "main", "nav", "aside", "footer", "header", "figure", "figcaption", "form", "time", "address"}
    | {"h1", "h2", "h3", "h4", "h5", "h6", "blockquote", "pre", "table", "ul", "ol", "dl", "hr", "label", "iframe"}
)
_MOST_CLASSES = 4
_MOST_AROUND = 8


@dataclass(slots=True)
class PathTree:
    """Paths by column, parents first; path 0 is the body. ``pages`` counts the pages that have a path."""

    names: list[Names] = field(default_factory=lambda: [Names("body")])
    parents: list[int] = field(default_factory=lambda: [-1])
    kept: list[float] = field(default_factory=lambda: [0.0])
    dropped: list[float] = field(default_factory=lambda: [0.0])
    pages: list[int] = field(default_factory=lambda: [0])
    _last: list[int] = field(default_factory=lambda: [-1])
    _numbers: dict[tuple[int, Names], int] = field(default_factory=dict)
    _added: int = 0

    def __len__(self) -> int:
        return len(self.names)

    def add(self, page: Page, noise: Sequence[bool], known: frozenset[str], title: range = range(0)) -> None:
        """Add a page, whose kept text weighs 1, with the names ``known``; its ``title`` has a rule of its own."""
        nodes, characters = page.nodes, page.characters
        whole = sum(count for count, gone in zip(characters, noise, strict=True) if not gone)
        weight = 1 / max(whole, LEAST_TEXT)
        path_of: list[int] = []
        for node, (tag, parent) in enumerate(zip(nodes.tags, nodes.parents, strict=True)):
            if tag is TEXT:
                path_of.append(path_of[parent])
                if node not in title:
                    (self.dropped if noise[node] else self.kept)[path_of[parent]] += characters[node] * weight
            else:
                path_of.append(self._path(path_of[parent], names_of(nodes.elements[node], known)) if node else 0)
                self._see(path_of[node])
        self._added += 1

    def path(self, number: int) -> list[Names]:
        """Return the names of a path from the body on."""
        names: list[Names] = []
        while number >= 0:
            names.append(self.names[number])
            number = self.parents[number]
        return names[::-1]

    def marks(self, price: float, least_pages: int) -> dict[int, bool]:
        """Return the marks that mend most: of each marked path whether it is kept.

        Args:
            price: What a mark costs, in pages of kept text.
            least_pages: On how many pages a path stands at least that is marked as dropped.
        """
        size = len(self)
        if_dropped, if_kept = list(self.kept), list(self.dropped)  # what is wrong, given what is above
        for number in range(size - 1, 0, -1):
            parent, to_drop = self.parents[number], price if self.pages[number] >= least_pages else float("inf")
            if_dropped[parent] += min(if_dropped[number], if_kept[number] + price)
            if_kept[parent] += min(if_kept[number], if_dropped[number] + to_drop)
        states, marks = [False], dict[int, bool]()
        if if_kept[0] < if_dropped[0]:
            states[0] = marks[0] = True
        for number in range(1, size):
            above = states[self.parents[number]]
            marked = price if not above or self.pages[number] >= least_pages else float("inf")
            same, other = (if_kept, if_dropped) if above else (if_dropped, if_kept)
            states.append(above)
            if other[number] + marked < same[number]:
                states[number] = marks[number] = not above
        return marks

    def regions(self, marks: dict[int, bool]) -> tuple[list[float], list[float], list[bool]]:
        """Return by path its state by ``marks``, and the weights kept and dropped down to the next marks."""
        kept, dropped = list(self.kept), list(self.dropped)
        states = [marks.get(0, False)]
        for number in range(1, len(self)):
            states.append(marks.get(number, states[self.parents[number]]))
        for number in range(len(self) - 1, 0, -1):
            if number not in marks:
                kept[self.parents[number]] += kept[number]
                dropped[self.parents[number]] += dropped[number]
        return kept, dropped, states

    def by_name(self) -> dict[str, list[int]]:
        """Return the paths whose last element has a tag (``div``), id (``#story``) or class (``.ad``)."""
        paths: dict[str, list[int]] = {}
        for number, names in enumerate(self.names):
            own = [names.tag, *([f"#{names.id}"] if names.id else []), *(f".{name}" for name in names.classes)]
            for name in own:
                paths.setdefault(name, []).append(number)
        return paths

    def _path(self, parent: int, names: Names) -> int:
        number = self._numbers.get((parent, names))
        if number is None:
            if len(self) >= MAX_PATHS:
                return parent
            number = self._numbers[parent, names] = len(self)
            self.names.append(names)
            self.parents.append(parent)
            self.kept.append(0.0)
            self.dropped.append(0.0)
            self.pages.append(0)
            self._last.append(-1)
        return number

    def _see(self, number: int) -> None:
        if self._last[number] != self._added:
            self._last[number] = self._added
            self.pages[number] += 1


class ShortSelectors:
    """Finds selectors for the marks of a tree.

    Args:
        tree: The paths of a site.
        marks: The marked paths, and whether each is kept.
        harm: How much a selector may do wrong elsewhere, in pages of kept text.
    """

    def __init__(self, tree: PathTree, marks: dict[int, bool], harm: float) -> None:
        self._tree, self._marks, self._most_harm = tree, marks, harm
        self._kept, self._dropped, self._states = tree.regions(marks)
        self._by_name = tree.by_name()

    def best(self, number: int) -> PathSelector:
        """Return the shortest selector for a marked path that does little harm, else the one that does least."""
        path = self._tree.path(number)
        best, least = PathSelector((path[-1],)), float("inf")
        for candidate in _candidates(path):
            harm = self._harm(candidate, self._marks[number])
            if harm <= self._most_harm:
                return candidate
            if harm < least:
                best, least = candidate, harm
        return best

    def _harm(self, selector: PathSelector, keeps: bool) -> float:
        last = selector.steps[-1]
        names = [f"#{last.id}"] if last.id else [f".{name}" for name in last.classes] or [last.tag]
        paths = min((self._by_name.get(name, []) for name in names), key=len)
        harm = 0.0
        for number in paths:
            if number in self._marks or self._states[number] == keeps:
                continue
            if last.fit(self._tree.names[number]) and selector.fits(self._tree.path(number)):
                gain = self._kept[number] - self._dropped[number]
                harm += -gain if keeps else gain
        return harm


def _candidates(path: Sequence[Names]) -> Iterator[PathSelector]:
    """Yield selectors for the last element of ``path``, the shortest first."""
    last = path[-1]
    own = list(_own_names(last))
    for names in own:
        yield PathSelector((names,))
    around = [names for above in reversed(path[1:-1]) for names in _own_names(above) if names.id or names.classes]
    inner = own or [Names(last.tag)]
    for outer in around[:_MOST_AROUND]:
        for names in (*inner[:_MOST_CLASSES], Names(last.tag)):
            yield PathSelector((outer, names))
    chain = [_one_name(names) for names in path]
    for start in range(len(chain) - 2, -1, -1):
        if start == 0 or chain[start].id or chain[start].classes:
            yield PathSelector(tuple(chain[start:]), direct=True)


def _one_name(names: Names) -> Names:
    return Names(names.tag, names.id) if names.id else Names(names.tag, classes=names.classes[:1])


def _own_names(names: Names) -> Iterator[Names]:
    if names.id:
        yield Names(names.tag, names.id)
    classes = names.classes[:_MOST_CLASSES]
    yield from (Names(names.tag, classes=(name,)) for name in classes)
    yield from (Names(names.tag, classes=pair) for pair in combinations(classes, 2))
    if len(classes) > 2:
        yield Names(names.tag, classes=classes)
    if names.tag in _MEANINGFUL_TAGS:
        yield Names(names.tag)
