"""The shortest selector that finds a marked path, and little else that it would change for the worse."""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING

from denoise_crawler.rules.path_selector import Names, PathSelector

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from denoise_crawler.rules.path_tree import PathTree

# Tags that say by themselves what stands in them.
_TELLING_TAGS = frozenset(
    {"article", "main", "nav", "aside", "footer", "header", "figure", "figcaption", "form", "time", "address"}
    | {"h1", "h2", "h3", "h4", "h5", "h6", "blockquote", "pre", "table", "ul", "ol", "dl", "hr", "label", "iframe"}
)
_MOST_CLASSES = 4
_MOST_AROUND = 8


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
        found = min((self._by_name.get(name, []) for name in names), key=len)
        harm = 0.0
        for number in found:
            if number in self._marks or self._states[number] == keeps:
                continue
            if last.fit(self._tree.names[number]) and selector.fits(self._tree.path(number)):
                gain = self._kept[number] - self._dropped[number]
                harm += -gain if keeps else gain
        return harm


def _candidates(path: Sequence[Names]) -> Iterator[PathSelector]:
    """Yield selectors for the last element of ``path``, the shortest first."""
    last = path[-1]
    own = list(_own(last))
    for names in own:
        yield PathSelector((names,))
    around = [names for above in reversed(path[1:-1]) for names in _own(above) if names.id or names.classes]
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


def _own(names: Names) -> Iterator[Names]:
    if names.id:
        yield Names(names.tag, names.id)
    classes = names.classes[:_MOST_CLASSES]
    yield from (Names(names.tag, classes=(name,)) for name in classes)
    yield from (Names(names.tag, classes=pair) for pair in combinations(classes, 2))
    if len(classes) > 2:
        yield Names(names.tag, classes=classes)
    if names.tag in _TELLING_TAGS:
        yield Names(names.tag)
