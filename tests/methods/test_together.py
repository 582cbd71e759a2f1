from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from denoise_crawler import kernel
from denoise_crawler.kernel.columns import CODE, DEFINITIONS, FIGURE, FORMULA, TABLE, UNITS
from denoise_crawler.methods import Judgement
from denoise_crawler.methods.fusion.blocks import NO_PARTS, blocks_of, headings_of, parts_of, units_of
from denoise_crawler.methods.fusion.method import Fusion
from denoise_crawler.output.clean_text import clean_text
from denoise_crawler.page import TEXT, Page
from denoise_crawler.page.geometry import is_data_table

BEFORE = """<p>The harbour board measured every crane on the northern quay last week, and the engineers found that
most of them still lift what they were built for, although two have been out of use since the storm.</p>"""
AFTER = """<p>The board will decide in March which of them are mended, and which are sold, the chairman said; he
expects that the work will cost less than it did ten years ago, when all of the cranes were painted.</p>"""
NAV = "<ul class=menu>" + "".join(f"<li><a href=/{place}>Place {place}</a></li>" for place in range(12)) + "</ul>"


def article(inside: str, *, after: str = AFTER) -> Page:
    html = f"""<html><head><title>Cranes of the quay</title></head><body><div class=nav>{NAV}</div>
    <article><h1>Cranes of the quay</h1>{BEFORE}{BEFORE[::-1].replace(">p<", "<p>").replace(">p/<", "</p>")}
    {inside}{after}</article><div class=footer>{NAV}<p>All rights reserved</p></div></body></html>"""
    return Page.parse("https://example.com/cranes", html)


def kept(page: Page, judgement: Judgement) -> list[str]:
    return clean_text(page, judgement.noise).split("\n")


def units(html: str) -> list[tuple[int, int, int]]:
    return units_of(Page.parse("https://example.com/", html)).rows


ROWS = [
    ("Crane", "Lifts", "Built"),
    ("A", "7 t", "—"),
    ("B", "—", "1971"),
    ("C", "9.5 t", "1988"),
    ("D", "—", "—"),
]
DATA = "<table>" + "".join(f"<tr>{''.join(f'<td>{cell}</td>' for cell in row)}</tr>" for row in ROWS) + "</table>"
CODE_LINES = ["crane {", "lift: 7;", "}", "quay {", "crane: a;", "}", "…"]
LINES = f"<pre><code>{''.join(f'<div><span>{line}</span></div>' for line in CODE_LINES)}</code></pre>"
FORMULA_LINE = """<p>The load follows <math><mi>F</mi><mo>=</mo><mi>m</mi><mo>·</mo><mi>g</mi></math> as every
engineer of the harbour learned at school, which is why the table of the board has one column for it.</p>"""
DEFINITION_LIST = "<dl>" + "".join(f"<dt>{name}<dd>{load}" for name, load, _ in ROWS) + "</dl>"
WHOLES = {TABLE: DATA, CODE: LINES, FORMULA: FORMULA_LINE, DEFINITIONS: DEFINITION_LIST}


@pytest.mark.parametrize(("kind", "inside"), WHOLES.items(), ids=WHOLES)
def test_all_blocks_of_a_unit_have_one_verdict_and_one_chance(kind: str, inside: str) -> None:
    page = article(inside)
    judgement, blocks = Fusion().judge(page), blocks_of(page)
    ((number, first, last),) = units_of(page).rows
    assert UNITS[number] == kind
    nodes = [*filter(page.nodes.texts.__getitem__, range(blocks.starts[first], blocks.ends[last - 1]))]
    assert len({judgement.noise[index] for index in nodes}) == 1
    assert len({judgement.scores[index] for index in nodes}) == 1


def test_every_cell_of_a_table_inside_the_article_is_kept() -> None:
    page = article(DATA)
    assert ["\t".join(row) for row in ROWS] == kept(page, Fusion().judge(page))[3:8]


def test_every_line_of_a_code_block_inside_the_article_is_kept() -> None:
    page = article(LINES)
    assert [line for line in kept(page, Fusion().judge(page)) if line in CODE_LINES] == CODE_LINES


def test_a_table_of_links_in_the_footer_goes_whole() -> None:
    rows = "".join(f"<tr><td><a href=/{place}>Place {place}</a><td>{place}" for place in range(8))
    page = article("", after=f"{AFTER}</article><div class=footer><table>{rows}</table></div>")
    assert not any("Place" in line for line in kept(page, Fusion().judge(page)))


class TestReasons:
    def test_a_cell_says_that_it_is_kept_with_its_table(self) -> None:
        page = article(DATA)
        judgement = Fusion().judge(page)
        reasons = [judgement.reason(index) for index, text in enumerate(page.nodes.texts) if text == "—"]
        assert reasons
        assert all(reason.startswith("kept with its table, which is") for reason in reasons)

    def test_a_heading_says_that_it_is_kept_with_its_section(self) -> None:
        aside = '<aside class="widget sidebar"><h5>Mended</h5></aside>'
        page = article(f"{aside}{AFTER}<p>And so it went.</p>", after="")
        judgement = Fusion().judge(page)
        heading = page.nodes.texts.index("Mended")
        assert not judgement.noise[heading]
        assert judgement.reason(heading) == "kept with its section"


