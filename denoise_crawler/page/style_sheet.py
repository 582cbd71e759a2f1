"""What the style sheets in a page hide: a reader of simple selectors, which fetches nothing."""

from __future__ import annotations

import re
from functools import cached_property
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
_SIGNS = "y:none", "y: none", "hidden", "-9", "000px", "clip", "collapse"  # one stands in each rule that hides


def is_hiding(style: str) -> bool:
    """Tell whether the declarations of a ``style`` show nothing: without display, off the screen, of no size.

    Example:
        >>> is_hiding("color: red; display: none"), is_hiding("position:absolute;left:-9999px"), is_hiding("top:0")
        (True, True, False)

    """
    style = style.lower()
    if _HIDES.search(style):
        return True
    if "-" in style and "position" in style and _FAR.search(style) and _PLACED.search(style):
        return True
    cut_off = "overflow" in style and _MOVES not in style and _CUT_OFF.search(style) is not None
    return cut_off and _NO_SIZE.search(style) is not None


def hiding_selectors(sheets: Iterable[str]) -> Mapping[str, str]:
    """Return the simple selectors (``.a``, ``#a``, ``tag.a``) that ``sheets`` hide.

    Each ``HIDES``, or ``OPENS`` where another rule shows what has the name as well: in some state, on some screen.

    Example:
        >>> hiding_selectors([".a, p.b { display: none } .b.open { display: block }"])
        {'.a': 'hides', 'p.b': 'opens'}

    """
    read = list(_read(sheets))
    hidden: dict[str, tuple[int, int]] = {}  # where it was hidden last
    for order, sheet in enumerate(read):
        for number in sheet.maybe_hiding():
            selectors, style = sheet.rule(number)
            if len(hidden) < MOST_SELECTORS and is_hiding(style) and not sheet.nested[number]:
                hidden.update(dict.fromkeys(_simple(selectors), (order, number)))
    names, shown = {_NAMES.findall(one)[0] for one in hidden}, set[str]()
    for order, sheet in enumerate(read) if hidden else ():
        for number in sheet.maybe_showing():
            selectors, style = sheet.rule(number)
            if not names.isdisjoint(_NAMES.findall(selectors)) and _SHOWS.search(style.lower()):
                shown.update(_subjects(selectors, alone=sheet.nested[number]))
                for one in () if sheet.nested[number] else _simple(selectors):
                    if hidden.get(one, (order, number)) < (order, number):
                        del hidden[one]
    return {one: OPENS if _NAMES.findall(one)[0] in shown else HIDES for one in hidden}


class _Sheet:
    """The rules of a style sheet, as written but for the last brace.

    Few of them hide or show anything, and all are looked at: so by what must stand in them, written out.
    """

    def __init__(self, text: str) -> None:
        self.rules = (_without_comments(text) if "/*" in text else text).split("}")[:-1]
        self._may_hide = any(sign in text for sign in _SIGNS)

    @cached_property
    def nested(self) -> list[bool]:
        """Which rules stand inside another, as in ``@media``."""
        opened = accumulate(rule.count("{") for rule in self.rules)
        return [depth > number for number, depth in enumerate(opened, 1)]

    def rule(self, number: int) -> tuple[str, str]:
        """Return the selectors and the declarations of a rule."""
        selectors, _, style = self.rules[number].rpartition("{")
        return selectors, style

    def maybe_hiding(self) -> list[int]:
        """Return the rules that may hide something."""
        return [
            number
            for number, rule in enumerate(self.rules if self._may_hide else ())
            if "y:none" in rule or "y: none" in rule or "hidden" in rule or "-9" in rule or "000px" in rule
            or "clip" in rule or "collapse" in rule
        ]  # fmt: skip

    def maybe_showing(self) -> list[int]:
        """Return the rules that may show something."""
        return [
            number
            for number, rule in enumerate(self.rules)
            if "display" in rule or "visible" in rule or "max-height" in rule
        ]


def _read(sheets: Iterable[str]) -> Iterator[_Sheet]:
    left = _MOST_CHARACTERS
    for sheet in sheets:
        if left > 0 and "{" in sheet:
            yield _Sheet(sheet[:left])
        left -= len(sheet)


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
