"""Blocks of code: which elements are some, their lines without numbers and buttons, and their language."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from functools import lru_cache
from itertools import islice
from operator import itemgetter
from typing import Any

from lxml import etree
from lxml.etree import _Element

from denoise_crawler import kernel
from denoise_crawler.page import TEXT, Nodes
from denoise_crawler.page.nodes import INLINE
from denoise_crawler.page.opaque import LINE_NUMBER_NAMES

_ROWS = frozenset({"div", "li", "tr", "p"})
_LEFT_OUT = frozenset(
    {"script", "style", "template", "noscript", "button", "svg", "select", "input", "textarea", "figcaption"}
)
_OF_NOTE = frozenset({*_ROWS, *_LEFT_OUT, "td"})
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
EDITOR_LINE = re.compile(r"(?:^|\s)(?:cm-line|view-line|CodeMirror-line)(?:\s|$)")
_TOP = re.compile(r"(?:^|[;\s])top:\s*(\d{1,7})px")
_WHOLE_TEXT = etree.XPath("string()", smart_strings=False)
_NODES = etree.XPath("descendant::node()", smart_strings=False)
_LONGEST_CLASS = 1_000  # characters: what is remembered must be bounded
_MAX_DEPTH = 4  # of gutters in gutters, so that no text is read at each level
_IS_LINE, _IS_BESIDE, _IS_NUMBERS, _IS_CONTROL = 1, 2, 4, 8  # all but the first may be gutters
_NOTHING, _IN_ROW, _IN_LINE = range(3)  # what an element stands in
MIN_NUMBERED_SHARE = 0.9  # of the rows that begin with the number of their line
_BEGIN, _END, _BREAK = _MARKS = "\ufdd0\ufdd1\ufdd2"  # of a row, of a line; Unicode has no such characters
_LINE_NUMBERS = re.compile(r"\d[\s\d]*[.:|]?")
_NO_MARKS = str.maketrans("", "", _MARKS)
_BLANK = f" \n\t{_MARKS}"
_SPACES = re.compile(r"[ \t\r\n\f]+")  # those that cannot break a line are kept
_FIRST_SPACE = re.compile(rf"(?:^|(?<=[{_MARKS}])) ")


def code_text(block: _Element) -> str:
    """Return the lines of a block of code, without blank ones at its ends.

    A row (a ``div``, an item, a row of a table, or an element with the class of a line where neither line ends nor
    ``br`` part them) is a line.
    """
    placed = _placed_lines(block)
    text = "\n".join([_text_of(line).strip("\n") for line in placed]) if placed else _text_of(block)
    lines = text.replace("\xa0", " ").replace("\u200b", "").splitlines()
    return "\n".join([line.rstrip() for line in lines]).strip("\n")


def _placed_lines(block: _Element) -> list[_Element]:
    """Return the lines of an editor from top to bottom, if each says where it stands: the tree has any order."""
    placed: list[tuple[int, _Element]] = []
    for line in block.iterchildren("*"):
        top = _TOP.search(line.get("style", "")) if EDITOR_LINE.search(line.get("class", "")) else None
        if top is None:
            return []
        placed.append((int(top[1]), line))
    return [line for _, line in sorted(placed, key=itemgetter(0))]


def _text_of(block: _Element) -> str:
    """Return the text of an element: each row on lines of its own, gutters left out."""
    parts, tags, classes, odd_ones = (kernel.reader.code_of if kernel.reader else _read)(block, _BREAK)
    breaks, whole = parts.count(_BREAK), "".join(parts).replace(_BREAK, "")
    has_line_ends = "\n" in whole.strip("\n")
    roles = {one: bits for one in classes if (bits := _roles_of(one[:_LONGEST_CLASS]))}
    odd = _hidden_or_numbers(whole, odd_ones)
    if not has_line_ends and "code" in tags and len(codes := block.findall("code")) > 1 + len(block.findall("br")):
        odd |= dict.fromkeys(codes, _IS_LINE)
    if breaks and not has_line_ends:
        has_line_ends = breaks >= sum([classes[one] for one, bits in roles.items() if bits & _IS_LINE]) - 1
    noted = {one for one, bits in roles.items() if bits > _IS_LINE or not has_line_ends}
    lines = _Lines(roles, noted, odd, has_line_ends=has_line_ends)
    if noted or odd or not _OF_NOTE.isdisjoint(tags):
        lines.gather(block)
    else:  # its elements only colour it
        lines.parts = parts
    return lines.text(flows=block.tag == "code" and "white-space" not in block.get("style", ""))


def _read(block: _Element, line_break: str) -> tuple[list[str], set[str], dict[str, int], list[_Element]]:
    """Return what the compiled core returns."""
    nodes: Any = _NODES(block)
    elements = [*block.iterdescendants("*")]
    parts = [one if isinstance(one, str) else line_break * (one.tag == "br") for one in nodes]
    classes = Counter([name for one in elements if (name := one.get("class"))])
    odd = [one for one in elements if one.get("style") is not None or one.get("aria-hidden")]
    return parts, {str(one.tag) for one in elements}, classes, odd


def _hidden_or_numbers(whole: str, elements: list[_Element]) -> dict[_Element, int]:
    """Return the roles of elements that are not for readers, and of those that number the lines in a style."""
    if not elements:
        return {}
    styled = [(one, style) for one in elements if (style := one.get("style")) is not None]
    hidden = [one for one, style in styled if "user-select:none" in style.replace(" ", "")]
    hidden += [one for one in elements if one.get("aria-hidden") == "true"]
    alone = [one for one, _ in styled if one.tag == "span" and not len(one)]
    numbers = {span: number for span in alone if (number := _number_in(span.text or "")) >= 0}
    lines = whole.strip("\n").count("\n") + 1
    is_numbering = len(numbers) > 1 and len(numbers) >= MIN_NUMBERED_SHARE * lines
    one_by_one = is_numbering and all(number == place for place, number in enumerate(numbers.values(), 1))
    return dict.fromkeys(hidden, _IS_BESIDE) | dict.fromkeys(numbers if one_by_one else (), _IS_CONTROL)


class _Lines:
    """The text of a block of code as it is gathered, with the marks of rows and line breaks."""

    def __init__(
        self, roles: dict[str, int], noted: set[str], odd: dict[_Element, int], *, has_line_ends: bool
    ) -> None:
        self._roles, self._noted, self._odd, self._has_line_ends = roles, noted, odd, has_line_ends
        self.parts = [""]
        # of open elements the roles, whether it is a row, what its content stands in, the parts and rows before it
        self._open: list[tuple[_Element | None, int, bool, int, int, int]] = [(None, 0, False, _NOTHING, 0, 0)]
        self._depth = 0  # of what may be a gutter
        self._rows = list[tuple[_Element, range]]()  # that stand in no other, with the places of their parts

    def gather(self, block: _Element) -> None:
        """Walk through a block once."""
        parts, innermost = self.parts, None
        walk = etree.iterwalk(block, events=("start", "end", "comment", "pi"))
        for event, element in walk:
            if event != "start":
                if element is innermost:
                    innermost = self._end()
                if (tail := element.tail) and element is not block:
                    parts.append(tail)
            elif (tag := element.tag) == "br":
                parts.append(_BREAK)
            elif tag in _LEFT_OUT:
                walk.skip_subtree()  # its end comes all the same, with what follows it
            else:
                if tag in _OF_NOTE or element.get("class") in self._noted or element in self._odd:
                    innermost = self._begin(element)
                if text := element.text:
                    parts.append(text)

    def _begin(self, element: _Element) -> _Element | None:
        """Begin an element of note; return the innermost open one that may be a row or a gutter."""
        above = self._open[-1][3]
        roles = self._roles.get(element.get("class", ""), 0) | self._odd.get(element, 0)
        if element.tag == "td" and element.getprevious() is None and element.getnext() is not None:
            roles |= _IS_BESIDE
        is_named = roles & _IS_LINE and above == _NOTHING and not self._has_line_ends
        is_row = above < _IN_LINE and (element.tag in _ROWS or bool(is_named))
        if is_row or roles > _IS_LINE:
            inside = (_IN_LINE if roles & _IS_LINE else _IN_ROW) if is_row else above
            if is_row:
                if self.parts[-1].isspace() and self.parts[-2] in (_BEGIN, _END):
                    del self.parts[-1]  # white space between rows is no code
                self.parts.append(_BEGIN)
            self._open.append((element, roles, is_row, inside, len(self.parts) - is_row, len(self._rows)))
            self._depth += roles > _IS_LINE
        return self._open[-1][0]

    def _end(self) -> _Element | None:
        """End the innermost open element, and return the one around it: the text of a gutter goes."""
        element, roles, is_row, _, parts, rows = self._open.pop()
        if roles > _IS_LINE and self._is_gutter(roles, parts):
            del self.parts[parts:], self._rows[rows:]
        elif is_row:
            if self.parts[-1].isspace() and self.parts[-2] == _END:
                del self.parts[-1]
            self.parts.append(_END)
            if self._open[-1][3] == _NOTHING and element is not None:
                self._rows.append((element, range(parts + 1, len(self.parts))))
        self._depth -= roles > _IS_LINE
        return self._open[-1][0]

    def _is_gutter(self, roles: int, begin: int) -> bool:
        """Return True if an element beside code holds numbers of lines, or is a button or a header."""
        if self._depth > _MAX_DEPTH or roles & _IS_CONTROL:
            return self._depth <= _MAX_DEPTH
        text = "".join(self.parts[begin:]).translate(_NO_MARKS).strip()
        if roles & _IS_NUMBERS:
            return not any(map(str.isalpha, text))  # numbered lines may be named as their numbers are
        return _LINE_NUMBERS.fullmatch(text) is not None

    def _numbers(self) -> list[int]:
        """Return the places of the numbers that rows begin with, if nearly all do and they rise by one."""
        places, last, most = list[int](), -1, len(self._rows)
        for row, own in self._rows:
            place = next((place for place in own if self.parts[place].strip(_BLANK)), own.start)
            first = self.parts[place].strip(_BLANK)
            number = _number_in(first) if first[:1].isdecimal() else -1
            if number < 0 or not _is_own(number, row):
                most -= 1
            elif last < 0 or number == last + 1:
                last = number
                places.append(place)
            else:
                return []
            if most < MIN_NUMBERED_SHARE * len(self._rows):
                return []
        return places if most > 1 else []

    def text(self, *, flows: bool) -> str:
        """Return the text; if it ``flows``, line ends of the source are none where there are line breaks."""
        for place in self._numbers():
            self.parts[place] = ""
        text = "".join(self.parts)
        if flows and _BREAK in text:
            text = _FIRST_SPACE.sub("", _SPACES.sub(" ", text))
        text = text.replace(_BREAK, "\n").replace(_BEGIN + _END, f"{_BEGIN}\n")  # an empty row is an empty line
        text = text.replace(_END, _BEGIN)
        while 2 * _BEGIN in text:
            text = text.replace(2 * _BEGIN, _BEGIN)
        return text.replace(f"\n{_BEGIN}", "\n").replace(_BEGIN, "\n")


@lru_cache(maxsize=4_096)
def _roles_of(classes: str) -> int:
    """Return the bits of what the class of an element beside or in code says that it is."""
    names = classes.lower().split()
    is_control = any(name.startswith(_CONTROL_BEGINS) or name.endswith(_CONTROL_ENDS) for name in names)
    roles = _IS_CONTROL * is_control | _IS_NUMBERS * (_NUMBERS_NAMED.search(classes) is not None)
    return roles | _IS_LINE * (_LINE.search(classes) is not None)


def _is_own(number: int, row: _Element) -> bool:
    """Return True if a row begins with an element that holds a number alone, and holds more."""
    if len(row) < 2 or (row.text or "").strip() or not isinstance(row[0].tag, str):
        return False
    return _number_in(str(_WHOLE_TEXT(row[0]))) == number


def _number_in(text: str) -> int:
    """Return the number that is all of a text; -1 if it holds anything else."""
    text = text.strip(" .:|\n\t")
    return int(text) if text.isascii() and text.isdecimal() and len(text) < 7 else -1


MAX_ABOVE = 3  # elements around the code that may name its language
_NOT_OF_CODE = frozenset({"body", "article", "main", "section", "li", "td", "blockquote"})
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
    inner = list(islice(block.iterchildren("code", "div", "pre", "span"), 2))
    yield from (block, *inner)
    yield from islice(inner[0].iterchildren("code", "pre") if inner else (), 1)
    for above in islice(block.iterancestors(), MAX_ABOVE):
        if above.tag in _NOT_OF_CODE or len(list(islice(above.iterchildren("pre", "table"), 2))) > 1:
            return
        yield above


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
_IN_MARKED_CODE = INLINE | {"br"}
_IN_LONE_CODE = INLINE | {"br", "div"}
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
        return _IN_MARKED_CODE.issuperset(nodes.tags[index + 1 : nodes.ends[index]])
    return _CODE_BOX.search(classes) is not None or _holds_editor_lines(nodes, index)


def _is_block_of_code(nodes: Nodes, index: int) -> bool:
    """Return True if a ``code`` without a ``pre`` is a block: it keeps its lines, or stands alone and has some."""
    element, alone = nodes.elements[index], _stands_alone(nodes, index)
    style = element.get("style", "")
    keeps_spaces = _KEEPS_SPACES.search(style) is not None
    if not keeps_spaces and not alone:
        return False
    has_lines = "\n" in str(_WHOLE_TEXT(element)).strip()
    if keeps_spaces and has_lines:
        return True
    inside = nodes.tags[index + 1 : nodes.ends[index]]
    is_named = _BLOCK_STYLE.search(style) or _BLOCK_CLASS.search(element.get("class", ""))
    return bool(alone and (has_lines or is_named or "br" in inside)) and _IN_LONE_CODE.issuperset(inside)


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
    inside = nodes.ends[index] > index + 1
    return inside and all(
        nodes.tags[one] == "div" and EDITOR_LINE.search(nodes.elements[one].get("class", ""))
        for one in nodes.children(index)
    )


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
