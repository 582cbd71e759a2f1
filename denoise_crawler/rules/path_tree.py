"""The paths of a site's pages merged to one tree, and the fewest marks in it that tell content from noise.

Each path has the weight of the text that was kept there, and of the text that was dropped. A mark says of a path
that all below it is kept, or dropped, down to the next mark. What a mark costs is set against what it mends, so
that few are made. Time is linear in the number of paths.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from denoise_crawler.page import TEXT
from denoise_crawler.rules.path_selector import Names, names_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from denoise_crawler.page import Page

LEAST_TEXT = 200  # characters: a page with less kept text weighs less than others
MAX_PATHS = 200_000


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
        found: list[Names] = []
        while number >= 0:
            found.append(self.names[number])
            number = self.parents[number]
        return found[::-1]

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
        states, found = [False], dict[int, bool]()
        if if_kept[0] < if_dropped[0]:
            states[0] = found[0] = True
        for number in range(1, size):
            above = states[self.parents[number]]
            marked = price if not above or self.pages[number] >= least_pages else float("inf")
            same, other = (if_kept, if_dropped) if above else (if_dropped, if_kept)
            states.append(above)
            if other[number] + marked < same[number]:
                states[number] = found[number] = not above
        return found

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
        found: dict[str, list[int]] = {}
        for number, names in enumerate(self.names):
            for name in _all_names(names):
                found.setdefault(name, []).append(number)
        return found

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


def _all_names(names: Names) -> Iterator[str]:
    yield names.tag
    if names.id:
        yield f"#{names.id}"
    yield from (f".{name}" for name in names.classes)
