"""Blocks of code: which elements are some, their lines without numbers and buttons, and their language."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import lru_cache
from itertools import islice, pairwise
from typing import Any, cast

from lxml import etree
from lxml.etree import _Element

from denoise_crawler.page import TEXT, Nodes
from denoise_crawler.page.nodes import INLINE
from denoise_crawler.page.opaque import LINE_NUMBER_NAMES

_ROWS = frozenset({"div", "li", "tr", "p"})
_LEFT_OUT = frozenset(
    {"script", "style", "template", "noscript", "button", "svg", "select", "input", "textarea", "figcaption"}
)
_NUMBERS_NAMED = re.compile(rf"(?:^|\s)(?:{LINE_NUMBER_NAMES})(?:\s|$)", re.IGNORECASE)
# How the classes of buttons and headers beside code begin and end.
_CONTROL_BEGINS = (
    *("copy", "clipboard", "btn-copy", "btn-clipboard", "hljs-button", "code-block-header", "code-blockheader"),
    *("code-block-extension-header", "margin-view-overlays"),
)
_CONTROL_ENDS = ("-copy", "copybutton", "copy-button", "copybtn", "copy-btn")
_LINE = re.compile(
    r"(?:^|\s)(?:line|code-line|view-line|cl|cm-line|react-code-line|token-line|ec-line|hljs-line|CodeMirror-line)(?:\s|$)"
)
_SPACES = re.compile(r"[ \t\r\n\f]+")  # those that cannot break a line are kept
EDITOR_LINE = re.compile(r"(?:^|\s)(?:cm-line|view-line|CodeMirror-line)(?:\s|$)")
_TOP = re.compile(r"(?:^|[;\s])top:\s*(\d{1,7})px")
_LINE_NUMBERS = re.compile(r"\d[\s\d]*[.:|]?")
_UNSELECTABLE = re.compile(r"user-select:\s*none", re.IGNORECASE)
_TEXTS = etree.XPath("descendant::text()", smart_strings=False)
_CLASSES = etree.XPath("descendant::*/@class", smart_strings=False)
_STYLED = etree.XPath("descendant::*[@style or @aria-hidden]")
_LONGEST_CLASS = 1_000  # characters: what is remembered must be bounded
_MAX_DEPTH = 4  # of gutters in gutters
_MOST_IN_NUMBER = 20  # elements and comments in one with the number of a line
_IS_CONTROL, _IS_NUMBERS, _IS_LINE = 1, 2, 4
MIN_NUMBERED_SHARE = 0.9  # of the rows that begin with the number of their line


def code_text(block: _Element) -> str:
    """Return the lines of a block of code, without blank ones at its ends.

    A row (a ``div``, an item, a row of a table, or an element with the class of a line where no line ends stand
    between them) is a line.
    """
    placed = _placed_lines(block)
    text = "\n".join(_text_of(line).strip("\n") for line in placed) if placed else _text_of(block)
    lines = text.replace("\xa0", " ").replace("\u200b", "").splitlines()
    return "\n".join([line.rstrip() for line in lines]).strip("\n")


def _placed_lines(block: _Element) -> list[_Element]:
    """Return the lines of an editor from top to bottom, if each says where it stands: the tree has any order."""
    placed: list[tuple[int, _Element]] = []
    for line in block.iterchildren("*"):
        top = _TOP.search(line.get("style", "")) if EDITOR_LINE.search(line.get("class", "")) else None
        if top is None:
            return []
        placed.append((int(top.group(1)), line))
    return [line for _, line in sorted(placed, key=lambda pair: pair[0])]


def _text_of(block: _Element) -> str:
    """Return the text of an element: each row on lines of its own, gutters left out."""
    whole = _whole_text(block)
    has_line_ends = "\n" in whole.strip("\n")
    roles = {one: _roles_of(one[:_LONGEST_CLASS]) for one in set(cast("list[str]", _CLASSES(block)))}
    odd = {*cast("list[_Element]", _STYLED(block)), *block.iterdescendants("td", *_LEFT_OUT)}
    if not odd and _is_plain(block, roles, has_line_ends=has_line_ends):
        return whole
    elements = {element: roles.get(element.get("class", ""), 0) for element in block.iterdescendants("*")}
    gutters = {one for one in _suspects(elements, odd) if _is_gutter(one, elements[one])}
    rows = _rows_of(block, elements, gutters, has_line_ends=has_line_ends)
    gutters |= _row_numbers(rows) | _numbered_spans(elements, whole)
    if not gutters and not rows and block.find(".//br") is None:
        return whole
    text, starts = _CodeLines(block), list[int]()
    # what holds nothing but rows: white space between these is none of the code
    holders = {
        holder
        for holder in {row.getparent() for row in rows}
        if holder is not None and all(child in rows or child in gutters for child in holder.iterchildren("*"))
    }
    walk = etree.iterwalk(block, events=("start", "end", "comment", "pi"))
    for event, element in walk:
        if event == "start" and element in gutters:
            walk.skip_subtree()  # its end comes all the same, with what follows it
        elif event == "start":
            if element in rows:
                text.end_line()
                starts.append(len(text.parts))
            text.parts += ["\n"] if element.tag == "br" else []
            text.add(element.text, between_rows=element in holders)
        else:
            if event == "end" and element in rows and element not in gutters:
                text.end_line(empty=len(text.parts) == starts.pop())
            if element is not block and (tail := element.tail):
                text.add(tail, between_rows=element.getparent() in holders)
    return "".join(text.parts)


def _is_plain(block: _Element, roles: dict[str, int], *, has_line_ends: bool) -> bool:
    """Return True if the elements of a block only colour its text, as those of most highlighters do."""
    if any(bits & ~_IS_LINE if has_line_ends else bits for bits in roles.values()):
        return False
    several = len(block.findall("code")) > 1 and not has_line_ends
    return not several and next(block.iterdescendants("br", *_ROWS), None) is None


class _CodeLines:
    """The text of a block of code as it is gathered."""

    def __init__(self, block: _Element) -> None:
        self.parts: list[str] = []
        # whether line ends of the source are none
        flows = block.tag == "code" and "white-space" not in block.get("style", "")
        self._flows = flows and block.find(".//br") is not None

    def add(self, text: str | None, *, between_rows: bool) -> None:
        """Add a text; blank ones between rows are no lines."""
        if not text or (between_rows and text.isspace()):
            return
        if self._flows:
            text = _SPACES.sub(" ", text)
            text = text.lstrip(" ") if self._at_line_start else text
        self.parts += [text] if text else []

    def end_line(self, *, empty: bool = False) -> None:
        """End the open line, and an ``empty`` one in any case."""
        if empty or not self._at_line_start:
            self.parts.append("\n")

    @property
    def _at_line_start(self) -> bool:
        return not self.parts or self.parts[-1].endswith("\n")


def _rows_of(
    block: _Element, elements: dict[_Element, int], gutters: set[_Element], *, has_line_ends: bool
) -> dict[_Element, bool]:
    """Return the elements that are lines of their own, or hold such; whether each stands in no other."""
    codes = set() if has_line_ends else set(block.iterchildren("code"))
    passed, in_row, rows = set(gutters), set[_Element](), dict[_Element, bool]()
    for element, roles in elements.items():
        above, is_line = element.getparent(), bool(roles & _IS_LINE)
        if above in rows or above in in_row:
            in_row.add(element)
        if element in passed or above in passed:  # what stands in a line is in it
            passed.add(element)
            continue
        is_named = (
            not has_line_ends and element not in in_row and (is_line or (len(codes) > 1 and element in codes))
        )
        if element.tag in _ROWS or is_named:
            rows[element] = element not in in_row
            if is_line or is_named:
                passed.add(element)
    return rows


def _row_numbers(rows: dict[_Element, bool]) -> set[_Element]:
    """Return the elements that number rows without saying so in their class."""
    outermost = [row for row, is_outermost in rows.items() if is_outermost]
    firsts = (row[0] for row in outermost if len(row) > 1 and not (row.text or "").strip())
    elements = (first for first in firsts if isinstance(first.tag, str))
    numbered = {first: number for first in elements if (number := _number_in(first)) is not None}
    rising = all(after == before + 1 for before, after in pairwise(numbered.values()))
    is_numbering = len(numbered) > 1 and rising and len(numbered) >= MIN_NUMBERED_SHARE * len(outermost)
    return set(numbered) if is_numbering else set()


def _suspects(elements: dict[_Element, int], odd: set[_Element]) -> Iterator[_Element]:
    """Yield what may be a gutter; none inside several others, so that no text is read at each level."""
    depths = dict[_Element | None, int]()
    for element, roles in elements.items():
        depths[element] = depth = depths.get(element.getparent(), 0) + bool(roles & ~_IS_LINE or element in odd)
        if depths.get(element.getparent(), 0) < depth <= _MAX_DEPTH:
            yield element


def _is_gutter(element: _Element, roles: int) -> bool:
    """Return True if an element beside code holds numbers of lines, or is a button or a header."""
    if roles & _IS_CONTROL or element.tag in _LEFT_OUT:
        return True
    is_named = bool(roles & _IS_NUMBERS)
    hidden = element.get("aria-hidden") == "true" or _UNSELECTABLE.search(element.get("style", "")) is not None
    if not (is_named or hidden or element.tag == "td"):
        return False
    text = _whole_text(element).strip()
    if is_named:
        return not any(map(str.isalpha, text))  # a list of numbered lines may have the same name as their numbers
    is_beside = hidden or (element.getnext() is not None and element.getprevious() is None)
    return is_beside and _LINE_NUMBERS.fullmatch(text) is not None


@lru_cache(maxsize=4_096)
def _roles_of(classes: str) -> int:
    """Return the bits of what the class of an element beside or in code says that it is."""
    names = classes.lower().split()
    is_control = any(name.startswith(_CONTROL_BEGINS) or name.endswith(_CONTROL_ENDS) for name in names)
    roles = _IS_CONTROL * is_control | _IS_NUMBERS * (_NUMBERS_NAMED.search(classes) is not None)
    return roles | _IS_LINE * (_LINE.search(classes) is not None)


def _numbered_spans(elements: Iterable[_Element], whole: str) -> set[_Element]:
    """Return the elements of a block that number its lines one by one in a style of their own."""
    numbered = set[_Element]()
    for span in elements:
        if span.tag == "span" and span.get("style") and (number := _number_in(span)) is not None:
            numbered.add(span)
            if number != len(numbered):
                return set()
    lines = whole.strip("\n").count("\n") + 1
    return numbered if len(numbered) > 1 and len(numbered) >= MIN_NUMBERED_SHARE * lines else set()


def _number_in(element: _Element) -> int | None:
    """Return the number that is all that an element holds; None if it holds anything else, or many elements."""
    if next(islice(element.iter(), _MOST_IN_NUMBER, None), None) is not None:
        return None
    text = _whole_text(element).strip(" .:|\n\t")
    return int(text) if text.isascii() and text.isdecimal() and len(text) < 7 else None


def _whole_text(element: _Element) -> str:
    texts: Any = _TEXTS(element) if len(element) else [element.text or ""]
    return "".join(texts)


MAX_ABOVE = 3  # elements around the code that may name its language
_ATTRIBUTES = ("data-language", "data-lang", "data-code-language", "data-enlighter-language", "data-syntax")
_NAME = r"([\w+#.-]{1,20})"
_LANGUAGES = [
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        rf"(?:^|\s)(?:language|lang)[-_:]{_NAME}(?:\s|$)",
        rf"(?:^|[\s;])brush:\s*{_NAME}",
        rf"(?:^|\s)highlight-(?:source|text)-{_NAME}(?:\s|$)",
        rf"(?:^|\s)highlight-{_NAME}(?:\s|$)",
        rf"(?:^|\s)sourceCode\s+{_NAME}(?:\s|$)",
        rf"(?:^|\s)src\s+src-{_NAME}(?:\s|$)",
        rf"(?:^|\s)(?:hljs|prettyprint|syntaxhighlighter)\s+{_NAME}(?:\s|$)",
        rf"(?:^|\s){_NAME}\s+hljs(?:\s|$)",
    )
]
_NO_LANGUAGE = frozenset(
    {"id", "none", "plain", "plaintext", "text", "txt", "raw", "nohighlight", "no-highlight", "default", "auto"}
    | {"output", "highlight", "hljs", "code", "source", "block", "container", "box", "wrap", "wrapper", "copyable"}
    | {"numbers", "linenums", "notranslate", "prettyprinted", "is-loaded", "tab-size", "undefined", "unknown"}
)


def code_language(block: _Element) -> str:
    """Return the language of a block of code in lower case, an empty string if nothing names it.

    Looked at are the block, the first elements in it, and up to three elements around it.
    """
    for element in _elements(block):
        for name in _ATTRIBUTES:
            if language := _checked(element.get(name, "")):
                return language
        classes = element.get("class", "")[:500]
        for pattern in _LANGUAGES if classes else ():
            if (match := pattern.search(classes)) and (language := _checked(match.group(1))):
                return language
    return ""


def _elements(block: _Element) -> Iterator[_Element]:
    yield block
    inner = list(block.iterchildren("code", "div", "pre", "span"))[:2]
    yield from inner
    for child in inner[:1]:
        yield from list(child.iterchildren("code", "pre"))[:1]
    above = block.getparent()
    for _ in range(MAX_ABOVE):
        if above is None or above.tag in ("body", "article", "main", "section", "li", "td", "blockquote"):
            return
        if sum(1 for child in above.iterchildren("pre", "table")) > 1:
            return
        yield above
        above = above.getparent()


def _checked(name: str) -> str:
    name = name.strip().strip(".").lower()
    valid = re.fullmatch(r"[a-z][\w+#.-]{0,19}", name) is not None
    return name if valid and name not in _NO_LANGUAGE and not name.startswith(("line", "highlight")) else ""


PREFORMATTED = frozenset({"pre", "xmp", "listing"})
_IN_CODE = INLINE | frozenset(
    {"br", "div", "ol", "ul", "li", "table", "tbody", "thead", "tr", "td", "th", "button", "svg", "p", "pre"}
    | {"figure", "path", "rect", "g", "use", "colgroup", "col", "figcaption"}
)
_CODE_TABLE = re.compile(
    r"(?:^|\s)(?:highlighttable|codehilitetable|rouge-table|lntable|hljs-ln|crayon-table|CodeRay"
    r"|js-file-line-container|syntaxhighlighter)(?:\s|$)"
)
_CODE_BOX = re.compile(r"(?:^|\s)(?:CodeMirror-code|cm-content|view-lines|syntaxhighlighter|crayon-pre)(?:\s|$)")
_VERSE = re.compile(r"(?:^|[\s_-])(?:verse|poem|poetry|lyrics)(?:$|[\s_-])", re.IGNORECASE)
_KEEPS_SPACES = re.compile(r"white-space:\s*pre\b(?!-line)")
_BLOCK_STYLE = re.compile(r"display:\s*(?:block|flex|grid|table)\b")
_BLOCK_CLASS = re.compile(r"(?:^|[\s_-])(?:block|codeblock)(?:$|[\s_-])", re.IGNORECASE)
_IN_LONE_CODE = INLINE | frozenset({"br", "div"})
_ONE_LINE = frozenset({"h1", "h2", "h3", "h4", "h5", "h6", "dt", "summary", "caption", "figcaption", "td", "th"})
_MAX_NEAR = 50  # nodes that are looked at beside a code
_NUMBERS = re.compile(r"[\s\d]*")


def is_verse(element: _Element) -> bool:
    """Return True if a ``pre`` holds a poem and no code."""
    return _VERSE.search(element.get("class", "")) is not None


def is_code(nodes: Nodes, index: int) -> bool:
    """Return True if an element is a block of code: a ``pre``, or what a highlighter makes of one."""
    element, tag = nodes.elements[index], nodes.tag_of(index)
    if tag in PREFORMATTED:
        return not is_verse(element) and not nodes.holds(index + 1, nodes.end_of(index), _IN_CODE, other=True)
    classes = element.get("class", "")
    if tag == "table":
        return _CODE_TABLE.search(classes) is not None or _is_numbered_code(nodes, index)
    if tag == "code":
        return _is_block_of_code(nodes, index)
    if element.get("data-lang") and "code" in classes:
        return all(one in INLINE or one == "br" for one in nodes.tags[index + 1 : nodes.ends[index]])
    return _CODE_BOX.search(classes) is not None or _holds_editor_lines(nodes, index)


def _is_block_of_code(nodes: Nodes, index: int) -> bool:
    """Return True if a ``code`` without a ``pre`` is a block: it keeps its lines, or stands alone and has some."""
    alone = _stands_alone(nodes, index)
    element = nodes.elements[index]
    style = element.get("style", "")
    keeps_spaces = _KEEPS_SPACES.search(style) is not None
    if not keeps_spaces and not alone:
        return False
    has_lines = "\n" in _whole_text(element).strip()
    if keeps_spaces and has_lines:
        return True
    if not alone or not all(tag in _IN_LONE_CODE for tag in nodes.tags[index + 1 : nodes.ends[index]]):
        return False
    if has_lines or _BLOCK_STYLE.search(style) or _BLOCK_CLASS.search(element.get("class", "")):
        return True
    return "br" in nodes.tags[index + 1 : nodes.ends[index]]


def _stands_alone(nodes: Nodes, index: int) -> bool:
    """Return True if the line that an inline element stands in holds nothing else, and is no heading or cell."""
    block, end = _block_around(nodes, index), nodes.ends[index]
    if nodes.tags[block] in _ONE_LINE or nodes.links[index] >= 0:
        return False
    before = range(index - 1, max(block, index - _MAX_NEAR) - 1, -1)
    last = next((one for one in before if nodes.tags[one] is TEXT or nodes.tags[one] not in INLINE), -1)
    behind = range(end, min(nodes.ends[block], end + _MAX_NEAR))
    following = next((one for one in behind if nodes.tags[one] is TEXT or nodes.tags[one] not in INLINE), -1)
    is_first = last >= 0 and (nodes.tags[last] is not TEXT or _block_around(nodes, last) != block)
    return is_first and (following < 0 or nodes.tags[following] is not TEXT)


def _holds_editor_lines(nodes: Nodes, index: int) -> bool:
    """Return True if all that stands right in an element are the lines of an editor."""
    one = 0
    for one in nodes.children(index):
        if nodes.tags[one] != "div" or not EDITOR_LINE.search(nodes.elements[one].get("class", "")):
            return False
    return one > 0


def _block_around(nodes: Nodes, index: int) -> int:
    """Return the block-level element that a node stands in."""
    for _ in range(_MAX_NEAR):
        index = nodes.parents[index]
        if index <= 0 or nodes.tags[index] not in INLINE:
            break
    return max(index, 0)


def _is_numbered_code(nodes: Nodes, table: int) -> bool:
    """Return True if a table is one row: a cell of line numbers, a cell with a ``pre``."""
    cells = [one for one in range(table, nodes.ends[table]) if nodes.tags[one] in ("td", "th")]
    if len(cells) != 2 or nodes.ends[cells[0]] > cells[1]:
        return False
    first = "".join(nodes.texts[cells[0] : nodes.ends[cells[0]]])
    return _NUMBERS.fullmatch(first) is not None and "pre" in nodes.tags[cells[1] : nodes.ends[cells[1]]]
