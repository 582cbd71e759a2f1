"""Finds the formulas of a page: MathML, KaTeX, MathJax, pictures of formulas, scripts (``math/tex``).

A formula that a page writes several times (KaTeX: as MathML and as HTML) is found once, as the outermost element
around it.
"""

from __future__ import annotations

import re
from bisect import bisect
from dataclasses import dataclass, field
from urllib.parse import parse_qs, unquote, urlsplit

from lxml.etree import _Element

from denoise_crawler.output.content.blocks import Formula, Text
from denoise_crawler.output.content.latex import MAX_LATEX_CHARACTERS, latex_of_math, readable_math
from denoise_crawler.page import TEXT, Nodes, Page
from denoise_crawler.page.signs import ADDRESS_HINTS, MARKUP, TEXT_HINTS, may_be_formulas

FORMULA_SCRIPT = re.compile(r"math/(?:la)?tex\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Place:
    """A formula below node ``parent``: in text node ``node`` behind ``offset`` characters, or before that node."""

    node: int
    offset: int
    parent: int
    formula: Formula


def places_of_scripts(nodes: Nodes, scripts: list[_Element]) -> list[Place]:
    """Return the places of formula scripts in document order."""
    if not scripts:
        return []
    by_element = {nodes.elements[index]: index for index, tag in enumerate(nodes.tags) if tag is not TEXT}
    places = []
    for script in scripts:
        latex, parent = (script.text or "").strip(), script.getparent()
        if latex and parent is not None and parent in by_element:
            node, offset = _place(nodes, script, by_element[parent], by_element)
            formula = Formula(latex, "mode=display" in script.get("type", ""))
            places.append(Place(node, offset, by_element[parent], formula))
    return sorted(places, key=lambda place: (place.node, place.offset))


def _place(nodes: Nodes, script: _Element, parent: int, by_element: dict[_Element, int]) -> tuple[int, int]:
    """Return the text node that runs on behind a script with the offset in it, or the next node with 0."""
    texts: list[str] = []  # before the script, the last first
    before = script.getprevious()
    while before is not None and before not in by_element:
        texts.append(before.tail or "")
        before = before.getprevious()
    if before is None:
        texts.append(nodes.elements[parent].text or "")
        start = parent + 1
    else:
        texts.append(before.tail or "")
        start = nodes.ends[by_element[before]]
    if start < len(nodes) and nodes.tags[start] is TEXT and nodes.parents[start] == parent:
        return start, min(_length(texts[::-1]), len(nodes.texts[start]))
    return start, 0


def _length(texts: list[str]) -> int:
    """Return how long the run of these texts is: blank ones add a space where none is (see ``nodes_of``)."""
    run, gap = "", False
    for text in texts:
        if text.isspace():
            gap = True
        elif text:
            run += (" " if gap and run and not run[-1].isspace() else "") + text
            gap = False
    return len(run) + (gap and bool(run) and not run[-1].isspace())


_MARKED = re.compile(
    r"(?:^|\s)(?:katex|katex-display|katex--inline|katex--display|MathJax|MathJax_Display|MathJax_SVG|MathJax_CHTML"
    r"|MathJax_SVG_Display|MathJax_Preview|mwe-math-element|hurmet-tex|math-inline|math-block|math-display)(?:\s|$)"
)
_DISPLAY = re.compile(
    r"(?:^|\s)(?:katex-display|katex--display|MathJax(?:_SVG)?_Display|math-block|math-display)(?:\s|$)"
)
_SOURCES = ("data-math", "data-latex", "data-tex", "data-formula", "data-expr", "data-entry")
_TAGS = MARKUP | {"img"}
_PAGE_BLOCKS = frozenset(
    {"p", "div", "table", "ul", "ol", "article", "section", "h1", "h2", "h3", "h4", "h5", "h6"}
)
_STYLED = re.compile(r"\{\\(?:display|text|script)style\s(.*)\}", re.DOTALL)
_COMMAND = re.compile(r"\\[a-zA-Z]{2,}")
_LATEX_PICTURE = re.compile(
    r"latex|mathtex|mimetex|texvc|/math/render/|formula|equation|chart\?cht=tx", re.IGNORECASE
)
_PICTURE_CLASS = re.compile(r"(?:^|[\s_-])(?:la)?tex(?:$|[\s_-])|math|formula|equation", re.IGNORECASE)
MAX_FORMULA_HEIGHT = 60  # pixels
_IN_LINE = re.compile(r"vertical-align:|height:\s*[\d.]+e[mx]\b", re.IGNORECASE)
_ALIGNED = frozenset({"middle", "absmiddle", "absbottom", "bottom", "baseline", "texttop"})
_PATH = re.compile(r"[A-Za-z]:\\|\\\\")
_LATEX = re.compile(r"\\[a-zA-Z]{2,}|[\w)}\]]\^\{|\w_\{")
_EQUATION = re.compile(r"[\w)\]}]\s*[=^]\s*[\w(\[{\\-]")
_WORD = re.compile(r"[^\W\d_]+")
_FORMULA_WORD = re.compile(r"\w{1,2}|a?r?c?(?:sin|cos|tan)h?|log|exp|lim|max|min|det|mod|gcd", re.ASCII)
_QUERIES = ("latex", "chl", "tex", "eq", "formula", "math")


@dataclass(slots=True)
class Formulas:
    """The formulas of a page.

    ``elements`` maps the node of an element to what stands for it and everything below; None for a second copy of
    a formula. ``places`` are those that stand in scripts, which are no nodes.
    """

    elements: dict[int, Formula | Text | None] = field(default_factory=dict)
    places: list[Place] = field(default_factory=list)


def formulas_of(page: Page) -> Formulas:
    """Return the formulas of ``page``; call it by ``page.once``.

    Example:
        >>> formulas_of(Page.parse("", "<p>A <math alttext='x^2'><mi>x</mi></math>")).elements
        {3: Formula(latex='x^2', display=False)}
    """
    on_page = Formulas()
    if page.tree is None:
        return on_page
    nodes, used, end = page.nodes, set[object](), 0
    candidates = _candidates(nodes)
    blocks: list[int] = []
    if any(nodes.tags[index] in MARKUP for index in candidates):
        blocks = [index for index, tag in enumerate(nodes.tags) if tag in _PAGE_BLOCKS]
    for index in candidates:
        if index < end:
            continue
        tag = nodes.tags[index]
        if tag in MARKUP and bisect(blocks, index) < bisect(blocks, nodes.ends[index] - 1):
            continue  # it was never closed, and the rest of the page stands in it
        element = nodes.elements[index]
        formula = _formula_in(tag, element, used)
        if formula is not None or _is_second_copy(element):
            on_page.elements[index] = formula
            end = nodes.ends[index]
    scripts = [one for kind, one in page.self_description.scripts if FORMULA_SCRIPT.match(kind)]
    on_page.places = places_of_scripts(nodes, [one for one in scripts if one not in used])
    return on_page


def _candidates(nodes: Nodes) -> list[int]:
    """Return the elements that may be formulas, by their tags or classes."""
    return [
        index
        for index in may_be_formulas(nodes)
        if (tag := nodes.tag_of(index)) in _TAGS or (tag is not TEXT and _is_marked(nodes.elements[index]))
    ]


def _is_marked(element: _Element) -> bool:
    classes = element.get("class")
    if classes is None or ("ath" not in classes and "tex" not in classes):  # nearly all end here
        return False
    return _MARKED.search(classes) is not None or element.get("data-math") is not None


def _formula_in(tag: str, element: _Element, used: set[object]) -> Formula | Text | None:
    """Return the formula that an element shows, None if it shows none."""
    if tag == "img":
        latex = _latex_of_picture(element)
        return Formula(clean_latex(latex)) if latex else None
    math = element if tag == "math" else next(element.iter("math"), None)
    latex = _latex_in(element, math, used)
    if latex and len(latex) <= MAX_LATEX_CHARACTERS:
        return Formula(clean_latex(latex), _is_display(element, math))
    if math is None or tag not in _TAGS:
        return None
    shown = readable_math(math)
    return Text(f" {shown} ") if shown else None


def _latex_in(element: _Element, math: _Element | None, used: set[object]) -> str:
    for name in _SOURCES:
        if latex := element.get(name, "").strip():
            return latex
    for script in (*element.iter("script"), element.getnext()):
        if script is not None and script.tag == "script" and FORMULA_SCRIPT.match(script.get("type", "")):
            used.add(script)
            return (script.text or "").strip()
    if math is not None:
        return latex_of_math(math)
    for annotation in element.iter("annotation"):
        if "tex" in annotation.get("encoding", ""):
            return (annotation.text or "").strip()
    return next(filter(None, map(_latex_of_picture, element.iter("img"))), "")


def _is_display(element: _Element, math: _Element | None) -> bool:
    if math is not None and (math.get("display") == "block" or math.get("mode") == "display"):
        return True
    if element.get("display") == "true" or _DISPLAY.search(element.get("class", "")):
        return True
    script = element.getnext()
    return script is not None and script.tag == "script" and "mode=display" in script.get("type", "")


def _is_second_copy(element: _Element) -> bool:
    """Return True if an element is MathJax's preview of a formula that follows."""
    following = element.getnext() if "MathJax_Preview" in element.get("class", "") else None
    if following is None or not isinstance(following.tag, str):
        return False
    return following.tag == "script" or "MathJax" in following.get("class", "")


def _latex_of_picture(picture: _Element) -> str:
    """Return the LaTeX that a picture's address or alternative text holds; empty if it is no formula."""
    address, alternative = picture.get("src", ""), picture.get("alt", "").strip()
    if not any(map(alternative.__contains__, TEXT_HINTS)) and not any(map(address.__contains__, ADDRESS_HINTS)):
        classes = picture.get("class", "")  # nearly all pictures end here: looking for words is fast
        if "ath" not in classes and "tex" not in classes and "equation" not in classes:
            return ""
    if latex := _latex_in_address(address):
        return latex
    hinted = _PICTURE_CLASS.search(picture.get("class", "")) or _LATEX_PICTURE.search(address[:300])
    if alternative and (hinted or _STYLED.fullmatch(alternative)) and re.search(r"[\\^_{=]", alternative):
        return alternative.strip("$ ")
    return alternative if _is_small(picture) and _reads_as_formula(alternative) else ""


def _is_small(picture: _Element) -> bool:
    """Return True if a picture is as high as a formula in a line, or is set to stand in one."""
    height = picture.get("height", "").strip().removesuffix("px")
    if height.isascii() and height.isdecimal() and len(height) < 4:
        return int(height) <= MAX_FORMULA_HEIGHT
    return _IN_LINE.search(picture.get("style", "")) is not None or picture.get("align", "") in _ALIGNED


def _reads_as_formula(text: str) -> bool:
    """Return True if the text of a picture is LaTeX, or an equation of letters and numbers."""
    if len(text) > MAX_LATEX_CHARACTERS or _PATH.match(text):
        return False
    if _LATEX.search(text) or (len(text) > 2 and text[0] == text[-1] == "$"):
        return True
    return _EQUATION.search(text) is not None and all(map(_FORMULA_WORD.fullmatch, _WORD.findall(text)))


def _latex_in_address(address: str) -> str:
    if len(address) > MAX_LATEX_CHARACTERS or not (_LATEX_PICTURE.search(address) or "%5c" in address.lower()):
        return ""
    try:
        parts = urlsplit(address)
    except ValueError:
        return ""
    queries = parse_qs(parts.query.replace("+", "%2B"))
    for name in _QUERIES:
        if name in queries and not queries[name][0].isdecimal():
            return queries[name][0].strip()
    raw = parts.query or parts.path.rpartition("/")[2]
    latex = unquote(raw).strip()
    return latex if _COMMAND.search(latex) and "%5c" in raw.lower() else ""


def clean_latex(latex: str) -> str:
    r"""Return ``latex`` without the delimiters and the style that tools put around it.

    Example:
        >>> print(clean_latex(r"{\displaystyle x^{2}}"), clean_latex(r"\(a\)"), clean_latex("$$b$$"))
        x^{2} a b
    """
    latex = latex.strip()
    for begin, end in (("$$", "$$"), ("\\(", "\\)"), ("\\[", "\\]"), ("$", "$")):
        if latex.startswith(begin) and latex.endswith(end) and len(latex) > len(begin) + len(end):
            latex = latex[len(begin) : -len(end)].strip()
            break
    styled = _STYLED.fullmatch(latex)
    return styled.group(1).strip() if styled and _is_balanced(styled.group(1)) else latex


def _is_balanced(latex: str) -> bool:
    depth = 0
    for brace in re.findall(r"(?<!\\)[{}]", latex):
        depth += 1 if brace == "{" else -1
        if depth < 0:
            return False
    return depth == 0
