"""The page as the NTA paper annotates it: repaired markup with the type, coherence and density of each element."""

from __future__ import annotations

from lxml import etree
from lxml.etree import _Element

from denoise_crawler.methods.node_type.method import Annotation, annotate
from denoise_crawler.output.safe_markup import markup_of, repair_page
from denoise_crawler.page import TEXT, Page

TYPE = "data-node-type"
COHERENCE = "data-coherence"
DENSITY = "data-density"


def annotated_html(page: Page) -> str:
    """Return ``page`` repaired, each element with ``data-node-type``, ``data-coherence`` and ``data-density``.

    Types are ``text``, ``link``, ``image``, ``ignorable``; both figures are from 0 to 1. Text beside elements is
    wrapped in a ``span``, as in the paper. The page's own tree is not changed.
    """
    annotation = annotate(page)
    root, made = repair_page(page)
    _wrap_loose_text(page, annotation, made)
    for index, element in enumerate(made):
        if element is not None:
            element.set(TYPE, annotation.types[index].name.lower())
            element.set(COHERENCE, f"{annotation.coherence[index]:.4f}")
            element.set(DENSITY, f"{annotation.density[index]:.4f}")
    return markup_of(root)


def _wrap_loose_text(page: Page, annotation: Annotation, made: list[_Element | None]) -> None:
    """Wrap every text that is a leaf in a new ``span`` and add it to ``made``."""
    nodes = page.nodes
    last: dict[int, _Element] = {}  # by parent, the last child
    for index in range(1, len(nodes)):
        parent = nodes.parents[index]
        if nodes.tags[index] is TEXT and annotation.leaves[index]:
            made[index] = _wrap(made[parent], last.get(parent))
        if (element := made[index]) is not None:
            last[parent] = element


def _wrap(parent: _Element | None, before: _Element | None) -> _Element | None:
    """Move the text after ``before`` (None: at the start of ``parent``) into a new ``span``; None without text."""
    text = None if parent is None else parent.text if before is None else before.tail
    if parent is None or not text:
        return None
    span = etree.Element("span")
    span.text = text
    if before is None:
        parent.text = None
        parent.insert(0, span)
    else:
        before.tail = None
        before.addnext(span)
    return span
