"""LaTeX: of MathML, by its source or a converter; and in the text of a page."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from html import escape
from itertools import groupby
from typing import Any

from lxml import etree
from lxml.etree import _Element

from denoise_crawler.output.content.blocks import Formula, Inline, LineBreak, Text
from denoise_crawler.page import Page
from denoise_crawler.page.text import collapse_spaces

MAX_LATEX_CHARACTERS = 10_000
MAX_ELEMENTS = 2_000
MAX_DEPTH = 60  # the converter calls itself
_USED_ATTRIBUTES = ("open", "close", "separators", "mathvariant", "linethickness", "accent")
_NAME = re.compile(r"[a-z]+")
_LONE_BRACKET = re.compile(r"\\left(\\?[(\[{|])\\right\.\s?|\\left\.\\right(\\?[)\]}|])")
_converters: list[Callable[[str], Any] | None] = []


def latex_of_math(math: _Element) -> str:
    """Return the LaTeX of a ``math`` element; empty if it has none and no converter is installed.

    The order is: its annotation in TeX, its ``alttext``, then the converter (extra ``formulas``).
    """
    for annotation in math.iter("annotation"):
        if "tex" in annotation.get("encoding", "").lower() and (latex := (annotation.text or "").strip()):
            return latex
    for name in ("alttext", "data-latex", "data-tex"):
        if latex := math.get(name, "").strip():
            return latex
    return _converted(math)


def readable_math(math: _Element) -> str:
    """Return the characters that a ``math`` element shows."""
    parts: list[str] = []
    walk = etree.iterwalk(math, events=("start",))
    for _, element in walk:
        if element.tag in ("annotation", "annotation-xml"):
            walk.skip_subtree()
        elif text := (element.text or "").strip():
            parts.append(text)
    return collapse_spaces(" ".join(parts))


def _converted(math: _Element) -> str:
    converter = _converter()
    markup = None if converter is None else _bare_markup(math)
    if converter is None or markup is None:
        return ""
    try:
        latex = str(converter(markup))
    except Exception:  # the converter raises anything on MathML that it does not know
        return ""
    latex = _LONE_BRACKET.sub(r"\1\2", latex)
    if r"\\" in latex and r"\begin" not in latex:
        latex = rf"\begin{{aligned}}{latex}\end{{aligned}}"
    return latex.strip()


def _converter() -> Callable[[str], Any] | None:
    """Return the converter of ``mathml-to-latex``; None where it is not installed."""
    if not _converters:
        try:
            from mathml_to_latex.converter import MathMLToLaTeX
        except ImportError:
            _converters.append(None)
        else:
            _converters.append(MathMLToLaTeX().convert)
    return _converters[0]


def _bare_markup(math: _Element) -> str | None:
    """Return ``math`` as XML with the attributes that matter, without annotations; None if it is too large."""
    parts: list[str] = []
    depth = elements = 0
    walk = etree.iterwalk(math, events=("start", "end"))
    for event, element in walk:
        name = str(element.tag).rpartition(":")[2]
        hidden = name.startswith("annotation")
        if hidden or not _NAME.fullmatch(name):
            name = "mrow"
        if event == "end":
            depth -= 1
            parts.append(f"</{name}>" + (_text(element.tail) if element is not math else ""))
            continue
        depth, elements = depth + 1, elements + 1
        if depth > MAX_DEPTH or elements > MAX_ELEMENTS:
            return None
        if hidden:
            walk.skip_subtree()
            parts.append("<mrow>")
            continue
        used = ((one, element.get(one)) for one in _USED_ATTRIBUTES)
        attributes = "".join(f' {one}="{_text(value)}"' for one, value in used if value is not None)
        parts.append(f"<{name}{attributes}>{_text(element.text)}")
    return "".join(parts)


def _text(text: str | None) -> str:
    return escape("".join(letter for letter in text or "" if letter >= " "))


# --- LaTeX in the text of a page: ``\(…\)``, ``\[…\]``, ``$$…$$``, environments
# A single dollar sign is money, unless the page loads MathJax or KaTeX and what stands between two of them is
# LaTeX beyond doubt.

_DELIMITED = (
    r"\\\((?P<inline>(?:(?!\\\()[^\0])+?)\\\)"
    r"|\\\[(?P<display>(?:(?!\\\[)[^\0])+?)\\\]"
    r"|(?<![\\$])\$\$(?!\$)(?P<dollars>[^$\0]+?)(?<!\\)\$\$(?!\$)"
    r"|(?P<environment>\\begin\{(?P<name>equation|align|gather|multline|eqnarray)(?P<star>\*?)\}"
    r"(?:(?!\\begin\{(?P=name))[^\0])+?\\end\{(?P=name)(?P=star)\})"
)
_SINGLE = r"|(?<![\\$\w])\$(?P<single>(?!\s)[^$\n\0]{1,500}?)(?<![\s\\])\$(?![\w$])"
_WITHOUT_SINGLE = re.compile(_DELIMITED)
_WITH_SINGLE = re.compile(_DELIMITED + _SINGLE)
_BEGINS = re.compile(r"\\[(\[]|\$\$|\\begin\{")
_LETTER = re.compile(r"[A-Za-z]")
_COMMAND = re.compile(r"\\[a-zA-Z]+")
_INDEX = re.compile(r"[A-Za-z0-9)}][\^_](?:\{|\w)")
_PROSE = re.compile(r"[A-Za-z]{3}")
_MATH_SCRIPT = re.compile(r"mathjax|katex|tex-mml|tex-chtml|tex-svg", re.IGNORECASE)
_ALONE = frozenset({"display", "dollars", "environment"})


def loads_math(page: Page) -> bool:
    """Return True if ``page`` loads a library that draws formulas; call it by ``page.once``."""
    if page.tree is None:
        return False
    return any(_MATH_SCRIPT.search(script.get("src", "")) for script in page.tree.iter("script"))


def with_formulas(pieces: list[Inline], *, math_page: bool) -> list[Inline]:
    r"""Return the pieces of a line with the LaTeX in its text as formulas.

    On a ``math_page``, which loads a library that draws formulas, those between single dollars are found as well.

    Example:
        >>> with_formulas([Text(r"for $5, \(x^2\)")], math_page=False)
        [Text(text='for $5, ', style='', link=''), Formula(latex='x^2', display=False)]
    """
    if not any(isinstance(piece, Text) and _may_hold(piece.text, math_page) for piece in pieces):
        return pieces
    parted: list[Inline] = []
    for is_plain, group in groupby(pieces, _is_plain):
        run = list(group)
        parted += _split(run, math_page) if is_plain else run
    return parted


def _may_hold(text: str, math_page: bool) -> bool:
    return _BEGINS.search(text) is not None or (math_page and "$" in text)


def _is_plain(piece: Inline) -> bool:
    return isinstance(piece, LineBreak) or (isinstance(piece, Text) and not piece.link and piece.style != "code")


def _split(pieces: list[Inline], math_page: bool) -> Iterator[Inline]:
    text = "".join(piece.text.replace("\0", " ") if isinstance(piece, Text) else "\n" for piece in pieces)
    done = 0
    for match in (_WITH_SINGLE if math_page else _WITHOUT_SINGLE).finditer(text):
        kind = match.lastgroup if match["environment"] is None else "environment"
        latex = match[kind or 0].strip()
        if not latex or len(latex) > MAX_LATEX_CHARACTERS or (kind == "single" and not _is_latex(latex)):
            continue
        yield from _part(pieces, done, match.start())
        yield Formula(latex, kind in _ALONE)
        done = match.end()
    yield from _part(pieces, done, len(text))


def _is_latex(text: str) -> bool:
    if _LETTER.fullmatch(text) or _COMMAND.search(text):
        return True
    return _INDEX.search(text) is not None and not text[0].isdecimal() and _PROSE.search(text) is None


def _part(pieces: list[Inline], begin: int, end: int) -> Iterator[Inline]:
    """Yield what stands between two offsets of the joined text."""
    offset = 0
    for piece in pieces:
        size = len(piece.text) if isinstance(piece, Text) else 1
        first, last = max(begin - offset, 0), min(end - offset, size)
        if first < last:
            yield Text(piece.text[first:last], piece.style, piece.link) if isinstance(piece, Text) else piece
        offset += size
