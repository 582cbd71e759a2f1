"""A site style tree as a drawing: Graphviz dot, and SVG, PDF or PNG of it (after pySST's, Yan 2012, 3.4)."""

from __future__ import annotations

import shutil
import subprocess
from dataclasses import dataclass, field
from heapq import heappop, heappush
from itertools import count, groupby
from textwrap import shorten
from typing import TYPE_CHECKING

from denoise_crawler.errors import needs

with needs("commands"):
    import graphviz

from denoise_crawler.errors import DrawingError
from denoise_crawler.methods.style_tree.method import THRESHOLD
from denoise_crawler.methods.style_tree.nodes import StyleNode
from denoise_crawler.page import TEXT

if TYPE_CHECKING:
    from denoise_crawler.methods.style_tree import SiteStyleTree
    from denoise_crawler.methods.style_tree.nodes import ElementNode

FORMATS = ("svg", "pdf", "png")
DEPTH, MIN_PAGES, MAX_NODES = 12, 2, 120
SECONDS = 60
_LABELS_IN_A_SEQUENCE = 6
_CHILDREN_OF_A_STYLE = 8
_WIDEST = 36
_COLOURS = {
    False: {"fillcolor": "#d3e3ff", "color": "#d0021b"},
    True: {"fillcolor": "#cecece", "color": "#f5c400"},
}


def tree_dot(
    tree: SiteStyleTree,
    *,
    depth: int = DEPTH,
    min_pages: int = MIN_PAGES,
    threshold: float = THRESHOLD,
    max_nodes: int = MAX_NODES,
    title: str = "",
) -> str:
    """Return ``tree`` in Graphviz's dot language; equal trees give equal text.

    Element nodes are boxes with their CompImp and number of pages, style nodes are dashed boxes with their
    sequence of children. Noise at ``threshold`` is grey with a yellow border, content blue with a red one.
    Drawn are the element nodes down to ``depth`` levels below the body, style nodes of ``min_pages`` pages or
    more (of all of them in a tree with fewer), and of all these ``max_nodes``: what most pages have first, the
    inside of noise last. What is left out is said where it would stand.
    """
    drawing = _Drawing(tree, depth, min(min_pages, tree.pages), threshold, max_nodes)
    graph = graphviz.Digraph(
        "site_style_tree",
        graph_attr={
            "rankdir": "LR",
            "ranksep": "0.3",
            "nodesep": "0.12",
            "fontname": "Helvetica",
            "fontsize": "11",
        },
        node_attr={
            "shape": "box",
            "fontname": "Helvetica",
            "fontsize": "10",
            "margin": "0.08,0.04",
            "penwidth": "1.5",
        },
        edge_attr={"arrowhead": "none", "color": "#888888"},
    )
    caption = "".join(f"{graphviz.escape(line)}\\l" for line in drawing.caption(title))
    graph.attr(label=graphviz.nohtml(caption), labelloc="t", labeljust="l")
    for box in drawing.boxes:
        style = "filled,dashed,rounded" if box.is_style else "filled"
        graph.node(box.name, graphviz.escape("\n".join(box.lines())), style=style, **_COLOURS[box.noise])
        if box.parent is not None:
            graph.edge(box.parent.name, box.name)
    return str(graph.source)


def rendered(dot: str, file_format: str, *, seconds: float = SECONDS) -> bytes:
    """Return a drawing in one of :data:`FORMATS`; raise :class:`DrawingError` if Graphviz cannot make it."""
    if file_format not in FORMATS:
        raise DrawingError(f"no drawing is made as {file_format!r}; the formats are dot, {', '.join(FORMATS)}")
    program = shutil.which("dot")
    if program is None:
        raise DrawingError(
            "Graphviz is not installed: its program dot makes the drawing (apt install graphviz, brew install "
            "graphviz, or https://graphviz.org/download/). A .dot file can be written without it."
        )
    try:
        run = subprocess.run(  # noqa: S603 - no shell, and the drawing goes in by stdin
            [program, f"-T{file_format}"], input=dot.encode(), capture_output=True, timeout=seconds, check=False
        )
    except subprocess.TimeoutExpired:
        raise DrawingError(
            f"Graphviz did not finish within {seconds:g} seconds: draw less of the tree (fewer nodes, less depth)"
        ) from None
    if run.returncode or not run.stdout:
        raise DrawingError(f"Graphviz failed: {run.stderr.decode(errors='replace').strip()[:500]}")
    return run.stdout


@dataclass(eq=False)
class _Box:
    """One node of the drawing."""

    name: str
    parent: _Box | None
    noise: bool
    is_style: bool
    said: list[str]
    not_drawn: int = 0

    def lines(self) -> list[str]:
        return [*self.said, f"… {self.not_drawn} not drawn"] if self.not_drawn else self.said


@dataclass(order=True)
class _Waiting:
    """An element or style node that may be drawn, in the order of its worth."""

    in_noise: bool
    fewer_pages: int  # negated, so that many pages come first
    level: int
    number: int
    node: ElementNode | StyleNode = field(compare=False)
    sequence: tuple[str, ...] = field(compare=False)  # of a style node
    run: int = field(compare=False)  # how many equal siblings an element node stands for
    parent: _Box | None = field(compare=False)


