"""A part of a page, found by a selector or by its HTML; and the page with all its noise marked."""

import re
from itertools import pairwise

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from lxml import etree

from denoise_crawler.denoiser import Denoiser
from denoise_crawler.errors import PartError
from denoise_crawler.methods import Judgement
from denoise_crawler.methods.node_type import annotate
from denoise_crawler.output.clean_text import MAX_NOISE_SHARE, clean_text, find_part, noise_outside_part
from denoise_crawler.output.painted import annotated_html
from denoise_crawler.page import TEXT, Page
from tests.strategies import html_pages

URL = "https://a.example/1"
COMMENTS = """
<nav><a href=/>Home</a> <a href=/all>All stories</a></nav>
<h1>A story</h1><p class="story">Something happened, and everybody talks of it.</p>
<div class="comment" id="one"><b>Ann</b><p>I have seen it. <a href=/report>Report</a></p></div>
<div class="comment" id="two"><b>Ben</b><ul><li>So have I.<li>Twice.</ul></div>
<div class="comment" id="three"></div>
"""


def page(html: str = COMMENTS) -> Page:
    return Page.parse(URL, html)


def text_of(part: str, html: str = COMMENTS) -> str:
    whole, denoiser = page(html), Denoiser("link_ratio")
    kept = denoiser.write(whole, Judgement.all_kept(whole.nodes))
    return denoiser.part(kept, part).text


@pytest.mark.parametrize(
    "part",
    [
        *("#two", "div:nth-of-type(2)", "div.comment + div:not(#three)", "//div[@id='two']", "(//div)[2]"),
        *(".//*[@id='two']", "./body/div[2]"),
        '<div class="comment" id="two"><b>Ben</b><ul><li>So have I.</li><li>Twice.</li></ul></div>',
        "\n  <div><b>Ben</b>\n<ul><li>So  have I.<li>Twice.</ul></div>  ",
    ],
)
def test_a_part_is_named_by_css_by_xpath_or_by_its_html(part: str) -> None:
    assert text_of(part) == "Ben\n- So have I.\n- Twice."


def test_all_that_a_selector_finds_is_the_part() -> None:
    assert text_of(".comment b") == "Ann\nBen"
    assert text_of("div, div b, li") == text_of(".comment")


def test_the_html_of_several_nodes_is_the_part_of_all_of_them() -> None:
    assert text_of("<b>Ben</b><p>I have seen it. <a>Report</a></p>") == "I have seen it. Report\nBen"


def test_a_table_row_is_found_by_its_html() -> None:
    rows = "".join(f"<tr><td>{name}</td><td>{name * 2}</td></tr>" for name in ("a", "b", "c"))
    assert text_of("<tr><td>b</td><td>bb</td></tr>", f"<table>{rows}</table>") == "b\tbb"


@pytest.mark.parametrize(
    ("part", "why"),
    [
        (".nobody", "nothing like"),
        ("<p>Nobody has said this.</p>", "nothing like"),
        ("<!-- nothing -->", "nothing like"),
        ("//p/text()", "nothing like"),
        ("count(//p)", "has nothing like"),
        ("div[", "is not (a CSS selector|an XPath expression)"),
        ("//div[", "is not (a CSS selector|an XPath expression)"),
        ("//un:known", "is not (a CSS selector|an XPath expression)"),
        ("//p[.='\0']", "is not (a CSS selector|an XPath expression)"),
    ],
)
def test_what_is_no_part_of_the_page_is_an_error_that_names_it(part: str, why: str) -> None:
    with pytest.raises(PartError, match=why):
        find_part(page(), part)


def test_what_is_noise_in_a_part_goes_unless_that_is_most_of_it() -> None:
    whole = page()
    nodes = whole.nodes
    [report] = find_part(whole, "a[href='/report']")
    noise = [False] * len(nodes)
    noise[report.start : report.stop] = [True] * len(report)
    judged = noise_outside_part(whole, noise, find_part(whole, "#one"))
    assert [
        nodes.texts[node].strip() for node, gone in enumerate(judged) if nodes.tags[node] == TEXT and not gone
    ] == ["Ann", "I have seen it."]
    all_noise = [True] * len(nodes)
    assert noise_outside_part(whole, all_noise, find_part(whole, "#one")) == noise_outside_part(
        whole, None, find_part(whole, "#one")
    )


def test_the_noise_ratio_of_a_part_is_that_of_its_own_characters() -> None:
    denoiser = Denoiser("link_ratio")
    cleaned = denoiser.clean(page())
    assert denoiser.part(cleaned, "#two").noise_ratio == 0
    assert cleaned.clean_page.noise_ratio > 0


# --- of any page


def _elements(whole: Page) -> list[int]:
    return [node for node, tag in enumerate(whole.nodes.tags) if tag != TEXT]


@given(html_pages(40), st.data())
def test_of_any_page_only_the_part_and_what_it_stands_in_is_left(html: str, data: st.DataObject) -> None:
    whole = page(html)
    nodes = whole.nodes
    if whole.root is None:
        return
    chosen = data.draw(st.sampled_from(_elements(whole)))
    path = nodes.elements[chosen].getroottree().getpath(nodes.elements[chosen])
    assume(re.fullmatch(r"[\w/*\[\]-]+", path))  # lxml gives no XPath of elements like <news<
    noise = data.draw(st.none() | st.lists(st.booleans(), min_size=len(nodes), max_size=len(nodes)))
    inside = find_part(whole, path)
    outside = noise_outside_part(whole, noise, inside)
    assert inside == [range(chosen, nodes.ends[chosen])]
    above = {0} | {node for node in range(chosen) if nodes.ends[node] > chosen}
    assert [node for node in range(len(nodes)) if not outside[node] and node not in inside[0]] == sorted(
        above - {chosen}
    )
    assert not outside[chosen]
    below = range(chosen + 1, nodes.ends[chosen])
    characters = sum(whole.characters[node] for node in inside[0])
    gone = sum(whole.characters[node] for node in inside[0] if noise is not None and noise[node])
    if noise is None or gone > MAX_NOISE_SHARE * characters:
        assert not any(outside[node] for node in below)
    else:
        assert all(outside[node] == noise[node] for node in below)


