"""Tables, boxes, notes and labels."""

import pytest

from denoise_crawler.output.content.blocks import (
    Callout,
    Cell,
    Details,
    Footnote,
    FootnoteMark,
    LineBreak,
    List,
    Paragraph,
    Quote,
    Table,
    Text,
)
from denoise_crawler.page import Page
from tests.output.content.reading import READER, blocks_of, shown, written

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
            "| a | b South |\n| --- | --- |\n| 1 | 2 |\n\n*",
        ),
        ("<table><tr><th rowspan=2>a<th>b</tr>*<tr><td>2</tr></table>", "| a | b * |\n| --- | --- |\n|  | 2 |"),
        ("<table><caption>C</caption>*<tr><td>a<td>b</table>", "*\n\nC\n\n|  |  |\n| --- | --- |\n| a | b |"),
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


@pytest.mark.parametrize(
    "html",
    [
        "<p>A<sup><a href=#n1>1</a></sup> b<ol><li id=n1>Note <a href=#r1>↩</a></ol>",
        "<p>A<a href=#n1>[1]</a> b<div><p id=n1><a href=#r>[1]</a> Note</div>",
        "<p>A<sup id=r><a href=#n1>1</a></sup> b<p id=n1><sup>1</sup> Note",
        "<p>A<a class=footnote href=/d/#n1>1</a> b<p><a id=n1 href=#r>1</a> Note",
    ],
)
def test_footnotes_and_their_references_are_tied(html: str) -> None:
    mark = [Text("A"), FootnoteMark("1"), Text(" b")]
    assert blocks_of(html) == [Paragraph(mark), Footnote("1", [Paragraph([Text("Note")])])]
    assert written(html) == "A[^1] b\n\n[^1]: &nbsp; Note"
    assert written(html, "html").endswith('<aside id="fn-1" class="footnote"><sup>1</sup> Note</aside>')


@pytest.mark.parametrize(
    "html",
    [
        "<p>It sails.<sup>1</sup> Soon<p><sup>1</sup> Note",
        "<p>It sails.<sup class=x>[1]</sup> Soon<div><span><sup>1</sup></span> Note</div>",
        "<p>It sails.<sup>1</sup> Soon<aside><ol><li>Note</ol></aside>",
    ],
)
def test_raised_numbers_without_links_refer_to_notes_that_begin_with_them(html: str) -> None:
    mark = [Text("It sails."), FootnoteMark("1"), Text(" Soon")]
    assert blocks_of(html) == [Paragraph(mark), Footnote("1", [Paragraph([Text("Note")])])]


@pytest.mark.parametrize(
    "html",
    [
        "<p>10<sup>2</sup> and 5 km<sup>2</sup><p><sup>2</sup> Note",
        "<p>It sails.<sup>1</sup><p><sup>2</sup> Note",
        "<p><sup>1</sup> Note<p>It sails.<sup>1</sup>",
        "<p>The 4<sup>th</sup><p><sup>th</sup> Note",
    ],
)
def test_exponents_and_raised_words_are_no_footnotes(html: str) -> None:
    assert not any(isinstance(block, Footnote) for block in blocks_of(html))


def test_a_mark_goes_with_its_note() -> None:
    html = "<p>It sails.<sup><a href=#n>1</a></sup><ol><li id=n>Note</ol>"
    nodes = Page.parse("", html).nodes
    noise = [index >= nodes.tags.index("ol") for index in range(len(nodes))]
    assert blocks_of(html, noise) == [Paragraph([Text("It sails.")])]


def test_a_footnote_of_one_word_never_defines_a_link() -> None:
    html = "<p>A<sup><a href=#n>1</a></sup><ol><li id=n>javascript:x</ol>"
    assert "href" not in READER.render(written(html))


def test_a_footnote_of_several_paragraphs_is_indented() -> None:
    html = "<p>A<sup><a href=#n>1</a></sup><ol><li id=n><p>One two<p>three</ol>"
    assert written(html) == "A[^1]\n\n[^1]: One two\n\n    three"


@pytest.mark.parametrize(
    "html", ["<p>See <a href=#x>1</a><p id=x>text", "<p id=x>text<p>A<sup><a href=#x>1</a></sup>"]
)
def test_other_links_inside_a_page_are_no_footnotes(html: str) -> None:
    assert not any(isinstance(block, Footnote) for block in blocks_of(html))


@pytest.mark.parametrize(
    "html",
    [
        "<div class='admonition tip'><p class=admonition-title>Hint</p><p>Text</div>",
        "<aside class='callout callout-tip'><div class=callout-title>Hint</div><div>Text</div></aside>",
        "<div data-callout=tip class=callout><div class=callout-title>Hint</div><div>Text</div></div>",
        "<div class='markdown-alert markdown-alert-tip'><p class=markdown-alert-title>Hint</p><p>Text</div>",
    ],
)
def test_callouts_have_a_kind_and_a_title(html: str) -> None:
    assert blocks_of(html) == [Callout("tip", [Paragraph([Text("Text")])], [Text("Hint")])]
    assert written(html) == "> [!TIP] Hint\n> Text"