class _Drawing:
    """Chooses what is drawn of a tree. The tree's importance is brought up to date, nothing else in it changes."""

    def __init__(self, tree: SiteStyleTree, depth: int, min_pages: int, threshold: float, max_nodes: int) -> None:
        tree.refresh()
        self.tree, self.depth, self.min_pages, self.threshold = tree, depth, min_pages, threshold
        self.boxes: list[_Box] = []
        self.left_out = 0
        self._numbers = count()
        self._heap: list[_Waiting] = []
        self._wait(tree.root, 0, None)
        while self._heap:
            waiting = heappop(self._heap)
            if len(self.boxes) < max_nodes:
                self._draw(waiting)
            else:
                self.left_out += 1
                if waiting.parent is not None:
                    waiting.parent.not_drawn += 1

    def caption(self, title: str) -> list[str]:
        """Return the lines above the drawing."""
        tree = self.tree
        lines = [title] if title else []
        lines.append(
            f"{_pages(tree.pages)}; red: importance {self.threshold:g} or more in it, yellow: noise; "
            f"dashed: a sequence of children{', runs of equal siblings read as one' if tree.collapse else ''}"
        )
        if self.left_out:
            lines.append(f"… {self.left_out} more next to the {len(self.boxes)} nodes that are drawn")
        return lines

    def _wait(
        self,
        node: ElementNode | StyleNode,
        level: int,
        parent: _Box | None,
        *,
        sequence: tuple[str, ...] = (),
        run: int = 1,
    ) -> None:
        in_noise = parent is not None and parent.noise
        heappush(
            self._heap, _Waiting(in_noise, -node.pages, level, next(self._numbers), node, sequence, run, parent)
        )

    def _draw(self, waiting: _Waiting) -> None:
        node, sequence = waiting.node, waiting.sequence
        name, noise = f"n{len(self.boxes)}", node.peak < self.threshold
        box = _Box(name, waiting.parent, noise, isinstance(node, StyleNode), [])
        self.boxes.append(box)
        if isinstance(node, StyleNode):
            box.said += [f"n = {node.pages}", *_sequence(sequence)]
            self._wait_for_children(node, sequence, waiting.level, box)
        else:
            box.said += [_shown(node.label, waiting.run), f"{node.importance or 0.0:.2f} · {_pages(node.pages)}"]
            self._wait_for_styles(node, waiting.level, box)

    def _wait_for_styles(self, element: ElementNode, level: int, box: _Box) -> None:
        if element.is_leaf:
            return
        if level // 2 >= self.depth:
            box.said.append(f"… {_counted(len(element.styles), 'style')} below")
            return
        ordered = sorted(element.styles.items(), key=lambda item: (-item[1].pages, item[0]))
        shown = [(sequence, style) for sequence, style in ordered if style.pages >= self.min_pages]
        for sequence, style in shown:
            self._wait(style, level + 1, box, sequence=sequence)
        if folded := len(ordered) - len(shown):
            of = "one page" if self.min_pages == 2 else f"fewer than {self.min_pages} pages"
            box.said.append(f"+{_counted(folded, 'style')} of {of}{' each' if folded > 1 else ''}")

    def _wait_for_children(self, style: StyleNode, sequence: tuple[str, ...], level: int, box: _Box) -> None:
        children = iter(self.tree.children_of(style))
        runs = [[next(children) for _ in run] for _, run in groupby(sequence)]
        chosen = sorted(range(len(runs)), key=lambda place: (self._is_noise(runs[place]), place))
        for place in sorted(chosen[:_CHILDREN_OF_A_STYLE]):
            run = runs[place]
            self._wait(max(run, key=lambda child: child.peak), level + 1, box, run=len(run))
        box.not_drawn += len(chosen[_CHILDREN_OF_A_STYLE:])

    def _is_noise(self, run: list[ElementNode]) -> bool:
        return all(child.peak < self.threshold for child in run)


def _sequence(labels: tuple[str, ...]) -> list[str]:
    """Return the lines that show a sequence of children, runs as ``li+``."""
    runs = [_shown(label, len(list(run))) for label, run in groupby(labels)]
    lines = runs[:_LABELS_IN_A_SEQUENCE] or ["(nothing)"]
    return [*lines, f"… {len(runs) - len(lines)} more"] if len(runs) > len(lines) else lines


def _shown(label: str, run: int) -> str:
    """Return a label as a CSS selector would have it, shortened: ``div#main.wide width=50%``."""
    tag, *attributes = label.split("|")
    selector = "text" if label == TEXT else tag
    for attribute in attributes:
        name, _, value = attribute.partition("=")
        if name in ("class", "id"):
            sign = "." if name == "class" else "#"
            selector += "".join(f"{sign}{part}" for part in value.split())
        else:
            selector += f" {attribute}"
    plus = "+" if run > 1 else ""
    if len(selector) > _WIDEST:
        selector = (
            shorten(selector, _WIDEST, placeholder="…") if " " in selector[:_WIDEST] else selector[:_WIDEST] + "…"
        )
    return selector + plus


def _pages(number: int) -> str:
    return _counted(number, "page")


def _counted(number: int, what: str) -> str:
    return f"{number} {what}{'' if number == 1 else 's'}"
