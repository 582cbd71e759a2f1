"""The compiled core does what the Python code does: that is its specification."""

import gc
import re
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import fields
from html import escape
from itertools import islice
from pathlib import Path

import numpy as np
import pytest
import xxhash
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from lxml import etree

from denoise_crawler import core, denoise_pages
from denoise_crawler.denoiser import Denoiser
from denoise_crawler.errors import CoreError
from denoise_crawler.evaluation import read_gold
from denoise_crawler.methods.fusion import blocks
from denoise_crawler.methods.fusion.blocks import blocks_of
from denoise_crawler.methods.fusion.decision import decide, parts_of
from denoise_crawler.methods.fusion.declared import begins, title_overlap
from denoise_crawler.methods.fusion.kinds import KINDS, KindWords
from denoise_crawler.methods.fusion.method import Fusion
from denoise_crawler.methods.fusion.page_type import page_type_row, traits_of
from denoise_crawler.methods.fusion.weights import feature_names, shipped_model
from denoise_crawler.output.clean_text import clean_text, clean_texts
from denoise_crawler.output.content import formulas
from denoise_crawler.output.content.formulas import formulas_of
from denoise_crawler.page import Nodes, Page, geometry
from denoise_crawler.page import nodes as page_nodes
from denoise_crawler.page.self_description import SelfDescription
from tests.strategies import html_pages

DECLARING = """<title>A</title><meta property=og:title content=B><meta name=a>
<script type=a/b>x</script><script>y</script><h1>G</h1><svg><title>F</title></svg>
<a rel=author itemprop=author>C</a><a href=/autor/x>I</a><a href=/x>J</a>
<p itemprop=datePublished>D<time>E</time></p>
</body></html><html><p itemprop=author>H<meta name=b content=c></html> tail <!-- end -->"""
TITLE = frozenset({"the", "title", "itself"})
GOLDEN = sorted(Path(__file__).parents[1].glob("methods/golden/*.html"))
ODD_PAGES = (
    "",
    "text alone",
    "<p>One<!-- a --> two<!-- b --> three\u00a0<b> </b>four<![CDATA[five]]>six",
    "<html><head><title>t</title></head><body>a</body></html> tail <p>after</html><html><p>again",
    "<body class='a b' id=x hidden><div style='display:none' role=navigation>hidden</div>",
    "<div class=comments-1><p class='c 12' id='34'>first<p class='c 13' id='35'>second</div>",
    "<noscript>" + "long text. " * 200 + "<p>x</noscript><p>y",
    "<video><p>text in a video never closed</video><button>no</button><h2><button>question</button></h2>",
    "<a href=/x>" + "linked " * 300 + "</a><a>no address</a><a href=''>empty</a>",
    "<o:p>office</o:p><svg xmlns='http://www.w3.org/2000/svg'><text>drawn</text></svg><math><mi>x</mi></math>",
    "<p>&nbsp;</p>\x1c<p>\x1d\u3000</p><p>日本語 中文\u200b</p>",
    "<div>" * 3_000 + "deep",
    "<section id=a-comment class=x><h2>A comment</h2><p>b</section><body class=the-title-itself>",
    "<table><tr><td class=gutter><pre>1\n2</pre><td><pre>a\nb</pre></table><pre><span class=ln>1</span>c</pre>",
    "<table><tr><td>7<td><pre>d</pre></table><table><tr><td>1\n2<!-- c --><td><code>e\nf</code></table>",
    "<table><tr><th>a<th><img><tr><td>b<p>c<p>d<td>e<table><tr><td>f</table></table><dl><dt>g<dd>h</dl>",
)

pytestmark = pytest.mark.skipif(core.why_not() is not None, reason=f"no compiled core: {core.why_not()}")


