from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from denoise_crawler import core
from denoise_crawler.evaluation.measures import tokens
from denoise_crawler.methods.base import inherit
from denoise_crawler.output.clean_text import clean_text, clean_texts
from denoise_crawler.page import TEXT, Page
from tests.strategies import html_pages

URL = "https://example.com/"


def text_of(html: str) -> str:
    return clean_text(Page.parse(URL, html))


def without(html: str, tag: str) -> str:
    """Return the text of a page on which all that stands right in elements called ``tag`` is noise."""
    page = Page.parse(URL, html)
    tags, parents = page.nodes.tags, page.nodes.parents
    return clean_text(page, [parent >= 0 and tags[parent] == tag for parent in parents])


@pytest.mark.parametrize(
    ("html", "text"),
    [
        ('<h2>Tides<a href="#tides">¶</a></h2>', "Tides"),
        ('<h2>Tides <a class="hash-link" href="#tides">\u200b</a></h2>', "Tides"),
        ('<dl><dt>tide(x)<a class="headerlink" href="https://example.com/#tide">#</a></dt></dl>', "tide(x)"),
        ('<p>A note. <a href="#ref-1">↩</a></p>', "A note."),
        ('<li><a href="#cite_ref-1">^</a> A reference.', "- A reference."),
        ('<h3>Ports<a class="headerlink" href="#ports">\uf0c1</a></h3>', "Ports"),
        ('<p>Written in C<a href="/c-sharp">#</a> and F<a href="/f-sharp">#</a>.</p>', "Written in C# and F#."),
        ('<p>See <a href="#two">§ 2</a>.</p>', "See § 2."),
    ],
)
def test_the_sign_of_a_link_to_its_own_place_is_left_out_and_other_links_stay(html: str, text: str) -> None:
    assert text_of(html) == text


@pytest.mark.parametrize(
    ("html", "text"),
    [
        ("<h2>T</h2><p>a  b\n c<p>d<br>e<blockquote>q</blockquote>f", "T\na b c\nd\ne\nq\nf"),
        ("<ul><li>a<ul><li>b</ul><li>c</ul><ol><li>d</ol><p>e", "- a\n  - b\n- c\n- d\ne"),
        ("<ul><li><p>a<p>b</ul>", "- a\nb"),
        ("<ul><li></li><li> <img src=x></li></ul><p>a", "a"),
        ("<ul><li><ul><li>a</ul></ul>", "  - a"),
        ("<table><tr><th>k<th>v<tr><td>a <b>b</b><td>c<td></table>d", "k\tv\na b\tc\nd"),
        ("<table><tr><td>menu<td><p>one<p>two</table>", "menu\none\ntwo"),
        ("<pre>\n\nif x:\n    y  \n\n<b>z</b>\n</pre>a", "if x:\n    y\n\nz\na"),
        ("<pre><code><span>a</span>\n<span>  b</span><br>c<!-- x --></code></pre>", "a\n  b\nc"),
        ("<pre>a<div>b</div>c<script>x</script></pre>", "a\nb\nc"),
        ("<pre>a  b<p>c", "a b\nc"),
        ("<b>H</b>ello<wbr>x H<sub>2</sub>O 1<sup>st</sup> 10<sup>6</sup>", "Hellox H2O 1st 10^6"),
        ("<a href=1>one</a><a href=2>two</a> <a>x</a>y <a href=1>美</a><a href=2>国</a>", "one two xy 美国"),
        ("a<img src=x>b (<img src=x>)", "a b ()"),
        ("<ruby>漢<rt>kan</rt>字<rp>(</rp><rt>ji</rt><rp>)</rp></ruby>", "漢(kan)字(ji)"),
    ],
)
def test_text_is_written_like_this(html: str, text: str) -> None:
    assert text_of(html) == text


def test_words_around_what_was_removed_are_not_glued() -> None:
    assert without("<p>one<i>x</i>two, three<i>y</i>.<p><i>z</i>four", "i") == "one two, three.\nfour"


def test_a_pre_with_noise_in_it_is_written_without_it() -> None:
    assert without("<pre>a\n<i>b</i>c</pre>", "i") == "a c"


@pytest.mark.parametrize("tag", ["div", "li", "td", "pre", "ruby", "ul><li", "table><tr><td"])
def test_deep_pages_are_written(tag: str) -> None:
    assert "deep" in text_of(f"<{tag}>a " * 3_000 + "deep")


@given(html_pages(), st.booleans())
def test_the_words_are_those_of_the_kept_text(html: str, drop: bool) -> None:
    page = Page.parse(URL, html)
    nodes = page.nodes
    noise = inherit([drop and parent >= 0 and nodes.tags[parent] == "b" for parent in nodes.parents], nodes.ends)
    kept = [text for text, is_noise in zip(nodes.texts, noise, strict=True) if not is_noise]
    text = clean_text(page, noise)
    lines = [line.lstrip(" ").removeprefix("- ") for line in text.splitlines()]
    assert "".join("".join(lines).split()) == "".join("".join(kept).split())
    if not any(noise) and not {"a", "img"} & set(nodes.tags):
        assert tokens(text) == tokens(_by_block(page))


def _by_block(page: Page) -> str:
    """Return the text with a space wherever an element that is no span or b begins or ends."""
    found, nodes = [], page.nodes
    ends: set[int] = set()
    for index, tag in enumerate(nodes.tags):
        if index in ends:
            found.append(" ")
        if tag not in (TEXT, "span", "b"):
            found.append(" ")
            ends.add(nodes.ends[index])
        found.append(nodes.texts[index])
    return "".join(found)


@given(html_pages())
def test_the_texts_of_parts_that_make_up_a_page_have_the_words_of_the_page(html: str) -> None:
    page = Page.parse("", html)
    parts = [range(index, page.nodes.ends[index]) for index in page.nodes.children(0)]
    words = " ".join(clean_texts(page, None, parts)).replace("- ", " ").split()
    assert "".join(words) == "".join(clean_text(page).replace("- ", " ").split())
    assert clean_texts(page, None, [range(len(page.nodes))]) == [clean_text(page)]


@pytest.mark.parametrize("mode", ["auto", "off"])
def test_what_is_not_of_the_page_is_refused(mode: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(core, "mode", mode)
    page = Page.parse("", "<p>A page.")
    with pytest.raises(ValueError, match="the judgement does not fit"):
        clean_text(page, [False])
    for part in (range(1, 10), range(-1, 2), range(2, 1)):
        with pytest.raises(ValueError, match="no such part"):
            clean_texts(page, None, [part])


@pytest.mark.parametrize("mode", ["auto", "off"])
@pytest.mark.parametrize("changed", [(1, 2, 5), (1, 1, -1), (2, 1, 9), (2, 2, 2), (0, 0, 1)])
def test_columns_that_do_not_fit_each_other_are_an_error(
    mode: str, changed: tuple[int, int, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(core, "mode", mode)
    write = core.loops("writing").texts_of
    columns = np.array([[2, 2, 1], [-1, 0, 1], [3, 3, 3], [-1, -1, -1]], np.int32)
    assert write(["", "", "a"], tuple(columns), [], ({}, {}, {}), None, None, [(0, 3)]) == ["a"]
    row, node, value = changed
    columns[row, node] = value
    with pytest.raises(ValueError, match=r"fit each other|not there"):
        write(["", "", "a"], tuple(columns), [], ({}, {}, {}), None, None, [(0, 3)])
    with pytest.raises(ValueError, match="fit each other"):
        write(["", "a"], tuple(columns), [], ({}, {}, {}), None, None, [(0, 2)])
