"""Clean text: the kept text of a page, one line per block; and how much of the page is noise, in characters."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from typing import TypeAlias

import numpy as np

from denoise_crawler import kernel
from denoise_crawler.kernel.reference_text import joint, kind_of
from denoise_crawler.output.content.blocks import Formula
from denoise_crawler.output.content.code import PREFORMATTED, code_text, is_code
from denoise_crawler.output.content.formulas import formulas_of
from denoise_crawler.output.content.links import is_permalink
from denoise_crawler.output.content.pictures import Belonging
from denoise_crawler.page import Nodes, Page
from denoise_crawler.page.nodes import INLINE
from denoise_crawler.page.text import collapse_spaces


class WordJoiner:
    """Returns what to write between two texts of a line, as ``joint`` says it."""

    def __init__(self, nodes: Nodes) -> None:
        self._nodes = nodes
        self._last, self._end = -1, ""
        self._gap = False

    def new_line(self) -> None:
        """Forget what came before."""
        self._last, self._end, self._gap = -1, "", False

    def gap(self) -> None:
        """Note that something is left out here."""
        self._gap = True

    def between(self, index: int) -> str:
        """Return what to write between the previous text of the line and text node ``index``."""
        nodes, text = self._nodes, self._nodes.texts[index]
        last, end, gap, link = self._last, self._end, self._gap, nodes.links[index]
        self._last, self._end, self._gap = index, text[-1], False
        if last < 0:
            return ""
        parted = gap or (link >= 0 and 0 <= nodes.links[last] != link)
        raised, was_raised = [nodes.tags[nodes.parents[one]] == "sup" for one in (index, last)]
        return joint(end, text[0], parted=parted, raised=raised, was_raised=was_raised)


def text_of(nodes: Nodes, index: int) -> str:
    """Return the text of node ``index``, with parentheses around a ruby annotation that has none."""
    text, parent = nodes.texts[index], nodes.parents[index]
    if nodes.tags[parent] != "rt" or nodes.tags[nodes.parents[parent - 1]] == "rp":
        return text
    return f"({text.strip()})"


# --- the clean text of a page, and how much of the page is noise

Shown: TypeAlias = tuple[dict[int, str], dict[int, tuple[str, bool] | None], dict[int, list[tuple[int, str]]]]

_kind_of = lru_cache(maxsize=1_000)(kind_of)
_ANNOTATIONS = frozenset({"rt"})
_NEVER_CLOSED = frozenset({"p"})  # what a ``pre`` with one in it was


def clean_text(page: Page, noise: list[bool] | None = None) -> str:
    """Return the text of ``page`` without its ``noise`` nodes, each block-level element on lines of its own.

    List items start with ``- ``, indented by two spaces for each outer list. A table row of plain text is one line
    with tabs between its cells, as in ``innerText`` (HTML standard, 3.2.7). ``pre`` keeps its lines. All other
    white space becomes one space. A formula is its LaTeX where the page has it, once. No other words are added.
    The sign of a link to the place where it stands, as "¶" behind a heading, is left out.

    Args:
        page: The page.
        noise: Whether each node is noise; None if all is kept.

    Example:
        >>> print(clean_text(Page.parse("", "<h1>News</h1><ul><li>One<li>Two</ul>")))
        News
        - One
        - Two
    """
    return clean_texts(page, noise, [range(len(page.nodes))])[0]


def clean_texts(page: Page, noise: list[bool] | None, parts: Iterable[range]) -> list[str]:
    """Return the clean texts of ``parts`` of ``page``, in time that grows with the size of the page.

    The parts are subtrees in document order, none of which contains another.

    Example:
        >>> clean_texts(Page.parse("", "<p>One.<p>Two."), None, [range(1, 3), range(3, 5)])
        ['One.', 'Two.']
    """
    nodes = page.nodes
    pairs = [(part.start, part.stop) for part in parts]
    texts: list[str] = kernel.active.texts_of(
        nodes.texts,
        page.once(_columns),
        noise or [],
        _shown(page, noise),
        lambda index: code_text(nodes.elements[index]),
        lambda link: is_permalink(nodes, link),
        pairs,
    )
    return texts


def _columns(page: Page) -> tuple[np.ndarray, ...]:
    """Return by node what it is, its parent, the end of its subtree and the link that it stands in."""
    columns = page.nodes.columns
    kinds = np.array([_kind_of(name, INLINE) for name in columns.names], np.int32)
    return kinds[columns.tags], columns.parents, columns.ends, columns.links


def _shown(page: Page, noise: list[bool] | None) -> Shown:
    """Return what is written in the place of texts and elements, and before nodes: formulas, annotations, code."""
    nodes, on_page = page.nodes, page.once(formulas_of)
    texts = {
        index: text_of(nodes, index)
        for annotation in nodes.tagged(_ANNOTATIONS)
        for index in nodes.children(annotation)
        if nodes.texts[index]
    }
    elements: dict[int, tuple[str, bool] | None] = {
        index: (code_text(nodes.elements[index]), True)
        for index in nodes.tagged(PREFORMATTED)
        if not nodes.holds(index, nodes.end_of(index), _NEVER_CLOSED)
        and is_code(nodes, index)
        and nodes.kept_share(index, noise) == 1
    }
    before: dict[int, list[tuple[int, str]]] = {}
    if not on_page.elements and not on_page.places:
        return texts, elements, before
    belongs = Belonging(page, noise)
    for index, formula in on_page.elements.items():
        elements[index] = None
        if formula is not None and belongs(index):
            whole = isinstance(formula, Formula) and formula.display
            shown = formula.latex if isinstance(formula, Formula) else formula.text
            elements[index] = (collapse_spaces(shown) if whole else shown), whole
    for place in reversed(on_page.places):
        if place.node < len(nodes) and nodes.texts[place.node]:
            text = texts.get(place.node) or nodes.texts[place.node]
            texts[place.node] = f"{text[: place.offset]} {place.formula.latex} {text[place.offset :]}"
    for place in on_page.places:
        if belongs(place.parent):
            before.setdefault(place.node, []).append((place.parent, collapse_spaces(place.formula.latex)))
    return texts, elements, before


def count_characters(page: Page, noise: list[bool] | None) -> tuple[int, int]:
    """Count the visible and the kept characters of ``page``, which are those other than white space.

    Example:
        >>> count_characters(Page.parse("", "<p>One.<p>A two."), [False, True, True, False, False])
        (9, 5)
    """
    visible, _, kept, _ = page.nodes.counts(noise)
    return visible, kept


def noise_ratio(visible: int, kept: int) -> float:
    """Return the share (0 to 1) of the ``visible`` characters that were not ``kept``; 0 if none are visible."""
    return (visible - kept) / visible if visible else 0.0
