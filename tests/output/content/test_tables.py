from __future__ import annotations

import pytest

from denoise_crawler.output.content.blocks import Cell, Paragraph, Table, Text
from denoise_crawler.page import Page
from tests.output.content.reading import READER, blocks_of, written

LONG = "word " * 150


@pytest.mark.parametrize(
    ("html", "markdown"),
    [
        ("<table><thead><th>a<th>b</thead><tr><td>1<td>2</table>", "| a | b |\n| --- | --- |\n| 1 | 2 |"),
        ("<table><tr><th>a<th>b<tr><td><p>1<p>2<td>3</table>", "| a | b |\n| --- | --- |\n| 1 2 | 3 |"),
        (
            "<table><tr><td>a<td><math alttext='|x|'><mi>x</mi></math><tr><td>b<td>c</table>",
            "|  |  |\n| --- | --- |\n| a | $\\vert x\\vert$ |\n| b | c |",
        ),
        (
            "<table><tr><th>a<th>b<tr><td>1<td><ul><li>x<li>y</ul></table>",
            "<table>\n<thead><tr><th>a</th><th>b</th></tr></thead>\n"
            "<tbody><tr><td>1</td><td><ul><li>x</li>\n<li>y</li></ul></td></tr></tbody>\n</table>",
        ),
    ],
)
def test_data_tables_are_pipes_where_pipes_can_hold_them(html: str, markdown: str) -> None:
    assert written(html) == markdown


def test_a_row_that_begins_with_a_header_cell_is_no_header() -> None:
    rows = "<tr><th>Maker<td>North<tr><th>Weight<td>4 kg"
    assert written(f"<table>{rows}</table>") == "|  |  |\n| --- | --- |\n| Maker | North |\n| Weight | 4 kg |"
    assert written("<table><tr><td><th>a<tr><th>b<td>c</table>").startswith("|  | a |\n| --- |")


def test_long_cells_stay_in_a_table_with_headers() -> None:
    markdown = written(f"<table><tr><th>a<th>b<tr><td>1<td>{LONG}</table>")
    assert markdown == f"| a | b |\n| --- | --- |\n| 1 | {LONG.strip()} |"


@pytest.mark.parametrize(
    "html",
    [
        f"<table><tr><td>Menu<td>{LONG}<tr><td>a<td>{LONG}</table>",
        "<table role=presentation><tr><th>a<th>b<tr><td>c<td>d</table>",
        "<table><tr><td>a<td><table><tr><td>b</table><tr><td>c<td>d</table>",
        "<table><tr><td>a<tr><td>b</table>",
    ],
)
def test_layout_tables_are_no_tables(html: str) -> None:
    assert not any(isinstance(block, Table) for block in blocks_of(html))


def test_a_table_of_one_row_is_a_table_and_without_all_but_one_of_its_cells_is_none() -> None:
    html = "<table><tr><td>a<td>b</table>"
    assert written(html) == "|  |  |\n| --- | --- |\n| a | b |"
    noise = [text == "b" for text in Page.parse("", html).nodes.texts]
    assert blocks_of(html, noise) == [Paragraph([Text("a")])]


def test_a_table_keeps_spans_headers_and_its_caption_in_blocks_and_html() -> None:
    html = "<table><caption>C</caption><tr><th colspan=2>a<tr><td rowspan=2>1<td>2<tr><td>3</table>"
    html = html.replace("<tr><th colspan=2>a", "<tr><th colspan=2>a<th>b")
    [table] = blocks_of(html)

    def cell(text: str, **kind: int) -> Cell:
        return Cell([Paragraph([Text(text)])], **kind)  # type: ignore[arg-type]

    header = [cell("a", header=True, columns=2), cell("b", header=True)]
    assert table == Table([header, [cell("1", rows=2), cell("2")], [cell("3")]], [Text("C")])
    assert written(html, "html").startswith(
        '<table><caption>C</caption>\n<thead><tr><th colspan="2">a</th><th>b</th>'
    )


def test_a_reader_finds_one_table_where_a_cell_holds_code_with_blank_lines() -> None:
    markdown = written("<table><tr><th>a<th>b<tr><td>1<td><pre>x\n\n  y</pre></table>")
    assert [token.type for token in READER.parse(markdown)] == ["html_block"]
    assert "x&#10;\n  y" in markdown or "x&#10;&#10;  y" in markdown


@pytest.mark.parametrize(
    ("html", "markdown"),
    [
        ("<table>*<tr><th>a<th>b<tr><td>1<td>2</table>", "*\n\n| a | b |\n| --- | --- |\n| 1 | 2 |"),
        ("<table><td>a</td>*<td>b</td></table>", "|  |  |\n| --- | --- |\n| a * | b |"),
        (
            "<table><tr><th>a<th>b</tr>South<tr><td>1<td>2</tr>*</table>",
            "| a | b |\n| --- | --- |\n| South |  |\n| 1 | 2 |\n\n*",
        ),
        ("<table><tr><th rowspan=2>a<th>b</tr>*<tr><td>2</tr></table>", "| a | b * |\n| --- | --- |\n|  | 2 |"),
        ("<table><caption>C</caption>*<tr><td>a<td>b</table>", "C\n\n*\n\n|  |  |\n| --- | --- |\n| a | b |"),
        (
            "<table><tr><td>a<td>b</tr><ul><li>x<tr><td>1<td>2</tr></ul></table>",
            "|  |  |\n| --- | --- |\n| a | b |\n\n- x\n\n  1\n\n  2",
        ),
    ],
    ids=["above", "in a row", "between rows", "beside a cell of two rows", "behind the caption", "a list"],
)
def test_text_in_a_table_but_in_no_cell_keeps_its_place_and_the_table_its_form(html: str, markdown: str) -> None:
    assert written(html).replace("\\*", "*") == markdown


def test_no_text_of_a_table_with_very_many_columns_is_lost() -> None:
    [table] = blocks_of("<table><tr>" + "".join(f"<td>{n}" for n in range(60)) + "</table>")
    assert isinstance(table, Table)
    found = [block for cell in table.rows[0] for block in cell.content]
    assert found == [Paragraph([Text(str(n))]) for n in range(60)]
