"""What begins with each block-level element: a list, a table, code, a quotation, a box."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from denoise_crawler.output.content.blocks import Footnote, LineBreak, Quote, Rule, Text
from denoise_crawler.output.content.callouts import BOXES, callout_kind, is_title
from denoise_crawler.output.content.code import MIN_KEPT_SHARE, code_of, is_code, is_verse, kept_share
from denoise_crawler.output.content.contents import as_list, links_of_contents
from denoise_crawler.output.content.embeds import EMBEDS, embed_of
from denoise_crawler.output.content.links import safe_url
from denoise_crawler.output.content.nested import LISTS, OpenBox, OpenTable, add_caption, inline_content
from denoise_crawler.output.inline import preformatted_text
from denoise_crawler.page.data_table import is_data_table

if TYPE_CHECKING:
    from collections.abc import Callable

    from denoise_crawler.output.content.blocks import Block, Inline
    from denoise_crawler.output.content.builder import Builder

_CAPTION = re.compile(r"(?:^|[-_\s])caption(?:$|[-_\s])", re.IGNORECASE)


def begin_element(builder: Builder, index: int, tag: str) -> int:
    """Begin a block-level element.

    Returns:
        The end of the nodes that are now taken in; 0 if those below the element are still to come.

    """
    if index in builder.posts.holders:
        return 0
    if (label := builder.footnotes.notes.get(index)) is not None:
        return _begin_note(builder, index, label)
    if (begin := _BEGIN.get(tag)) is not None:
        return begin(builder, index)
    return _begin_other(builder, index, tag)


def _begin_other(builder: Builder, index: int, tag: str) -> int:
    """Begin an element that is told by its attributes, or by what it holds."""
    element = builder.nodes.elements[index]
    if tag == "code":
        return _add_code(builder, index)
    if element.get("data-lang") and is_code(builder.nodes, index):
        return _add_code(builder, index)
    if element.get("class") or element.get("data-callout"):
        if tag in BOXES and (kind := callout_kind(element)):
            return _begin_box(builder, index, kind)
        if (
            _CAPTION.search(element.get("class", ""))
            and "img" not in builder.nodes.tags[index : builder.nodes.ends[index]]
        ):
            _begin_loose_caption(builder, index)
            return 0
        if builder.boxes and builder.boxes[-1].end > index and is_title(element):
            return _begin_title(builder, index)
    if tag in ("div", "section") and is_code(builder.nodes, index):
        return _add_code(builder, index)
    if links := links_of_contents(builder.nodes, index):
        builder.gather(index, lambda around, blocks: around.extend(as_list(blocks, links)))
    return 0


def _begin_note(builder: Builder, index: int, label: str) -> int:
    def attach(around: list[Block], blocks: list[Block]) -> None:
        if blocks:
            around.append(Footnote(label, blocks))

    builder.gather(index, attach)
    return 0


def _begin_list(builder: Builder, index: int) -> int:
    builder.lists.innermost(index)
    builder.lists.open(index)
    return 0


def _begin_item(builder: Builder, index: int) -> int:
    of_list = builder.lists.innermost(index)

    def attach(around: list[Block], blocks: list[Block]) -> None:
        if blocks:
            builder.lists.add(of_list, blocks, around)

    builder.gather(index, attach)
    return 0


def _begin_quote(builder: Builder, index: int) -> int:
    element = builder.nodes.elements[index]
    if kind := callout_kind(element):
        return _begin_box(builder, index, kind)
    cited = element.get("cite", "").strip()
    source = safe_url(builder.page.absolute(cited)) if cited else ""

    def attach(around: list[Block], blocks: list[Block]) -> None:
        if blocks:
            around.append(Quote(blocks, source if source.startswith("http") else ""))

    builder.gather(index, attach)
    return 0


def _add_rule(builder: Builder, index: int) -> int:
    if builder.is_top and builder.kept(index):
        builder.append(Rule())
    return 0


def _begin_preformatted(builder: Builder, index: int) -> int:
    nodes, element = builder.nodes, builder.nodes.elements[index]
    if is_verse(element) and kept_share(nodes, index, builder.noise) == 1:
        pieces: list[Inline] = []
        for line in preformatted_text(nodes.elements[index]).split("\n"):
            pieces += [LineBreak(), Text(line)] if pieces else [Text(line)]
        builder.add_line(pieces)
        return nodes.ends[index]
    return _add_code(builder, index) if is_code(nodes, index) else 0


def _add_code(builder: Builder, index: int) -> int:
    """Add a block of code as a whole, or nothing of it if most of it is noise."""
    if kept_share(builder.nodes, index, builder.noise) >= MIN_KEPT_SHARE and builder.kept(index):
        code = code_of(builder.nodes.elements[index])
        if code is not None:
            builder.append(code)
    return builder.nodes.ends[index]


def _begin_table(builder: Builder, index: int) -> int:
    nodes = builder.nodes
    if is_code(nodes, index):
        return _add_code(builder, index)
    if not builder.has_room or not is_data_table(nodes, index):
        return 0
    table = OpenTable(index)
    builder.tables.append(table)

    def attach(around: list[Block], loose: list[Block]) -> None:
        builder.tables.pop()
        around.extend(table.finish())
        around.extend(loose)

    builder.gather(index, attach)
    return 0


def _begin_cell(builder: Builder, index: int) -> int:
    if table := _table_around(builder):
        builder.gather(index, lambda loose, blocks: table.add_cell(builder.nodes, index, loose, blocks))
    return 0


def _begin_caption(builder: Builder, index: int) -> int:
    """Gather the caption of a table or a figure."""
    if builder.nodes.tags[index] == "caption":
        if table := _table_around(builder):
            builder.gather(index, lambda loose, blocks: table.add_caption(loose, blocks))
    elif builder.boxes and index < builder.boxes[-1].end and builder.boxes[-1].kind == "figure":
        return _begin_title(builder, index)
    return 0


def _begin_loose_caption(builder: Builder, index: int) -> None:
    """Gather what is named the caption of the picture above it, without a figure around both."""
    if (picture := builder.last_picture) is not None and not picture.caption:
        builder.gather(
            index, lambda around, blocks: around.extend(add_caption([picture], inline_content(blocks))[1:])
        )


def _table_around(builder: Builder) -> OpenTable | None:
    """Return the data table that gathers what comes now; None outside, in a cell, and in a list that it holds."""
    return builder.tables[-1] if builder.tables and builder.gathers(builder.tables[-1].start) else None


def _begin_figure(builder: Builder, index: int) -> int:
    return _begin_box(builder, index, "figure")


def _begin_details(builder: Builder, index: int) -> int:
    return _begin_box(builder, index, "details")


def _begin_summary(builder: Builder, index: int) -> int:
    inside = builder.boxes and index < builder.boxes[-1].end and builder.boxes[-1].kind == "details"
    return _begin_title(builder, index) if inside else 0


def _begin_box(builder: Builder, index: int, kind: str) -> int:
    if not builder.has_room:
        return 0
    box = OpenBox(builder.nodes.ends[index], kind)
    builder.boxes.append(box)

    def attach(around: list[Block], blocks: list[Block]) -> None:
        builder.boxes.pop()
        around.extend(box.finish(blocks))

    builder.gather(index, attach)
    return 0


def _begin_title(builder: Builder, index: int) -> int:
    box = builder.boxes[-1]

    def attach(around: list[Block], blocks: list[Block]) -> None:
        if box.title:  # a second one is content
            around.extend(blocks)
        else:
            box.title.extend(inline_content(blocks))

    builder.gather(index, attach)
    return 0


def _add_embed(builder: Builder, index: int) -> int:
    if builder.with_pictures and builder.belongs(index):
        embed = embed_of(builder.page, builder.nodes.elements[index])
        if embed is not None:
            builder.append(embed)
    return 0


_BEGIN: dict[str, Callable[[Builder, int], int]] = {
    **dict.fromkeys(LISTS, _begin_list),
    **dict.fromkeys(EMBEDS, _add_embed),
    "li": _begin_item,
    "blockquote": _begin_quote,
    "hr": _add_rule,
    "pre": _begin_preformatted,
    "table": _begin_table,
    **dict.fromkeys(("td", "th"), _begin_cell),
    **dict.fromkeys(("caption", "figcaption"), _begin_caption),
    "figure": _begin_figure,
    "details": _begin_details,
    "summary": _begin_summary,
}
