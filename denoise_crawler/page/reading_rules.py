"""How nodes are read that mean more than their names or texts say: rules over the nodes of a page, each apart.

They run once a page, after the walk through its tree, and change no tree: a node gets another tag, a text other
characters. A rule that finds no sign of what it is for costs next to nothing.
"""

from __future__ import annotations

import re

from denoise_crawler.kernel.html_names import INLINE, KNOWN, PARAGRAPHS, QUOTES, READ_BY_NAME
from denoise_crawler.page.nodes import Nodes
from denoise_crawler.page.signs import EMOJI, signed
from denoise_crawler.page.text import invisible_in, visible

_MOST = 5_000  # nodes that one rule looks at
_QUOTED = frozenset({"q"})
_LONGEST_EMOJI = 16  # characters, joined ones counted apart
_LEVEL, _HEADING = re.compile(r"[1-6]"), re.compile(r"h[1-6]")
# paragraphs of site builders have "pre-wrap", and are no code
_KEEPS_LINES = re.compile(r"white-space:\s?pre\b(?!-)")
_LINES = INLINE | {"br", "div", "p"}
_MARKS = frozenset("\"'“”„«»‘’‚‹›「」『』")


def read_as_meant(nodes: Nodes, language: str) -> None:
    """Apply all rules to ``nodes``, just after the walk."""
    names = frozenset(nodes.names)
    if unknown := names - KNOWN:
        inline_unknown(nodes, unknown)
    for index in signed(nodes)[:_MOST]:
        tag, element = nodes.tag_of(index), nodes.elements[index]
        if tag == "img":
            show_emoji(nodes, index)
        elif element.get("role") == "heading" and not _HEADING.fullmatch(tag):
            name_heading(nodes, index)
        elif tag in _LINES and _KEEPS_LINES.search(element.get("style", "")):
            name_preformatted(nodes, index)
    if "q" in names:
        quote(nodes, language)
    drop_invisible(nodes)


def inline_unknown(nodes: Nodes, unknown: frozenset[str]) -> None:
    """Treat elements that HTML does not know as inline where text goes on around them.

    Such an element holds no block, and stands beside text in a paragraph, or in an element of a line.
    """
    if not (of_unknown := nodes.tagged(unknown)):
        return
    in_line = INLINE | unknown
    with_text: dict[int, bool] = {}  # by paragraph
    for index in of_unknown[:_MOST]:
        parent = nodes.parents[index]
        if nodes.tag_of(index).startswith(READ_BY_NAME) or nodes.holds(
            index + 1, nodes.end_of(index), in_line, other=True
        ):
            continue
        if (above := nodes.tag_of(parent)) in PARAGRAPHS and parent not in with_text:
            with_text[parent] = any(nodes.texts[child] for child in nodes.children(parent))
        if above in INLINE or with_text.get(parent):
            nodes.rename(index, "span")


def show_emoji(nodes: Nodes, image: int) -> None:
    """Write an emoji that is a picture into the text beside it."""
    element = nodes.elements[image]
    emoji = element.get("alt", "").strip()
    if not 0 < len(emoji) <= _LONGEST_EMOJI or any(map(str.isalnum, emoji)):
        return
    if not any(word in element.get("class", "") for word in EMOJI):
        return
    before, behind, parent = image - 1, nodes.end_of(image), nodes.parents[image]
    if nodes.texts[before] and nodes.parents[before] == parent:
        nodes.texts[before] += emoji
    elif behind < len(nodes) and nodes.texts[behind] and nodes.parents[behind] == parent:
        nodes.texts[behind] = emoji + nodes.texts[behind]


def name_heading(nodes: Nodes, index: int) -> None:
    """Rename an element with the role of a heading to ``h1`` … ``h6`` by its level (2 if none is given).

    An element of a line with text beside it stays in its sentence.
    """
    in_line = nodes.tag_of(index) in INLINE and any(
        nodes.texts[child] for child in nodes.children(nodes.parents[index])
    )
    if not in_line and not nodes.holds(index + 1, nodes.end_of(index), INLINE, other=True):
        level = nodes.elements[index].get("aria-level", "")
        nodes.rename(index, f"h{level if _LEVEL.fullmatch(level) else 2}")


def name_preformatted(nodes: Nodes, index: int) -> None:
    """Name an element ``pre`` whose style keeps the lines of its text, unless it stands in one or holds more."""
    above = nodes.parents[index]
    while above > 0 and nodes.tag_of(above) in INLINE:
        above = nodes.parents[above]
    end = nodes.end_of(index)
    has_lines = "\n" in "".join(nodes.texts[index:end]).strip()
    if has_lines and nodes.tag_of(above) != "pre" and not nodes.holds(index + 1, end, _LINES, other=True):
        nodes.rename(index, "pre")


def quote(nodes: Nodes, language: str) -> None:
    """Put the quotation marks of the language around what stands in ``q``, as a browser does."""
    for index in nodes.tagged(_QUOTED)[:_MOST]:
        texts = [one for one in range(index, nodes.end_of(index)) if nodes.texts[one]]
        own = nodes.elements[index].get("lang") or language
        opening, closing = QUOTES.get(own.partition("-")[0].lower(), ("“", "”"))
        nodes.rename(index, "span")
        if not texts or nodes.texts[texts[0]].lstrip()[:1] in _MARKS:
            continue
        first, last = texts[0], texts[-1]
        nodes.texts[first] = opening + nodes.texts[first].lstrip()
        nodes.texts[last] = f"{nodes.texts[last].rstrip()}{closing}"


def drop_invisible(nodes: Nodes) -> None:
    """Drop soft hyphens, and joiners and marks of no width in words that need none: no search finds such words."""
    for sign in invisible_in("".join(nodes.texts)):
        for index in [place for place, text in enumerate(nodes.texts) if sign in text]:
            if (shown := visible(text := nodes.texts[index])) != text and shown.strip():
                nodes.texts[index] = shown