@pytest.fixture
def without_core(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(core.chosen, "mode", "off")


def assert_same_nodes(html: str) -> None:
    root = Page.parse("https://a.example/", html).root
    if root is None:
        return
    for skipped in (page_nodes._SKIPPED, page_nodes._NEVER_TEXT | {"title", "noframes"}):
        expected, expected_depth = page_nodes._walk_tree(root, skipped)
        page_nodes._leave_out_endless_links(expected)
        for is_shared in (False, True):
            found, depth = page_nodes.nodes_of(root, skipped, is_shared=is_shared)
            assert found.compiled is not None
            assert depth == expected_depth
            assert state(found) == state(expected)
            assert list(found.elements) == list(expected.elements) == found.elements[:]
            assert found.elements[-1] is expected.elements[-1]
        counts = [len("".join(text.split())) for text in expected.texts]
        assert found.compiled.characters() == counts
        noise = [index % 3 == 0 for index in range(len(expected))]
        assert found.compiled.counts(noise) == counted(expected, counts, noise)
        assert set(formulas._candidates(found)) <= set(formulas._candidates(expected))
        assert_same_answers(found, expected)
        assert_same_blocks(found, expected)


def assert_same_answers(found: Nodes, expected: Nodes) -> None:
    """Compare what is asked of single nodes, and of some in a row."""
    tags = frozenset({"p", "#text", "table"})
    assert (found.tagged(tags), found.has_text) == (expected.tagged(tags), expected.has_text)
    assert found.count_tags() == expected.count_tags()
    for index in range(len(expected)):
        own = [(nodes.tag_of(index), nodes.end_of(index), nodes.link_of(index)) for nodes in (found, expected)]
        assert own[0] == own[1]
    for index in range(0, len(expected), 7):
        below = index + 1, expected.ends[index]
        for other in (False, True):
            assert found.holds(*below, tags, other=other) == expected.holds(*below, tags, other=other)
        assert found.tags_between(*below) == expected.tags_between(*below)
        assert list(geometry._cells(found, index)) == list(geometry._cells(expected, index))


def assert_same_declared(html: str, monkeypatch: pytest.MonkeyPatch) -> None:
    root = Page.parse("https://a.example/", html).root
    inner = [] if root is None else root[:1]
    for one in (root, *inner):
        found = []
        for mode in ("require", "off"):
            monkeypatch.setattr(core.chosen, "mode", mode)
            declared = SelfDescription(one)
            lists = declared.titles, declared.headings, declared.times, declared.styles, declared.texts
            named = declared.authors, declared.dates, declared.author_links, declared.author_pages
            found.append((declared.metas, declared.scripts, *lists, *named))
        assert found[0] == found[1]


def state(nodes: Nodes) -> list[tuple[object, ...]]:
    return list(zip(nodes.tags, nodes.parents, nodes.ends, nodes.texts, nodes.links, strict=True))


def counted(nodes: Nodes, counts: list[int], noise: list[bool]) -> tuple[int, ...]:
    rows = list(zip(counts, nodes.links, noise, strict=True))
    return (
        sum(counts),
        sum(count for count, link, _ in rows if link < 0),
        sum(count for count, _, gone in rows if not gone),
        sum(count for count, link, gone in rows if link < 0 and not gone),
    )


def assert_same_blocks(nodes: Nodes, same_nodes: Nodes) -> None:
    found, expected = blocks.blocks_in(nodes, TITLE), blocks.blocks_in(same_nodes, TITLE)
    assert columns_of(found.around) == columns_of(expected.around)
    assert columns_of(found) == columns_of(expected)


def columns_of(record: object) -> dict[str, object]:
    columns = {field.name: getattr(record, field.name) for field in fields(record) if field.name != "around"}
    return {
        name: (column.dtype, column.tolist()) if isinstance(column, np.ndarray) else column
        for name, column in columns.items()
    }


def assert_same_rows(pages: Sequence[tuple[str, str]], monkeypatch: pytest.MonkeyPatch) -> None:
    """Compare features, scores and what is taken of each page, without its site and with what other pages say."""
    found = []
    for mode in ("require", "off"):
        monkeypatch.setattr(core.chosen, "mode", mode)
        method = Fusion()
        read = [Page.parse(url, html) for url, html in pages]
        for page in read:
            method.observe(page)
        looked = [seen for page in read for seen in looks(method, page)]
        found.append([*looked, np.frombuffer(method.to_bytes(), np.uint8)[:, None]])
    for one, other in zip(*found, strict=True):
        differing = (one != other) & ~(np.isnan(one) & np.isnan(other))
        assert not differing.any(), np.flatnonzero(differing.any(axis=0))


def looks(method: Fusion, page: Page) -> Iterator[np.ndarray]:
    alone = page.once(method.model.alone)
    blocks = alone.evidence.blocks
    yield alone.scores[:, None]
    yield page_type_row(traits_of(page), alone)[None]
    for standing in (None, method.evidence.standing(page.key, blocks)):
        look = alone.knowing(standing, method.wishes.columns)
        yield look.table
        made = decide(look, method.wishes, page.once(parts_of), shift=0.5, repeating=False)
        steps = made.own, made.chances, made.likely, made.best, made.once, made.taken
        yield np.array(steps, np.float64).T
        yield np.array([[made.bar, made.expected]])


@pytest.mark.parametrize("html", ODD_PAGES, ids=range(len(ODD_PAGES)))
def test_odd_pages_have_the_same_nodes_and_blocks(html: str) -> None:
    assert_same_nodes(html)


@pytest.mark.parametrize("html", [*ODD_PAGES, DECLARING], ids=range(len(ODD_PAGES) + 1))
def test_odd_pages_declare_the_same(html: str, monkeypatch: pytest.MonkeyPatch) -> None:
    assert_same_declared(html, monkeypatch)


@settings(max_examples=200, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(html_pages(40))
def test_any_page_declares_the_same(monkeypatch: pytest.MonkeyPatch, html: str) -> None:
    assert_same_declared(html, monkeypatch)


@pytest.mark.parametrize("file", GOLDEN, ids=lambda file: file.stem)
def test_golden_pages_declare_the_same(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert_same_declared(file.read_text("utf-8"), monkeypatch)


@settings(max_examples=200, deadline=None)
@given(st.binary(max_size=3_000))
def test_any_bytes_have_the_same_hash(data: bytes) -> None:
    assert core._load_modules()["texts"].hash64(data) == xxhash.xxh3_64_intdigest(data)


@settings(max_examples=300, deadline=None)
@given(html_pages(60))
def test_any_page_has_the_same_nodes_and_blocks(html: str) -> None:
    assert_same_nodes(html)


@pytest.mark.parametrize("file", GOLDEN, ids=lambda file: file.stem)
def test_golden_pages_have_the_same_nodes_and_blocks(file: Path) -> None:
    assert_same_nodes(file.read_text("utf-8"))


@settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(html_pages(60), min_size=1, max_size=3))
def test_any_pages_have_the_same_features(monkeypatch: pytest.MonkeyPatch, found: list[str]) -> None:
    assert_same_rows([(f"https://a.example/{number}", html) for number, html in enumerate(found)], monkeypatch)


def test_odd_pages_have_the_same_features(monkeypatch: pytest.MonkeyPatch) -> None:
    assert_same_rows([(f"https://a.example/{number}", html) for number, html in enumerate(ODD_PAGES)], monkeypatch)


@settings(max_examples=50, deadline=None)
@given(st.integers(0, 1_200), st.integers(0, 2**32 - 1))
def test_any_table_has_the_same_scores(rows: int, seed: int) -> None:
    trees, features = shipped_model().trees, len(feature_names().blocks)
    table = (5 * np.random.default_rng(seed).normal(size=(rows, features))).astype(np.float32)
    expected = [trees.by_tree(table[start : start + 2]).sum(axis=0) for start in range(0, rows - rows % 2, 2)]
    assert trees.scores(table)[: rows - rows % 2].tolist() == [one for pair in expected for one in pair]


def test_pages_of_a_site_come_out_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    pages = [(f"https://a.example/{file.stem}", file.read_text("utf-8")) for file in GOLDEN]
    compiled = list(denoise_pages(pages))
    monkeypatch.setattr(core.chosen, "mode", "off")
    assert list(denoise_pages(pages)) == compiled
    assert any(page.text for page in compiled)


@pytest.mark.parametrize("name", ["daniel", "dragnet", "wcxb"])
def test_gold_pages_come_out_the_same(corpus: Path, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    some = islice(read_gold(corpus, name), 0, None, 30)
    pages = [(page.url or f"https://{page.site}/{page.id}", page.html) for page in some]
    compiled = list(denoise_pages(pages))
    assert_same_rows(pages, monkeypatch)
    monkeypatch.setattr(core.chosen, "mode", "off")
    assert list(denoise_pages(pages)) == compiled


@pytest.mark.parametrize("mode", ["require", "off"])
@pytest.mark.parametrize("file", GOLDEN, ids=lambda file: file.stem)
def test_a_tree_that_its_owner_takes_apart_is_judged_as_it_was(
    file: Path, mode: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(core.chosen, "mode", mode)
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


@pytest.mark.usefixtures("without_core")
def test_the_core_can_be_switched_off() -> None:
    assert core.compiled.tree is None


def test_a_mode_that_there_is_not_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(core.chosen, "mode", "fast")
    with pytest.raises(CoreError, match="DENOISE_CORE is 'fast': set it to one of auto, off, require"):
        assert core.compiled.tree


def test_a_core_that_reads_a_known_page_wrongly_is_not_used(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(core, "_TEXTS", ["another text"])
    assert "reads a known page wrongly" in str(core.why_not())


def test_an_lxml_that_was_never_tried_gets_the_python_code(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(etree, "LXML_VERSION", (99, 0, 0, 0))
    assert "not tested with lxml" in str(core.why_not())


def test_what_is_required_and_cannot_be_used_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(etree, "LXML_VERSION", (99, 0, 0, 0))
    core._modules.cache_clear()
    try:
        with pytest.raises(CoreError, match="not tested"):
            core.choose("require")
    finally:
        core._modules.cache_clear()


# capitals whose small letters are several, of another length or depend on their place; signs that are no letters
LETTERS = "aAbBzZ09_ -.ßẞµÿŸσςΣİıKé\u0301東京都Дж𝐀𐐀½٣²"
TEXTS = st.lists(st.text(LETTERS, max_size=40), max_size=8)


def on_both_roads(say: Callable[[], object]) -> list[object]:
    found = []
    for mode in ("require", "off"):
        with pytest.MonkeyPatch.context() as patched:
            patched.setattr(core.chosen, "mode", mode)
            found.append(say())
    return found


@given(texts=TEXTS, title=st.text(LETTERS, max_size=40))
def test_texts_of_any_letters_resemble_a_title_as_much(texts: list[str], title: str) -> None:
    blocks = blocks_of(Page.parse("", "".join(f"<p>{escape(text)}</p>" for text in (*texts, title))))
    one, other = on_both_roads(lambda: title_overlap(title, blocks).tolist())
    assert one == other


@given(texts=TEXTS, skipped=st.integers(0, 9), description=st.text(LETTERS, max_size=40))
def test_texts_of_any_letters_hold_the_beginning_of_a_description(
    texts: list[str], skipped: int, description: str
) -> None:
    blocks = blocks_of(Page.parse("", "".join(f"<p>{escape(text)}</p>" for text in (*texts, description))))
    said = (description, *[text[skipped:] for text in blocks.texts])
    one, other = on_both_roads(lambda: [begins(one, blocks).tolist() for one in said])
    assert one == other


@given(names=st.text("abAB1-_ éΣ", max_size=20))
def test_the_words_of_any_names_are_those_that_a_pattern_finds(names: str) -> None:
    found = {word.lower() for word in re.findall(r"[A-Z]?[a-z]{2,}|[A-Z]{2,}", names)}
    assert on_both_roads(lambda: core.loops.texts.words_of_names(names)) == [tuple(sorted(found))] * 2


def test_of_all_letters_one_becomes_two_small_ones_and_the_others_are_found_as_python_finds_them() -> None:
    letters = [chr(code) for code in range(32, sys.maxunicode + 1)]
    assert [letter for letter in letters if len(letter.lower()) != 1] == ["\u0130"]
    found = np.empty(1)
    begins_in = core._load_modules()["texts"].begins
    for letter in letters:
        begins_in([f"-{letter}"], letter.lower(), found)
        assert found[0] == 1.0


@given(html=html_pages(), seed=st.integers(0, 9))
def test_the_words_of_any_page_speak_as_much_for_each_kind(html: str, seed: int) -> None:
    words = ("menu", "post", "content", "nav", "a", "item", "main", "text", "footer", "comment", "sidebar", "list")
    odds = {word: [((7 * number + 3 * kind + seed) % 11 - 5) / 3 for kind in range(len(KINDS))]
            for number, word in enumerate(words)}  # fmt: skip
    known = KindWords(odds)
    one, other = on_both_roads(lambda: known.of(Page.parse("https://a.example/post/list?item=1", html)).tobytes())
    assert one == other


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
    for mode in ("require", "off"):
        monkeypatch.setattr(core.chosen, "mode", mode)
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