class TestUnits:
    @pytest.mark.parametrize(
        ("kind", "html"),
        [
            (TABLE, "<table><tr><td>a<td>b<tr><td>c<td>d</table>"),
            (CODE, "<pre>one<br>two</pre>"),
            (CODE, "<pre>one line</pre>"),
            (CODE, "<code><div>one</div><div>two</div></code>"),
            (CODE, "<table><tr><td>1<br>2<td><pre>one<br>two</pre></table>"),
            (DEFINITIONS, "<dl><dt>a<dd><p>b</p><p>c</p></dl>"),
            (FIGURE, "<figure><table><tr><td>a<td>b</table><figcaption>Two letters</figcaption></figure>"),
            (FIGURE, "<figure><figcaption>quay.py</figcaption><pre>one</pre></figure>"),
            (FORMULA, "<p>So <math><mi>a</mi><mi>b</mi></math> is <math><mi>c</mi></math>.</p>"),
            (FORMULA, "<div><mjx-container><mjx-mi>a</mjx-mi><mjx-mo>=</mjx-mo></mjx-container></div>"),
        ],
    )
    def test_a_unit_is_found(self, kind: str, html: str) -> None:
        ((number, first, last),) = units(f"<p>Before</p>{html}<p>After</p>")
        assert UNITS[number] == kind
        blocks = blocks_of(Page.parse("https://example.com/", f"<p>Before</p>{html}<p>After</p>"))
        assert {"Before", "After"}.isdisjoint(blocks.texts[first:last])

    @pytest.mark.parametrize(
        "html",
        [
            "<p><code>quay()</code> starts the line</p>",
            "<dl><dt>a<dd><h3>A text of its own</h3><p>b</dl>",
            "<figure><img src=a.png><figcaption><p>A crane<p>Photo: board</figcaption></figure>",
            "<table><tr><td><h2>Left</h2><td>Right<tr><td>a<td>b</table>",
            "<ul><li>one<li>two</ul>",
        ],
    )
    def test_what_is_no_unit_is_judged_block_by_block(self, html: str) -> None:
        assert units(html) == []

    def test_a_unit_that_comes_twice_is_taken_once(self) -> None:
        page = article(2 * DATA.replace("Crane", "The crane that stands on the quay of the north"))
        assert sum("The crane that stands" in line for line in kept(page, Fusion().judge(page))) == 1


class TestIntroducedLists:
    @pytest.mark.parametrize(
        ("html", "lists"),
        [
            ("<p>It has:<ul><li>one<li>two</ul><p>So.", [(1, 3)]),
            ("<p>包括：<ol><li>一<li><ul><li>二</ul></ol>", [(1, 3)]),
            ("<p>It has.<ul><li>one<li>two</ul>", []),
            ("<h2>It has:</h2><ul><li>one<li>two</ul>", []),
            ("<p>See also:<ul><li><a href=/1>one one</a><li><a href=/2>two two</a></ul>", []),
            ("<p>It has:<ul><li><h3>one</h3>a<li>two</ul>", []),
            ("<ul><li>one</ul>", []),
        ],
    )
    def test_a_list_behind_a_paragraph_with_a_colon_is_introduced(
        self, html: str, lists: list[tuple[int, int]]
    ) -> None:
        assert [tuple(one) for one in parts_of(Page.parse("https://example.com/", html)).lists.tolist()] == lists

    def test_it_is_kept_with_the_paragraph_and_never_dropped_with_it(self) -> None:
        page = Page.parse("", "<p>It has:<ul><li>one<li>two</ul><p>So.")
        for likely, best in ([1, 0, 0, 0], [1, 1, 1, 0]), ([0, 1, 0, 1], [0, 1, 0, 1]):
            given = blocks_of(page), parts_of(page), np.array(likely, bool), np.zeros(4, bool), np.zeros(4)
            found = kernel.active.take(*given)
            assert found[0].astype(int).tolist() == best


