"""Draws a site style tree as Graphviz dot, SVG, PDF or PNG (after pySST, Yan 2012, 3.4)."""

from __future__ import annotations

import shutil
import subprocess
from dataclasses import dataclass
from itertools import groupby

from denoise_crawler.errors import needs

with needs("commands"):
    import graphviz

from denoise_crawler.errors import DrawingError
from denoise_crawler.methods.style_tree import SiteStyleTree
from denoise_crawler.methods.style_tree.method import THRESHOLD
from denoise_crawler.methods.style_tree.nodes import (
    ElementNode,
    Labels,
    QueuedNode,
    StyleNode,
    TreeQueue,
    run_name,
    sequence_names,
    styles_by_pages,
)
from denoise_crawler.page.text import counted

FORMATS = ("svg", "pdf", "png")
DEPTH, MIN_PAGES, MAX_NODES = 12, 2, 120
SECONDS = 60
_MAX_LABELS_OF_STYLE = 6
_MAX_CHILDREN_OF_STYLE = 8
_MAX_LABEL_CHARACTERS = 36
_FONT = {"fontname": "Helvetica"}
_SHAPE = {"rankdir": "LR", "ordering": "out"}
_LEVEL = {"weight": "100"}  # a first child stands beside its parent, so that the root is at the top left
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
    """Return a tree in Graphviz's dot language; equal trees give equal text.

    Element nodes are boxes with their CompImp and number of pages, style nodes are dashed boxes with their
    sequence of children. Noise is grey with a yellow border, content blue with a red one. Boxes say what is left
    out below them.

    Args:
        tree: The tree; only its importance is refreshed.
        depth: The levels of element nodes below the body.
        min_pages: Style nodes on fewer pages are left out.
        threshold: Below this importance a node is noise.
        max_nodes: How many nodes to draw, those on most pages first and the inside of noise last.
        title: The first line above the drawing.
    """
    drawing = _Drawing(tree, depth, min(min_pages, tree.pages), threshold, max_nodes)
    graph = graphviz.Digraph(
        "site_style_tree",
        graph_attr=_FONT | _SHAPE | {"ranksep": "0.3", "nodesep": "0.12", "fontsize": "11"},
        node_attr=_FONT | {"shape": "box", "fontsize": "10", "margin": "0.08,0.04", "penwidth": "1.5"},
        edge_attr={"arrowhead": "none", "color": "#888888"},
    )
    caption = "".join(f"{graphviz.escape(line)}\\l" for line in drawing.caption(title))
    graph.attr(label=graphviz.nohtml(caption), labelloc="t", labeljust="l")
    parents: set[str] = set()
    for box in drawing.boxes:
        style = "filled,dashed,rounded" if box.is_style else "filled"
        graph.node(box.name, graphviz.escape(box.label), style=style, **_COLOURS[box.noise])
        if box.parent is not None:
            graph.edge(box.parent.name, box.name, **({} if box.parent.name in parents else _LEVEL))
            parents.add(box.parent.name)
    return str(graph.source)


def render_dot(dot: str, file_format: str, *, seconds: float = SECONDS) -> bytes:
    """Return a drawing in Graphviz's dot language as an image in one of :data:`FORMATS`.

    Raises:
        DrawingError: Graphviz is missing, fails or takes longer than these ``seconds``.
    """
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
    lines: list[str]
    not_drawn: int = 0

    @property
    def label(self) -> str:
        return "\n".join([*self.lines, f"… {self.not_drawn} not drawn"] if self.not_drawn else self.lines)


class _Drawing:
    """Chooses the nodes to draw. Of the tree only the importance is refreshed."""

    def __init__(self, tree: SiteStyleTree, depth: int, min_pages: int, threshold: float, max_nodes: int) -> None:
        tree.refresh()
        self.tree, self.depth, self.min_pages, self.threshold = tree, depth, min_pages, threshold
        self.boxes: list[_Box] = []
        self._queue: TreeQueue[_Box | None] = TreeQueue(max_nodes)
        self._queue.add(tree.root, 0, None)
        for queued in self._queue:
            self._draw(queued)
        left_out = self._queue.parents_of_rest()
        self.left_out = len(left_out)
        for parent in filter(None, left_out):
            parent.not_drawn += 1

    def caption(self, title: str) -> list[str]:
        """Return the lines above the drawing."""
        tree = self.tree
        lines = [title] if title else []
        lines.append(
            f"{counted(tree.pages, 'page')}; red: importance {self.threshold:g} or more in it, yellow: noise; "
            f"dashed: a sequence of children{', runs of equal siblings read as one' if tree.collapse else ''}"
        )
        if self.left_out:
            lines.append(f"… {self.left_out} more next to the {len(self.boxes)} nodes that are drawn")
        return lines

    def _draw(self, queued: QueuedNode[_Box | None]) -> None:
        node = queued.node
        name, noise = f"n{len(self.boxes)}", node.peak < self.threshold
        box = _Box(name, queued.parent, noise, isinstance(node, StyleNode), [])
        self.boxes.append(box)
        if isinstance(node, StyleNode):
            names = sequence_names(queued.labels, _MAX_LABELS_OF_STYLE, _MAX_LABEL_CHARACTERS)
            box.lines += [counted(node.pages, "page"), *(names or ["(nothing)"])]
            self._queue_children(node, queued.labels, queued.level, box)
        else:
            name = run_name(node.label, queued.run, _MAX_LABEL_CHARACTERS)
            box.lines += [name, f"{node.importance:.2f} · {counted(node.pages, 'page')}"]
            self._queue_styles(node, queued.level, box)

    def _queue_styles(self, element: ElementNode, level: int, box: _Box) -> None:
        if element.is_leaf:
            return
        if level // 2 >= self.depth:
            box.lines.append(f"… {counted(len(element.styles), 'style')} below")
            return
        styles = styles_by_pages(element)
        for labels, style in styles:
            if style.pages >= self.min_pages:
                self._queue.add(style, level + 1, box, labels=labels, in_noise=box.noise)
        if folded := sum(style.pages < self.min_pages for _, style in styles):
            of = "one page" if self.min_pages == 2 else f"fewer than {self.min_pages} pages"
            box.lines.append(f"+{counted(folded, 'style')} of {of}{' each' if folded > 1 else ''}")

    def _queue_children(self, style: StyleNode, labels: Labels, level: int, box: _Box) -> None:
        children = iter(self.tree.unfold(style))
        runs = [[next(children) for _ in run] for _, run in groupby(labels)]
        chosen = sorted(range(len(runs)), key=lambda place: (self._is_noise(runs[place]), place))
        for place in sorted(chosen[:_MAX_CHILDREN_OF_STYLE]):
            run = runs[place]
            node = max(run, key=lambda child: child.peak)
            self._queue.add(node, level + 1, box, run=len(run), in_noise=box.noise)
        box.not_drawn += len(chosen[_MAX_CHILDREN_OF_STYLE:])

    def _is_noise(self, run: list[ElementNode]) -> bool:
        return all(child.peak < self.threshold for child in run)
