"""What begins with each block-level element, by its tag, its attributes or what it holds."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

from denoise_crawler.output.content.blocks import (
    MAX_CONTAINERS,
    Block,
    Code,
    Footnote,
    Inline,
    LineBreak,
    Picture,
    Quote,
    Rule,
    Text,
)
from denoise_crawler.output.content.code import PREFORMATTED, code_language, code_text, is_code, is_verse
from denoise_crawler.output.content.footnotes import footnotes_of
from denoise_crawler.output.content.links import as_list, links_of_contents, safe_url
from denoise_crawler.output.content.nested import (
    BOXES,
    LISTS,
    Lists,
    OpenBox,
    OpenTable,
    add_caption,
    callout_kind,
    inline_content,
    is_title,
)
from denoise_crawler.output.content.pictures import EMBEDS, Belonging, embed_of
from denoise_crawler.output.content.posts import Posts
from denoise_crawler.page import Page
from denoise_crawler.page.geometry import is_data_table
from denoise_crawler.records import PageRecord

Attach = Callable[[list[Block], list[Block]], None]
_MIN_KEPT_CODE = 0.5  # of the characters of a block; with less kept it goes
_CAPTION = re.compile(r"(?:^|[-_\s])caption(?:$|[-_\s])", re.IGNORECASE)


@dataclass(slots=True, eq=False)
class OpenElement:
    """A block-level element that is open.

    ``blocks`` are those that it is in, or its own if it gathers them: then ``holder`` is itself, and ``attach`` is
    called with the blocks around it and its own when it ends.
    """

    start: int
    end: int
    blocks: list[Block]
    holder: int
    attach: Attach | None = None


class Gathering(ABC):
    """The elements of a page that are open while it is walked through, and the blocks that they gather."""

    def __init__(
        self, page: Page, noise: list[bool] | None, posts: Sequence[PageRecord], *, pictures: bool
    ) -> None:
        self.page, self.nodes, self.noise, self.with_pictures = page, page.nodes, noise, pictures
        self.belongs, self.lists, self.footnotes = Belonging(page, noise), Lists(page.nodes), footnotes_of(page)
        self.posts = Posts.of(page, posts, self.belongs)
        self.boxes: list[OpenBox] = []
        self.tables: list[OpenTable] = []
        self.done_to = 0  # the nodes before this one are written, or left out
        self.open = [OpenElement(-1, len(page.nodes) + 1, [], -1)]
        self.depth = 1  # the open elements that gather blocks
        self.pieces: list[Inline] = []  # of the open line

    @property
    def blocks(self) -> list[Block]:
        """The blocks that what comes now is added to."""
        return self.open[-1].blocks

    def gather(self, index: int, attach: Attach) -> None:
        """Gather the blocks of the element that begins at node ``index``.

        When it ends, ``attach`` is called with the blocks around it and with its own. Where too many elements are
        open it is not called: the blocks go to those around.
        """
        if self.depth <= MAX_CONTAINERS:
            self.depth += 1
            self.open[-1] = OpenElement(index, self.nodes.ends[index], [], index, attach)

    def skip(self, index: int) -> None:
        """Pass over what stands in the element at node ``index``."""
        self.done_to = self.nodes.ends[index]

    def add_line(self, pieces: list[Inline]) -> None:
        """Add a paragraph of pieces."""
        self.pieces += pieces
        self.end_line()

    @abstractmethod
    def end_line(self) -> None:
        """Turn the open line into blocks."""

    @property
    def table(self) -> OpenTable | None:
        """The data table that holds what comes now; None outside, in a cell, and in a list that it holds."""
        return self.tables[-1] if self.tables and self.tables[-1].start == self.open[-1].holder else None

    def box(self, index: int, *kinds: str) -> OpenBox | None:
        """Return the innermost box around node ``index``, if it is of one of these kinds."""
        box = self.boxes[-1] if self.boxes and index < self.boxes[-1].end else None
        return box if box is not None and (not kinds or box.kind in kinds) else None

    @property
    def is_top(self) -> bool:
        """Whether no list, quotation or box is open, and something stands above."""
        return self.depth == 1 and bool(self.blocks)

    @property
    def has_room(self) -> bool:
        """Whether a table may begin here, in whose cells there may be lists."""
        return self.depth < MAX_CONTAINERS - 1


def begin_element(content: Gathering, index: int, tag: str) -> None:
    """Begin the block-level element at node ``index``."""
    if index in content.posts.holders:
        return
    if (label := content.footnotes.notes.get(index)) is not None:
        content.gather(index, lambda around, blocks: around.extend(_parted_notes(label, blocks)))
    elif (begin := _BEGIN.get(tag)) is not None:
        begin(content, index)
    else:
        _begin_other(content, index, tag)


def _begin_other(content: Gathering, index: int, tag: str) -> None:
    """Begin an element that is told by its attributes, or by what it holds."""
    nodes, element = content.nodes, content.nodes.elements[index]
    if tag == "code" or (element.get("data-lang") and is_code(nodes, index)):
        _add_code(content, index)
        return
    classes = element.get("class", "")
    if classes or element.get("data-callout"):
        if tag in BOXES and (kind := callout_kind(element)):
            _begin_box(content, index, kind)
            return
        if _CAPTION.search(classes) and "img" not in nodes.tags[index : nodes.ends[index]]:
            _begin_loose_caption(content, index)
            return
        if is_title(element) and (box := content.box(index)) is not None:
            _begin_title(content, index, box)
            return
    if tag in ("div", "section") and is_code(nodes, index):
        _add_code(content, index)
    elif links := links_of_contents(nodes, index):
        content.gather(index, lambda around, blocks: around.extend(as_list(blocks, links)))


def _gather_one(content: Gathering, index: int, make: Callable[[list[Block]], Block]) -> None:
    """Gather an element that is one block; none if it is empty."""
    content.gather(index, lambda around, blocks: around.extend([make(blocks)] if blocks else []))


def _parted_notes(label: str, blocks: list[Block]) -> list[Block]:
    """Return the notes that stand in one element: each empty one among its blocks begins a further note."""
    notes = [Footnote(label, [])]
    for block in blocks:
        if isinstance(block, Footnote) and not block.content:
            notes.append(block)
        else:
            notes[-1].content.append(block)
    return [note for note in notes if note.content]


def _begin_list(content: Gathering, index: int) -> None:
    outer = content.lists.innermost(index)
    content.lists.open(index)
    if outer >= 0 and content.nodes.parents[index] == outer:
        content.gather(index, lambda around, blocks: content.lists.add_inner(outer, blocks, around))


def _begin_item(content: Gathering, index: int) -> None:
    of_list = content.lists.innermost(index)
    content.gather(index, lambda around, blocks: content.lists.add(of_list, index, blocks, around))


def _begin_quote(content: Gathering, index: int) -> None:
    element = content.nodes.elements[index]
    if kind := callout_kind(element):
        _begin_box(content, index, kind)
        return
    cited = element.get("cite", "").strip()
    source = safe_url(content.page.absolute(cited)) if cited else ""
    _gather_one(content, index, lambda blocks: Quote(blocks, source if source.startswith("http") else ""))


def _add_rule(content: Gathering, index: int) -> None:
    if content.is_top and content.belongs.stays(index):
        content.blocks.append(Rule())


def _begin_preformatted(content: Gathering, index: int) -> None:
    nodes, element = content.nodes, content.nodes.elements[index]
    if is_verse(element) and nodes.kept_share(index, content.noise) == 1:
        lines = code_text(element).split("\n")
        pieces: list[Inline] = [piece for line in lines for piece in (LineBreak(), Text(line))]
        content.add_line(pieces[1:])
        content.skip(index)
    elif is_code(nodes, index):
        _add_code(content, index)


def _add_code(content: Gathering, index: int) -> None:
    """Add a block of code as a whole, or nothing of it if most of it is noise."""
    nodes, element = content.nodes, content.nodes.elements[index]
    if nodes.kept_share(index, content.noise) >= _MIN_KEPT_CODE and content.belongs.stays(index):
        text = code_text(element)
        content.blocks.extend([Code(text, code_language(element))] if text else [])
    content.skip(index)


def _begin_table(content: Gathering, index: int) -> None:
    if is_code(content.nodes, index):
        _add_code(content, index)
    elif content.has_room and is_data_table(content.nodes, index):
        content.tables.append(OpenTable(index))
        content.gather(index, lambda around, loose: around.extend(content.tables.pop().finish(loose)))


def _begin_cell(content: Gathering, index: int) -> None:
    if (table := content.table) is not None:
        content.gather(index, lambda loose, blocks: table.add_cell(content.nodes, index, loose, blocks))


def _begin_table_caption(content: Gathering, index: int) -> None:
    if (table := content.table) is not None:
        content.gather(index, table.add_caption)


def _begin_title_of(kind: str, content: Gathering, index: int) -> None:
    if (box := content.box(index, kind)) is not None:
        _begin_title(content, index, box)


def _begin_loose_caption(content: Gathering, index: int) -> None:
    """Gather what is named the caption of the picture above it, without a figure around both."""
    picture = content.blocks[-1] if content.blocks else None
    if isinstance(picture, Picture) and not picture.caption:
        content.gather(
            index, lambda around, blocks: around.extend(add_caption([picture], inline_content(blocks))[1:])
        )


def _begin_box(content: Gathering, index: int, kind: str) -> None:
    if content.has_room:
        content.boxes.append(OpenBox(content.nodes.ends[index], kind))
        content.gather(index, lambda around, blocks: around.extend(content.boxes.pop().finish(blocks)))


def _begin_title(content: Gathering, index: int, box: OpenBox) -> None:
    def attach(around: list[Block], blocks: list[Block]) -> None:
        if box.title:  # a second one is content
            around.extend(blocks)
        else:
            box.title.extend(inline_content(blocks))

    content.gather(index, attach)


def _add_embed(content: Gathering, index: int) -> None:
    if content.with_pictures and content.belongs(index):
        embed = embed_of(content.page, content.nodes.elements[index])
        content.blocks.extend([] if embed is None else [embed])


_BEGIN: dict[str, Callable[[Gathering, int], None]] = {
    **dict.fromkeys(LISTS, _begin_list),
    **dict.fromkeys(EMBEDS, _add_embed),
    "li": _begin_item,
    "blockquote": _begin_quote,
    "hr": _add_rule,
    **dict.fromkeys(PREFORMATTED, _begin_preformatted),
    "table": _begin_table,
    **dict.fromkeys(("td", "th"), _begin_cell),
    "caption": _begin_table_caption,
    "figcaption": partial(_begin_title_of, "figure"),
    "figure": lambda content, index: _begin_box(content, index, "figure"),
    "details": lambda content, index: _begin_box(content, index, "details"),
    "summary": partial(_begin_title_of, "details"),
}
