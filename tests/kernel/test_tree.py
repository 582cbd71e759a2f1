"""What is compiled reads a tree, and writes its text, as the Python code does: that is its specification."""

import gc
from pathlib import Path

import pytest
import xxhash
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from denoise_crawler.denoiser import Denoiser
from denoise_crawler.output.clean_text import clean_text, clean_texts
from denoise_crawler.output.content import formulas
from denoise_crawler.output.content.formulas import formulas_of
from denoise_crawler.page import Nodes, Page, geometry
from denoise_crawler.page import nodes as page_nodes
from denoise_crawler.page.nodes import INLINE
from denoise_crawler.page.self_description import SelfDescription
from tests import roads
from tests.strategies import html_pages

DECLARING = """<title>A</title><meta property=og:title content=B><meta name=a>
<script type=a/b>x</script><script>y</script><h1>G</h1><svg><title>F</title></svg>
<a rel=author itemprop=author>C</a><a href=/autor/x>I</a><a href=/x>J</a>
<p itemprop=datePublished>D<time>E</time></p><p itemprop=dateModified>N
<name>K</name><content>L</content><property>M</property>
</body></html><html><p itemprop=author>H<meta name=b content=c></html> tail <!-- end -->"""
GOLDEN = sorted(Path(__file__).parents[1].glob("methods/golden/*.html"))
PAGES = (
    *roads.ODD_PAGES,
    DECLARING,
    *(file.read_text("utf-8") for file in GOLDEN),
    "<video><p>text in a video never closed</video><button>no</button><h2><button>question</button></h2>",
    "<table><tr><td class=gutter><pre>1\n2</pre><td><pre>a\nb</pre></table><pre><span class=ln>1</span>c</pre>",
    "<table><tr><td>7<td><pre>d</pre></table><table><tr><td>1\n2<!-- c --><td><code>e\nf</code></table>",
    "<table><tr><th>a<th><img><tr><td>b<p>c<p>d<td>e<table><tr><td>f</table></table><dl><dt>g<dd>h</dl>",
)

pytestmark = roads.is_built


def assert_same_nodes(html: str) -> None:
    root = Page.parse("https://a.example/", html).root
    if root is None:
        return
    for skipped in (page_nodes._SKIPPED, page_nodes._NEVER_TEXT | {"title", "noframes"}):
        expected, expected_depth = page_nodes._walk_tree(root, skipped)
        page_nodes._leave_out_endless_links(expected)
        for is_held in (False, True):
            found, depth = page_nodes.nodes_of(root, skipped)
            if is_held:
                found.hold()
            assert found.compiled is not None
            assert depth == expected_depth
            assert state(found) == state(expected)
            assert list(found.elements) == list(expected.elements) == found.elements[:]
            assert found.elements[-1] is expected.elements[-1]
        assert found.characters() == expected.characters()
        noise = [index % 3 == 0 for index in range(len(expected))]
        assert found.counts(noise) == expected.counts(noise)
        assert found.counts(None) == expected.counts(None)
        assert set(formulas._candidates(found)) <= set(formulas._candidates(expected))
        assert_same_answers(found, expected)


def assert_same_answers(found: Nodes, expected: Nodes) -> None:
    """Compare what is asked of single nodes, and of some in a row."""
    tags = frozenset({"p", "#text", "table"})
    assert (found.tagged(tags), found.has_text) == (expected.tagged(tags), expected.has_text)
    assert found.count_tags() == expected.count_tags()
    assert found.length() == expected.length()
    for index in range(len(expected)):
        own = [(nodes.tag_of(index), nodes.end_of(index), nodes.link_of(index)) for nodes in (found, expected)]
        assert own[0] == own[1]
    for index in range(0, len(expected), 7):
        below = index + 1, expected.ends[index]
        for other in (False, True):
            assert found.holds(*below, tags, other=other) == expected.holds(*below, tags, other=other)
        assert found.lines(*below, INLINE, 40) == expected.lines(*below, INLINE, 40)
        assert list(geometry._cells(found, index)) == list(geometry._cells(expected, index))


