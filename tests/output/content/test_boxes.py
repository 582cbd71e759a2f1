from __future__ import annotations

import pytest

from denoise_crawler.output.content.blocks import (
    Callout,
    Details,
    Footnote,
    FootnoteMark,
    LineBreak,
    List,
    Paragraph,
    Quote,
    Text,
)
from denoise_crawler.page import Page
from tests.output.content.reading import READER, blocks_of, shown, written


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
