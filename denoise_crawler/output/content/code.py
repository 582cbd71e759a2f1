"""Blocks of code: which elements are some, their lines without numbers and buttons, and their language."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import pairwise

from lxml import etree
from lxml.etree import _Element

from denoise_crawler.output.content.blocks import Code
from denoise_crawler.page import TEXT, Nodes
from denoise_crawler.page.nodes import INLINE
from denoise_crawler.page.opaque import LINE_NUMBER_NAMES

_ROWS = frozenset({"div", "li", "tr", "p"})
_LEFT_OUT = frozenset(
    {"script", "style", "template", "noscript", "button", "svg", "select", "input", "textarea", "figcaption"}
)
_GUTTER = re.compile(
    rf"(?:^|\s)(?:{LINE_NUMBER_NAMES}|margin-view-overlays|copy|copy-?\S*|\S+-copy|\S*copy-?(?:button|btn)|btn-(?:copy|clipboard)"
    r"|clipboard\S*|code-block-?header)(?:\s|$)",
    re.IGNORECASE,
)
_LINE = re.compile(
    r"(?:^|\s)(?:line|code-line|view-line|cl|cm-line|react-code-line|token-line|ec-line|hljs-line|CodeMirror-line)(?:\s|$)"
)
_SPACES = re.compile(r"[ \t\r\n\f]+")  # those that cannot break a line are kept
EDITOR_LINE = re.compile(r"(?:^|\s)(?:cm-line|view-line|CodeMirror-line)(?:\s|$)")
_TOP = re.compile(r"(?:^|[;\s])top:\s*(\d{1,7})px")
_LINE_NUMBERS = re.compile(r"[\s\d]*\d[\s\d]*[.:|]?\s*")
_UNSELECTABLE = re.compile(r"user-select:\s*none", re.IGNORECASE)
MIN_NUMBERED_SHARE = 0.9  # of the rows that begin with the number of their line


def code_text(block: _Element) -> str:
    """Return the lines of a block of code, without blank ones at its ends.

    A row (a ``div``, an item, a row of a table, or an element with the class of a line where no line ends stand
    between them) is a line.
    """
    if placed := _placed_lines(block):
        text = "\n".join(_Walk(line).text().strip("\n") for line in placed)
    else:
        text = _Walk(block).text()
    text = text.replace("\xa0", " ").replace("\u200b", "")
    lines = [line.rstrip() for line in text.splitlines()]
    filled = [number for number, line in enumerate(lines) if line]
    return "\n".join(lines[filled[0] : filled[-1] + 1]) if filled else ""


def _placed_lines(block: _Element) -> list[_Element]:
    """Return the lines of an editor from top to bottom, if each says where it stands: the tree has any order."""
    placed: list[tuple[int, _Element]] = []
    for line in block.iterchildren("*"):
        top = _TOP.search(line.get("style", "")) if EDITOR_LINE.search(line.get("class", "")) else None
        if top is None:
            return []
        placed.append((int(top.group(1)), line))
    return [line for _, line in sorted(placed, key=lambda pair: pair[0])]


@dataclass(slots=True)
class _Walk:
    """One block of code; ``_rows`` are its elements that are lines of their own."""

    block: _Element
    _rows: set[_Element] = field(default_factory=set)
    _holders: set[_Element] = field(default_factory=set)  # around rows
    _gutters: set[_Element] = field(default_factory=set)
    _parts: list[str] = field(default_factory=list)
    _row_start: int = 0
    _flows: bool = False  # line ends of the source are none

    def text(self) -> str:
        self._flows = self.block.tag == "code" and "white-space" not in self.block.get("style", "")
        self._flows = self._flows and self.block.find(".//br") is not None
        self._find_gutters()
        self._find_rows()
        self._find_row_numbers()
        walk = etree.iterwalk(self.block, events=("start", "end", "comment", "pi"))
        for event, element in walk:
            if event == "start":
                if element in self._gutters:
                    walk.skip_subtree()  # its end comes all the same, with what follows it
                    continue
                if element.tag == "br" or (element in self._rows and not self._at_line_start()):
                    self._parts.append("\n")
                if element in self._rows:
                    self._row_start = len(self._parts)
                self._add(element.text, element)
                continue
            if element in self._rows and (len(self._parts) == self._row_start or not self._at_line_start()):
                self._parts.append("\n")
            if element is not self.block:
                self._add(element.tail, element.getparent())
        return "".join(self._parts)

    def _add(self, text: str | None, holder: _Element | None) -> None:
        """Add a text; blank ones between rows are no lines."""
        if not text:
            return
        if text.isspace() and holder is not None and holder in self._holders:
            return
        if self._flows:
            text = _SPACES.sub(" ", text)
            text = text.lstrip(" ") if self._at_line_start() else text
        self._parts.append(text)

    def _at_line_start(self) -> bool:
        last = next((part for part in reversed(self._parts) if part), "\n")
        return last.endswith("\n")

    def _find_gutters(self) -> None:
        inner = self.block.iterdescendants("*")
        self._gutters.update(one for one in inner if one.tag in _LEFT_OUT or _is_gutter(one))

    def _find_rows(self) -> None:
        """Find the rows: those that hold no other ones."""
        inner = [one for one in self.block.iterdescendants("*") if one not in self._gutters]
        containers = self._find_containers(inner)
        rows = {one for one in inner if one.tag in _ROWS and one not in containers}
        if "\n" not in "".join(map(str, self.block.itertext("*"))).strip("\n"):
            rows |= {one for one in inner if one.tag not in _ROWS and _LINE.search(one.get("class", ""))}
            codes = list(self.block.iterchildren("code"))
            rows |= set(codes if len(codes) > 1 else [])
        inside: set[_Element] = set()
        for element in inner:
            above = element.getparent()
            if above is not None and above in inside:
                inside.add(element)
            elif element in rows:
                inside.add(element)
                self._rows.add(element)
                if above is not None:
                    self._holders.add(above)

    def _find_containers(self, inner: list[_Element]) -> set[_Element]:
        """Return the elements that hold several rows, and those around them."""
        containers: set[_Element] = set()
        for element in reversed(inner):  # children before their parents
            if element not in containers:
                if _LINE.search(element.get("class", "")):
                    continue
                rows = (str(child.tag) for child in element.iterchildren(*_ROWS) if child not in self._gutters)
                if max(Counter(rows).values(), default=0) < 2:
                    continue
                containers.add(element)
            if (above := element.getparent()) is not None:
                containers.add(above)
        return containers

    def _find_row_numbers(self) -> None:
        """Find the elements that number rows without saying so in their class."""
        firsts = [(next(iter(row), None), row) for row in self.block.iterdescendants("*") if row in self._rows]
        numbered = [
            first
            for first, row in firsts
            if first is not None and not (row.text or "").strip() and len(row) > 1 and _holds_number(first)
        ]
        numbers = [int("".join(map(str, first.itertext("*"))).strip(" .:|\n\t")) for first in numbered]
        rising = all(after == before + 1 for before, after in pairwise(numbers))
        if len(numbers) > 1 and rising and len(numbers) >= MIN_NUMBERED_SHARE * len(firsts):
            self._gutters.update(numbered)


def _is_gutter(element: _Element) -> bool:
    classes = element.get("class")
    if classes and _GUTTER.search(classes):
        return True
    hidden = element.get("aria-hidden") == "true" or _UNSELECTABLE.search(element.get("style", "")) is not None
    if not (hidden or element.tag == "td"):
        return False
    text = "".join(map(str, element.itertext("*")))
    if _LINE_NUMBERS.fullmatch(text) is None:
        return False
    return hidden or (element.getnext() is not None and element.getprevious() is None)


def _holds_number(element: _Element) -> bool:
    text = "".join(map(str, element.itertext("*"))).strip(" .:|\n\t")
    return text.isascii() and text.isdecimal() and len(text) < 7


MAX_ABOVE = 3  # elements around the code that may name its language
_ATTRIBUTES = ("data-language", "data-lang", "data-code-language", "data-enlighter-language", "data-syntax")
_NAME = r"([\w+#.-]{1,20})"
_CLASSES = [
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
    {"none", "plain", "plaintext", "text", "txt", "raw", "nohighlight", "no-highlight", "default", "auto"}
    | {"output", "highlight", "hljs", "code", "source", "block", "container", "box", "wrap", "wrapper", "copyable"}
    | {"numbers", "linenums", "notranslate", "prettyprinted", "is-loaded", "tab-size", "undefined", "unknown"}
)


def code_language(block: _Element) -> str:
    """Return the language of a block of code in lower case, an empty string if nothing names it.

    Looked at are the block, the first elements in it, and up to three elements around it.
    """
    for element in _elements(block):
        for name in _ATTRIBUTES:
            if found := _checked(element.get(name, "")):
                return found
        classes = element.get("class", "")[:500]
        for pattern in _CLASSES if classes else ():
            if (match := pattern.search(classes)) and (found := _checked(match.group(1))):
                return found
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


MIN_KEPT_SHARE = 0.5  # of the characters of a block; with less kept it goes
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
    """Tell whether a ``pre`` holds a poem and no code."""
    return _VERSE.search(element.get("class", "")) is not None


def is_code(nodes: Nodes, index: int) -> bool:
    """Tell whether an element is a block of code: a ``pre``, or what a highlighter makes of one."""
    element, tag = nodes.elements[index], nodes.tags[index]
    if tag == "pre":
        below = range(index + 1, nodes.ends[index])
        return not is_verse(element) and all(nodes.tags[one] in _IN_CODE for one in below)
    classes = element.get("class", "")
    if tag == "table":
        return _CODE_TABLE.search(classes) is not None or _is_numbered_code(nodes, index)
    if tag == "code":
        return _is_block_of_code(nodes, index)
    if element.get("data-lang") and "code" in classes:
        return all(one in INLINE or one == "br" for one in nodes.tags[index + 1 : nodes.ends[index]])
    return _CODE_BOX.search(classes) is not None or _holds_editor_lines(nodes, index)


def _is_block_of_code(nodes: Nodes, index: int) -> bool:
    """Tell whether a ``code`` without a ``pre`` is a block: it keeps its lines, or stands alone and has some."""
    alone = _stands_alone(nodes, index)
    element = nodes.elements[index]
    style = element.get("style", "")
    keeps_spaces = _KEEPS_SPACES.search(style) is not None
    if not keeps_spaces and not alone:
        return False
    has_lines = "\n" in "".join(map(str, element.itertext("*"))).strip()
    if keeps_spaces and has_lines:
        return True
    if not alone or not all(tag in _IN_LONE_CODE for tag in nodes.tags[index + 1 : nodes.ends[index]]):
        return False
    if has_lines or _BLOCK_STYLE.search(style) or _BLOCK_CLASS.search(element.get("class", "")):
        return True
    return "br" in nodes.tags[index + 1 : nodes.ends[index]]


def _stands_alone(nodes: Nodes, index: int) -> bool:
    """Tell whether the line that an inline element stands in holds nothing else, and is no heading or cell."""
    block = _block_around(nodes, index)
    if nodes.tags[block] in _ONE_LINE or nodes.links[index] >= 0:
        return False
    end = nodes.ends[index]
    for one in range(index - 1, max(block, index - _MAX_NEAR) - 1, -1):
        if nodes.tags[one] is TEXT and _block_around(nodes, one) == block:
            return False
        if nodes.tags[one] is TEXT or nodes.tags[one] not in INLINE:
            break
    else:
        return False
    for one in range(end, min(nodes.ends[block], end + _MAX_NEAR)):
        if nodes.tags[one] is TEXT:
            return False
        if nodes.tags[one] not in INLINE:
            break
    return True


def _holds_editor_lines(nodes: Nodes, index: int) -> bool:
    """Tell whether all that stands right in an element are the lines of an editor."""
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


def kept_share(nodes: Nodes, index: int, noise: list[bool] | None) -> float:
    """Return the share of the characters below a node that is kept; 1 without any."""
    every = kept = 0
    for one in range(index, nodes.ends[index]):
        if nodes.tags[one] is TEXT:
            every += len(nodes.texts[one])
            kept += len(nodes.texts[one]) * (noise is None or not noise[one])
    return kept / every if every else 1.0


def code_of(element: _Element) -> Code | None:
    """Return the code in an element; None if it is empty."""
    text = code_text(element)
    return Code(text, code_language(element)) if text else None


def _is_numbered_code(nodes: Nodes, table: int) -> bool:
    """Tell whether a table is one row: a cell of line numbers, a cell with a ``pre``."""
    cells = [one for one in range(table, nodes.ends[table]) if nodes.tags[one] in ("td", "th")]
    if len(cells) != 2 or nodes.ends[cells[0]] > cells[1]:
        return False
    first = "".join(nodes.texts[cells[0] : nodes.ends[cells[0]]])
    return _NUMBERS.fullmatch(first) is not None and "pre" in nodes.tags[cells[1] : nodes.ends[cells[1]]]
