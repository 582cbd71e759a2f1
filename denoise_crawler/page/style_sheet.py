"""What the style sheets in a page hide: a reader of simple selectors, which fetches nothing."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from denoise_crawler.core import loops

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

HIDES, OPENS = "hides", "opens"
MOST_SELECTORS = 64
_LONGEST_SELECTOR = 100
_MOST_KNOWN = 512
_KNOWN: dict[int, Mapping[str, str]] = {}  # by the hash of some sheets: pages of a site often have the same
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
_MAY_HIDE, _MAY_SHOW = 1, 2


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
    written = tuple(sheets)
    key = hash(written)
    if (known := _KNOWN.get(key)) is None:
        if len(_KNOWN) >= _MOST_KNOWN:
            _KNOWN.clear()
        known = _KNOWN[key] = _found_in(written)
    return known


def _found_in(sheets: Iterable[str]) -> Mapping[str, str]:
    rules = list(_rules(sheets))
    hidden: dict[str, int] = {}  # by selector, the last rule that hides it
    for number, rule in enumerate(rules):
        if rule.signs & _MAY_HIDE and not rule.nested and len(hidden) < MOST_SELECTORS and is_hiding(rule.style):
            hidden.update(dict.fromkeys(_simple(rule.selectors), number))
    names, shown = {_NAMES.findall(one)[0] for one in hidden}, set[str]()
    for number, rule in enumerate(rules) if hidden else ():
        if not rule.signs & _MAY_SHOW or names.isdisjoint(_NAMES.findall(rule.selectors)):
            continue
        if _SHOWS.search(rule.style.lower()):
            shown.update(_subjects(rule.selectors, alone=rule.nested))
            for one in () if rule.nested else _simple(rule.selectors):
                if hidden.get(one, number) < number:
                    del hidden[one]
    return {one: OPENS if _NAMES.findall(one)[0] in shown else HIDES for one in hidden}


class _Rule(NamedTuple):
    """A rule that may hide or show something; ``nested`` if it stands inside another, as in ``@media``."""

    selectors: str
    style: str
    nested: bool
    signs: int


def _rules(sheets: Iterable[str]) -> Iterator[_Rule]:
    left, core = _MOST_CHARACTERS, loops("sheets")
    for sheet in sheets:
        if left > 0 and "{" in sheet:
            text = _without_comments(sheet[:left]) if "/*" in sheet else sheet[:left]
            rows = np.empty((text.count("}"), core.PARTS), np.int64)
            for start, brace, end, nested, signs in rows[: core.rules_of(text, rows)].tolist():
                yield _Rule(text[start:brace], text[brace + 1 : end], bool(nested), signs)
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
        if len(one) <= _LONGEST_SELECTOR and _SIMPLE.fullmatch(one):
            tag, mark, name = one.partition("." if "." in one else "#")
            yield f"{tag.lower()}{mark}{name}"


def _subjects(selectors: str, *, alone: bool) -> Iterator[str]:
    """Yield the names in what each selector is about; of simple ones only if these count ``alone``."""
    for one in _last(selectors):
        if alone or not _SIMPLE.fullmatch(one):
            yield from _NAMES.findall(one.rpartition(" ")[2])


def _last(selectors: str) -> list[str]:
    return [one.strip() for one in selectors.rpartition("{")[2].rpartition(";")[2].split(",")]
