"""LaTeX: of MathML and of the CHTML of MathJax, by its source or a converter; and in the text of a page."""

from __future__ import annotations

import re
import sys
import unicodedata
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
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


MAX_DRAWN_ELEMENTS = 20_000
_CHARACTER = re.compile(r"(?:^|\s)mjx-c([0-9A-F]{2,6})(?:\s|$)")
_TOKENS = frozenset({"mi", "mn", "mo", "ms", "mtext"})
_SKIPPED = frozenset({"assistive-mml", "surd", "mspace", "mphantom"})
# what a part of a fraction, a root or a limit is drawn in
_PARTS = frozenset({"num", "den", "over", "under", "base", "script", "root"})
_ROWS = frozenset({"math", "mrow", "texatom", "mstyle", "mpadded", "menclose", "mtd", "mtr", "mtable"})


@dataclass(slots=True)
class _Drawn:
    """An element that is open: what it shows, and what its parts show."""

    name: str
    shown: list[_Element] = field(default_factory=list)
    parts: dict[str, list[_Element]] = field(default_factory=dict)
    text: str = ""

    def made(self) -> list[_Element]:
        """Return the MathML of the element."""
        if self.name in _TOKENS:
            token = etree.Element(self.name)
            token.text = unicodedata.normalize("NFKC", self.text)
            return [token] if self.text.strip() else []
        if (make := _MADE_OF_PARTS.get(self.name)) is not None:
            return make(self)
        return [_around(self.name if self.name.startswith("mt") else "mrow", self.shown)]


def math_of_chtml(container: _Element) -> _Element | None:
    """Return the ``math`` that a ``mjx-container`` shows; None if it shows none, or too much.

    Example:
        >>> x, two = '<mjx-mi><mjx-c class="mjx-c1D465"/></mjx-mi>', '<mjx-mn><mjx-c class="mjx-c32"/></mjx-mn>'
        >>> drawn = f"<c><mjx-math><mjx-msup>{x}<mjx-script>{two}</mjx-script></mjx-msup></mjx-math></c>"
        >>> etree.tostring(math_of_chtml(etree.fromstring(drawn))).decode()
        '<math><mrow><msup><mrow><mi>x</mi></mrow><mrow><mn>2</mn></mrow></msup></mrow></math>'
    """
    above = [_Drawn("")]
    walk = etree.iterwalk(container, events=("start", "end"))
    for count, (event, element) in enumerate(walk):
        name = str(element.tag).removeprefix("mjx-")
        if count > MAX_DRAWN_ELEMENTS:
            return None
        if event == "end":
            if len(above) > 1 and name == above[-1].name:
                _close(above.pop(), above[-1])
        elif name in _SKIPPED:
            walk.skip_subtree()
        elif drawn := _characters(element, name):
            above[-1].text += drawn
        elif name in _TOKENS or name in _PARTS or name in _ROWS or name in _MADE_OF_PARTS:
            above.append(_Drawn(name))
    math = _around("math", above[0].shown)
    return math if any(math.itertext()) else None


def _characters(element: _Element, name: str) -> str:
    match = _CHARACTER.search(element.get("class", ""))
    if match is None:
        return (element.text or "") if name == "utext" else ""
    letter = chr(min(int(match.group(1), 16), sys.maxunicode))
    return letter if letter.isprintable() else ""


def _close(closed: _Drawn, above: _Drawn) -> None:
    """Give what an element shows to the one above."""
    if closed.name in _PARTS:
        above.parts.setdefault(closed.name, []).extend(closed.shown)
    elif closed.name == "munder" and above.name == "munderover":  # drawn below the upper limit
        above.parts.update(closed.parts)
    else:
        above.shown += closed.made()


def _around(tag: str, content: list[_Element]) -> _Element:
    made = etree.Element(tag)
    made.extend(content)
    return made


def _row(content: list[_Element]) -> _Element:
    return _around("mrow", content)


def _fraction(drawn: _Drawn) -> list[_Element]:
    return [_around("mfrac", [_row(drawn.parts.get(name, [])) for name in ("num", "den")])]


def _root(drawn: _Drawn) -> list[_Element]:
    if index := drawn.parts.get("root"):
        return [_around("mroot", [_row(drawn.shown), _row(index)])]
    return [_around("msqrt", drawn.shown)]


def _scripts(drawn: _Drawn) -> list[_Element]:
    """Make what stands at the upper and lower right, or above and below."""
    base, scripts = drawn.parts.get("base", drawn.shown), drawn.parts.get("script", [])
    if not scripts:
        return _limits(drawn, base)
    if drawn.name in ("msubsup", "munderover") and len(scripts) > 1:  # drawn from above
        return [_around("msubsup", [_row(base), _row(scripts[1:]), _row(scripts[:1])])]
    return [_around("msup" if drawn.name in ("msup", "mover") else "msub", [_row(base), _row(scripts)])]


def _limits(drawn: _Drawn, base: list[_Element]) -> list[_Element]:
    over, under = drawn.parts.get("over"), drawn.parts.get("under")
    if over and under:
        return [_around("munderover", [_row(base), _row(under), _row(over)])]
    if over or under:
        return [_around("mover" if over else "munder", [_row(base), _row(over or under or [])])]
    return [_row(base)]


_MADE_OF_PARTS: dict[str, Callable[[_Drawn], list[_Element]]] = {
    "mfrac": _fraction,
    **dict.fromkeys(("msqrt", "mroot"), _root),
    **dict.fromkeys(("msup", "msub", "msubsup", "mover", "munder", "munderover"), _scripts),
}


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