def assert_same_declared(html: str, monkeypatch: pytest.MonkeyPatch) -> None:
    root = Page.parse("https://a.example/", html).root
    inner = [] if root is None else root[:1]
    for one in (root, *inner):
        found = []
        for road in roads.ROADS:
            roads.take(road, monkeypatch)
            declared = SelfDescription.of(one)
            lists = declared.titles, declared.headings, declared.times, declared.styles, declared.texts
            named = declared.authors, declared.dates, declared.changes, declared.author_links
            pages = declared.author_pages
            found.append((declared.metas, declared.scripts, *lists, *named, pages))
        assert found[0] == found[1]


def state(nodes: Nodes) -> list[tuple[object, ...]]:
    return list(zip(nodes.tags, nodes.parents, nodes.ends, nodes.texts, nodes.links, strict=True))


@pytest.mark.parametrize("html", PAGES, ids=range(len(PAGES)))
def test_odd_and_golden_pages_have_the_same_nodes_and_declare_the_same(
    html: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert_same_nodes(html)
    assert_same_declared(html, monkeypatch)


@settings(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(html_pages(40))
def test_any_page_declares_the_same(monkeypatch: pytest.MonkeyPatch, html: str) -> None:
    assert_same_declared(html, monkeypatch)


@settings(deadline=None)
@given(st.binary(max_size=3_000))
def test_any_bytes_have_the_same_hash(data: bytes) -> None:
    assert roads.functions(roads.COMPILED).hash_of_bytes(data) == xxhash.xxh32_intdigest(data)


@settings(deadline=None)
@given(html_pages(60))
def test_any_page_has_the_same_nodes(html: str) -> None:
    assert_same_nodes(html)


@pytest.mark.parametrize("road", roads.ROADS)
@pytest.mark.parametrize("file", GOLDEN, ids=lambda file: file.stem)
def test_a_tree_that_its_owner_takes_apart_is_judged_as_it_was(
    file: Path, road: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    roads.take(road, monkeypatch)
    html = file.read_text("utf-8")
    expected = Denoiser("fusion").clean(Page.parse("https://a.example/", html)).clean_page.text
    root = Page.parse("https://a.example/", html).root
    assert root is not None
    page = Page("https://a.example/", root)
    judgement = Denoiser("fusion").judge(page)
    for element in root.iter("p", "div", "a"):
        parent = element.getparent()
        if parent is not None and element.tail is None:
            parent.remove(element)
    del element, parent
    gc.collect()
    assert page.nodes.elements[-1].tag
    assert len(list(page.nodes.elements)) == len(page.nodes)
    if "<math" not in html:
        assert Denoiser("fusion").write(page, judgement).clean_page.text == expected


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


def assert_same_text(html: str, gone: list[bool], monkeypatch: pytest.MonkeyPatch) -> None:
    """Compare the text and the formulas of a page, all of it and without the nodes that are ``gone`` in turn."""
    found = []
    for road in roads.ROADS:
        roads.take(road, monkeypatch)
        page = Page.parse("https://a.example/", html)
        noise = [gone[index % len(gone)] for index in range(len(page.nodes))]
        parts = [range(child, page.nodes.ends[child]) for child in page.nodes.children(0)]
        formulas = page.once(formulas_of)
        found.append([*clean_texts(page, noise, parts), clean_text(page), formulas.elements, formulas.places])
    assert found[0] == found[1]


@pytest.mark.parametrize("html", WRITTEN, ids=range(len(WRITTEN)))
def test_odd_pages_have_the_same_text(html: str, monkeypatch: pytest.MonkeyPatch) -> None:
    assert_same_text(html, [False, True, True], monkeypatch)


@settings(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(html_pages(40), st.lists(st.booleans(), min_size=1, max_size=40))
def test_any_page_has_the_same_text(monkeypatch: pytest.MonkeyPatch, html: str, gone: list[bool]) -> None:
    assert_same_text(html, gone, monkeypatch)
