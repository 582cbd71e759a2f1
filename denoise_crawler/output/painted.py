"""The painted page: the original page with its content clear and its noise faded (after pySST, Yan 2012, 3.4)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from html import escape
from itertools import accumulate

from lxml import etree
from lxml.etree import _Element

from denoise_crawler.kernel.html_names import KNOWN
from denoise_crawler.methods.base import Judgement
from denoise_crawler.methods.node_type import Annotation, annotate
from denoise_crawler.output.clean_text import count_characters, noise_ratio
from denoise_crawler.output.explanation import first_reasons
from denoise_crawler.output.safe_markup import (
    CONTROLS,
    DROPPED,
    EMPTIED,
    MEDIA,
    RENAMED,
    VOID,
    is_executable,
    markup_of,
    output_tags,
    repair_page,
    safe_attributes,
    safe_doctype,
    safe_style,
    safe_tag_name,
    security_metas,
    sheet_attributes,
    start_tag,
)
from denoise_crawler.page import TEXT, Nodes, Page
from denoise_crawler.page.nodes import INLINE

PART_ATTRIBUTE = "data-denoise"  # "content" or "noise", on the root of each part
# The parents of elements that are no nodes: those in a control and those in a drawing.
_IN_CONTROL, _IN_DRAWING = -1, -2
_NEVER_IN_CONTROLS = DROPPED | EMPTIED | frozenset(RENAMED) | {"style", "link", "foreignobject"}
# Browsers end a drawing where one of these starts.
_END_DRAWINGS = (KNOWN | VOID) - {"a", "svg"}

# What a run of text is wrapped in has no look of its own, painted or not.
_RUNS = ":is(#_,[data-denoise-run]){all:unset!important}"
# A part hands its colours down, so that what stands in it and is none itself looks like it. Headings and
# paragraphs stand beside what floats, frame and all, or below it where there is little room.
PAINT = """
:is(#_,html,body){background:#fff!important}
:is(#_,body *){background-color:#fff!important;color:#10203a!important}
:is(#_,[data-denoise],[data-denoise] *){color:var(--denoise-ink)!important;
-webkit-text-fill-color:currentcolor!important;background-color:var(--denoise-back)!important;text-shadow:none!important;print-color-adjust:exact;
-webkit-print-color-adjust:exact}
:is(#_,[data-denoise] :is(img,picture,svg,video,canvas),:is(img,picture,svg,video,canvas)[data-denoise]){
opacity:var(--denoise-shown)!important}
:is(#_,[data-denoise=content]){--denoise-ink:#10203a;--denoise-back:#fff;--denoise-line:#6f96d8;--denoise-shown:1}
:is(#_,[data-denoise=noise]){--denoise-ink:#7d838b;--denoise-back:#f4f4f4;--denoise-line:#dfe1e4;--denoise-shown:.3}
:is(#_,[data-denoise]){outline:2px solid var(--denoise-line)!important;outline-offset:0!important}
:where(h1,h2,h3,h4,h5,h6,p):where([data-denoise]){display:flow-root;min-width:min(100%,16em)}
#denoise-legend{all:initial;position:fixed;right:8px;bottom:8px;z-index:2147483647;padding:6px 10px;max-width:22em;
font:12px/1.5 sans-serif;color:#222!important;background:#fff!important;border:1px solid #666;
border-radius:4px;opacity:.94}
#denoise-legend *{all:revert;background-color:transparent!important;color:inherit!important}
#denoise-legend summary{font-weight:bold;cursor:pointer}
#denoise-legend i{font-style:normal;padding:0 4px;print-color-adjust:exact}
#denoise-legend .content{color:#10203a!important;background-color:#fff!important;outline:2px solid #6f96d8}
#denoise-legend .noise{color:#6b7077!important;background-color:#f4f4f4!important;outline:2px solid #dfe1e4}
@media print{#denoise-legend{position:static;display:block;margin:1em 0}}
"""
# Where no style sheet is fetched, a drawing without a size would fill the window.
_SMALL_DRAWINGS = ":where(svg:not([width])){width:1.5em;height:1.5em}"


def painted_html(page: Page, judgement: Judgement, *, method: str = "", remote: bool = False) -> str:
    """Return ``page`` as a document for a browser, with content clear and noise faded.

    Each part (see :func:`painted_parts`) has the reason of its judgement as a tooltip; a legend says how much was
    removed. Nothing runs: scripts, event handlers and embedded pages are removed.

    Args:
        page: The page.
        judgement: Its judgement.
        method: The name of the method, for the legend.
        remote: Whether a browser may fetch style sheets and pictures; otherwise it fetches nothing.

    Returns:
        The document, to be written as UTF-8.
    """
    painting = _Painting(page, judgement)
    tops = _tops(page)
    doctype = tops[0].getroottree().docinfo.doctype if tops else ""  # type: ignore[attr-defined]
    root = start_tag("html", safe_attributes(tops[0])) if tops else "<html>"
    base = page.base.encode("utf-8", "replace").decode()
    parts = [
        f'{safe_doctype(doctype)}\n{root}<head><meta charset="utf-8">',
        security_metas(remote=remote),
        start_tag("base", [("href", base)]) if base and not is_executable(base) else "",
        f"<title>{escape(page.title)}</title>",
        '<meta name="viewport" content="width=device-width">',
        *painting.head,
        f"<style>{_RUNS}{'' if remote else _SMALL_DRAWINGS}</style><style>{PAINT}</style></head>",
        start_tag("body", painting.body_attributes),
        *painting.body,
        _legend(page, judgement, method),
        "</body></html>\n",
    ]
    return "".join(parts)


class _Painting:
    """One walk over a page's tree that writes a copy and tracks the nodes."""

    def __init__(self, page: Page, judgement: Judgement) -> None:
        nodes = page.nodes  # first, since this replaces the root of a page that is too deep
        self.nodes, self.judgement = nodes, judgement
        self.reason = first_reasons(judgement)
        self.tags = output_tags(nodes)
        self.parts = painted_parts(nodes, self.tags, judgement.noise)
        self.indices = {
            element: index
            for index, (element, tag) in enumerate(zip(nodes.elements, nodes.tags, strict=True))
            if tag is not TEXT
        }
        self.next_child = [index + 1 for index in range(len(nodes))]  # by parent, the node of the next text
        self.head: list[str] = []
        self.body: list[str] = []
        self.body_attributes: list[tuple[str, str]] = []
        for top in _tops(page):
            self._walk(top)

    def _walk(self, top: _Element) -> None:
        self._text(0, top.text)
        open_elements: list[tuple[Iterator[_Element], int, str, _Element]] = [(iter(top), 0, "", top)]
        while open_elements:
            children, parent, end_tag, element = open_elements[-1]
            child = next(children, None)
            if child is None:
                open_elements.pop()
                self.body.append(end_tag)
                if open_elements:
                    self._text(open_elements[-1][1], element.tail)
            elif (entered := self._enter(child, parent)) is None:
                self._text(parent, child.tail)
            else:
                self._text(entered[0], child.text)
                open_elements.append((iter(child), *entered, child))

    def _enter(self, element: _Element, parent: int) -> tuple[int, str] | None:
        """Write the start of ``element``; return the node of its content and its end tag.

        None means that its content is not written.
        """
        tag = element.tag
        if type(tag) is not str:
            return None
        if parent < 0:
            return self._copy(element, parent)
        if tag == "body" and parent == 0:
            self.body_attributes = self.body_attributes or safe_attributes(element)
            return 0, ""
        if element in self.indices:
            return self._open(element, self.indices[element])
        if tag == "style":
            self.body.append(_style_markup(element))
        elif tag == "head":
            self.head += [_style_markup(child) for child in element.iter("link", "style")]
        return None

    def _open(self, element: _Element, index: int) -> tuple[int, str] | None:
        nodes, tag = self.nodes, self.tags[index]
        self.next_child[nodes.parents[index]] = nodes.ends[index]
        if tag == "link":
            self.body.append(_style_markup(element))
        if tag == "link" or tag in DROPPED:
            return index, ""
        self.body.append(start_tag(tag, self.painted(index, safe_attributes(element))))
        end_tag = "" if tag in VOID else f"</{tag}>"
        if nodes.ends[index] == index + 1 and tag in MEDIA:
            self.body.append(end_tag)
            return None
        if nodes.ends[index] == index + 1 and tag in CONTROLS:
            return _IN_DRAWING if tag == "svg" else _IN_CONTROL, end_tag
        return index, end_tag

    def _copy(self, element: _Element, parent: int) -> tuple[int, str] | None:
        """Write an element in a drawing or a control, which has no judgement of its own."""
        tag = safe_tag_name(str(element.tag))
        if tag in _NEVER_IN_CONTROLS or (parent == _IN_DRAWING and tag in _END_DRAWINGS):
            return None
        if tag in CONTROLS - {"svg", "option"}:
            return parent, ""  # controls must not contain controls
        self.body.append(start_tag(tag, safe_attributes(element)))
        return _IN_DRAWING if tag == "svg" else parent, "" if tag in VOID else f"</{tag}>"

    def _text(self, parent: int, text: str | None) -> None:
        if not text:
            return
        written = escape(text, quote=False)
        run = parent if parent < 0 or text.isspace() else self.next_child[parent]
        if run in self.parts and self.nodes.tags[run] is TEXT:
            written = start_tag("span", self.painted(run, [("data-denoise-run", "")])) + written + "</span>"
        self.body.append(written)

    def painted(self, index: int, attributes: list[tuple[str, str]]) -> list[tuple[str, str]]:
        """Return ``attributes`` with the mark of a part if node ``index`` is the root of one."""
        if index not in self.parts:
            return attributes
        kept = [
            (name, value)
            for name, value in attributes
            if name.lower() != "title" and not name.lower().startswith(PART_ATTRIBUTE)
        ]
        verdict = "noise" if self.parts[index] else "content"
        explained = f"{verdict}: {self.reason(index)}".rstrip(" :")
        tooltip = f"{explained} (score {self.judgement.scores[index]:.2f})"
        return [*kept, (PART_ATTRIBUTE, verdict), ("title", tooltip)]


def _tops(page: Page) -> list[_Element]:
    """Return the elements above the nodes of ``page``, in order."""
    if page.tree is None:
        return []
    body = page.nodes.elements[0]
    top = page.tree
    if body is not top and top not in body.iterancestors():
        top = body.getroottree().getroot()  # hidden markup was parsed again
    return [top, *top.itersiblings("html")]


def _style_markup(element: _Element) -> str:
    if element.tag == "style":
        text = safe_style("".join(map(str, element.itertext())))
        media = element.get("media")
        return start_tag("style", [("media", media)] if media else []) + text + "</style>"
    attributes = sheet_attributes(element)
    return "" if attributes is None else start_tag("link", attributes)


def _legend(page: Page, judgement: Judgement, method: str) -> str:
    visible, kept = count_characters(page, judgement.noise)
    removed = f"{noise_ratio(visible, kept):.0%} of {visible:,} visible characters removed"
    lines = [removed if visible else "no text"]
    if page.skipped:
        lines.append(f"cannot be read: {page.skipped}")
    if judgement.guarded:
        lines.append("next to nothing was left, so a safer verdict was taken")
    text = "".join(f"<div>{escape(line)}</div>" for line in lines)
    return (
        f'<details id="denoise-legend" open><summary>{escape(method or "denoise_crawler")}</summary>{text}'
        '<div><i class="content">content</i> <i class="noise">noise</i></div></details>'
    )


# --- the page as the NTA paper annotates it: repaired markup with the type, coherence and density of each element

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


# --- which elements are painted

_CELLS = frozenset({"td", "th"})
_ROW_GROUPS = frozenset({"tbody", "thead", "tfoot"})
_TABLE_PARTS = _CELLS | _ROW_GROUPS | {"tr", "col", "colgroup", "caption"}
# Those that a browser may ignore, or empty
_NEVER_A_PART = (_TABLE_PARTS - _CELLS) | VOID | {"body", "table", "form"}
# Elements that are visible without text.
_SHOWN = frozenset(
    {"img", "svg", "iframe", "object", "video", "audio", "canvas", "embed"}
    | {"input", "button", "select", "textarea"}
)
_IN_LINES = INLINE | _SHOWN | (VOID - {"hr"}) | {TEXT}


def painted_parts(nodes: Nodes, tags: Sequence[str], noise: Sequence[bool]) -> dict[int, bool]:
    """Return the roots of the parts of a page in document order, each with whether it is noise.

    A block that holds lines of one verdict is a part, and each text outside such blocks. A picture or another
    visible element is a part of its own if its verdict is not that of the part around it; outside, if it is noise.

    Args:
        nodes: The nodes of the page.
        tags: Those that the nodes are written with.
        noise: Whether each node is noise.

    Example:
        >>> from denoise_crawler import Page
        >>> nodes = Page.parse("", "<p>One <b>two</b>.<div>Three<p>Four.</div>").nodes
        >>> painted_parts(nodes, nodes.tags, [index > 5 for index in range(len(nodes))])
        {1: False, 7: True, 8: True}
    """
    are_blocks = [tag not in _IN_LINES for tag in tags]
    are_texts = [tag is TEXT for tag in nodes.tags]
    are_noisy = [is_text and gone for is_text, gone in zip(are_texts, noise, strict=True)]
    blocks, texts, noisy = (list(accumulate(column, initial=0)) for column in (are_blocks, are_texts, are_noisy))
    parts: dict[int, bool] = {}
    part = part_end = 0
    for index, end in enumerate(nodes.ends):
        if tags[index] in _SHOWN and end == index + 1:
            if noise[index] != (index < part_end and parts[part]):
                parts[index] = noise[index]
        elif index < part_end:
            continue
        elif are_texts[index]:
            parts[index] = noise[index]
        elif are_blocks[index] and _stays(nodes, tags, index):
            size, gone = texts[end] - texts[index], noisy[end] - noisy[index]
            if blocks[end] == blocks[index + 1] and size and gone in (0, size):
                parts[index] = gone > 0
                part, part_end = index, end
    return parts


def _stays(nodes: Nodes, tags: Sequence[str], index: int) -> bool:
    """Return True if a browser keeps a block that holds lines only: of parts of tables a cell in its place."""
    if tags[index] not in _CELLS:
        return tags[index] not in _NEVER_A_PART
    row = nodes.parents[index]
    above = nodes.parents[row]
    if above > 0 and tags[above] in _ROW_GROUPS:
        above = nodes.parents[above]
    return tags[row] == "tr" and above > 0 and tags[above] == "table"
