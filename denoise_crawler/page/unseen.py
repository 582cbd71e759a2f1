"""Which nodes of a page readers do not see: hidden by markup or by style sheets in it, or read aloud only."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import islice
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from denoise_crawler import kernel
from denoise_crawler.page.nodes import Element, Nodes
from denoise_crawler.page.page import Page
from denoise_crawler.page.signs import HEARD, SOURCE_LINK, find_words, signed

if TYPE_CHECKING:
    from numpy.typing import NDArray


HIDES, OPENS = "hides", "opens"
MOST_SELECTORS = 64
_LONGEST_SELECTOR = 100
_MOST_SHEETS = 512
_KNOWN_SHEETS: dict[int, Mapping[str, str]] = {}  # by the hash of some sheets: pages of a site often have the same
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
    """Return True if the declarations of a ``style`` show nothing: without display, off the screen, of no size.

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
    written, left = list[str](), _MOST_CHARACTERS
    for sheet in sheets:
        written.append(sheet[:left])
        if (left := left - len(sheet)) <= 0:
            break
    key = hash(tuple(written))
    if (known := _KNOWN_SHEETS.get(key)) is None:
        if len(_KNOWN_SHEETS) >= _MOST_SHEETS:
            _KNOWN_SHEETS.clear()
        known = _KNOWN_SHEETS[key] = _selectors_of(written)
    return known


def _selectors_of(sheets: Iterable[str]) -> Mapping[str, str]:
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
    for sheet in sheets:
        if "{" in sheet:
            text = _without_comments(sheet) if "/*" in sheet else sheet
            for start, brace, end, nested, signs in kernel.active.rules_of(text):
                yield _Rule(text[start:brace], text[brace + 1 : end], nested, signs)


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


# Classes whose text is for screen readers, or for nobody, on all sites that have them.
_KNOWN = frozenset({*HEARD, "w-condition-invisible"})
PANEL_WORDS = re.compile(
    r"accordion|collaps|toggl|expand|faq|\btab(?:s\b|[-_]?(?:pane|content|body))", re.IGNORECASE
)
_WORDS_AT_ONCE = 32  # as many as the compiled core looks for at once
_MOST_CONTROLS = 64
_TARGETS = "data-target", "data-bs-target", "href"


class Unseen(NamedTuple):
    """By node, whether it is hidden for good, and whether it stands in a panel that opens."""

    hidden: NDArray[np.bool_]
    panel: NDArray[np.bool_]


def unseen_of(page: Page) -> Unseen | None:
    """Return what of ``page`` is not seen, None if all is; ask for it by ``page.once``.

    Read are attributes and the page's own style sheets; ``aria-hidden`` hides nothing from the eye.

    Example:
        >>> from denoise_crawler.page import Page
        >>> page = Page.parse("https://a.example/", "<div>Seen</div><div hidden>Spam</div>")
        >>> unseen_of(page).hidden.tolist()
        [False, False, False, True, True]
    """
    nodes, styles = page.nodes, page.self_description.styles
    selectors = hiding_selectors(sheet.text or "" for sheet in styles if _applies(sheet))
    elements = {index: nodes.elements[index] for index in signed(nodes)}
    names, parents = _opened(elements.values())
    classes = sorted([name for one in selectors if (name := one.partition(".")[2])])
    identities = sorted([*names, *[name for one in selectors if (name := one.partition("#")[2])]])
    for start in range(0, max(len(classes), len(identities)), _WORDS_AT_ONCE):
        words = {
            "class": classes[start : start + _WORDS_AT_ONCE],
            "id": identities[start : start + _WORDS_AT_ONCE],
        }
        for index in find_words(nodes, {name: tuple(some) for name, some in words.items() if some}):
            elements[index] = nodes.elements[index]
    hidden, panels = list[int](), list[int]()
    for index, element in elements.items():
        if index and nodes.end_of(index) > index + 1 and (kind := _kind(element, selectors, names, parents)):
            (hidden if kind == HIDES else panels).append(index)
    return Unseen(_below(nodes, hidden), _below(nodes, panels)) if hidden or panels else None