@given(html_pages(40), st.sampled_from(["div", "*", "p, span", "td", "ul li", "b", "//*", "(//a)[last()]"]))
def test_of_any_page_the_subtrees_of_a_part_come_in_order_and_none_stands_in_another(html: str, part: str) -> None:
    whole = page(html)
    try:
        inside = find_part(whole, part)
    except PartError:
        return
    assert all(before.stop <= after.start for before, after in pairwise(inside))
    assert all(whole.nodes.ends[subtree.start] == subtree.stop for subtree in inside)


@given(html_pages(40), st.data())
def test_of_any_page_a_part_is_the_same_by_its_html_as_by_its_place(html: str, data: st.DataObject) -> None:
    whole = page(html)
    if whole.root is None:
        return
    texts = [node for node, tag in enumerate(whole.nodes.tags) if tag == TEXT]
    if not texts:
        return
    element = whole.nodes.elements[data.draw(st.sampled_from(texts))]
    if element.tag == "body":
        return
    part = etree.tostring(element, encoding="unicode", method="html", with_tail=False)
    path = element.getroottree().getpath(element)
    assume(re.fullmatch(r"[\w/*\[\]-]+", path))  # lxml gives no XPath of elements like <news<
    assert _letters(text_of(part, html)) == _letters(text_of(path, html))


@given(html_pages(), st.text() | html_pages())
def test_whatever_a_part_is_called_it_is_found_or_is_an_error_of_ours(html: str, part: str) -> None:
    whole = page(html)
    try:
        inside = find_part(whole, part)
    except PartError:
        return
    assert len(noise_outside_part(whole, None, inside)) == len(whole.nodes)


def _letters(text: str) -> str:
    return "".join(text.split())


def annotated_page(body: str) -> Page:
    return Page.parse("https://example.com/news/1", f"<html><body>{body}</body></html>")


def test_every_element_carries_type_coherence_and_density() -> None:
    html = annotated_html(annotated_page("<div><p>words</p><img src='/i.png'></div><a href='2'>next</a><br>"))
    assert html == (
        '<html><body data-node-type="text" data-coherence="0.2500" data-density="1.0000">'
        '<div data-node-type="text" data-coherence="0.5000" data-density="1.0000">'
        '<p data-node-type="text" data-coherence="1.0000" data-density="1.0000">words</p>'
        '<img src="https://example.com/i.png" data-node-type="image" data-coherence="1.0000"'
        ' data-density="0.0000"></div>'
        '<a href="https://example.com/news/2" data-node-type="link" data-coherence="1.0000"'
        ' data-density="0.0000">next</a>'
        '<br data-node-type="ignorable" data-coherence="1.0000" data-density="0.0000"></body></html>'
    )


def test_text_beside_elements_is_wrapped_and_the_text_of_a_leaf_is_not() -> None:
    root = etree.HTML(annotated_html(annotated_page("<p>one<b>two</b>three<!-- c -->four<br>five</p>")))
    paragraph = root.find("body/p")
    assert paragraph is not None
    assert [(child.tag, child.text) for child in paragraph] == [
        ("span", "one"),
        ("b", "two"),
        ("span", "threefour"),
        ("br", None),
        ("span", "five"),
    ]
    assert not paragraph.text
    assert not any(child.tail for child in paragraph)
    assert [span.get("data-density") for span in paragraph.iter("span")] == ["0.1579", "0.4737", "0.2105"]


def test_scripts_are_gone_and_the_pages_own_tree_is_untouched() -> None:
    one = annotated_page("<p>one<b>two</b></p><script>three</script>")
    assert one.root is not None
    before = etree.tostring(one.root)
    assert "three" not in annotated_html(one)
    assert etree.tostring(one.root) == before


def test_a_deep_page_and_an_empty_one_are_annotated() -> None:
    assert "words" in annotated_html(annotated_page("<div>" * 3_000 + "words" + "</div>" * 3_000))
    assert annotated_html(Page.parse("https://example.com/", "")).startswith(
        '<html><body data-node-type="ignorable"'
    )


def shown(html: str) -> str:
    """The letters of a page; where white space falls is not at issue."""
    return "".join(clean_text(Page.parse("https://example.com/", html)).split())


@given(html=html_pages())
def test_the_annotated_page_has_the_same_visible_text(html: str) -> None:
    one = Page.parse("https://example.com/", html)
    assert shown(annotated_html(one)) == "".join(clean_text(one).split())


@given(html=html_pages())
def test_the_figures_in_the_markup_are_those_of_the_annotation(html: str) -> None:
    one = Page.parse("https://example.com/", html)
    annotation = annotate(one)
    root = etree.fromstring(annotated_html(one), etree.HTMLParser(huge_tree=True))
    written = sorted(
        element.get("data-density") or "" for element in root.iter() if "data-node-type" in element.attrib
    )
    assert len(written) <= len(one.nodes)
    assert set(written) <= {f"{value:.4f}" for value in annotation.density}
