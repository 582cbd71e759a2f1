"""Finds the elements of a page whose attributes hold certain words: those that all look for, in one pass."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any, TypeAlias

from denoise_crawler import kernel
from denoise_crawler.page.nodes import TEXT, Element, Nodes

Words: TypeAlias = "Mapping[str, tuple[str, ...]]"  # by attribute

# Classes of what is read aloud only, on all sites that have them
HEARD = (
    "sr-only", "visually-hidden", "visuallyhidden", "screen-reader-text", "screen-reader-only",
    "element-invisible",
)  # fmt: skip
SOURCE_LINK = "viewcode"  # of Sphinx
EMOJI = ("emoji", "smiley", "emoticon")
_TAGS = ("details",)  # with any attributes
_SIGNS: Words = {
    "style": ("none", "hidden", "collapse", "clip", ":-", ": -", "NONE", "HIDDEN", "e:pre", "e: pre"),
    "class": (*HEARD, "w-condition-invisible", *EMOJI, SOURCE_LINK),
    "hidden": ("",), "role": ("tabpanel", "heading"), "aria-expanded": ("",),
}  # fmt: skip
MARKUP = frozenset({"math", "mjx-container"})
ADDRESS_HINTS = ("atex", "aTeX", "%5C", "%5c", "math", "Math", "imetex", "formula", "equation", "cht=tx", "exvc")
TEXT_HINTS = ("\\", "^", "$", "=", "_{")
_OF_PICTURES: Words = {"alt": TEXT_HINTS, "src": ADDRESS_HINTS, "class": ("ath", "tex", "equation")}
_FORMULAS: Words = {
    "class": ("katex", "MathJax", "mwe-math", "hurmet-tex", "math-inline", "math-block", "math-display"),
    "data-math": ("",),
}


def signed(nodes: Nodes) -> Sequence[int]:
    """Return the nodes that may be hidden, opened, preformatted, an emoji, a heading, or read aloud only."""
    if nodes.signed is None:
        nodes.signed = find_words(nodes, _SIGNS, _TAGS)
    return nodes.signed


def may_be_formulas(nodes: Nodes) -> Sequence[int]:
    """Return the nodes of elements that may be formulas, by their tags, classes and addresses."""
    if nodes.formulas is None:
        core = None if nodes.compiled is None else kernel.reader
        nodes.formulas = range(len(nodes)) if core is None else compiled_hints(core)[2].find(nodes.compiled)
    return nodes.formulas


@lru_cache(maxsize=1)
def compiled_hints(core: Any) -> tuple[Any, Any, Any]:
    """Return the hints of both, of elements with signs, and of formulas, as the compiled ``core`` reads them."""
    by_tag: dict[str, Words] = {"img": _OF_PICTURES, **{tag: {} for tag in MARKUP}}
    signs = _hints(core, _TAGS, tuple(_SIGNS.items()))
    both = {"img": _merged(_OF_PICTURES), **{tag: {} for tag in (*MARKUP, *_TAGS)}}
    return core.Hints(both, _merged(_FORMULAS)), signs, core.Hints(by_tag, _FORMULAS)


def _merged(words: Words) -> Words:
    return {name: (*_SIGNS.get(name, ()), *words.get(name, ())) for name in {*_SIGNS, *words}}


def find_words(nodes: Nodes, words: Words, tags: tuple[str, ...] = ()) -> Sequence[int]:
    """Return the nodes of elements that have one of the ``words`` in the attribute, or one of the ``tags``."""
    core: Any = kernel.reader
    if core is not None and nodes.compiled is not None:
        indices: list[int] = _hints(core, tags, tuple(words.items())).find(nodes.compiled)
        return indices
    return [
        index
        for index, tag in enumerate(nodes.tags)
        if tag is not TEXT and (tag in tags or _has_word(nodes.elements[index], words))
    ]


@lru_cache(maxsize=256)  # pages of a site have the same style sheets
def _hints(core: Any, tags: tuple[str, ...], words: tuple[tuple[str, tuple[str, ...]], ...]) -> Any:
    return core.Hints({tag: {} for tag in tags}, dict(words))


def _has_word(element: Element, words: Words) -> bool:
    return any(word in value for name, value in element.items() for word in words.get(str(name), ()))