def test_a_message_of_the_site_is_no_callout() -> None:
    assert blocks_of("<div class=alert>Text</div>") == [Paragraph([Text("Text")])]


def test_details_have_their_summary() -> None:
    html = "<details><summary>More</summary><p>One<ul><li>two</ul></details>"
    content = [Paragraph([Text("One")]), List([[Paragraph([Text("two")])]])]
    assert blocks_of(html) == [Details([Text("More")], content)]
    assert written(html) == "**More**\n\nOne\n\n- two"
    assert written(html, "html") == "<details><summary>More</summary><p>One</p>\n<ul><li>two</li></ul></details>"


def test_a_quotation_has_its_source() -> None:
    html = "<blockquote cite=/source>Words</blockquote><blockquote cite=javascript:x>More"
    quotes = [
        Quote([Paragraph([Text("Words")])], "https://example.com/source"),
        Quote([Paragraph([Text("More")])]),
    ]
    assert blocks_of(html) == quotes
    assert written(html) == "> Words\n>\n> <https://example.com/source>\n\n> More"


@pytest.mark.parametrize(
    "html", ["<pre class=wp-block-verse>a\nb</pre>", "<address>a<br>b</address>", "<p>a<br>b"]
)
def test_lines_of_a_verse_and_of_an_address_stay_lines(html: str) -> None:
    assert blocks_of(html) == [Paragraph([Text("a"), LineBreak(), Text("b")])]
    assert shown(written(html)) == "ab"


def test_boxes_in_boxes_end() -> None:
    for tag in (
        "details><summary>s</summary",
        "figure",
        "div class=callout",
        "table><tr><th>a<th>b<tr><td>c<td",
        "blockquote",
    ):
        assert "deep" in written(f"<{tag}>" * 2_000 + "deep")


SIDENOTES = {
    "in a line": "<p>It sails.<span class=sidenote>Since May.</span> Daily.</p>",
    "with a control": (
        "<p>It sails.<label for=n></label><input id=n type=checkbox>"
        "<span class=sidenote>Since May.</span> Daily.</p>"
    ),
    "with numbers": "<p>It sails.<sup>1</sup><span class='margin-note x'><sup>1</sup>Since May.</span> Daily.</p>",
}


@pytest.mark.parametrize("build", SIDENOTES)
def test_a_note_beside_the_text_is_a_footnote(build: str) -> None:
    assert written(SIDENOTES[build]) == "It sails.[^1] Daily.\n\n[^1]: Since May."


def test_a_note_between_paragraphs_belongs_to_the_one_above() -> None:
    assert written("<p>It sails.</p><aside class=sidenote>Since May.</aside><p>Daily.") == (
        "It sails.[^1]\n\n[^1]: Since May.\n\nDaily."
    )
    assert written("<aside class=sidenote>Since May.</aside><p>Daily.") == "Since May.\n\nDaily."


def test_a_sidenote_that_a_footnote_says_again_is_written_once() -> None:
    html = (
        "<p>It sails<sup><a href=#n1>1</a></sup><span class=sidenote>Since May.</span> daily.</p>"
        "<ol><li id=n1>Since May.</li></ol>"
    )
    assert written(html).count("Since May.") == 1


def test_a_caption_stands_with_its_picture_without_a_figure_around_both() -> None:
    caption = "<div class=wp-caption><img src=/{0}.jpg><p class='wp-caption-text'>Boat {0}.</p></div>"
    assert written(caption.format(1) + caption.format(2)) == (
        "![](https://example.com/1.jpg)\\\nBoat 1.\n\n![](https://example.com/2.jpg)\\\nBoat 2."
    )


def test_a_picture_is_written_once_in_whatever_size() -> None:
    html = "<p>A.</p><img src=/boat.jpg><p>B.</p><img src=/boat-300x200.jpg><p>C.</p><img src=/boat.jpg?w=300>"
    assert written(html).count("boat") == 1
    assert written("<p>On <img src=/a.png> and <img src=/b.png> and <img src=/a.png>").count("/a.png") == 2


@pytest.mark.parametrize(
    ("link", "stays"),
    [
        ("https://shop.test/buy", False),
        ("https://example.com/story", True),
        ("https://cdn.test/large.jpg", True),
        ("https://www.youtube.com/watch?v=abcdefghijk", True),
    ],
)
def test_a_picture_in_a_link_to_another_site_advertises_it(link: str, stays: bool) -> None:
    picture = f"<a href='{link}'><img src=/boat.jpg></a>"
    assert ("boat.jpg" in written(f"<p>A.</p>{picture}<p>B.")) is stays
    assert "boat.jpg" in written(f"<figure>{picture}<figcaption>A boat</figcaption></figure>")


def test_a_short_label_without_text_below_it_is_no_heading() -> None:
    assert written("<h1>Rome</h1><h6>字号:T|T</h6><h2>Streets</h2><p>They are old.") == (
        "# Rome\n\n字号:T|T\n\n## Streets\n\nThey are old."
    )
    assert written("<h1>Rome</h1><h2>Map</h2><h3>North</h3><p>Hills.") == "# Rome\n\n## Map\n\n### North\n\nHills."
