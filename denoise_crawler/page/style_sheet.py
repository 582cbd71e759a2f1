"""What the style sheets in a page hide: a reader of simple selectors, which fetches nothing."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

HIDES, OPENS = "hides", "opens"
MOST_SELECTORS = 64
_MOST_CHARACTERS = 300_000
_SIGNS = "none", "hidden", "collapse", "clip", ":-", ": -"  # one of them stands in whatever hides
_SHOWN = "display", "visible", "max-height"
_BRACE = re.compile("([{}])")
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


class _Rule(NamedTuple):
    """Its selectors, its declarations in small letters, and whether it stands inside another (``@media``)."""

    selectors: str
    style: str
    nested: bool


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
    left, rules = _MOST_CHARACTERS, list[_Rule]()
    for sheet in sheets:
        rules += _rules(sheet[: max(left, 0)])
        left -= len(sheet)
    hidden: dict[str, int] = {}
    for number, rule in enumerate(rules):
        if not rule.nested and any(sign in rule.style for sign in _SIGNS) and is_hiding(rule.style):
            hidden.update(dict.fromkeys(_simple(rule.selectors), number))
            if len(hidden) >= MOST_SELECTORS:
                break
    shown: set[str] = set()
    for number, rule in enumerate(rules) if hidden else ():
        if any(sign in rule.style for sign in _SHOWN) and _SHOWS.search(rule.style):
            shown.update(_subjects(rule))
            for one in () if rule.nested else _simple(rule.selectors):
                if hidden.get(one, number) < number:
                    del hidden[one]
    return {one: OPENS if _NAMES.findall(one)[0] in shown else HIDES for one in hidden}


def _rules(sheet: str) -> Iterator[_Rule]:
    """Yield the rules of a sheet; what is neither selector nor declaration makes rules that mean nothing."""
    if not any(sign in sheet for sign in _SIGNS):
        return
    above: list[str] = []
    *pairs, _ = _BRACE.split(_without_comments(sheet))
    for text, brace in zip(pairs[::2], pairs[1::2], strict=True):
        if brace == "{":
            above.append(text)
        elif above:
            selectors = above.pop()
            if "@" not in selectors:
                yield _Rule(selectors, text.lower(), bool(above))


def _without_comments(sheet: str) -> str:
    parts, at = list[str](), 0
    while (start := sheet.find("/*", at)) >= 0:
        parts.append(sheet[at:start])
        end = sheet.find("*/", start + 2)
        at = len(sheet) if end < 0 else end + 2
    return " ".join((*parts, sheet[at:]))


def _simple(selectors: str) -> Iterator[str]:
    for one in selectors.split(","):
        if _SIMPLE.fullmatch(one := one.strip()):
            tag, mark, name = one.partition("." if "." in one else "#")
            yield f"{tag.lower()}{mark}{name}"


def _subjects(rule: _Rule) -> Iterator[str]:
    """Yield the names in what each selector of a rule is about, but of a whole rule those that stand alone."""
    for one in rule.selectors.split(","):
        if (parts := one.split()) and (rule.nested or not _SIMPLE.fullmatch(one.strip())):
            yield from _NAMES.findall(parts[-1])
