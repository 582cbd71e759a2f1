"""What begins with each block-level element, by its tag, its attributes or what it holds."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TYPE_CHECKING

from denoise_crawler.output.content.blocks import (
    Block,
    Footnote,
    Inline,
    LineBreak,
    Picture,
    Quote,
    Rule,
    Text,
)
from denoise_crawler.output.content.code import MIN_KEPT_SHARE, code_of, is_code, is_verse, kept_share
from denoise_crawler.output.content.links import as_list, links_of_contents, safe_url
from denoise_crawler.output.content.nested import (
    BOXES,
    LISTS,
    OpenBox,
    OpenTable,
    add_caption,
    callout_kind,
    inline_content,
    is_title,
)
from denoise_crawler.output.content.pictures import EMBEDS, embed_of
from denoise_crawler.output.inline import preformatted_text
from denoise_crawler.page.geometry import is_data_table

if TYPE_CHECKING:
    from denoise_crawler.output.content.builder import Builder

_CAPTION = re.compile(r"(?:^|[-_\s])caption(?:$|[-_\s])", re.IGNORECASE)


def begin_element(content: Builder, index: int, tag: str) -> None:
    """Begin the block-level element at node ``index``."""
    if index in content.posts.holders:
        return
    if (label := content.footnotes.notes.get(index)) is not None:
        _gather_one(content, index, lambda blocks: Footnote(label, blocks))
    elif (begin := _BEGIN.get(tag)) is not None:
        begin(content, index)
    else:
        _begin_other(content, index, tag)


def _begin_other(content: Builder, index: int, tag: str) -> None:
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


def _gather_one(content: Builder, index: int, make: Callable[[list[Block]], Block]) -> None:
    """Gather an element that is one block; none if it is empty."""
    content.gather(index, lambda around, blocks: around.extend([make(blocks)] if blocks else []))


def _begin_list(content: Builder, index: int) -> None:
    content.lists.open(index)


def _begin_item(content: Builder, index: int) -> None:
    of_list = content.lists.innermost(index)
    content.gather(index, lambda around, blocks: content.lists.add(of_list, blocks, around))


def _begin_quote(content: Builder, index: int) -> None:
    element = content.nodes.elements[index]
    if kind := callout_kind(element):
        _begin_box(content, index, kind)
        return
    cited = element.get("cite", "").strip()
    source = safe_url(content.page.absolute(cited)) if cited else ""
    _gather_one(content, index, lambda blocks: Quote(blocks, source if source.startswith("http") else ""))


def _add_rule(content: Builder, index: int) -> None:
    if content.is_top and content.belongs.stays(index):
        content.blocks.append(Rule())


def _begin_preformatted(content: Builder, index: int) -> None:
    nodes, element = content.nodes, content.nodes.elements[index]
    if is_verse(element) and kept_share(nodes, index, content.noise) == 1:
        lines = preformatted_text(element).split("\n")
        pieces: list[Inline] = [piece for line in lines for piece in (LineBreak(), Text(line))]
        content.add_line(pieces[1:])
        content.skip(index)
    elif is_code(nodes, index):
        _add_code(content, index)


def _add_code(content: Builder, index: int) -> None:
    """Add a block of code as a whole, or nothing of it if most of it is noise."""
    if kept_share(content.nodes, index, content.noise) >= MIN_KEPT_SHARE and content.belongs.stays(index):
        code = code_of(content.nodes.elements[index])
        content.blocks.extend([] if code is None else [code])
    content.skip(index)


def _begin_table(content: Builder, index: int) -> None:
    if is_code(content.nodes, index):
        _add_code(content, index)
    elif content.has_room and is_data_table(content.nodes, index):
        content.tables.append(OpenTable(index))
        content.gather(index, lambda around, loose: around.extend(content.tables.pop().finish(loose)))


def _begin_cell(content: Builder, index: int) -> None:
    if (table := content.table) is not None:
        content.gather(index, lambda loose, blocks: table.add_cell(content.nodes, index, loose, blocks))


def _begin_table_caption(content: Builder, index: int) -> None:
    if (table := content.table) is not None:
        content.gather(index, table.add_caption)


def _begin_caption(content: Builder, index: int) -> None:
    if (box := content.box(index, "figure")) is not None:
        _begin_title(content, index, box)


def _begin_summary(content: Builder, index: int) -> None:
    if (box := content.box(index, "details")) is not None:
        _begin_title(content, index, box)


def _begin_loose_caption(content: Builder, index: int) -> None:
    """Gather what is named the caption of the picture above it, without a figure around both."""
    picture = content.blocks[-1] if content.blocks else None
    if isinstance(picture, Picture) and not picture.caption:
        content.gather(
            index, lambda around, blocks: around.extend(add_caption([picture], inline_content(blocks))[1:])
        )


def _begin_box(content: Builder, index: int, kind: str) -> None:
    if content.has_room:
        content.boxes.append(OpenBox(content.nodes.ends[index], kind))
        content.gather(index, lambda around, blocks: around.extend(content.boxes.pop().finish(blocks)))


def _begin_title(content: Builder, index: int, box: OpenBox) -> None:
    def attach(around: list[Block], blocks: list[Block]) -> None:
        if box.title:  # a second one is content
            around.extend(blocks)
        else:
            box.title.extend(inline_content(blocks))

    content.gather(index, attach)


def _add_embed(content: Builder, index: int) -> None:
    if content.with_pictures and content.belongs(index):
        embed = embed_of(content.page, content.nodes.elements[index])
        content.blocks.extend([] if embed is None else [embed])


_BEGIN: dict[str, Callable[[Builder, int], None]] = {
    **dict.fromkeys(LISTS, _begin_list),
    **dict.fromkeys(EMBEDS, _add_embed),
    "li": _begin_item,
    "blockquote": _begin_quote,
    "hr": _add_rule,
    "pre": _begin_preformatted,
    "table": _begin_table,
    **dict.fromkeys(("td", "th"), _begin_cell),
    "caption": _begin_table_caption,
    "figcaption": _begin_caption,
    "figure": lambda content, index: _begin_box(content, index, "figure"),
    "details": lambda content, index: _begin_box(content, index, "details"),
    "summary": _begin_summary,
}
