"""MathML to LaTeX: the source that the page carries, else what a converter makes of the markup."""

from __future__ import annotations

import re
from html import escape
from typing import TYPE_CHECKING, Any

from lxml import etree

from denoise_crawler.page.text import collapse_spaces

if TYPE_CHECKING:
    from collections.abc import Callable

    from lxml.etree import _Element

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
