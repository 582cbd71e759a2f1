"""What is no text for readers: the content of scripts and the like, line numbers, counters of comments."""

from __future__ import annotations

import re
from itertools import islice, pairwise
from typing import Any, cast

from lxml import etree
from lxml.etree import _Element as Element

# A noscript is a notice or a picture's stand-in. One with more text was never closed, or a forum writes its
# posts there for those without scripts.
NOTICE = 1_000
HEADINGS = frozenset({"h1", "h2", "h3", "h4", "h5", "h6", "dt", "summary"})
# Elements whose content is not for reading: pictures and media with what stands in for them, controls …
OPAQUE = frozenset(
    {"iframe", "svg", "object", "video", "audio", "canvas"}
    | {"button", "select", "option", "datalist", "textarea"}
)
# … unless they hold one of these: then they were never closed, and the rest of the page stands in them.
BLOCKS = ("p", "div", "table", "ul", "ol", "article", "section", "h1", "h2", "h3", "h4", "h5", "h6")
_LENGTH = etree.XPath("string-length()")


def is_no_notice(noscript: Element, swallowing: set[Element]) -> bool:
    """Return True if ``noscript`` holds more text than a notice; add those inside of it to ``swallowing``."""
    if noscript in swallowing:
        return True
    if cast("float", _LENGTH(noscript)) <= NOTICE:  # without an object for each element in it
        return False
    characters = 0
    for text in noscript.itertext():
        characters += len(text.strip())
        if characters > NOTICE:
            swallowing.update(noscript.iter("noscript"))
            return True
    return False


def is_read(opaque: Element, swallowing: set[Element]) -> bool:
    """Return True if the text of an element that holds none for reading is read after all: a block stands in it.

    Opaque elements around that block are noted in ``swallowing``, so that those in each other are searched once,
    not once a level.
    """
    if opaque in swallowing:
        return True
    above = opaque.getparent()
    if opaque.tag == "button" and above is not None and above.tag in HEADINGS:
        return True  # a question that opens its answer
    if (block := next(opaque.iter(*BLOCKS), None)) is None:
        return False
    for element in block.iterancestors(*OPAQUE):
        if element is opaque:
            break
        swallowing.add(element)
    return True


# What highlighters call the column of numbers, or one of them.
LINE_NUMBER_NAMES = (
    r"line-?num(?:ber)?s?(?:-rows)?|line-?nos?|linenos?|linenodiv|lnt?|\S+-line-?numbers?|gutter|rouge-gutter"
    r"|hljs-ln-numbers|hljs-ln-n|blob-num\S*|crayon-nums?|CodeMirror-gutter\S*|CodeMirror-linenumber"
    r"|cm-gutters?|cm-gutterElement|pre-numbering"
)
_NAMED = re.compile(rf"(?:^|\s)(?:{LINE_NUMBER_NAMES})(?:\s|$)")
# A ``pre`` named so holds the code, and gets its numbers later.
_OF_CODE = re.compile(r"(?:^|\s)line-numbers(?:\s|$)")
_COUNTER = re.compile(r"(?:^|\s)comments?[-_]count(?:\s|$)")
_QUOTES = tuple('«"“„')
_CODE = ("pre", "code")
_CELLS = frozenset({"td", "th"})
_MOST_DIGITS = 7
_MOST_IN_VAIN = 100_000  # characters
_TEXTS = etree.XPath("descendant::text()", smart_strings=False)


class LineNumbers:
    """Finds the elements of one page that hold nothing but numbers of lines, or of comments on a paragraph.

    Elements may stand in each other, so what is read in vain is bounded: a page with more has none.
    """

    __slots__ = ("_left",)

    def __init__(self) -> None:
        self._left = _MOST_IN_VAIN

    def fill(self, element: Element) -> bool:
        r"""Return True if ``element`` holds nothing but numbers of lines.

        It is named so, or it is the first of two cells in a row, of which the second holds code, and its numbers
        rise by one.

        Example:
            >>> from lxml import html
            >>> row = html.fromstring("<table><tr><td>1\n2<td><pre>a = 1\nb = 2</pre></table>").find(".//tr")
            >>> [LineNumbers().fill(cell) for cell in row]
            [True, False]
        """
        if self._left <= 0:
            return False
        classes = element.get("class", "")
        named = _NAMED.search(classes) and not (element.tag in _CODE and _OF_CODE.search(classes))
        named = named or (_COUNTER.search(classes) and _is_in_word(element))
        if not named and not (element.tag in _CELLS and _is_beside_code(element)):
            return False
        numbers = self._numbers(element)
        return bool(numbers and (named or _count_lines(element, numbers)))

    def _numbers(self, element: Element) -> list[int]:
        """Return the numbers in ``element``; none if it holds anything else."""
        texts: Any = _TEXTS(element)
        words = [word.strip(".:|") for text in texts for word in text.split()]
        figures = "".join(words)
        if figures.isascii() and figures.isdecimal() and all(words) and len(max(words, key=len)) <= _MOST_DIGITS:
            return list(map(int, words))
        self._left -= sum(map(len, texts)) + len(texts)
        return []


def _is_in_word(element: Element) -> bool:
    """Return True if the text of a paragraph goes on behind ``element`` without a space."""
    above = element.getparent()
    behind = element.tail or next((text for one in element.itersiblings("*") for text in one.itertext("*")), "")
    return above is not None and above.tag == "p" and (behind[:1].isalpha() or behind[:1] in _QUOTES)


def _is_beside_code(cell: Element) -> bool:
    """Return True if ``cell`` is the first of two in its row, and the second holds code."""
    if next(cell.itersiblings("*", preceding=True), None) is not None:
        return False
    following = list(islice(cell.itersiblings("*"), 2))
    return len(following) == 1 and following[0].tag in _CELLS and next(following[0].iter(*_CODE), None) is not None


def _count_lines(cell: Element, numbers: list[int]) -> bool:
    """Return True if ``numbers`` rise by one; a single one numbers a line of code if no other row has any."""
    if len(numbers) > 1:
        return all(following == number + 1 for number, following in pairwise(numbers))
    row = cell.getparent()
    return row is not None and not any(
        True for preceding in (True, False) for _ in row.itersiblings("tr", preceding=preceding)
    )
