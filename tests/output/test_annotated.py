"""The page as the paper annotates it."""

from hypothesis import given
from lxml import etree

from denoise_crawler.methods.node_type import annotate
from denoise_crawler.output.clean_text import clean_text
from denoise_crawler.output.painted import annotated_html
from denoise_crawler.page import Page
from tests.strategies import html_pages


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
