"""Finds the elements of a page whose attributes hold certain words: those that all look for, in one pass."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any, TypeAlias

from denoise_crawler import kernel
from denoise_crawler.page.nodes import TEXT, Nodes

Words: TypeAlias = "Mapping[str, tuple[str, ...]]"  # by attribute

# Classes of what is read aloud only, on all sites that have them
HEARD = (
    "sr-only", "visually-hidden", "visuallyhidden", "screen-reader-text", "screen-reader-only",
    "element-invisible",
)  # fmt: skip
SOURCE_LINK = "viewcode"  # of Sphinx
EMOJI = ("emoji", "smiley", "emoticon")
_BY_TAG: Mapping[str, Words] = {"details": {}}  # with any attributes
_SIGNS: Words = {
    "style": ("none", "hidden", "collapse", "clip", ":-", ": -", "NONE", "HIDDEN", "e:pre", "e: pre"),
    "class": (*HEARD, "w-condition-invisible", *EMOJI, SOURCE_LINK),
    "hidden": ("",), "role": ("tabpanel", "heading"), "aria-expanded": ("",),
}  # fmt: skip


def signed(nodes: Nodes) -> Sequence[int]:
    """Return the nodes that may be hidden, opened, preformatted, an emoji, a heading, or read aloud only."""
    if nodes.signed is None:
        nodes.signed = _find(nodes, _BY_TAG, _SIGNS)
    return nodes.signed


def find_words(nodes: Nodes, words: Words) -> Sequence[int]:
    """Return the nodes of elements that have one of the ``words`` in the attribute."""
    return _find(nodes, {}, words)


def _find(nodes: Nodes, by_tag: Mapping[str, Words], otherwise: Words) -> Sequence[int]:
    core: Any = kernel.reader
    if core is not None and nodes.compiled is not None:
        hints = _fixed(core) if by_tag else core.Hints({}, dict(otherwise))
        indices: list[int] = hints.find(nodes.compiled)
        return indices
    return list(_find_in_python(nodes, by_tag, otherwise))


@lru_cache(maxsize=1)
def _fixed(core: Any) -> Any:
    return core.Hints(dict(_BY_TAG), dict(_SIGNS))


def _find_in_python(nodes: Nodes, by_tag: Mapping[str, Words], otherwise: Words) -> Iterator[int]:
    for index, tag in enumerate(nodes.tags):
        if tag is not TEXT:
            words = by_tag.get(tag, otherwise)
            attributes = nodes.elements[index].items() if words else ()
            if not words or any(word in value for name, value in attributes for word in words.get(str(name), ())):
                yield index
