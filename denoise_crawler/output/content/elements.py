"""The blocks of a page as they are gathered: what begins with each block-level element, and how it ends."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial

from denoise_crawler.output.content.blocks import (
    MAX_CONTAINERS,
    Block,
    Footnote,
    Formula,
    Heading,
    Inline,
    LineBreak,
    Paragraph,
    Picture,
    Quote,
    Rule,
    Text,
    paragraphs,
)
from denoise_crawler.output.content.code import MIN_KEPT_SHARE, code_of, is_code, is_verse, kept_share
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
from denoise_crawler.output.content.pictures import EMBEDS, Belonging, any_size, embed_of
from denoise_crawler.output.content.posts import Posts
from denoise_crawler.output.content.tex_in_text import loads_math, with_formulas
from denoise_crawler.output.inline import WordJoiner, preformatted_text
from denoise_crawler.page import Page
from denoise_crawler.page.geometry import is_data_table
from denoise_crawler.records import FoundRecord

_CAPTION = re.compile(r"(?:^|[-_\s])caption(?:$|[-_\s])", re.IGNORECASE)


@dataclass(slots=True, eq=False)
class _Open:
    """An element whose content is gathered; ``attach`` gets its blocks when it ends."""

    start: int
    attach: Callable[[list[Block]], None]
    blocks: list[Block] = field(default_factory=list)


class Gathering:
    """The blocks that are gathered while a page is walked through, and the elements that are open."""

    def __init__(
        self, page: Page, noise: list[bool] | None, posts: Sequence[FoundRecord], *, pictures: bool
    ) -> None:
        self.page, self.nodes, self.noise, self.with_pictures = page, page.nodes, noise, pictures
        self.belongs, self.lists, self.footnotes = Belonging(page, noise), Lists(page.nodes), footnotes_of(page)
        self.posts = Posts.of(page, posts, self.belongs)
        self.boxes: list[OpenBox] = []
        self.tables: list[OpenTable] = []
        self._math_page = page.once(loads_math)
        self._joints = WordJoiner(page.nodes)
        self._pieces: list[Inline] = []  # of the open line
        self._notes: list[Block] = []  # whose marks stand in it
        self._level = 0  # of its heading
        self._lines: list[tuple[int, int]] = []  # the block-level elements that are open
        self._open = [_Open(-1, lambda _: None)]
        self._pictures = set[str]()

    def _end_line(self) -> None:
        """Turn the open line into paragraphs, headings, pictures and formulas."""
        pieces, self._pieces = self._pieces, []
        level, self._level = self._level, 0
        self._joints.new_line()
        if not pieces:
            return
        for content in paragraphs(with_formulas(pieces, math_page=self._math_page)):
            self._open[-1].blocks += self._blocks_of(content, level)
        notes, self._notes = self._notes, []
        self._open[-1].blocks += notes

    def _blocks_of(self, content: list[Inline], level: int) -> list[Block]:
        """Return a paragraph as what it is: a heading, a formula or pictures where it holds nothing else."""
        if level:
            return [Heading(level, content)]
        pictures = [piece for piece in content if isinstance(piece, Picture)]
        if pictures and len(pictures) == sum(not isinstance(piece, LineBreak) for piece in content):
            return [one for one in pictures if self.tables or self._is_new(one)]
        return [content[0] if len(content) == 1 and isinstance(content[0], Formula) else Paragraph(content)]

    def _is_new(self, picture: Picture) -> bool:
        """Tell whether a picture has not been written yet, in whatever size."""
        before = len(self._pictures)
        self._pictures.add(any_size(picture.address))
        return len(self._pictures) > before

    def _close(self, index: int, keep: int = -1) -> None:
        """Close what ends at or before node ``index``, but for what node ``keep`` stands in."""
        if self._has_ended(index, keep):
            self._end_line()
        while self._has_ended(index, keep):
            start, _ = self._lines.pop()
            if self._open[-1].start == start:
                closed = self._open.pop()
                closed.attach(closed.blocks)

    def _has_ended(self, index: int, keep: int) -> bool:
        """Tell whether the innermost open element ends at or before ``index`` and does not hold ``keep``."""
        return bool(self._lines) and self._lines[-1][1] <= index and self._lines[-1][0] > keep

    def append(self, block: Block) -> None:
        """Add a block behind those that are there."""
        self._open[-1].blocks.append(block)

    def gather(self, index: int, attach: Callable[[list[Block], list[Block]], None]) -> int:
        """Gather the blocks of an element, which begins now; return 0, since the nodes below it are to come.

        When it ends, ``attach`` is called with the blocks around it and with its own. Where too many elements are
        open it is not called: the blocks go to those around.
        """
        if len(self._open) <= MAX_CONTAINERS:
            around = self._open[-1].blocks
            self._open.append(_Open(index, lambda blocks: attach(around, blocks)))
        return 0

    @property
    def last_picture(self) -> Picture | None:
        """The picture that stands directly above; None if something else does."""
        above = self._open[-1].blocks
        return above[-1] if above and isinstance(above[-1], Picture) else None

    def gathers(self, index: int) -> bool:
        """Tell whether what comes now goes to the element at node ``index``."""
        return self._open[-1].start == index

    def add_line(self, pieces: list[Inline]) -> None:
        """Add a paragraph of pieces."""
        self._pieces += pieces
        self._end_line()

    def kept(self, index: int) -> bool:
        """Tell whether node ``index`` does not stand in noise."""
        return self.belongs.stays(index)

    @property
    def is_top(self) -> bool:
        """Whether no list, quotation or box is open, and something stands above."""
        return len(self._open) == 1 and bool(self._open[0].blocks)

    @property
    def has_room(self) -> bool:
        """Whether a table may begin here, in whose cells there may be lists."""
        return len(self._open) < MAX_CONTAINERS - 1


def begin_element(content: Gathering, index: int, tag: str) -> int:
    """Begin a block-level element.

    Returns:
        The end of the nodes that are now taken in; 0 if those below the element are still to come.
    """
    if index in content.posts.holders:
        return 0
    if (label := content.footnotes.notes.get(index)) is not None:
        return _begin_whole(content, index, lambda blocks: Footnote(label, blocks))
    if (begin := _BEGIN.get(tag)) is not None:
        return begin(content, index)
    return _begin_other(content, index, tag)


def _begin_other(content: Gathering, index: int, tag: str) -> int:
    """Begin an element that is told by its attributes, or by what it holds."""
    element = content.nodes.elements[index]
    if tag == "code" or (element.get("data-lang") and is_code(content.nodes, index)):
        return _add_code(content, index)
    if element.get("class") or element.get("data-callout"):
        if tag in BOXES and (kind := callout_kind(element)):
            return _begin_box(content, index, kind)
        below = slice(index, content.nodes.ends[index])
        if _CAPTION.search(element.get("class", "")) and "img" not in content.nodes.tags[below]:
            return _begin_loose_caption(content, index)
        if content.boxes and content.boxes[-1].end > index and is_title(element):
            return _begin_title(content, index)
    if tag in ("div", "section") and is_code(content.nodes, index):
        return _add_code(content, index)
    if links := links_of_contents(content.nodes, index):
        return content.gather(index, lambda around, blocks: around.extend(as_list(blocks, links)))
    return 0


def _begin_whole(content: Gathering, index: int, make: Callable[[list[Block]], Block]) -> int:
    """Gather an element that is one block; none if it is empty."""

    def attach(around: list[Block], blocks: list[Block]) -> None:
        if blocks:
            around.append(make(blocks))

    return content.gather(index, attach)


def _begin_list(content: Gathering, index: int) -> int:
    content.lists.innermost(index)
    content.lists.open(index)
    return 0


def _begin_item(content: Gathering, index: int) -> int:
    of_list = content.lists.innermost(index)

    def attach(around: list[Block], blocks: list[Block]) -> None:
        if blocks:
            content.lists.add(of_list, blocks, around)

    return content.gather(index, attach)


def _begin_quote(content: Gathering, index: int) -> int:
    element = content.nodes.elements[index]
    if kind := callout_kind(element):
        return _begin_box(content, index, kind)
    cited = element.get("cite", "").strip()
    source = safe_url(content.page.absolute(cited)) if cited else ""
    source = source if source.startswith("http") else ""
    return _begin_whole(content, index, lambda blocks: Quote(blocks, source))


def _add_rule(content: Gathering, index: int) -> int:
    if content.is_top and content.kept(index):
        content.append(Rule())
    return 0


def _begin_preformatted(content: Gathering, index: int) -> int:
    nodes, element = content.nodes, content.nodes.elements[index]
    if is_verse(element) and kept_share(nodes, index, content.noise) == 1:
        pieces: list[Inline] = []
        for line in preformatted_text(element).split("\n"):
            pieces += [LineBreak(), Text(line)]
        content.add_line(pieces[1:])
        return nodes.ends[index]
    return _add_code(content, index) if is_code(nodes, index) else 0


def _add_code(content: Gathering, index: int) -> int:
    """Add a block of code as a whole, or nothing of it if most of it is noise."""
    if kept_share(content.nodes, index, content.noise) >= MIN_KEPT_SHARE and content.kept(index):
        code = code_of(content.nodes.elements[index])
        if code is not None:
            content.append(code)
    return content.nodes.ends[index]


def _begin_table(content: Gathering, index: int) -> int:
    nodes = content.nodes
    if is_code(nodes, index):
        return _add_code(content, index)
    if not content.has_room or not is_data_table(nodes, index):
        return 0
    table = OpenTable(index)
    content.tables.append(table)

    def attach(around: list[Block], loose: list[Block]) -> None:
        content.tables.pop()
        around.extend(table.finish())
        around.extend(loose)

    return content.gather(index, attach)


def _begin_cell(content: Gathering, index: int) -> int:
    if table := _table_around(content):
        content.gather(index, lambda loose, blocks: table.add_cell(content.nodes, index, loose, blocks))
    return 0


def _begin_caption(content: Gathering, index: int) -> int:
    """Gather the caption of a table or a figure."""
    if content.nodes.tags[index] == "caption":
        if table := _table_around(content):
            content.gather(index, lambda loose, blocks: table.add_caption(loose, blocks))
    elif content.boxes and index < content.boxes[-1].end and content.boxes[-1].kind == "figure":
        return _begin_title(content, index)
    return 0


def _begin_loose_caption(content: Gathering, index: int) -> int:
    """Gather what is named the caption of the picture above it, without a figure around both."""
    if (picture := content.last_picture) is not None and not picture.caption:
        content.gather(
            index, lambda around, blocks: around.extend(add_caption([picture], inline_content(blocks))[1:])
        )
    return 0


def _table_around(content: Gathering) -> OpenTable | None:
    """Return the data table that gathers what comes now; None outside, in a cell, and in a list that it holds."""
    return content.tables[-1] if content.tables and content.gathers(content.tables[-1].start) else None


def _begin_summary(content: Gathering, index: int) -> int:
    inside = content.boxes and index < content.boxes[-1].end and content.boxes[-1].kind == "details"
    return _begin_title(content, index) if inside else 0


def _begin_box(content: Gathering, index: int, kind: str) -> int:
    if not content.has_room:
        return 0
    box = OpenBox(content.nodes.ends[index], kind)
    content.boxes.append(box)

    def attach(around: list[Block], blocks: list[Block]) -> None:
        content.boxes.pop()
        around.extend(box.finish(blocks))

    return content.gather(index, attach)


def _begin_title(content: Gathering, index: int) -> int:
    box = content.boxes[-1]

    def attach(around: list[Block], blocks: list[Block]) -> None:
        if box.title:  # a second one is content
            around.extend(blocks)
        else:
            box.title.extend(inline_content(blocks))

    return content.gather(index, attach)


def _add_embed(content: Gathering, index: int) -> int:
    if content.with_pictures and content.belongs(index):
        embed = embed_of(content.page, content.nodes.elements[index])
        if embed is not None:
            content.append(embed)
    return 0


_BEGIN: dict[str, Callable[[Gathering, int], int]] = {
    **dict.fromkeys(LISTS, _begin_list),
    **dict.fromkeys(EMBEDS, _add_embed),
    "li": _begin_item,
    "blockquote": _begin_quote,
    "hr": _add_rule,
    "pre": _begin_preformatted,
    "table": _begin_table,
    **dict.fromkeys(("td", "th"), _begin_cell),
    **dict.fromkeys(("caption", "figcaption"), _begin_caption),
    "figure": partial(_begin_box, kind="figure"),
    "details": partial(_begin_box, kind="details"),
    "summary": _begin_summary,
}
