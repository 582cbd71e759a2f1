"""Blocks as clean HTML: no element or attribute of the page is copied, each is written anew."""

from __future__ import annotations

import re
from collections.abc import Callable
from html import escape
from typing import Any

from denoise_crawler.output.content.blocks import (
    Block,
    Callout,
    Cell,
    Code,
    Details,
    Embed,
    Footnote,
    FootnoteMark,
    Formula,
    Heading,
    Inline,
    LineBreak,
    List,
    Paragraph,
    Picture,
    Quote,
    Rule,
    Table,
    TaskBox,
    Text,
)
from denoise_crawler.output.safe_markup import start_tag

_CONTROLS = re.compile(r"[\0-\x08\x0b\x0c\x0e-\x1f\x7f]")
_BLANK_LINE = re.compile(r"\n(?=\s*\n)")


def to_html(blocks: list[Block]) -> str:
    r"""Return ``blocks`` as HTML, a block a line. Formulas are LaTeX in ``\(…\)`` and ``\[…\]``.

    Example:
        >>> to_html([Heading(1, [Text("News")]), Paragraph([Text("One "), Text("two", "em", "https://a.test/")])])
        '<h1>News</h1>\n<p>One <a href="https://a.test/"><em>two</em></a></p>'
    """
    return "\n".join(_element(block) for block in blocks)


def html_table(table: Table) -> str:
    """Return a table without its caption as HTML that Markdown reads as one block: no line of it is blank."""
    return _BLANK_LINE.sub("&#10;", _table(table, caption=False))


def _element(block: Block) -> str:
    return _WRITERS[type(block)](block)


def _wrap(tag: str, content: str, *attributes: tuple[str, str]) -> str:
    return f"{start_tag(tag, [one for one in attributes if one[1]])}{content}</{tag}>"


def _text(text: str) -> str:
    return escape(_CONTROLS.sub("", text), quote=False)


def _inline(content: list[Inline]) -> str:
    return "".join(map(_piece, content))


def _piece(piece: Inline) -> str:
    if isinstance(piece, Text):
        text = _text(piece.text)
        text = _wrap(piece.style, text) if piece.style else text
        return _wrap("a", text, ("href", piece.link)) if piece.link else text
    if isinstance(piece, LineBreak):
        return "<br>"
    if isinstance(piece, Formula):
        return _wrap("span", rf"\({_text(piece.latex)}\)", ("class", "math inline"))
    if isinstance(piece, TaskBox):
        return f'<input type="checkbox" disabled{" checked" * piece.checked}> '
    if isinstance(piece, FootnoteMark):
        return _wrap("sup", _wrap("a", _text(piece.label), ("href", f"#fn-{piece.label}")))
    return _image(piece)


def _image(picture: Picture) -> str:
    image = start_tag("img", [("src", picture.address), ("alt", picture.alt)])
    return _wrap("a", image, ("href", picture.link)) if picture.link else image


def _blocks(blocks: list[Block]) -> str:
    """Return the content of an item, a cell or a box; a lone paragraph without its element."""
    if len(blocks) == 1 and isinstance(blocks[0], Paragraph):
        return _inline(blocks[0].content)
    return _all(blocks)


def _all(blocks: list[Block]) -> str:
    return "\n".join(map(_element, blocks))


def _list(block: List) -> str:
    items = "\n".join(_wrap("li", _blocks(item)) for item in block.items)
    return _wrap("ol" if block.ordered else "ul", items, ("start", str(block.start) if block.start != 1 else ""))


def _table(block: Table, *, caption: bool = True) -> str:
    title = _wrap("caption", _inline(block.caption)) if caption and block.caption else ""
    head = 1 if block.rows and all(cell.header for cell in block.rows[0]) else 0
    rows = [_wrap("tr", "".join(map(_cell, row))) for row in block.rows]
    header = _wrap("thead", rows[0]) + "\n" if head else ""
    body = "\n".join(rows[head:])
    return _wrap("table", f"{title}\n{header}{_wrap('tbody', body)}\n")


def _cell(cell: Cell) -> str:
    spans = [("colspan", cell.columns), ("rowspan", cell.rows)]
    attributes = [(name, str(number)) for name, number in spans if number > 1]
    return _wrap("th" if cell.header else "td", _blocks(cell.content), *attributes)


def _code(block: Code) -> str:
    language = f"language-{block.language}" if block.language else ""
    return _wrap("pre", _wrap("code", _text(block.text), ("class", language)))


def _picture(block: Picture) -> str:
    caption = _wrap("figcaption", _inline(block.caption)) if block.caption else ""
    return _wrap("figure", _image(block) + caption)


def _callout(block: Callout) -> str:
    title = _wrap("p", _wrap("strong", _inline(block.title))) if block.title else ""
    return _wrap("aside", title + _all(block.content), ("class", f"callout {block.kind}"))


def _footnote(block: Footnote) -> str:
    label = _wrap("sup", _text(block.label))
    return _wrap("aside", f"{label} {_blocks(block.content)}", ("id", f"fn-{block.label}"), ("class", "footnote"))


_WRITERS: dict[type, Callable[[Any], str]] = {
    Heading: lambda block: _wrap(f"h{block.level}", _inline(block.content)),
    Paragraph: lambda block: _wrap("p", _inline(block.content)),
    List: _list,
    Table: _table,
    Code: _code,
    Formula: lambda block: _wrap("p", rf"\[{_text(block.latex)}\]", ("class", "math display")),
    Picture: _picture,
    Quote: lambda block: _wrap("blockquote", _all(block.content), ("cite", block.source)),
    Callout: _callout,
    Details: lambda block: _wrap("details", _wrap("summary", _inline(block.summary)) + _all(block.content)),
    Footnote: _footnote,
    Embed: lambda block: _wrap("p", _wrap("a", _text(block.title or block.address), ("href", block.address))),
    Rule: lambda _: "<hr>",
}
