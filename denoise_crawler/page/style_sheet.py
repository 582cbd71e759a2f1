"""What the style sheets in a page hide: a reader of simple selectors, which fetches nothing."""

from __future__ import annotations

import re
from itertools import accumulate
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

HIDES, OPENS = "hides", "opens"
MOST_SELECTORS = 64
_MOST_CHARACTERS = 300_000
_SIMPLE = re.compile(r"[a-z][a-z0-9]*[.#][\w-]+|[.#][\w-]+", re.IGNORECASE)
_NAMES = re.compile(r"[.#][\w-]+")
_SHOWS = re.compile(r"(?:^|[;\s])(?:display\s*:(?!\s*none)|visibility\s*:\s*visible|max-height\s*:(?!\s*0))")
_HIDES = re.compile(
    r"(?:^|[;\s])(?:display\s*:\s*none|visibility\s*:\s*(?:hidden|collapse)"
    r"|clip\s*:\s*rect\(\s*[01](?:px)?[\s,]+[01](?:px)?[\s,)]"
    r"|clip-path\s*:\s*inset\(\s*(?:50|100)%"
    r"|text-indent\s*:\s*-\d{3})"
)
_PLACED = re.compile(r"position\s*:\s*(?:absolute|fixed)")
_FAR = re.compile(r"(?:^|[;\s])(?:left|right|top|bottom|margin-left|margin-top)\s*:\s*-\d{3}")
_NO_SIZE = re.compile(r"(?:^|[;\s])(?:width|height|max-width|max-height)\s*:\s*0(?![\d.]*[1-9])")
_CUT_OFF = re.compile(r"overflow(?:-[xy])?\s*:\s*(?:hidden|clip)")
_MOVES = "transition"


def is_hiding(style: str) -> bool:
    """Tell whether the declarations of a ``style`` show nothing: without display, off the screen, of no size.

    Example:
        >>> is_hiding("color: red; display: none"), is_hiding("position:absolute;left:-9999px"), is_hiding("top:0")
        (True, True, False)

    """
    style = style.lower()
    if _HIDES.search(style):
        return True
    if _FAR.search(style) and _PLACED.search(style):
        return True
    return _NO_SIZE.search(style) is not None and _CUT_OFF.search(style) is not None and _MOVES not in style


def hiding_selectors(sheets: Iterable[str]) -> Mapping[str, str]:
    """Return the simple selectors (``.a``, ``#a``, ``tag.a``) that ``sheets`` hide.

    Each ``HIDES``, or ``OPENS`` where another rule shows what has the name as well: in some state, on some screen.

    Example:
        >>> hiding_selectors([".a, p.b { display: none } .b.open { display: block }"])
        {'.a': 'hides', 'p.b': 'opens'}

    """
    rules, nested = _rules(sheets)
    hidden: dict[str, int] = {}
    for number in _maybe_hiding(rules):
        selectors, _, style = rules[number].rpartition("{")
        if not nested[number] and len(hidden) < MOST_SELECTORS and is_hiding(style):
            hidden.update(dict.fromkeys(_simple(selectors), number))
    names, shown = {_NAMES.findall(one)[0] for one in hidden}, set[str]()
    for number in _maybe_showing(rules) if hidden else ():
        selectors, _, style = rules[number].rpartition("{")
        if not names.isdisjoint(_NAMES.findall(selectors)) and _SHOWS.search(style.lower()):
            shown.update(_subjects(selectors, alone=nested[number]))
            for one in () if nested[number] else _simple(selectors):
                if hidden.get(one, number) < number:
                    del hidden[one]
    return {one: OPENS if _NAMES.findall(one)[0] in shown else HIDES for one in hidden}


def _rules(sheets: Iterable[str]) -> tuple[list[str], list[bool]]:
    """Return the rules as written but for the last brace, and which stand inside another, as ``@media``."""
    rules, nested, left = list[str](), list[bool](), _MOST_CHARACTERS
    for sheet in sheets:
        if left > 0 and "{" in sheet:
            parts = (_without_comments(sheet[:left]) if "/*" in sheet else sheet[:left]).split("}")[:-1]
            opened = accumulate(part.count("{") for part in parts)
            nested += [depth > number for number, depth in enumerate(opened, 1)]
            rules += parts
        left -= len(sheet)
    return rules, nested


# Few rules of a sheet hide or show something, and all are looked at: so by these, and written out.
def _maybe_hiding(rules: list[str]) -> list[int]:
    return [
        number
        for number, rule in enumerate(rules)
        if "y:none" in rule or "y: none" in rule or "hidden" in rule or "-9" in rule or "000px" in rule
        or "clip" in rule or "collapse" in rule
    ]  # fmt: skip


def _maybe_showing(rules: list[str]) -> list[int]:
    return [
        number
        for number, rule in enumerate(rules)
        if "display" in rule or "visible" in rule or "max-height" in rule
    ]


def _without_comments(sheet: str) -> str:
    parts, at = list[str](), 0
    while (start := sheet.find("/*", at)) >= 0:
        parts.append(sheet[at:start])
        end = sheet.find("*/", start + 2)
        at = len(sheet) if end < 0 else end + 2
    return " ".join((*parts, sheet[at:]))


def _simple(selectors: str) -> Iterator[str]:
    """Yield the simple ones of the selectors that stand at the end of a text."""
    for one in _last(selectors):
        if _SIMPLE.fullmatch(one):
            tag, mark, name = one.partition("." if "." in one else "#")
            yield f"{tag.lower()}{mark}{name}"


def _subjects(selectors: str, *, alone: bool) -> Iterator[str]:
    """Yield the names in what each selector is about; of simple ones only if these count ``alone``."""
    for one in _last(selectors):
        if alone or not _SIMPLE.fullmatch(one):
            yield from _NAMES.findall(one.rpartition(" ")[2])


def _last(selectors: str) -> list[str]:
    return [one.strip() for one in selectors.rpartition("{")[2].rpartition(";")[2].split(",")]