def _opened(elements: Iterable[Element]) -> tuple[set[str], set[Element]]:
    """Return what controls among elements open: the ids that they name, and the elements that they stand in."""
    names, parents = set[str](), set[Element]()
    for element in elements:
        if not element.get("aria-expanded") or len(parents) >= _MOST_CONTROLS:
            continue
        names.update(element.get("aria-controls", "").split()[:2])
        for name in _TARGETS:
            if (target := element.get(name, ""))[:1] == "#":
                names.add(target[1:])
        parents.update(islice(element.iterancestors(), 2))
    return names, {one for one in parents if one.tag not in ("body", "html")}


def _kind(element: Element, selectors: Mapping[str, str], names: set[str], parents: set[Element]) -> str:
    """Return whether an element ``HIDES`` what is in it, or ``OPENS``; empty for neither."""
    tag = str(element.tag)
    if tag == "details" or element.get("role") == "tabpanel" or element.get("id") in names:
        return OPENS
    classes, hiding, style = element.get("class", "").split(), element.get("hidden"), element.get("style")
    named = _named(tag, classes, element.get("id"), selectors) if selectors else set[str]()
    hides = HIDES in named or not _KNOWN.isdisjoint(classes) or (style is not None and is_hiding(style))
    if hiding == "until-found" or OPENS in named:
        return OPENS
    if not hides and hiding is None:
        return ""
    above = element.getparent()
    opens = above in parents or _is_named_panel(element) or (above is not None and _is_named_panel(above))
    return OPENS if opens else HIDES


def _named(tag: str, classes: list[str], identity: str | None, selectors: Mapping[str, str]) -> set[str]:
    """Return what the selectors do that fit an element."""
    names = [f".{name}" for name in classes] + ([f"#{identity}"] if identity else [])
    return {selectors[one] for name in names for one in (name, tag + name) if one in selectors}


def _is_named_panel(element: Element) -> bool:
    """Return True if the class or id of an element says that it opens."""
    return _names_panel(element.get("class", "")[:200], element.get("id", "")[:200])


@lru_cache(maxsize=4_096)
def _names_panel(class_name: str, identity: str) -> bool:
    return PANEL_WORDS.search(f"{class_name} {identity}") is not None


def _below(nodes: Nodes, tops: Sequence[int]) -> NDArray[np.bool_]:
    """Return by node whether it is one of the ``tops`` or below one."""
    below, end = np.zeros(len(nodes), bool), 0
    for top in sorted(tops):
        if top >= end:
            end = nodes.end_of(top)
            below[top:end] = True
    return below


def _applies(sheet: Element) -> bool:
    """Return True if a style sheet is one for screens, with scripts."""
    parent, media = sheet.getparent(), sheet.get("media", "").strip().lower()
    return media in ("", "all", "screen") and (parent is None or parent.tag != "noscript")


# --- what stands beside words for those who listen to a page, or read the source of what it documents


def reader_aids(page: Page) -> tuple[int, ...]:
    """Return the nodes of what is no text of ``page``; ask for it by ``page.once``.

    That is what a link says to those who listen ("opens in a new window"), and the link to the source of what a
    documentation is about.

    Example:
        >>> page = Page.parse("https://a.example/", "<p>See <a href=/b>b<i class=sr-only> (new window)</i></a>.")
        >>> [page.nodes.tags[index] for index in reader_aids(page)]
        ['i']
    """
    nodes = page.nodes
    return tuple([index for index in signed(nodes) if nodes.link_of(index) >= 0 and _is_aid(page, index)])


def _is_aid(page: Page, index: int) -> bool:
    """Return True if an element in a link leads to the source, or is read aloud beside something that is shown."""
    nodes, link = page.nodes, page.nodes.link_of(index)
    classes = nodes.elements[index].get("class", "")
    if SOURCE_LINK in classes:
        return True
    if link == index or not set(HEARD).intersection(classes.split()):
        return False
    characters = page.characters
    return sum(characters[link : nodes.end_of(link)]) > sum(characters[index : nodes.end_of(index)])
