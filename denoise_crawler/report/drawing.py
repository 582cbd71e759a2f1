"""A drawing of a few small pages and the style tree that they become, with CompImp in numbers and as a formula."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from denoise_crawler.methods.style_tree import SiteStyleTree
from denoise_crawler.methods.style_tree.tree import ElementNode, TreeOptions, node_importance
from denoise_crawler.page import Page
from denoise_crawler.report.explorer import Explorer, TreeData
from denoise_crawler.report.figures import RunFigures
from denoise_crawler.report.rendering import render_page

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


def pages_html(pages: Sequence[Page], options: Mapping[str, Any], run: RunFigures, *, max_nodes: int) -> str:
    """Return a drawing of the tree of each page beside the style tree of all of them, with CompImp in numbers.

    Args:
        pages: The pages.
        options: Those of the method ``style_tree``.
        run: What the page says of itself.
        max_nodes: The nodes drawn of each tree, those on most pages first.
    """
    trees = list[tuple[str, TreeData, list[DrawnNode]]]()
    names = [page.title or page.url for page in pages]
    for name, some in [*zip(names, ([page] for page in pages), strict=True), ("The style tree of both", pages)]:
        tree = SiteStyleTree(**options)
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