class TestDataTables:
    @pytest.mark.parametrize(
        ("html", "is_data"),
        [
            ("<tr><td>a<td>b<tr><td>c<td>d", True),
            ("<tr><th>a<th>b<tr><td>c<td>d", True),
            ("<caption>Letters</caption><tr><td>a<td>b<tr><td>c<td>d", True),
            ("<tr><td colspan=2>a<tr><td>b<td>c", True),
            ("<tr><td>a<td>b", True),
            ("<tr><td><img src=a.png><td>b", True),
            ("<tr><td>1<td><pre>a = b</pre>", False),
            ("<tr><td>1<td><ul><li>b</ul>", False),
            (f"<tr><td>a<td>{'word ' * 100}", False),
            ("<tr><td>a<td>", False),
            ("<tr><td>a<tr><td>c", False),
            ("<tr><td><table><tr><td>x</table><td>b<tr><td>c<td>d", False),
            ("<tr><td><nav>a</nav><td>b<tr><td>c<td>d", False),
            (f"<tr><td>a<td>b<tr><td>c<td>{'word ' * 100}", False),
            (f"<tr><th>a<th>b<tr><td>c<td>{'word ' * 100}", True),
            (f"<tr><th>a<th>b<tr><td>c<td>{'word ' * 400}", False),
            (f"<tr><td>a<td>b<tr><td>c<td>{'<p>word' * 5}", False),
        ],
    )
    def test_rows_of_short_cells_are_data(self, html: str, *, is_data: bool) -> None:
        nodes = Page.parse("", f"<table>{html}</table>").nodes
        assert is_data_table(nodes, nodes.tags.index("table")) is is_data

    @pytest.mark.parametrize("says", ["role=presentation", "role=None", "class=ltx_eqn_table"])
    def test_a_table_that_says_it_is_layout_is_believed(self, says: str) -> None:
        nodes = Page.parse("", f"<table {says}><tr><td>a<td>b<tr><td>c<td>d</table>").nodes
        assert not is_data_table(nodes, 1)


class TestSections:
    def kept(self, html: str, taken: str, chances: list[float], fixed: str = "") -> str:
        """Return by block ``x`` if it is kept after its headings went with their sections, else ``.``."""
        page = Page.parse("https://example.com/", html)
        flags = [np.array([sign == "x" for sign in signs]) for signs in (taken, fixed or "." * len(taken))]
        parts = replace(NO_PARTS, headings=headings_of(page))
        *_, kept = kernel.active.take(blocks_of(page), parts, *flags, np.array(chances))
        return "".join("x" if one else "." for one in kept)

    def test_a_heading_is_kept_before_a_block_that_is(self) -> None:
        assert self.kept("<h2>H</h2><p>a<p>b", ".xx", [0.3, 0.9, 0.9]) == "xxx"

    def test_a_heading_that_nearly_surely_is_noise_is_not(self) -> None:
        assert self.kept("<h2>Related</h2><p>a<p>b", ".xx", [0.05, 0.9, 0.9]) == ".xx"

    def test_a_heading_goes_where_all_of_its_section_goes(self) -> None:
        assert self.kept("<h2>H</h2><p>a<h3>I</h3><p>b<h2>J</h2><p>c", "x.x.xx", [0.6] * 6) == "....xx"

    def test_headings_that_are_links_to_other_pages_are_entries_of_a_list(self) -> None:
        entries = "".join(f"<h3><a href=/{number}>Story {number}</a></h3><p>a</p>" for number in range(3))
        assert self.kept(entries, "x.x.x.", [0.6] * 6) == "x.x.x."
        for address in ("#", "https://b.example/"):
            linked = entries.replace("href=/", f"href={address}")
            assert self.kept(linked, "x.x.x.", [0.6] * 6) == "......"

    def test_the_section_of_a_heading_ends_before_the_next_of_its_level_or_above(self) -> None:
        page = Page.parse("", "<h1>A</h1><h2>B</h2><p>b</p><h4>C</h4><p>c</p><h2>D</h2><h1>E</h1>")
        assert headings_of(page).tolist() == [[0, 1, 6], [1, 2, 5], [3, 4, 5], [5, 6, 6], [6, 7, 7]]


_TAGS = ["table", "tr", "td", "th", "pre", "br", "p", "h2", "h5", "div", "dl", "dt", "dd", "math", "mi", "figure"]
_PARTS = st.sampled_from(
    [f"<{tag}>" for tag in _TAGS]
    + [f"</{tag}>" for tag in _TAGS]
    + 4
    * ["<a href=/x>", "word", "one two three", "Some words that make a line of some length, as pages have them."]
)
_TABLES = st.lists(st.lists(_PARTS, min_size=2, max_size=4).map("<td>".join), min_size=2, max_size=5).map(
    lambda rows: f"<table>{''.join(f'<tr><td>{row}' for row in rows)}</table>"
)
_TREES = st.lists(st.one_of(_PARTS, _PARTS, _TABLES), max_size=25).map("".join)


def data_tables(page: Page) -> list[list[int]]:
    """Return the text nodes of each data table."""
    nodes = page.nodes
    tables = [i for i, tag in enumerate(nodes.tags) if tag == "table" and is_data_table(nodes, i)]
    return [[i for i in range(table, nodes.ends[table]) if nodes.tags[i] is TEXT] for table in tables]


@given(html=_TREES)
def test_no_data_table_of_any_page_is_kept_in_part(html: str) -> None:
    page = article(html)
    noise = Fusion().judge(page).noise
    for table in data_tables(page):
        assert len({noise[index] for index in table}) == 1
