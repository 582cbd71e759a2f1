"""Footnotes and notes beside a text: the references, and the notes they lead to, by links or by numbers alone."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import accumulate, count
from typing import Any

from lxml.etree import _Element

from denoise_crawler.output.content.blocks import Inline, Text, block_around
from denoise_crawler.output.content.formulas import hinted
from denoise_crawler.output.content.nested import first_number
from denoise_crawler.page import TEXT, Nodes, Page
from denoise_crawler.page.nodes import INLINE

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
_SAYING = ("class", "id", "role", "rel", "epub:type")
_NOTE_HOLDERS = frozenset({"li", "p", "div", "dd", "aside", "section", "blockquote"})


@dataclass(slots=True)
class Footnotes:
    """The footnotes of a page.

    ``marks`` maps the node of a reference to its label, ``notes`` the node of a note to its label, ``sidenotes``
    that of a note beside the text. ``left_out`` are the nodes of the labels in notes and of their links back.
    """

    marks: dict[int, str] = field(default_factory=dict)
    notes: dict[int, str] = field(default_factory=dict)
    sidenotes: dict[int, str] = field(default_factory=dict)
    left_out: set[int] = field(default_factory=set)


def footnotes_of(page: Page) -> Footnotes:
    """Return the footnotes of ``page``.

    A reference is a link of this page to a note that stands behind it, under a number or a sign, raised, in
    brackets or with a class that says so. Where no note is linked, raised numbers refer to notes that begin so.

    Example:
        >>> found = footnotes_of(Page.parse("", "<p>A<sup><a href=#n1>1</a></sup><ol><li id=n1>Note</ol>"))
        >>> found.marks, found.notes
        ({3: '1'}, {7: '1'})
    """
    found = _referred(page)
    found.sidenotes, again = sidenotes_of(page, found.marks, found.notes)
    found.left_out |= again
    return found


def _referred(page: Page) -> Footnotes:
    nodes, found = page.nodes, Footnotes()
    leads = [(index, _fragment(page, nodes.elements[index])) for index in _links(nodes)]
    references = [(index, fragment) for index, fragment in leads if fragment]
    raised = "sup" in nodes.tags
    if not (references or raised) or len(references) > MAX_REFERENCES:
        return found
    until = list(accumulate(map(len, nodes.texts), initial=0))
    _add_linked_notes(page, references, found, until)
    if raised and not found.notes:
        found.marks, found.notes, found.left_out = bare_notes(nodes, until)
    return found


def _add_linked_notes(page: Page, references: list[tuple[int, str]], found: Footnotes, until: list[int]) -> None:
    nodes = page.nodes
    labelled = [(index, fragment, label) for index, fragment in references if (label := _label(nodes, index))]
    targets = _targets(nodes, {fragment for _, fragment, _ in labelled}) if labelled else {}
    notes = {name: _note_at(nodes, target, until) for name, target in targets.items()}
    labels: dict[int, str] = {}  # by note
    for index, fragment, label in labelled:
        if (note := notes.get(fragment, -1)) > index:
            found.marks[_mark(nodes, index)] = labels.setdefault(note, label)
    _keep_separate_notes(nodes, labels, found)
    for note in found.notes:
        _leave_out_labels(page, note, found, until)


def _links(nodes: Nodes) -> list[int]:
    """Return the links, with the compiled core only those with a fragment."""
    return [index for index in hinted(nodes, _compiled_fragments) if nodes.links[index] == index]


@lru_cache(maxsize=1)
def _compiled_fragments(core: Any) -> Any:
    return core.Hints({"a": {"href": ("#",)}}, {})


def _fragment(page: Page, link: _Element) -> str:
    """Return the fragment of a link inside the page; empty for other links."""
    address = link.get("href", "").strip()
    own, sign, fragment = address.partition("#")
    if not sign or not fragment:
        return ""
    return fragment if not own or page.absolute(own) == page.url.partition("#")[0] else ""


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
    found = _LABEL.fullmatch(text) if len(text) < 12 else None
    if found is None:
        return ""
    around = nodes.elements[nodes.parents[link]]
    raised = "sup" in (nodes.tags[nodes.parents[link]], *nodes.tags[link : nodes.ends[link]])
    bracketed = text.strip()[:1] in ("[", "(") and found.group(1).isdecimal()
    element = nodes.elements[link]
    says = " ".join(one.get(name, "") for one in (element, around) for name in _SAYING)
    return found.group(1) if raised or bracketed or _HINT.search(says) else ""


def _mark(nodes: Nodes, link: int) -> int:
    """Return the node that stands for a reference: its ``sup`` if there is nothing else in it, or the link."""
    parent = nodes.parents[link]
    if nodes.tags[parent] in ("sup", "span"):
        outside = [*nodes.texts[parent:link], *nodes.texts[nodes.ends[link] : nodes.ends[parent]]]
        if not "".join(outside).strip(" []()"):
            return parent
    return link


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


def _keep_separate_notes(nodes: Nodes, labels: dict[int, str], found: Footnotes) -> None:
    """Keep notes that hold no other note, each label once; take back the references to the others."""
    last_end, taken = -1, set[str]()
    for note in sorted(labels):
        if note >= last_end and labels[note] not in taken:
            found.notes[note] = labels[note]
            taken.add(labels[note])
            last_end = nodes.ends[note]
    found.marks = {index: label for index, label in found.marks.items() if label in taken}
    inside = {index for note in found.notes for index in range(note, nodes.ends[note]) if index in found.marks}
    for index in inside:
        del found.marks[index]


def _leave_out_labels(page: Page, note: int, found: Footnotes, until: list[int]) -> None:
    """Mark the label at the beginning of a note and its links back to the text."""
    nodes, label = page.nodes, found.notes[note]
    index = note + 1
    while index < nodes.ends[note]:
        end = nodes.ends[index]
        size, begins = until[end] - until[index], until[index] == until[note]
        text = "".join(nodes.texts[index:end]) if size < MAX_LABEL_CHARACTERS else ""
        is_link_back = nodes.links[index] == index and bool(_fragment(page, nodes.elements[index]))
        is_label = begins and size > 0 and text.strip("[]().:^ \xa0") == label
        if (is_link_back and _BACK.fullmatch(text)) or (is_label and nodes.tags[index] in INLINE):
            found.left_out.add(index)
            index = end
        else:
            index += 1


MAX_RAISED = 3_000
_BARE_LABEL = re.compile(r"\s*[\[(]?(\d{1,3}|[*†‡§¶]{1,3})[\])]?\s*")
_BEFORE_A_MARK = re.compile(r"(?:[^\W\d_]{3,}|[.,;:!?…\"'”’»)\]。，！？])\s?\Z")  # and not before an exponent
_BARE_NOTE_HOLDERS = frozenset({"p", "div", "li", "dd"})


def bare_notes(nodes: Nodes, until: list[int]) -> tuple[dict[int, str], dict[int, str], set[int]]:
    """Return the labels of marks and of notes by their nodes, and the nodes of the labels in the notes.

    ``until`` says how many characters the page has before each node.

    Example:
        >>> nodes = Page.parse("", "<p>It sails.<sup>1</sup><p><sup>1</sup> Since May.").nodes
        >>> bare_notes(nodes, [0, 0, 0, 9, 9, 10, 10, 10, 11, 22])
        ({3: '1'}, {5: '1'}, {6})
    """
    raised = [(index, label) for index, label in _raised(nodes) if nodes.links[index] < 0]
    if not raised or len(raised) > MAX_RAISED:
        return {}, {}, set()
    marks: dict[str, list[int]] = {}
    notes: list[tuple[int, str, int]] = list(_beside(nodes))
    for index, label in raised:
        block = block_around(nodes, index)
        if until[block] < until[index]:
            if _BEFORE_A_MARK.search(_text_before(nodes, index)):
                marks.setdefault(label, []).append(index)
        elif nodes.tags[block] in _BARE_NOTE_HOLDERS and until[nodes.ends[block]] > until[nodes.ends[index]]:
            notes.append((block, label, index))
    return _paired(marks, sorted(notes), nodes)


def _raised(nodes: Nodes) -> Iterator[tuple[int, str]]:
    """Yield the elements with a raised number or sign and no link, with their labels."""
    for index, tag in enumerate(nodes.tags):
        if tag == "sup":
            end = nodes.ends[index]
            found = _BARE_LABEL.fullmatch("".join(nodes.texts[index:end])) if end - index < 5 else None
            if found is not None and "a" not in nodes.tags[index:end]:
                yield index, found.group(1)


def _beside(nodes: Nodes) -> Iterator[tuple[int, str, int]]:
    """Yield the items of numbered lists beside the text, with their numbers and themselves."""
    for index, tag in enumerate(nodes.tags):
        above = nodes.parents[index]
        if tag == "ol" and nodes.tags[above] == "aside":
            number, item = first_number(nodes.elements[index]), index + 1
            while item < nodes.ends[index]:
                if nodes.tags[item] == "li":
                    yield item, str(number), item
                    number += 1
                item = nodes.ends[item]


def _text_before(nodes: Nodes, index: int) -> str:
    """Return the end of the text before a node."""
    before = index - 1
    while before > 0 and not nodes.texts[before]:
        before -= 1
    return nodes.texts[before][-20:]


def _paired(
    marks: dict[str, list[int]], notes: list[tuple[int, str, int]], nodes: Nodes
) -> tuple[dict[int, str], dict[int, str], set[int]]:
    """Return marks and notes of the labels that have both, a mark first; no note holds another."""
    marked, noted, labels = dict[int, str](), dict[int, str](), set[int]()
    end = 0
    for note, label, sign in notes:
        before = [mark for mark in marks.get(label, []) if mark < note]
        if before and note >= end and label not in noted.values():
            marked.update(dict.fromkeys(before, label))
            noted[note] = label
            labels |= {sign} - {note}
            end = nodes.ends[note]
    return marked, noted, labels


_SIDE_LABEL = re.compile(r"[\s\[(]*(?:\d{1,3}|[*†‡§¶⊕]{1,3})[\])}:.]*\s*")  # that a note begins with
_HINTS = ("sidenote", "side-note", "marginnote", "margin-note")
_NAME = re.compile(rf"(?:^|\s)(?:{'|'.join(_HINTS)})(?:\s|$)", re.IGNORECASE)


def sidenotes_of(page: Page, marks: dict[int, str], notes: dict[int, str]) -> tuple[dict[int, str], set[int]]:
    """Return the labels of the sidenotes of a page by their nodes, and those that a footnote says again.

    ``marks`` and ``notes`` are the labels of its references and of its footnotes by their nodes.

    Example:
        >>> page = Page.parse("", "<p>It sails.<span class=sidenote>Since May.</span>")
        >>> sidenotes_of(page, {}, {})
        ({3: '1'}, set())
    """
    nodes = page.nodes
    taken = {*marks.values(), *notes.values()}
    labels = (str(number) for number in count(1) if str(number) not in taken)
    found, again, end = dict[int, str](), set[int](), 0
    ends_of_marks = {nodes.ends[mark] for mark in marks}
    for index in _named(nodes):
        if index < end or not 0 < sum(page.characters[index : nodes.ends[index]]) <= MAX_NOTE_CHARACTERS:
            continue
        end = nodes.ends[index]
        if index in ends_of_marks:
            again.add(index)
        elif index not in notes:
            found[index] = next(labels)
    return found, again


def without_label(note: list[Inline]) -> list[Inline]:
    """Return the pieces of a note without the number or sign that they begin with."""
    first = next((number for number, one in enumerate(note) if isinstance(one, Text) and one.text.strip()), -1)
    piece = note[first] if first >= 0 else None
    return note[first + 1 :] if isinstance(piece, Text) and _SIDE_LABEL.fullmatch(piece.text) else note


def without_number(line: list[Inline]) -> list[Inline]:
    """Return the pieces of a line without the raised number at its end, which says what a mark will say."""
    last = line[-1]
    is_number = isinstance(last, Text) and last.style == "sup" and _SIDE_LABEL.fullmatch(last.text)
    return line[:-1] if is_number else line


def _named(nodes: Nodes) -> list[int]:
    return [
        index
        for index in hinted(nodes, _hints)
        if nodes.tags[index] != TEXT and _NAME.search(nodes.elements[index].get("class", ""))
    ]


@lru_cache(maxsize=1)
def _hints(core: Any) -> Any:
    return core.Hints({}, {"class": _HINTS})
