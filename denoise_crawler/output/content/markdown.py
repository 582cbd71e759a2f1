"""Blocks as Markdown: CommonMark with GitHub's pipe tables, footnotes and alerts, formulas between dollars."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from msgspec import convert

from denoise_crawler.output.content.blocks import (
    Block,
    Callout,
    Cell,
    Code,
    Details,
    Embed,
    Footnote,
    Formula,
    Heading,
    Inline,
    List,
    Paragraph,
    Picture,
    Quote,
    Rule,
    Table,
    Text,
    from_dicts,
    to_dicts,
)
from denoise_crawler.output.content.html import html_table
from denoise_crawler.output.content.markdown_inline import (
    escape_line_start,
    escape_markdown,
    footnote_name,
    has_dollars,
    link_destination,
    picture_markup,
    render_line,
    render_lines,
    safe_latex,
)
from denoise_crawler.output.content.nested import inline_content

_SIGNS = {True: (". ", ") "), False: ("- ", "* ")}
_ONE_WORD = re.compile(r"\S+(?:\s+(?:\"[^\"]*\"|'[^']*'|\([^()]*\)))?\s*")


def to_markdown(blocks: list[Block]) -> str:
    r"""Return ``blocks`` as Markdown. Text is escaped, so that CommonMark shows it unchanged.

    Example:
        >>> item = [Paragraph([Text("1 * 2 "), Text("two", "em")])]
        >>> print(to_markdown([Heading(1, [Text("News")]), List([item])]))
        # News
        <BLANKLINE>
        - 1 \* 2 *two*
    """
    return "\n".join(_lines_of(blocks))


def with_references(blocks: list[Block]) -> str:
    """Return ``blocks`` as Markdown, the addresses of links once at the end, by number.

    The numbers are those of one call: parts of a page that is cut have their own.

    Example:
        >>> link = "https://a.test/"
        >>> print(with_references([Paragraph([Text("One", link=link), Text(" and "), Text("two", link=link)])]))
        [One][L1] and [two][L1]
        <BLANKLINE>
        [L1]: https://a.test/
    """
    numbers: dict[str, str] = {}

    def numbered(dicts: Any) -> Any:
        if isinstance(dicts, list):
            return [numbered(one) for one in dicts]
        if not isinstance(dicts, dict):
            return dicts
        if dicts.get("type") == "table" and not fits_pipes(convert(dicts, Table)):
            return dicts  # HTML in Markdown has addresses of its own
        if dicts.get("type") == "text" and (link := dicts.get("link")):
            return {**dicts, "link": numbers.setdefault(link, f"[L{len(numbers) + 1}]")}
        return {name: numbered(value) for name, value in dicts.items()}

    text = to_markdown(from_dicts(numbered(to_dicts(blocks))))
    lines = [f"{number}: {link_destination(link)}" for link, number in numbers.items()]
    return "\n".join([text, "", *lines]) if lines else text


def _lines_of(blocks: list[Block], *, in_item: bool = False) -> list[str]:
    """Return the lines of ``blocks``. Lists side by side have different signs."""
    lines: list[str] = []
    before: Block | None = None
    sign = 0
    for block in blocks:
        if isinstance(block, List):
            side_by_side = isinstance(before, List) and before.ordered == block.ordered
            sign = 1 - sign if side_by_side else 0
            written = _list(block, sign)
            # a list that would not start here without a blank line (5.2)
            apart = not (in_item and isinstance(before, Paragraph) and sign == 0 and block.start == 1)
        else:
            written, apart = _WRITERS[type(block)](block), True
        if lines and apart:
            lines.append("")
        lines += written
        before = block
    return lines


def _list(block: List, sign: int) -> list[str]:
    lines: list[str] = []
    for number, item in enumerate(block.items, block.start):
        marker = f"{number if block.ordered else ''}{_SIGNS[block.ordered][sign]}"
        lines += _indented(_lines_of(item, in_item=True), marker, " " * len(marker))
    return lines


def _indented(lines: list[str], first: str, rest: str) -> list[str]:
    return [((rest if number else first) + line).rstrip() for number, line in enumerate(lines)]


def _heading(block: Heading) -> list[str]:
    text = render_line(block.content)
    signs = len(text) - len(text.rstrip("#"))
    if signs:  # would be a closing sequence
        text = f"{text[:-signs]}\\{'#' * signs}"
    return [f"{'#' * block.level} {text}"]


def _code(block: Code) -> list[str]:
    fence = "`" * max(3, max(map(len, re.findall("`+", block.text)), default=0) + 1)
    return [fence + block.language, *block.text.split("\n"), fence]


def _picture(block: Picture) -> list[str]:
    markup = picture_markup(block)
    return [f"{markup}\\", *render_lines(block.caption)] if block.caption else [markup]


def _embed(block: Embed) -> list[str]:
    address = link_destination(block.address)
    return [f"[{escape_markdown(block.title)}]({address})" if block.title else f"<{address}>"]


def _quote(block: Quote) -> list[str]:
    source = ["", f"<{link_destination(block.source)}>"] if block.source else []
    return _indented([*_lines_of(block.content), *source], "> ", "> ")


def _callout(block: Callout) -> list[str]:
    title = render_line(block.title)
    head = f"[!{block.kind.upper()}] {title}".rstrip()
    return _indented([head, *_lines_of(block.content)], "> ", "> ")


def _details(block: Details) -> list[str]:
    summary: list[Inline] = [
        Text(piece.text, piece.style or "strong", piece.link) if isinstance(piece, Text) else piece
        for piece in block.summary
    ]
    return [*render_lines(summary), "", *_lines_of(block.content)]


def _footnote(block: Footnote) -> list[str]:
    lines = _lines_of(block.content)
    if len(lines) < 3 and _ONE_WORD.fullmatch(" ".join(lines)):
        lines[0] = f"&nbsp; {lines[0]}"  # else it would define a link (4.7)
    return _indented(lines, f"[^{footnote_name(block.label)}]: ", "    ")


def _table(block: Table) -> list[str]:
    caption = [escape_line_start(render_line(block.caption)), ""] if block.caption else []
    return [*caption, *(pipe_table(block) if fits_pipes(block) else [html_table(block)])]


_WRITERS: dict[type, Callable[[Any], list[str]]] = {
    Heading: _heading,
    Paragraph: lambda block: render_lines(block.content),
    Table: _table,
    Code: _code,
    Formula: lambda block: ["$$", safe_latex(block.latex), "$$"],
    Picture: _picture,
    Quote: _quote,
    Callout: _callout,
    Details: _details,
    Footnote: _footnote,
    Embed: _embed,
    Rule: lambda _: ["***"],
}


_IN_PIPES = (Paragraph, Heading, Formula, Picture)
_NORM, _BAR = re.compile(r"\\\|"), re.compile(r"(?<!\\)\|")


def fits_pipes(table: Table) -> bool:
    """Return True if each cell of a table holds only lines, which a pipe table can hold."""
    return all(isinstance(block, _IN_PIPES) for row in table.rows for cell in row for block in cell.content)


def pipe_table(table: Table) -> list[str]:
    """Return the lines of a table; empty cells follow those that span others.

    The first row is the header if all its cells with content are header cells; else the header is empty.
    """
    rows = [_written(row) for row in _grid(table)]
    columns = max(map(len, rows), default=0)
    rows = [[*cells, *[""] * (columns - len(cells))] for cells in rows]
    if not all(cell.header or not cell.content for cell in table.rows[0]):
        rows.insert(0, [""] * columns)
    rows.insert(1, ["---"] * columns)
    return ["| " + " | ".join(cells) + " |" for cells in rows]


def _grid(table: Table) -> list[list[list[Inline]]]:
    """Return the lines of all cells by row and column."""
    hanging: dict[int, int] = {}  # by column: rows that a cell from above still takes
    grid = []
    for row in table.rows:
        cells: list[list[Inline]] = []
        for cell in row:
            _skip_spanned_columns(cells, hanging)
            columns = range(len(cells), len(cells) + cell.columns)
            hanging.update(dict.fromkeys(columns, cell.rows - 1))
            cells += [_line_of(cell), *([] for _ in columns[1:])]
        _skip_spanned_columns(cells, hanging)
        grid.append(cells)
    return grid


def _skip_spanned_columns(cells: list[list[Inline]], hanging: dict[int, int]) -> None:
    while hanging.get(len(cells), 0) > 0:
        hanging[len(cells)] -= 1
        cells.append([])


def _line_of(cell: Cell) -> list[Inline]:
    line: list[Inline] = []
    for block in cell.content:
        pieces: list[Inline] = [block] if isinstance(block, (Formula, Picture)) else inline_content([block])
        line += [Text(" "), *pieces] if line else pieces
    return [
        Formula(_BAR.sub(r"\\vert ", _NORM.sub(r"\\Vert ", piece.latex))) if isinstance(piece, Formula) else piece
        for piece in line
    ]


def _written(row: list[list[Inline]]) -> list[str]:
    dollars = has_dollars(row)
    return [render_line(line, dollars=dollars).replace("|", "\\|").strip() for line in row]
