from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from denoise_crawler.evaluation import read_gold
from denoise_crawler.methods.base import inherit
from denoise_crawler.output.content.links import is_share_link
from denoise_crawler.output.writing import Content, Writing
from denoise_crawler.page import Page
from tests.output.content.reading import READER, URL, shown
from tests.strategies import html_pages, html_tables


def markdown(page: Page, noise: list[bool] | None = None) -> str:
    return Content(page, noise, Writing("markdown")).written()


def markdown_of(html: str) -> str:
    return markdown(Page.parse(URL, html))


def kept(page: Page, noise: list[bool] | None = None) -> str:
    texts = page.nodes.texts
    return "".join("".join(text for index, text in enumerate(texts) if not (noise and noise[index])).split())


@pytest.mark.parametrize(
    ("html", "markdown"),
    [
        ("<h1>A <b>b</b></h1><h3>C#</h3><p>d", "# A b\n\n### C\\#\n\nd"),
        ("<p>a<br>b<br><br>c", "a\\\nb\n\nc"),
        ("<p>a<b> b </b>c <i>d</i>e <s>f</s> <code>g`h</code>", "a **b** c *d*e ~~f~~ ``g`h``"),
        ("<p>他说<b>“你好”</b>然后", "他说“你好”然后"),
        ("<ul><li>a<ul><li>b</ul><li>c</ul>", "- a\n  - b\n- c"),
        ("<ul><li><p>a<p>b<li></ul><ul><li>c</ul>", "- a\n\n  b\n\n* c"),
        ("<ol start=9><li>a<li>b<ol><li>c</ol></ol>", "9. a\n10. b\n    1. c"),
        ("<blockquote>a<p>b<ul><li>c</ul></blockquote><p>d", "> a\n>\n> b\n>\n> - c\n\nd"),
        ("a<hr>b", "a\n\n***\n\nb"),
        ("<pre class='language-py'>a\n\n  ```</pre>", "````py\na\n\n  ```\n````"),
        (
            '<a href="../x y(1)">a]</a> <a href="javascript:x">b</a><a href=#c>c</a>',
            "[a\\]](https://example.com/x%20y(1)) b c",
        ),
        (
            "<a href=/p><img src=i.png alt='an *i*'></a>",
            "[![an \\*i\\*](https://example.com/d/i.png)](https://example.com/p)",
        ),
        (
            "<img src='data:image/gif;base64,x' data-src=i.png><img src=p width=1>",
            "![](https://example.com/d/i.png)",
        ),
        ("<a href=1><h2>T</h2><p>t</a>", "## [T](https://example.com/d/1)\n\n[t](https://example.com/d/1)"),
        (
            "<table><caption>C</caption><tr><th>a|b<th>c<tr><td>1<br>2<td>3</table>",
            "C\n\n| a\\|b | c |\n| --- | --- |\n| 1 2 | 3 |",
        ),
        (
            "<table><tr><td rowspan=2>a<td>b<tr><td>c<tr><td colspan=2>d<tr><td>e<td>f</table>",
            "|  |  |\n| --- | --- |\n| a | b |\n|  | c |\n| d |  |\n| e | f |",
        ),
        ("<table><tr><td>a<td><ul><li>b</ul></table>", "a\n\n- b"),
        (
            "<p>1. a<p># b<p>+ c<p>snake_case _d_ 2*3 &lt;e> &amp;amp; f!<a href=1>g</a>",
            "1\\. a\n\n\\# b\n\n\\+ c\n\nsnake_case \\_d\\_ 2\\*3 &lt;e> \\&amp; f\\![g](https://example.com/d/1)",
        ),
        (
            "<p>He said [sic] so<p>[a](b) and [c]<p>[x] done<p>[a]: b",
            "He said [sic] so\n\n\\[a\\](b) and \\[c\\]\n\n\\[x] done\n\n\\[a\\]: b",
        ),
    ],
)
def test_markdown_is_written_like_this(html: str, markdown: str) -> None:
    assert markdown_of(html) == markdown
    page = Page.parse(URL, html)
    assert shown(markdown) == kept(page)


def test_noise_and_the_pictures_in_it_are_left_out() -> None:
    page = Page.parse(URL, "<p>a<div>b<img src=x></div><ul><li>c<li>d</ul>")
    tags = page.nodes.tags
    noise = [False] * len(tags)
    for index in range(tags.index("div"), page.nodes.ends[tags.index("div")]):
        noise[index] = True
    noise[tags.index("li") + 1] = True
    assert markdown(page, noise) == "a\n\n- d"


@pytest.mark.parametrize("tag", ["div", "blockquote", "ul><li", "ol><li", "b", "table><tr><td", "pre", "h1"])
def test_deep_pages_are_written(tag: str) -> None:
    found = markdown_of(f"<{tag}>a " * 3_000 + "deep")
    assert "deep" in found
    assert len(found) < 400_000


_MARKS = st.sampled_from(
    [
        *"*_`#-+>[](!&\\|=~: a7“。",
        *("**", "__", "``", "1. ", "2) ", "](", "![", "&lt;b>", "&amp;lt;", "| - |", "---", "```"),
    ]
)
_TAGS = [
    *("b", "i", "code", "p", "h2", "ul", "ol", "li", "blockquote", "pre", "table", "tr", "td", "th", "dt", "div"),
]
_ELEMENTS = st.sampled_from(
    [f"<{end}{tag}>" for tag in _TAGS for end in ("", "/")]
    + ["<a href='u_*v'>", "</a>", "<br>", "<hr>", "<img src=x alt='*'>"]
)


@pytest.mark.parametrize("text", ["x", "!", "![", "!NOTE"])
def test_a_link_at_the_begin_of_a_line_is_one_whatever_its_text(text: str) -> None:
    markdown = markdown_of(f"<a href=1>{text}</a>")
    assert READER.render(markdown) == f'<p><a href="https://example.com/d/1">{text}</a></p>\n'


@given(st.lists(st.one_of(_MARKS, _ELEMENTS), max_size=40).map("".join))
def test_a_reader_shows_the_text_of_the_page(html: str) -> None:
    page = Page.parse(URL, html)
    assert shown(markdown(page)) == kept(page)


@given(html_pages(), st.booleans())
def test_a_reader_shows_all_that_is_kept_of_any_page(html: str, drop: bool) -> None:
    page = Page.parse(URL, html)
    nodes = page.nodes
    noise = inherit([drop and nodes.tags[parent] == "b" for parent in nodes.parents], nodes.ends)
    assert shown(markdown(page, noise)) == kept(page, noise)


@given(html_tables())
def test_text_in_a_table_keeps_its_order_in_a_cell_or_not(html: str) -> None:
    page = Page.parse(URL, html)
    if page.root.find(".//caption") is None:  # which readers see above the rows, wherever it stands
        assert shown(markdown(page)) == kept(page)
    else:
        assert sorted(shown(markdown(page))) == sorted(kept(page))


def test_a_reader_shows_the_words_of_real_pages(corpus: Path) -> None:
    for number, one in enumerate(read_gold(corpus, "daniel")):
        page = Page.parse(URL, one.html)
        nodes = page.nodes  # share links and embeds have no words of their own
        shared = [
            link >= 0 and is_share_link(nodes.elements[link].get("href", "").strip()) for link in nodes.links
        ]
        written = Content(page, shared, Writing("markdown", pictures="leave")).written()
        found, expected = shown(written), kept(page, shared)
        assert found.replace("^", "").replace("(", "").replace(")", "") == (
            expected.replace("^", "").replace("(", "").replace(")", "")
        )
        if number == 40:
            break
