"""Footnotes and notes beside a text: the references, and the notes they lead to, by links or by numbers alone."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import accumulate, count

from lxml.etree import _Element

from denoise_crawler.output.content.blocks import Inline, Text, block_around
from denoise_crawler.output.content.nested import whole_number
from denoise_crawler.page import TEXT, Nodes, Page
from denoise_crawler.page.nodes import INLINE
from denoise_crawler.page.signs import find_words

MAX_NOTE_CHARACTERS = 5_000
MAX_REFERENCES = 3_000
MAX_LABEL_CHARACTERS = 40  # of the label of a note, or of its link back
_LABEL = re.compile(r"[\s\[({^]*(\d{1,4}|[a-zA-Z]|[ivxlc]{1,6}|[*†‡§¶]{1,4})[\])}:.]*\s*")
_HINT = re.compile(
    r"foot-?note|fn-?ref|note-?ref|noteref|sidenote|endnote|ftnt|\bfn\d|cite_ref|reference", re.IGNORECASE
)
_BACK = re.compile(
    r"[\s↩︎↵⤴^↑⏎🔙\ufe0e\[\]().:a-z\d*†‡§]{0,12}|back|return|jump (?:up|back)|go back.{0,20}", re.IGNORECASE
)
_NAMING = ("class", "id", "role", "rel", "epub:type")
_NOTE_HOLDERS = frozenset({"li", "p", "div", "dd", "aside", "section", "blockquote"})


@dataclass(slots=True)
class Footnotes:
    """The footnotes of a page.

    ``marks`` maps the node of a reference to its label, ``notes`` the node of a note to its label, ``sidenotes``
    that of a note beside the text. ``parted`` maps a raised label that begins a further note, behind a line break
    in the element of another one. ``left_out`` are the nodes of the labels in notes and of their links back.
    """

    marks: dict[int, str] = field(default_factory=dict)
    notes: dict[int, str] = field(default_factory=dict)
    sidenotes: dict[int, str] = field(default_factory=dict)
    parted: dict[int, str] = field(default_factory=dict)
    left_out: set[int] = field(default_factory=set)


def footnotes_of(page: Page) -> Footnotes:
    """Return the footnotes of ``page``.

    A reference is a link of this page to a note that stands behind it, under a number or a sign, raised, in
    brackets or with a class that says so. Where no note is linked, raised numbers refer to notes that begin so.

    Example:
        >>> footnotes = footnotes_of(Page.parse("", "<p>A<sup><a href=#n1>1</a></sup><ol><li id=n1>Note</ol>"))
        >>> footnotes.marks, footnotes.notes
        ({3: '1'}, {7: '1'})
        >>> footnotes_of(Page.parse("", "<p>It sails.<sup>1</sup><p><sup>1</sup> Since May.")).left_out
        {6}
    """
    nodes, footnotes = page.nodes, Footnotes()
    links = [(index, _fragment(page, nodes.elements[index])) for index in _links(nodes)]
    references = [(index, fragment) for index, fragment in links if fragment]
    raised = "sup" in nodes.tags
    if (references or raised) and len(references) <= MAX_REFERENCES:
        until = list(accumulate(map(len, nodes.texts), initial=0))
        _add_linked(page, references, until, footnotes)
        if raised and not footnotes.notes:
            _add_bare(nodes, until, footnotes)
    _add_sidenotes(page, footnotes)
    return footnotes


def _tie(nodes: Nodes, labels: dict[int, str], footnotes: Footnotes) -> None:
    """Keep the notes that hold no other note, each label once, and the references before them."""
    end, notes = -1, dict[str, int]()
    for note in sorted(labels):
        if note >= end and labels[note] not in notes:
            notes[labels[note]] = note
            end = nodes.ends[note]
    footnotes.notes = {note: label for label, note in notes.items()}
    inside = {index for note in footnotes.notes for index in range(note, nodes.ends[note])}
    footnotes.marks = {
        mark: label
        for mark, label in footnotes.marks.items()
        if mark < notes.get(label, -1) and mark not in inside
    }


# --- references that are links


def _add_linked(page: Page, references: list[tuple[int, str]], until: list[int], footnotes: Footnotes) -> None:
    nodes = page.nodes
    labelled = [(index, fragment, label) for index, fragment in references if (label := _label(nodes, index))]
    targets = _targets(nodes, {fragment for _, fragment, _ in labelled}) if labelled else {}
    notes = {name: _note_at(nodes, target, until) for name, target in targets.items()}
    labels: dict[int, str] = {}  # by note
    for index, fragment, label in labelled:
        if (note := notes.get(fragment, -1)) > index:
            footnotes.marks[_mark(nodes, index)] = labels.setdefault(note, label)
    _tie(nodes, labels, footnotes)
    for index, fragment, label in labelled:
        sign = _sign_behind_break(nodes, targets.get(fragment, -1))
        if sign > index and block_around(nodes, sign) in footnotes.notes and label not in footnotes.notes.values():
            footnotes.parted[sign] = footnotes.marks[_mark(nodes, index)] = label
    for note in footnotes.notes:
        _leave_out_labels(page, note, footnotes, until)
    footnotes.left_out -= footnotes.parted.keys()


def _sign_behind_break(nodes: Nodes, target: int) -> int:
    """Return the label behind a line break that a fragment leads to, as the element of the line; -1 for others."""
    if target < 0 or nodes.tags[target] not in INLINE:
        return -1
    while nodes.tags[nodes.parents[target]] in INLINE:
        target = nodes.parents[target]
    text = "".join(nodes.texts[target : nodes.ends[target]])
    return target if nodes.tags[target - 1] == "br" and (not text or _LABEL.fullmatch(text)) else -1


def _links(nodes: Nodes) -> list[int]:
    """Return the links with a fragment."""
    return [index for index in find_words(nodes, {"href": ("#",)}) if nodes.links[index] == index]


def _fragment(page: Page, link: _Element) -> str:
    """Return the fragment of a link inside the page; empty for other links."""
    address = link.get("href", "").strip()
    own, _, fragment = address.partition("#")
    return fragment if fragment and (not own or page.absolute(own) == page.url.partition("#")[0]) else ""


def _targets(nodes: Nodes, wanted: set[str]) -> dict[str, int]:
    targets: dict[str, int] = {}
    for index, element in enumerate(nodes.elements):
        if nodes.tags[index] is not TEXT:
            for name in (element.get("id"), element.get("name")):
                if name in wanted:
                    targets.setdefault(name, index)
    return targets


def _label(nodes: Nodes, link: int) -> str:
    """Return the label of a reference; empty if the link is none."""
    text = "".join(nodes.texts[link : nodes.ends[link]])
    label = _LABEL.fullmatch(text) if len(text) < 12 else None
    if label is None:
        return ""
    parent = nodes.parents[link]
    raised = "sup" in (nodes.tags[parent], *nodes.tags[link : nodes.ends[link]])
    bracketed = text.strip()[:1] in ("[", "(") and label[1].isdecimal()
    names = " ".join(nodes.elements[index].get(name, "") for index in (link, parent) for name in _NAMING)
    return label[1] if raised or bracketed or _HINT.search(names) else ""


def _mark(nodes: Nodes, link: int) -> int:
    """Return the node that stands for a reference: its ``sup`` if there is nothing else in it, or the link."""
    parent = nodes.parents[link]
    outside = [*nodes.texts[parent:link], *nodes.texts[nodes.ends[link] : nodes.ends[parent]]]
    return parent if nodes.tags[parent] in ("sup", "span") and not "".join(outside).strip(" []()") else link


def _note_at(nodes: Nodes, target: int, until: list[int]) -> int:
    """Return the node of the note that a fragment leads to; -1 if none is there."""
    note = target
    while nodes.tags[note] in INLINE and note > 0:
        if until[note] > until[nodes.parents[note]]:
            return -1  # in the middle of a paragraph
        note = nodes.parents[note]
    if nodes.tags[note] not in _NOTE_HOLDERS:
        return -1
    above = nodes.parents[note]
    if nodes.tags[above] == "li" and until[note] == until[above]:
        note = above
    return note if 0 < until[nodes.ends[note]] - until[note] <= MAX_NOTE_CHARACTERS else -1


def _leave_out_labels(page: Page, note: int, footnotes: Footnotes, until: list[int]) -> None:
    """Leave out the label at the beginning of a note and its links back to the text."""
    nodes, index = page.nodes, note + 1
    while index < nodes.ends[note]:
        end = nodes.ends[index]
        short = until[end] - until[index] < MAX_LABEL_CHARACTERS
        text = "".join(nodes.texts[index:end]) if short else ""
        is_link_back = nodes.links[index] == index and bool(_fragment(page, nodes.elements[index]))
        is_label = until[index] == until[note] and text.strip("[]().:^ \xa0") == footnotes.notes[note]
        if (is_link_back and _BACK.fullmatch(text)) or (is_label and nodes.tags[index] in INLINE):
            footnotes.left_out.add(index)
            index = end
        else:
            index += 1


# --- references that are raised numbers


MAX_RAISED = 3_000
_BARE_LABEL = re.compile(r"\s*[\[(]?(\d{1,3}|[*†‡§¶]{1,3})[\])]?\s*")
_BEFORE_A_MARK = re.compile(r"(?:[^\W\d_]{3}|[.,;:!?…\"'”’»)\]。，！？])\s?\Z")  # and not before an exponent
_BARE_NOTE_HOLDERS = frozenset({"p", "div", "li", "dd"})


def _add_bare(nodes: Nodes, until: list[int], footnotes: Footnotes) -> None:
    """Add raised numbers in a text, and notes that begin with the same or are items of a list beside the text."""
    raised = [(index, label) for index, label in _raised(nodes) if nodes.links[index] < 0]
    if not raised or len(raised) > MAX_RAISED:
        return
    signs: dict[int, int] = {}  # by note, the node of its label
    behind_break: dict[int, int] = {}  # by the node of a label, the note that it parts
    labels = dict(_items_beside(nodes))
    for index, label in raised:
        block = block_around(nodes, index)
        if until[block] < until[index]:
            if block in signs and nodes.tags[index - 1] == "br":
                behind_break[index] = block
            elif _BEFORE_A_MARK.search(_text_before(nodes, index)):
                footnotes.marks[index] = label
        elif nodes.tags[block] in _BARE_NOTE_HOLDERS and until[nodes.ends[block]] > until[nodes.ends[index]]:
            labels.setdefault(block, label)
            signs.setdefault(block, index)
    first = {label: mark for mark, label in reversed(footnotes.marks.items())}
    marked = {note: label for note, label in labels.items() if first.get(label, note) < note}
    marks = dict(footnotes.marks)
    _tie(nodes, marked, footnotes)
    for index, label in raised:
        if behind_break.get(index) in footnotes.notes and label not in footnotes.notes.values():
            footnotes.parted[index] = label
            footnotes.marks |= {mark: name for mark, name in marks.items() if name == label and mark < index}
    footnotes.left_out |= {signs[note] for note in footnotes.notes if note in signs}


def _raised(nodes: Nodes) -> Iterator[tuple[int, str]]:
    """Yield the elements with a raised number or sign and no link, with their labels."""
    for index, tag in enumerate(nodes.tags):
        if tag == "sup":
            end = nodes.ends[index]
            label = _BARE_LABEL.fullmatch("".join(nodes.texts[index:end])) if end - index < 5 else None
            if label is not None and "a" not in nodes.tags[index:end]:
                yield index, label[1]


def _items_beside(nodes: Nodes) -> Iterator[tuple[int, str]]:
    """Yield the items of numbered lists beside the text, with their numbers."""
    for index, tag in enumerate(nodes.tags):
        if tag == "ol" and nodes.tags[nodes.parents[index]] == "aside":
            items = (child for child in nodes.children(index) if nodes.tags[child] == "li")
            for number, item in enumerate(items, whole_number(nodes.elements[index], "start", 1)):
                yield item, str(number)


def _text_before(nodes: Nodes, index: int) -> str:
    """Return the end of the text before a node."""
    before = index - 1
    while before > 0 and not nodes.texts[before]:
        before -= 1
    return nodes.texts[before][-20:]


# --- notes beside the text


_SIDE_LABEL = re.compile(r"[\s\[(]*(?:\d{1,3}|[*†‡§¶⊕]{1,3})[\])}:.]*\s*")  # that a note begins with
_HINTS = ("sidenote", "side-note", "marginnote", "margin-note")
_NAME = re.compile(rf"(?:^|\s)(?:{'|'.join(_HINTS)})(?:\s|$)", re.IGNORECASE)


def _add_sidenotes(page: Page, footnotes: Footnotes) -> None:
    """Add the notes beside the text, with numbers of their own; what a footnote says again is left out."""
    nodes, end = page.nodes, 0
    labels = {*footnotes.marks.values(), *footnotes.notes.values()}
    free = (str(number) for number in count(1) if str(number) not in labels)
    ends_of_marks = {nodes.ends[mark] for mark in footnotes.marks}
    for index in find_words(nodes, {"class": _HINTS}):
        if index < end or not _NAME.search(nodes.elements[index].get("class", "")):
            continue
        if 0 < sum(page.characters[index : nodes.ends[index]]) <= MAX_NOTE_CHARACTERS:
            end = nodes.ends[index]
            if index in ends_of_marks:
                footnotes.left_out.add(index)
            elif index not in footnotes.notes:
                footnotes.sidenotes[index] = next(free)


def without_label(note: list[Inline]) -> list[Inline]:
    """Return the pieces of a note without the number or sign that they begin with."""
    for number, piece in enumerate(note):
        if isinstance(piece, Text) and piece.text.strip():
            return note[number + 1 :] if _SIDE_LABEL.fullmatch(piece.text) else note
    return note


def without_number(line: list[Inline]) -> list[Inline]:
    """Return the pieces of a line without the raised number at its end, which says what a mark will say."""
    last = line[-1]
    is_number = isinstance(last, Text) and last.style == "sup" and _SIDE_LABEL.fullmatch(last.text)
    return line[:-1] if is_number else line
