"""Finds the nodes of a selector step by step, within a bound of work that the page and the selector set.

libxml2 gathers the nodes of a path in sets whose time grows with the square of the page, or the cube. So each step
is taken from the nodes of the one before, without those that find nothing new; and before it is taken, its work is
bounded by what the page is like. No clock is asked: the same page gives the same text on every machine.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from lxml import etree

from denoise_crawler.errors import SelectorError
from denoise_crawler.page import Element, Page
from denoise_crawler.rules.xpath_steps import (
    BRANCH,
    FAR,
    Step,
    is_name,
    is_operator,
    paths_of,
    reach_of,
    reads_text,
    tokens_of,
)

MOST_WORK = 800_000_000  # about as many nanoseconds
_VISIT = 10  # what a node costs that is looked at
_GATHER = 25  # and one that its text is gathered from
_OPERAND = 30  # and each part of a predicate for it
_RESULT = 1_000  # and a node that is handed to Python, once for each node that it is found from
_SLOW = {"translate": 30, "normalize-space": 10}  # what a character costs
_REVERSE = {"preceding", "preceding-sibling"}
_ENDS = {"descendant", "descendant-or-self"}


@dataclass(frozen=True, slots=True)
class Shape:
    """What bounds the work of a selector on a page.

    Attributes:
        places: The number of each element, in order.
        ends: The number behind the last element in each.
        tags: How many elements have a name.
        nodes: The number of elements and of the texts that may stand between them.
        depth: The most levels.
        siblings: The most children of an element.
        levels: The sum of the levels of all nodes.
        neighbours: The sum of the siblings of all nodes.
        characters: The sum of the characters of each text, times its level.
    """

    places: dict[Element, int]
    ends: list[int]
    tags: Counter[Any]
    nodes: int
    depth: int
    siblings: int
    levels: int
    neighbours: int
    characters: int

    def reached(self, reach: str, nodes: int) -> int:
        """Return how many nodes are looked at along an axis from so many nodes."""
        if reach == FAR or nodes == 1:  # from the root, all is below
            return nodes * self.nodes
        most, whole = (self.depth, self.levels) if reach == BRANCH else (self.siblings, self.neighbours)
        return min(nodes * most, whole) if nodes <= self.nodes else nodes * most

    def named(self, names: Sequence[str]) -> int:
        """Return how many elements have the first of the names; any may be meant by a star."""
        return self.tags[names[0]] if names and names[0] in self.tags else self.nodes

    def text_of_all(self, slow: int) -> int:
        """Return what it costs to gather the text of each element."""
        return _GATHER * self.levels + slow * self.characters


def shape_of(page: Page) -> Shape:
    """Return the shape of a page; ask for it by ``page.once(shape_of)``."""
    places: dict[Element, int] = {}
    parents, depths, children, characters = list[int](), list[int](), list[int](), 0
    for number, element in enumerate(_root(page).iter("*")):
        above = element.getparent()
        parent = -1 if above is None else places[above]
        places[element] = number
        parents.append(parent)
        depths.append(depths[parent] + 1 if number else 1)
        children.append(0)
        if number:
            children[parent] += 1
        characters += depths[-1] * (len(element.text or "") + len(element.tail or ""))
    ends = list(range(1, len(parents) + 1))
    for number in range(len(parents) - 1, 0, -1):
        ends[parents[number]] = max(ends[parents[number]], ends[number])
    return Shape(
        places,
        ends,
        Counter(element.tag for element in places),
        nodes=2 * len(parents) + 1,
        depth=max(depths) + 1,
        siblings=2 * max(children) + 1,
        levels=2 * sum(depths) + 2 * len(depths),
        neighbours=sum((2 * count + 1) ** 2 for count in children),
        characters=characters,
    )


def _root(page: Page) -> Element:
    if page.tree is None:
        raise SelectorError("the page is empty")
    root: Element = page.tree.getroottree().getroot()
    return root


@lru_cache(maxsize=4_096)
def compiled(xpath: str) -> Any:
    """Return compiled XPath, smart strings included: they know where they stand."""
    return etree.XPath(xpath)


@lru_cache(maxsize=1_024)
def _plan(xpath: str) -> tuple[list[str], list[list[Step]] | None]:
    tokens = tokens_of(xpath)
    return tokens, paths_of(tokens)


@dataclass(slots=True)
class _Budget:
    """The work of a selector on a page: of all its paths, and all their steps."""

    xpath: str
    taken: int = 0

    def take(self, work: int) -> None:
        """Add some work; raise SelectorError if it is too much then."""
        self.taken += work
        if self.taken > MOST_WORK:
            raise SelectorError(f"{self.xpath!r:.200} takes too much work on this page ({self.taken:.1e} steps)")


def find_in_order(page: Page, xpath: str) -> Any:
    """Return what an expression finds on a page: a list in document order, or one value.

    Raises:
        SelectorError: It takes more work than MOST_WORK on this page.
        etree.XPathError: It cannot be evaluated.
    """
    tokens, paths = _plan(xpath)
    budget = _Budget(xpath)
    if paths is None:
        budget.take(_work(tokens, page.once(shape_of), 1))
        return compiled(xpath)(page.tree)
    results: dict[Any, Any] = {}
    for steps in paths:
        nodes: list[Any] = [page.tree]
        for number, step in enumerate(steps):
            if not nodes:
                break
            nodes = _take(page, step, nodes, budget, is_first=not number)
        results.update((_key(node), node) for node in nodes)
    if len(paths) > 1 or len(paths[0]) > 1:
        shape = page.once(shape_of)
        return sorted(results.values(), key=lambda node: _place(node, shape))
    return list(results.values())


def _take(page: Page, step: Step, nodes: list[Any], budget: _Budget, *, is_first: bool) -> list[Any]:
    """Return what a step finds from some nodes, each once."""
    find = compiled(step.text)
    if is_first:
        if "[" in step.tokens or "/" in step.tokens[1:] or "//" in step.tokens[1:]:
            shape = page.once(shape_of)
            budget.take(_work(step.tokens, shape, 1))
        from_root = list(find(page.tree))
        budget.take(2 * _RESULT * len(from_root))  # each is put in its place, too
        return from_root
    shape = page.once(shape_of)
    begins = _needed(step, nodes, shape)
    budget.take(_work_of_step(step, begins, shape))
    results: dict[Any, Any] = {}
    for node in begins:
        for one in find(node):
            results[_key(one)] = one
    return list(results.values())


def _needed(step: Step, nodes: list[Element], shape: Shape) -> list[Element]:
    """Leave out nodes from which a step finds nothing that it does not find from others."""
    nodes = sorted(nodes, key=lambda node: shape.places.get(node, -1))
    if step.counts and not step.is_below:
        return nodes
    if step.axis in _ENDS:
        return _topmost(nodes, shape)
    if step.axis == "following-sibling":
        return list({node.getparent(): node for node in reversed(nodes)}.values())
    if step.axis == "preceding-sibling":
        return list({node.getparent(): node for node in nodes}.values())
    if step.axis == "following":
        return [min(nodes, key=lambda node: shape.ends[shape.places[node]])]
    return nodes[-1:] if step.axis == "preceding" else nodes


def _topmost(nodes: list[Element], shape: Shape) -> list[Element]:
    outer, end = list[Any](), 0
    for node in nodes:
        place = shape.places.get(node, -1)
        if place >= end:
            outer.append(node)
            end = shape.ends[place]
    return outer


def _work_of_step(step: Step, nodes: list[Element], shape: Shape) -> int:
    reaches = {"following": shape.nodes, "preceding": shape.nodes, "parent": 1, "self": 1, "attribute": 1}
    reaches |= dict.fromkeys(("following-sibling", "preceding-sibling"), shape.siblings)
    reaches |= dict.fromkeys(("ancestor", "ancestor-or-self"), shape.depth)
    tokens = step.tokens[2:] if step.tokens[1:2] == ["::"] else step.tokens[1:]
    if step.axis in _ENDS and (step.is_below or not step.counts):
        looked_at = shape.nodes
    elif step.axis == "child":
        looked_at = min(shape.nodes, len(nodes) * shape.siblings)
    elif step.axis in _ENDS:
        looked_at = min(shape.depth, len(nodes)) * shape.nodes
    else:
        reach = reaches.get(step.axis, shape.nodes)
        if _is_first_only(step):  # one with a name may stand far away
            looked_at = len(nodes) * (1 if _is_any_first(step) else reach)
            each = _RESULT + (shape.siblings if step.axis in _REVERSE else 0)
            return _VISIT * looked_at + each * len(nodes) + _work(tokens, shape, len(nodes))
        looked_at = len(nodes) * reach
    results = min(looked_at, shape.nodes) if step.axis in (*_ENDS, "child") and not step.counts else looked_at
    sorting = results * shape.siblings if step.axis in _REVERSE else 0
    return _VISIT * looked_at + _RESULT * results + sorting + _work(tokens, shape, looked_at)


def _is_first_only(step: Step) -> bool:
    """Return True if only the first such node on the axis is wanted: its first predicate is ``[1]``."""
    tokens = step.tokens
    return "[" in tokens and tokens[(at := tokens.index("[")) + 1 : at + 3] == ["1", "]"]


def _is_any_first(step: Step) -> bool:
    """Return True if the first element on the axis is such a node, whatever its name."""
    return step.tokens[step.tokens.index("[") - 1] == "*"


def _work(tokens: Sequence[str], shape: Shape, nodes: int) -> int:
    """Return a bound of the work of an expression that is evaluated for so many nodes."""
    text = shape.text_of_all(max((_SLOW.get(word, 1) for word in tokens), default=1)) if reads_text(tokens) else 0
    total, open_ones, current, steps = 0, [(nodes, nodes, 0)], nodes, 0
    for at, word in enumerate(tokens):
        if word in "[(":
            base = current if word == "[" else open_ones[-1][0]
            open_ones.append((base, current, steps))
            current, steps = base, 0
        elif word in "])" and len(open_ones) > 1:
            _, before, steps = open_ones.pop()
            current = before if word == "]" else max(before, current)
        elif is_operator(tokens, at):
            current, steps = open_ones[-1][0], 0
        elif reach := reach_of(tokens, at):
            current, steps = shape.reached(reach, current), steps + 1
            total += current * _VISIT + text * (1 + current // shape.nodes)
            if steps > 1:  # each node is looked for among those found before
                total += current * shape.named(tokens[at + (1 if word == "//" else 2) : at + 3])
        elif word == ".":
            total += text * (1 + current // shape.nodes)
        else:
            if current <= shape.nodes and is_name(tokens, at):
                current = shape.named([word])
            total += current * _OPERAND
    return total


def _key(node: Any) -> Any:
    if isinstance(node, etree._Element):
        return node
    above = getattr(node, "getparent", lambda: None)()
    return (above, node.attrname, node.is_tail, str(node)) if above is not None else str(node)


def _place(node: Any, shape: Shape) -> tuple[int, int]:
    if isinstance(node, etree._Element):
        return shape.places.get(node, -1), 0
    above = getattr(node, "getparent", lambda: None)()
    if above is None:
        return -1, 0
    place = shape.places.get(above, -1)
    return (shape.ends[place], 0) if node.is_tail else (place, 1)
