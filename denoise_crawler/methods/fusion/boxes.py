"""What boxes inside an article say of themselves, as columns: labels, calls to the reader, fields for an address.

One page alone cannot tell a newsletter form between two paragraphs from a third paragraph by its shape. Its words
can. They are stems in the languages that gold pages have; what a box is made of counts, not which words it has.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from itertools import islice
from typing import TYPE_CHECKING

import numpy as np

from denoise_crawler import kernel
from denoise_crawler.kernel.columns import H1, H3
from denoise_crawler.kernel.names import BOX, is_comment_label, remembered
from denoise_crawler.methods.fusion.blocks import blocks_of
from denoise_crawler.page import Page

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from denoise_crawler.kernel.columns import Blocks, Elements
    from denoise_crawler.page.nodes import Element

BOXES = "calls", "calls around", "below advertisement", "near address field", "below comments", "answerable"
_ADVERTISEMENTS = (
    "advertisement|advertisements|advertising|advert|ad|ads|sponsored|sponsored content|promoted|anzeige"
    "|werbung|publicité|annonce|publicidad|anuncio|publicidade|pubblicità|annuncio|advertentie|reklama"
    "|реклама|reklam|annons|mainos|hirdetés|διαφήμιση|publicitate|quảng cáo|iklan|广告|廣告|広告|광고|إعلان"
    "|विज्ञापन|פרסומת|advertisement feature|paid content|story continues below advertisement"
    "|article continues below|article continues below advertisement"
)
_LONGEST_LABEL, _LONGEST_BUTTON, _MOST_LABELS = 60, 20, 50
_REPLIES = (
    "reply|reply to this|antworten|répondre|responder|rispondi|ответить|відповісти|回复|回覆|返信|返信する"
    "|답글|답글달기|odpowiedz|odpovědět|svara|svar|beantwoorden|reageer|yanıtla|cevapla|trả lời|balas"
    "|απάντηση|válasz|răspunde|הגב|رد|उत्तर|vastaa|report|like|flag"
)
_ADVERTISED, _ANSWERED = frozenset(_ADVERTISEMENTS.split("|")), frozenset(_REPLIES.split("|"))
_LEVELS, _MOST_FIELDS = 4, 20  # elements from a field upwards; fields
NO_BOXES = np.zeros((len(BOXES), 1), np.float32)


def boxes_of(page: Page) -> NDArray[np.float32]:
    """Return a row for each of ``BOXES``, a number for each block; one number if it is that of all blocks."""
    blocks = page.once(blocks_of)
    if not len(blocks):
        return NO_BOXES
    labels = [
        (block, label)
        for block, text in enumerate(blocks.texts)
        if len(text) <= _LONGEST_LABEL and (label := _label(text))
    ]
    boxes, calls = list(_with_address_field(page, blocks)), kernel.active.calls_in(blocks)
    if not (labels or boxes or np.count_nonzero(calls)):
        return NO_BOXES
    rows = np.zeros((len(BOXES), len(blocks)), np.float32)
    rows[:2] = calls
    for block in [block for block, label in labels if label & _ADVERTISEMENT]:
        rows[2, block : _end_of_box(blocks, block)] = 1.0
    for first, last in boxes:
        rows[3, first:last] = 1.0
    of_comments = (block for block, label in labels if label & _OF_COMMENTS and not blocks.linked[block])
    for block in islice(of_comments, _MOST_LABELS):
        is_heading = int(blocks.around.tags[blocks.elements[block]]) in _HEADING_TAGS
        below = rows[4, block : _end_of_section(blocks, block)]
        np.maximum(below, 1.0 + is_heading, out=below)
    for first, last in _answerable(blocks, [block for block, label in labels if label & _BUTTON]):
        rows[5, first:last] = 1.0
    return rows


_HEADING_TAGS = frozenset(range(H1, H3 + 1))
_ADVERTISEMENT, _BUTTON, _OF_COMMENTS = 1, 2, 4


@remembered
def _label(text: str) -> int:
    """Return whether a short text is the label of an advertisement or of comments, or a button, as bits."""
    text = text.lower()
    if len(text) > _LONGEST_LABEL:
        return 0
    of_comments = _OF_COMMENTS if is_comment_label(text) else 0
    if len(text) <= _LONGEST_BUTTON and text.strip(" ·|↩") in _ANSWERED:
        return of_comments | _BUTTON
    return of_comments | (_ADVERTISEMENT if text.strip(" :–-—•[](){}*") in _ADVERTISED else 0)


def _end_of_box(blocks: Blocks, label: int) -> int:
    """Return the end of the box that begins with a label: of the smallest element with the label and more."""
    around, element = blocks.around, _around_label(blocks, label, alone=True)
    first, last = int(around.first[element]), int(around.last[element])
    size = float(blocks.characters[first:last].sum())
    return last if first == label and size <= BOX else label + 1


def _end_of_section(blocks: Blocks, label: int) -> int:
    """Return the end of what stands below a label: of the smallest element that goes on behind it."""
    return int(blocks.around.last[_around_label(blocks, label, alone=False)])


def _around_label(blocks: Blocks, label: int, *, alone: bool) -> int:
    """Return the smallest element around a label that goes on behind it or, if it is ``alone``, holds more."""
    around, element = blocks.around, int(blocks.elements[label])
    while element > 0 and around.last[element] == label + 1 and not (alone and around.first[element] < label):
        element = int(around.parents[element])
    return element


_INPUTS = frozenset({"input"})
_NO_TEXT = frozenset({"hidden", "submit", "checkbox", "radio", "button", "image", "search"})


def _with_address_field(page: Page, blocks: Blocks) -> Iterator[tuple[int, int]]:
    """Yield the first block and that behind the last of the boxes in which readers are to write an address."""
    nodes, around = page.nodes, blocks.around
    fields = [index for index in nodes.tagged(_INPUTS) if _is_address_field(nodes.elements[index])]
    titles = np.flatnonzero(around.tags[blocks.elements] == H1) if fields else np.empty(0, np.int64)
    for index in fields[:_MOST_FIELDS]:
        element = bisect_right(around.nodes, index) - 1
        while element > 0 and nodes.end_of(int(around.nodes[element])) <= index:
            element = int(around.parents[element])
        box = 0, 0
        for _ in range(_LEVELS):
            first, last = int(around.first[element]), int(around.last[element])
            is_large = blocks.characters[first:last].sum() > BOX / 2
            if element <= 0 or is_large or ((first <= titles) & (titles < last)).any():
                break
            box = (first, last) if last > first else box
            element = int(around.parents[element])
        yield box


def _is_address_field(element: Element) -> bool:
    get = element.get
    if (kind := get("type", "text")) in _NO_TEXT:
        return False
    if (kind := kind.lower()) != "text":
        return kind in ("email", "password")
    names = f"{get('name', '')} {get('placeholder', '')} {get('id', '')}"[:200].lower()
    return "mail" in names or "correo" in names


def _answerable(blocks: Blocks, buttons: list[int]) -> Iterator[tuple[int, int]]:
    """Yield the largest elements that have one of the ``buttons`` to answer each, of two and more."""
    if len(buttons) < 2:
        return
    around = blocks.around
    for block in buttons:
        element = int(blocks.elements[block])
        while (above := int(around.parents[element])) > 0 and _alone(around, above, buttons):
            element = above
        yield int(around.first[element]), int(around.last[element])


def _alone(around: Elements, element: int, buttons: list[int]) -> bool:
    first, last = around.first[element], around.last[element]
    return bisect_left(buttons, last) - bisect_left(buttons, first) == 1
