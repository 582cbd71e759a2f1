"""Compiled and interpreted, the same text is written and the same formulas are found."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from denoise_crawler import core
from denoise_crawler.output.clean_text import clean_text, clean_texts
from denoise_crawler.output.content.formulas import formulas_of
from denoise_crawler.page import Page
from tests.strategies import html_pages

WRITTEN = (
    "<h1>A</h1> b <p>c<i>d</i> <b>e</b>f<img>g<a href=1>h</a><a href=2>i</a>j<sup>1</sup>2<sup>3</sup>",
    "<p>m2<sup>2</sup> x<sub>1</sub> 日<b>本</b><a href=1>語</a><a href=2>文</a> a<a href=3>b</a><a href=4>日</a>",
    "<ul><li>a<ul><li>b<li><p></p><li></ul><li><p>c<p>d</ul><ol>x<li>y</ol><li>z<menu>" + "<ul><li>w" * 12,
    "<table><caption>t<tr><th>a<th>b<td><td>c<tr><td><p>d<td>e<tr><td>f<td><table><tr><td>g<td>h</table>i</table>",
    "<pre>\n a\n  b<br>c<div>d</div>\n\n<!-- x -->e <script>no</script></pre><pre>a<p>b</p></pre><li><pre>c",
    "<ruby>漢<rt>kan</rt>字<rp>(</rp><rt>ji</rt><rp>)</rp></ruby><rt>a</rt>",
    "<rt>a</rt><p><rp>",
    "<h1>t</h1><h2>a<div><h3>b<i>c<b>d<sup>e</sup></b></i></h3>f</div>g</h2><p>h<a href='#n1'><sup>1</sup></a>"
    "<a href='#n2'>[2]</a><a href=#top>up</a><area href='#n1'><ol><li id=n1>1 note <a href=#b>^</a><li id=n2>b",
    "<p>x <math alttext='x^2'><mi>x</mi></math> y<img alt='\\alpha' class=tex><script type='math/tex'>z</script>w",
    "<p>x<span class='MathJax_Preview'>a</span><script type='math/tex'>a</script><img src='/latex?%5Calpha'>",
    "<p>x<span class='path' data-math='a'>b</span><span class='a' data-math='c'>d</span><svg><math>e</math></svg>",
    "<p>x<span class='a katex'><annotation encoding='application/x-tex'>y^2</annotation></span>",
    "<title>&lt;p&gt;hidden &lt;span class=katex data-tex=a&gt;b&lt;/span&gt; " + "long " * 120,
)

pytestmark = pytest.mark.skipif(core.why_not() is not None, reason=f"no compiled core: {core.why_not()}")


def assert_same_text(html: str, gone: list[bool], monkeypatch: pytest.MonkeyPatch) -> None:
    """Compare the text and the formulas of a page, all of it and without the nodes that are ``gone`` in turn."""
    found = []
    for mode in ("require", "off"):
        monkeypatch.setattr(core, "mode", mode)
        page = Page.parse("https://a.example/", html)
        noise = [gone[index % len(gone)] for index in range(len(page.nodes))]
        parts = [range(child, page.nodes.ends[child]) for child in page.nodes.children(0)]
        formulas = page.once(formulas_of)
        found.append([*clean_texts(page, noise, parts), clean_text(page), formulas.elements, formulas.places])
    assert found[0] == found[1]


@pytest.mark.parametrize("html", WRITTEN, ids=range(len(WRITTEN)))
def test_odd_pages_have_the_same_text(html: str, monkeypatch: pytest.MonkeyPatch) -> None:
    assert_same_text(html, [False, True, True], monkeypatch)


@settings(max_examples=200, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(html_pages(40), st.lists(st.booleans(), min_size=1, max_size=40))
def test_any_page_has_the_same_text(monkeypatch: pytest.MonkeyPatch, html: str, gone: list[bool]) -> None:
    assert_same_text(html, gone, monkeypatch)
