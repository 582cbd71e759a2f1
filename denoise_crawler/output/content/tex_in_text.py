r"""Formulas that stand as LaTeX in the text of a page: ``\(…\)``, ``\[…\]``, ``$$…$$``, environments.

A single dollar sign is money, unless the page loads MathJax or KaTeX and what stands between two of them is
LaTeX beyond doubt.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import groupby

from denoise_crawler.output.content.blocks import Formula, Inline, LineBreak, Text
from denoise_crawler.output.content.formulas import MAX_LATEX_CHARACTERS
from denoise_crawler.page import Page

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
    """Tell whether ``page`` loads a library that draws formulas; call it by ``page.once``."""
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
    found: list[Inline] = []
    for is_plain, group in groupby(pieces, _is_plain):
        run = list(group)
        found += _split(run, math_page) if is_plain else run
    return found


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
