"""Clean text as Markdown (CommonMark, with the pipe tables of GitHub): structure, links and pictures stay.

Of the libraries that write Markdown from HTML, ``markdownify`` recurses and fails on deep pages,
``html-to-markdown`` drops what is deep and takes ``*`` and ``_`` of the text for marks, ``html2text`` is under the
GPL; all parse the page again.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from denoise_crawler.output.inline import Joints, is_verbatim, text_of, verbatim
from denoise_crawler.output.markdown_inline import Run, destination, escaped_line_start, picture, written
from denoise_crawler.output.markdown_table import grid_of, pipe_table
from denoise_crawler.page import TEXT
from denoise_crawler.page.markup import INLINE
from denoise_crawler.page.text import normalised

if TYPE_CHECKING:
    from collections.abc import Iterator

    from denoise_crawler.output.markdown_table import Grid
    from denoise_crawler.page import Nodes, Page

MOST_CONTAINERS = 8  # lists and quotes in each other; what is deeper is written at this depth
LONGEST_HEADING = 400  # characters: what is longer was never closed
_STYLES = {
    **dict.fromkeys(("em", "i", "dfn"), "em"),
    **dict.fromkeys(("b", "strong", "dt"), "strong"),
    **dict.fromkeys(("code", "kbd", "samp", "tt"), "code"),
}
_STRENGTH = ("", "em", "strong", "code")  # of styles in each other the last of these is written
_HEADINGS = {f"h{level}": level for level in range(1, 7)}
_LISTS = frozenset({"ul", "ol", "menu", "dir"})
_BREAK = Run("\n", "", "break")
_LANGUAGE = re.compile(r"(?:^|\s)(?:lang(?:uage)?-|brush:\s*)([\w+#-]{1,20})")
_LARGEST_START = 900_000_000
_SOURCES = ("src", "data-src", "data-original", "data-lazy-src")
_PIXEL = frozenset({"0", "1", "2"})


def clean_markdown(page: Page, noise: list[bool] | None = None) -> str:
    """Return ``page`` without its ``noise`` nodes as Markdown, with the addresses of links and pictures absolute.

    Tables of short cells are pipe tables, others are written cell by cell. The text of the page is escaped, so
    that a reader of CommonMark shows it as it was.
    """
    writer = _Writer(page, noise)
    writer.walk()
    return "\n".join(writer.lines)


@dataclass(slots=True, eq=False)
class _Container:
    """An open quote, or an open item of list ``of_list`` (-1: of none); ``marker`` is set when it is written."""

    end: int
    is_quote: bool
    of_list: int = -1
    marker: str = ""

    @property
    def indent(self) -> str:
        return "> " if self.is_quote else " " * len(self.marker)


class _Writer:
    """Writes blocks while it walks through the nodes."""

    def __init__(self, page: Page, noise: list[bool] | None) -> None:
        self.lines: list[str] = []
        self._page, self._nodes, self._noise = page, page.nodes, noise
        self._gone = _below_noise(page.nodes, noise)
        self._styles, self._levels = _styles(page.nodes), _levels(page.nodes)
        self._joints = Joints(page.nodes)
        self._destinations: dict[int, str] = {}  # by link
        self._runs: list[Run] = []
        self._level = 0  # of the heading that the open line belongs to
        self._containers: list[_Container] = []
        self._lists: list[int] = []  # those that are open
        self._numbers: dict[int, int] = {}  # by list: of the item written last
        self._signs: dict[int, str] = {}  # by list: what its markers end with
        self._before: list[_Container] = []  # around the block written last

    def walk(self) -> None:
        nodes = self._nodes
        blocks: list[int] = []  # ends of the block-level elements that are open
        written_to = 0
        for index, tag in enumerate(nodes.tags):
            if index < written_to:
                continue
            if blocks and blocks[-1] <= index:
                self._end_line()
                while blocks and blocks[-1] <= index:
                    blocks.pop()
                self._close_containers(index)
            if tag is TEXT or tag == "img":
                self._add(index)
            elif tag == "br":
                self._runs.append(_BREAK)
                self._joints.new_line()
            elif tag not in INLINE:
                self._end_line()
                blocks.append(nodes.ends[index])
                written_to = self._begin_block(index, tag)
        self._end_line()

    def _add(self, index: int) -> None:
        run = self._run(index)
        if run:
            self._runs.append(run)
            self._level = self._levels[index]

    def _run(self, index: int) -> Run | None:
        """Return a text or picture as a piece of its line, None if it is left out."""
        nodes = self._nodes
        if nodes.tags[index] is TEXT:
            if self._noise is None or not self._noise[index]:
                style = self._styles[index]
                if self._levels[index] and style != "code":
                    style = ""
                text = self._joints.between(index) + text_of(nodes, index)
                return Run(text, self._destination(nodes.links[index]), style)
            self._joints.gap()
            return None
        self._joints.gap()
        if self._gone[index] or not (image := self._picture(index)):
            return None
        return Run(image, self._destination(nodes.links[index]), "image")

    def _destination(self, link: int) -> str:
        if link < 0:
            return ""
        if link not in self._destinations:
            address = self._nodes.elements[link].get("href", "").strip()
            self._destinations[link] = destination(self._page.absolute(address)) if address else ""
        return self._destinations[link]

    def _picture(self, index: int) -> str:
        element = self._nodes.elements[index]
        if element.get("width") in _PIXEL or element.get("height") in _PIXEL:
            return ""
        for name in _SOURCES:
            address = element.get(name, "").strip()
            if address and (found := destination(self._page.absolute(address))):
                return picture(normalised(element.get("alt", "")), found)
        return ""

    def _begin_block(self, index: int, tag: str) -> int:
        """Open a block-level element; return up to where it is written already."""
        nodes, end = self._nodes, self._nodes.ends[index]
        if tag in _LISTS:
            self._lists.append(index)
        elif tag in ("li", "blockquote"):
            if len(self._containers) < MOST_CONTAINERS:
                of_list = self._lists[-1] if self._lists else -1
                self._containers.append(_Container(end, tag == "blockquote", of_list))
        elif tag == "hr":
            if self.lines and not self._gone[index] and not self._containers:
                self._write(["***"])
        elif tag == "pre" and is_verbatim(nodes, index, self._noise):
            if code := verbatim(nodes, index):
                self._write(_fenced(code, _language(nodes, index)))
            return end
        elif tag == "table" and (grid := grid_of(nodes, index, self._noise)):
            self._write_table(grid)
            return end
        return 0

    def _close_containers(self, index: int) -> None:
        while self._containers and self._containers[-1].end <= index:
            self._containers.pop()
        while self._lists and self._nodes.ends[self._lists[-1]] <= index:
            self._lists.pop()

    def _end_line(self) -> None:
        runs, self._runs = self._runs, []
        level, self._level = self._level, 0
        self._joints.new_line()
        for lines in _paragraphs(runs):
            if level:
                self._write(["#" * level + " " + _unclosed(" ".join(lines))])
            else:
                lines = [escaped_line_start(line) for line in lines]
                self._write([*(line + "\\" for line in lines[:-1]), lines[-1]])

    def _write_table(self, grid: Grid) -> None:
        for caption in grid.captions:
            if text := self._cell(caption):
                self._write([escaped_line_start(text)])
        self._write(pipe_table(self._nodes, grid.rows, lambda index: self._cell(index).replace("|", "\\|")))

    def _cell(self, cell: int) -> str:
        runs = []
        self._joints.new_line()
        for index in range(cell + 1, self._nodes.ends[cell]):
            tag = self._nodes.tags[index]
            if tag is TEXT or tag == "img":
                runs.append(self._run(index) or Run(""))
            elif tag not in INLINE:
                runs.append(Run(" "))
        self._joints.new_line()
        return written(runs)

    def _write(self, block: list[str]) -> None:
        """Write the lines of a block with what marks the lists and quotes around it."""
        around, before = self._containers, self._before
        same = 0
        while same < min(len(around), len(before)) and around[same] is before[same]:
            same += 1
        indent = "".join(container.indent for container in around[:same])
        first = indent
        for depth in range(same, len(around)):
            container = around[depth]
            container.marker = "> " if container.is_quote else self._marker(container, before[depth : depth + 1])
            first += container.marker
        rest = "".join(container.indent for container in around)
        if self.lines and not _is_next_item(around, before, same):
            self.lines.append(indent.rstrip())
        self.lines.append(first + block[0])
        self.lines.extend((rest + line).rstrip() for line in block[1:])
        self._before = list(around)

    def _marker(self, item: _Container, before: list[_Container]) -> str:
        """Return the marker of a list item; a list that follows another one has another sign."""
        of_list = item.of_list
        is_ordered = of_list >= 0 and self._nodes.tags[of_list] == "ol"
        if of_list not in self._signs or (before and before[0].of_list != of_list):
            signs = (". ", ") ") if is_ordered else ("- ", "* ")
            self._signs[of_list] = signs[bool(before) and before[0].marker.endswith(signs[0])]
        if not is_ordered:
            return self._signs[of_list]
        self._numbers[of_list] = self._numbers.get(of_list, _start(self._nodes, of_list) - 1) + 1
        return f"{self._numbers[of_list]}{self._signs[of_list]}"


def _is_next_item(around: list[_Container], before: list[_Container], same: int) -> bool:
    """Tell whether a block begins a list item that no blank line has to part from the block before."""
    if len(around) == same or around[same].is_quote:
        return False
    if len(before) > same:
        return not before[same].is_quote and before[same].of_list == around[same].of_list
    # the first item of a list inside an item; other numbers than 1 would not begin a list here (5.2)
    return same > 0 and not before[-1].is_quote and around[same].marker in ("- ", "1. ")


def _below_noise(nodes: Nodes, noise: list[bool] | None) -> list[bool]:
    gone = list(noise or [False] * len(nodes))
    if noise:
        for index in range(1, len(nodes)):
            gone[index] = gone[index] or gone[nodes.parents[index]]
    return gone


def _styles(nodes: Nodes) -> list[str]:
    """Return the style of each node: its own or inherited, whichever is the stronger."""
    styles = [""]
    for index in range(1, len(nodes)):
        own, above = _STYLES.get(nodes.tags[index], ""), styles[nodes.parents[index]]
        styles.append(max(own, above, key=_STRENGTH.index) if own else above)
    return styles


def _levels(nodes: Nodes) -> list[int]:
    """Return the level of the heading that each node stands in, 0 outside of headings."""
    characters = [0]  # before each node
    for text in nodes.texts:
        characters.append(characters[-1] + len(text))
    levels = [0]
    for index in range(1, len(nodes)):
        level = _HEADINGS.get(nodes.tags[index], 0)
        if level and characters[nodes.ends[index]] - characters[index] > LONGEST_HEADING:
            level = 0
        levels.append(level or levels[nodes.parents[index]])
    return levels


def _paragraphs(runs: list[Run]) -> Iterator[list[str]]:
    """Yield the lines of each paragraph: one line break parts lines, two part paragraphs."""
    lines: list[str] = []
    line: list[Run] = []
    for run in (*runs, _BREAK, _BREAK):
        if run.style != "break":
            line.append(run)
            continue
        text, line = written(line), []
        if text:
            lines.append(text)
        elif lines:
            yield lines
            lines = []


def _unclosed(heading: str) -> str:
    """Return the text of a heading so that number signs at its end are no closing sequence."""
    signs = len(heading) - len(heading.rstrip("#"))
    return f"{heading[:-signs]}\\{'#' * signs}" if signs else heading


def _fenced(code: str, language: str) -> list[str]:
    fence = "`" * max(3, max(map(len, re.findall("`+", code)), default=0) + 1)
    return [fence + language, *code.split("\n"), fence]


def _language(nodes: Nodes, pre: int) -> str:
    for index in range(pre, min(pre + 2, nodes.ends[pre])):
        if found := _LANGUAGE.search(nodes.elements[index].get("class", "")):
            return found.group(1)
    return ""


def _start(nodes: Nodes, ordered: int) -> int:
    value = nodes.elements[ordered].get("start", "1").strip()
    return int(value) if value.isascii() and value.isdecimal() and int(value[:10]) < _LARGEST_START else 1
