"""Builds the blocks of a page in one pass over its nodes, without recursion."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence

from denoise_crawler.output.clean_text import WordJoiner, text_of
from denoise_crawler.output.content.blocks import (
    Block,
    Footnote,
    FootnoteMark,
    Formula,
    Heading,
    Inline,
    LineBreak,
    Paragraph,
    Picture,
    Rule,
    TaskBox,
    Text,
    heading_levels,
    paragraphs,
    style_in,
    text_styles,
    without_empty_headings,
)
from denoise_crawler.output.content.code import is_code
from denoise_crawler.output.content.elements import Gathering, OpenElement, begin_element
from denoise_crawler.output.content.footnotes import without_label, without_number
from denoise_crawler.output.content.formulas import Place, formulas_of
from denoise_crawler.output.content.latex import loads_math, with_formulas
from denoise_crawler.output.content.links import Links, is_control, is_permalink, is_share_link
from denoise_crawler.output.content.pictures import (
    PICTURES,
    any_size,
    is_embedded,
    is_picture,
    picture_of,
    picture_without_scripts,
)
from denoise_crawler.output.content.posts import quote_controls
from denoise_crawler.page import TEXT, Element, Page
from denoise_crawler.page.nodes import INLINE
from denoise_crawler.page.site import site_of
from denoise_crawler.records import PageRecord

_IN_A_LINE = INLINE | {"input"}  # which shows or hides what stands beside it
_MOST_CONTROLS = 12  # nodes beside the picture for readers without scripts
_LEFT_OUT = frozenset({"a", "span"})  # if they are permalinks, share links or controls of headings


class Builder(Gathering):
    """Makes blocks, with absolute URLs, of ``page`` without its ``noise`` nodes.

    Args:
        page: The page.
        noise: Whether each node is noise; None if all is kept.
        posts: The posts of its thread, which get a line that says who wrote them, and when.
        links: Whether the addresses of links are kept.
        pictures: Whether pictures and embedded videos and posts are kept.

    Example:
        >>> page = Page.parse("https://a.test/", "<h1>News</h1><ul><li>One<li>Two</ul>")
        >>> [type(block).__name__ for block in Builder(page).build()]
        ['Heading', 'List']
    """

    def __init__(
        self,
        page: Page,
        noise: list[bool] | None = None,
        posts: Sequence[PageRecord] = (),
        *,
        links: bool = True,
        pictures: bool = True,
    ) -> None:
        super().__init__(page, noise, posts, pictures=pictures)
        self._notes: list[Block] = []  # whose marks stand in it
        self._level = 0  # of its heading
        self._joints, self._math_page = WordJoiner(page.nodes), page.once(loads_math)
        self._with_links, self._links = links, Links(page)
        self._styles, self._levels = text_styles(page), heading_levels(page)
        self._said_elsewhere = self.posts.left_out | self.footnotes.left_out | page.once(quote_controls)
        notes = self.footnotes.notes | self.footnotes.parted
        self._labels = {label for note, label in notes.items() if self.belongs.stays(note)}
        self._formulas = page.once(formulas_of)
        self._whole: dict[int, Callable[[int], None]] = {
            **dict.fromkeys(self.footnotes.sidenotes, self._add_sidenote),
            **dict.fromkeys(self.footnotes.parted, self._part_footnote),
            **dict.fromkeys(self.footnotes.marks, self._add_mark),
            **dict.fromkeys(self._formulas.elements, self._add_formula),
        }
        self._places: deque[Place] = deque(self._formulas.places)
        self._pictures = set[str]()
        self._last_picture = ""

    def build(self) -> list[Block]:
        """Return the blocks."""
        for index, tag in enumerate(self.nodes.tags):
            if index >= self.done_to:
                if self._places:
                    self._add_places(index)
                if self.open[-1].end <= index:
                    self._close(index)
                self._visit(index, tag)
        size = len(self.nodes)
        self._add_places(size)
        self._close(size)
        self.end_line()
        return without_empty_headings(self.blocks)

    def _visit(self, index: int, tag: str) -> None:
        if index in self.posts.heads:
            self._begin_post(index)
        if self._is_left_out(index, tag):
            self._joints.gap()
            self.skip(index)
        elif tag is TEXT:
            self._add_text(index)
        elif (add := self._whole.get(index)) is not None:
            add(index)
            self.skip(index)
        elif tag in PICTURES:
            self._add_picture(index, self.nodes.elements[index])
        elif tag == "input":
            self._add_task_box(index)
        elif tag == "br":
            self.pieces.append(LineBreak())
            self._joints.new_line()
        elif tag not in _IN_A_LINE or (tag == "code" and is_code(self.nodes, index)):
            self._begin_block(index, tag)

    def _begin_block(self, index: int, tag: str) -> None:
        self.end_line()
        if self.noise is not None and self.noise[index] and not self.tables:
            self.skip(index)  # noise in a table leaves a gap there
            return
        above = self.open[-1]
        self.open.append(OpenElement(index, self.nodes.ends[index], above.blocks, above.holder))
        begin_element(self, index, tag)
        end = self.nodes.ends[index]
        is_empty = end - index <= _MOST_CONTROLS and not any(self.nodes.texts[index:end])
        if (is_empty or tag == "figure") and PICTURES.isdisjoint(self.nodes.tags[index:end]):
            picture = picture_without_scripts(self.nodes.elements[index])
            if picture is not None:
                self._add_picture(index, picture)

    def _close(self, index: int, keep: int = -1) -> None:
        """Close what ends at or before node ``index``, but for what node ``keep`` stands in."""
        self.end_line()
        while self.open[-1].end <= index and self.open[-1].start > keep:
            closed = self.open.pop()
            if closed.attach is not None:
                self.depth -= 1
                self.pieces = []
                closed.attach(self.blocks, closed.blocks)

    def end_line(self) -> None:
        """Turn the open line into paragraphs, headings, pictures and formulas."""
        pieces, self.pieces = self.pieces, []
        level, self._level = self._level, 0
        self._joints.new_line()
        if all(isinstance(piece, TaskBox) for piece in pieces):
            self.pieces = pieces  # for the text that follows
            return
        for content in paragraphs(with_formulas(pieces, math_page=self._math_page)):
            self.blocks.extend(self._blocks_of(content, level))
        self.blocks.extend(self._notes)
        self._notes = []

    def _blocks_of(self, content: list[Inline], level: int) -> list[Block]:
        """Return a paragraph as what it is: a heading, a formula or pictures where it holds nothing else."""
        if level:
            return [Heading(level, content)]
        pictures = [piece for piece in content if isinstance(piece, Picture)]
        if pictures and len(pictures) == sum(not isinstance(piece, LineBreak) for piece in content):
            return [picture for picture in pictures if self.tables or self._is_new(picture)]
        return [content[0] if len(content) == 1 and isinstance(content[0], Formula) else Paragraph(content)]

    def _is_new(self, picture: Picture) -> bool:
        """Return True if a picture has not been written yet, in whatever size."""
        before = len(self._pictures)
        self._pictures.add(any_size(picture.address))
        return len(self._pictures) > before

    def _begin_post(self, index: int) -> None:
        self.end_line()
        if self.blocks and isinstance(self.blocks[-1], Rule):
            self.blocks.pop()  # the page's own
        self.blocks.extend(self.posts.heads[index])

    def _add_text(self, index: int) -> None:
        if self.noise is not None and self.noise[index]:
            self._joints.gap()
            return
        nodes, level = self.nodes, self._levels[index]
        link = self._links.address(nodes.links[index], in_heading=level > 0) if self._with_links else ""
        text, done = text_of(nodes, index), 0
        style = style_in(self._styles[index], text, in_heading=level > 0, in_link=bool(link))
        self.pieces.append(Text(self._joints.between(index), style, link))
        while self._places and self._places[0].node == index:
            place = self._places.popleft()
            self.pieces += [Text(text[done : place.offset], style, link), place.formula]
            done = place.offset
        self.pieces.append(Text(text[done:], style, link))
        self._level = level

    def _add_piece(self, piece: Inline, index: int) -> None:
        self.pieces.append(piece)
        self._level = self._levels[index]

    def _add_mark(self, index: int) -> None:
        """Add the mark of a footnote, unless it or the note is noise."""
        label = self.footnotes.marks[index]
        self._joints.gap()
        if self.belongs.stays(index) and label in self._labels:
            self._add_piece(FootnoteMark(label), index)

    def _part_footnote(self, index: int) -> None:
        """Begin a further note in the element of another one; what follows is its content."""
        self.end_line()
        self.blocks.append(Footnote(self.footnotes.parted[index], []))

    def _add_sidenote(self, index: int) -> None:
        """Put a mark into the line, or at the end of the paragraph above, and the note behind the paragraph."""
        before, self.pieces = self.pieces, []
        for node in range(index + 1, self.nodes.ends[index]):
            if self.nodes.tags[node] is TEXT:
                self._add_text(node)
            elif self.nodes.tags[node] not in INLINE:
                self.pieces += [LineBreak(), LineBreak()]
        content: list[Block] = [Paragraph(line) for line in paragraphs(without_label(self.pieces))]
        self.pieces = before
        self._joints.gap()
        label = self.footnotes.sidenotes[index]
        mark, note = FootnoteMark(label), Footnote(label, content)
        above = self.blocks[-1] if self.blocks else None
        if content and before:
            self.pieces = [*without_number(before), mark]
            self._notes.append(note)
        elif content and isinstance(above, Paragraph):
            above.content.append(mark)
            self.blocks.append(note)
        else:
            self.blocks.extend(content)

    def _add_formula(self, index: int) -> None:
        formula = self._formulas.elements[index]
        self._joints.gap()
        if formula is not None and self.belongs(index):
            self._add_piece(formula, index)

    def _add_places(self, index: int) -> None:
        """Add the formulas of scripts that stand before node ``index`` and not in a text."""
        is_text = index < len(self.nodes) and self.nodes.tags[index] is TEXT
        while self._places and (self._places[0].node < index or not is_text):
            if self._places[0].node > index:
                return
            place = self._places.popleft()
            if place.node == index and self.belongs(place.parent):
                if self.open[-1].end <= index and self.open[-1].start > place.parent:
                    self._close(index, keep=place.parent)
                self._joints.gap()
                self.pieces.append(place.formula)

    def _add_task_box(self, index: int) -> None:
        """Add the box of a task, with which an item of a list begins."""
        holder, box = self.open[-1].holder, self.nodes.elements[index]
        if box.get("type", "").lower() != "checkbox" or holder < 0 or self.nodes.tags[holder] != "li":
            return
        is_task = box.get("disabled") is not None or "task" in self.nodes.elements[holder].get("class", "")
        is_first = not self.blocks and not any(isinstance(one, Text) and one.text.strip() for one in self.pieces)
        if is_task and is_first and self.belongs(index):
            self.pieces.append(TaskBox(box.get("checked") is not None))

    def _add_picture(self, index: int, element: Element) -> None:
        self._joints.gap()
        if not self.with_pictures or not self.belongs(index):
            return
        link = self._links.address(self.nodes.links[index]) if self._with_links else ""
        picture = picture_of(self.page, element, link)
        if picture is not None and picture.address != self._last_picture and not self._is_advertised(picture):
            self._last_picture = picture.address
            self._add_piece(picture, index)

    def _is_advertised(self, picture: Picture) -> bool:
        """Return True if a picture without a caption leads to another site, and not to itself or a video."""
        if not picture.link or is_embedded(picture.link) or site_of(picture.link) == self.page.site:
            return False
        return not is_picture(picture.link) and not any(box.kind == "figure" for box in self.boxes)

    def _is_left_out(self, index: int, tag: str) -> bool:
        """Return True if a node is said in a head or by a mark, or is a permalink, a share link or a control."""
        if index in self._said_elsewhere:
            return True
        if tag not in _LEFT_OUT:
            return False
        nodes, in_heading = self.nodes, self._levels[index] > 0
        if nodes.links[index] != index:
            return in_heading and bool(self.pieces) and is_control(nodes, index)
        if is_permalink(nodes, index, in_heading=in_heading):
            return True
        return is_share_link(nodes.elements[index].get("href", "").strip())
