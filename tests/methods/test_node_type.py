import pytest
from hypothesis import given

from denoise_crawler.methods import MethodChoice, apply_guard
from denoise_crawler.methods.base import Judgement
from denoise_crawler.methods.node_type import IGNORABLE_TAGS, NodeType, annotate
from denoise_crawler.output.clean_text import clean_text
from denoise_crawler.page import TEXT, Page
from tests.strategies import html_pages

MENU = f"<ul>{'<li><a href=/>kk</a></li>' * 20}</ul>"
ELSEWHERE = f"<p>{'t' * 60}</p>{MENU}"
NEVER_NODES = {"script", "style", "noscript"}  # a page's nodes are made without them


def page(html: str) -> Page:
    return Page.parse("https://example.com/", f"<html><body>{html}</body></html>")


def at(one: Page, name: str = "x") -> int:
    return next(i for i, element in enumerate(one.nodes.elements) if element.get("id") == name)


def type_of(html: str, name: str = "x") -> NodeType:
    one = page(html)
    return annotate(one).types[at(one, name)]


def judged(html: str, **options: object) -> tuple[Page, Judgement]:
    one = page(html)
    return one, MethodChoice("node_type", options).new().judge(one)


def kept(html: str, **options: object) -> str:
    one, judgement = judged(html, **options)
    return clean_text(one, judgement.noise)


@pytest.mark.parametrize(
    ("html", "expected"),
    [
        ("<p id=x>words</p>", NodeType.TEXT),
        ("<a id=x href=/>words</a>", NodeType.LINK),
        ("<a id=x name=top></a>", NodeType.IGNORABLE),
        ("<img id=x>", NodeType.IMAGE),
        ("<div id=x></div>", NodeType.IGNORABLE),
        ("<hr id=x>", NodeType.IGNORABLE),
        ("<a href=/><b id=x>words</b></a>", NodeType.LINK),
        ("<a href=/><i id=x></i>words</a>", NodeType.IGNORABLE),
    ],
)
def test_a_leaf_has_the_type_of_what_it_is(html: str, expected: NodeType) -> None:
    assert type_of(html + ELSEWHERE) is expected


@pytest.mark.parametrize("tag", sorted(IGNORABLE_TAGS - NEVER_NODES))
def test_the_papers_ignorable_tags_are_ignorable(tag: str) -> None:
    assert type_of(f"<{tag} id=x></{tag}>" + ELSEWHERE) is NodeType.IGNORABLE


@pytest.mark.parametrize(
    ("inside", "expected"),
    [
        ("<img><b></b>", NodeType.IMAGE),
        ("<img><b>w</b>", NodeType.TEXT),
        ("<img><a></a>", NodeType.LINK),
        ("<b></b><b></b>", NodeType.IGNORABLE),
        ("<b>w</b><b></b>", NodeType.TEXT),
    ],
)
def test_an_inner_node_is_an_image_only_if_it_holds_nothing_else(inside: str, expected: NodeType) -> None:
    assert type_of(f"<div id=x>{inside}</div>" + ELSEWHERE) is expected


def test_a_tie_of_the_shares_is_text_but_nothing_is_pruned_from_it() -> None:
    assert type_of(f"<div id=x>{ELSEWHERE}</div>") is NodeType.TEXT
    html = "<div><p>aaaa</p><p>bbbb</p></div><i>c</i>"
    assert kept(html, density=0.8) == "aaaa\nbbbb\nc"  # the body is the second candidate …
    assert kept(html + "<hr><a href=/>k</a>", density=0.8) == "aaaa\nbbbb"  # … but not when it holds all links


STORY = f"<div><p>{'s' * 40}</p><p>{'s' * 40}</p></div>"
FOOT = "<div><p>foot</p><a href=/>k</a></div>"


def test_pruning_starts_from_the_second_candidate_which_holds_title_and_date() -> None:
    html = f"<div><h1>title</h1><i>date</i>{STORY}</div>{FOOT}"
    text = f"title\ndate\n{'s' * 40}\n{'s' * 40}"
    assert kept(html, density=0.7) == text
    assert kept(f"<div><h6>far</h6>{html}</div>" + FOOT, density=0.7) == text


def test_pruning_starts_from_the_only_candidate() -> None:
    one, judgement = judged(f"<h1>title</h1>{STORY}{FOOT}", density=0.8)
    assert clean_text(one, judgement.noise) == f"{'s' * 40}\n{'s' * 40}"
    assert judgement.reason(one.nodes.texts.index("title")) == "outside the pruned node"
    assert judgement.reason(0) == "holds the pruned node"


def test_without_a_candidate_pruning_starts_from_the_body() -> None:
    two = f"<div><p>{'a' * 9}</p></div><div><p>{'b' * 9}</p></div><hr><a href=/>k</a>"
    assert kept(two, density=0.8) == f"{'a' * 9}\n{'b' * 9}"


def test_a_text_node_whose_density_is_the_threshold_is_no_candidate() -> None:
    html = "<div><p>aaaa</p><p>bbbb</p></div><i>{}</i><hr><a href=/>k</a>"
    assert kept(html.format("c"), density=0.8) == "aaaa\nbbbb"  # 8 of 9
    assert kept(html.format("cc"), density=0.8) == "aaaa\nbbbb\ncc"  # 8 of 10, so it is pruned from the body


def coherent(paragraphs: int) -> str:
    whole = f"<div id=x>{'<p>words</p>' * paragraphs}<ul><li><a href=/>more</a></li></ul></div>"
    return whole + MENU


def test_a_text_node_over_the_threshold_is_taken_whole() -> None:
    one, judgement = judged(coherent(10))
    assert clean_text(one, judgement.noise).endswith("words\n- more")
    assert judgement.scores[at(one)] == 10 / 11
    assert judgement.reason(at(one)) == "text node, coherence 0.91 over 0.9"
    assert judgement.reason(at(one) + 1) == "within: text node, coherence 0.91 over 0.9"


def test_a_text_node_on_the_threshold_is_opened() -> None:
    one, judgement = judged(coherent(9))
    assert clean_text(one, judgement.noise).endswith("words\nwords")
    assert judgement.reason(at(one)) == "text node, coherence 0.90 not over 0.9: its children decide"
    assert judgement.reason(at(one) + 1) == "text leaf"


@pytest.mark.parametrize(
    ("attributes", "stays", "why"),
    [
        ("width=100", True, "image, 100 px or more wide"),
        ("width=99", False, "image, less than 100 px wide"),
        ("style='width: 640px' width=10", True, "image, 100 px or more wide"),
        ("data-box='0 0 40 40' width=640", False, "image, less than 100 px wide"),
        ("", True, "image of unknown width"),
        ("width='50%'", True, "image of unknown width"),
    ],
)
def test_images_are_content_from_100_pixels_on(attributes: str, stays: bool, why: str) -> None:
    for image in (f"<img id=x {attributes}>", f"<div><img id=x {attributes}><b></b></div>"):
        one, judgement = judged(f"<div><p>words</p>{image}</div>", coherence=1.0)
        assert judgement.noise[at(one)] is not stays
        assert judgement.reason(at(one)) == why


def test_a_linked_image_is_a_link_and_noise() -> None:
    one, judgement = judged(f"<div>{STORY}<hr><a href=/><img id=x width=500></a></div>{MENU}", density=0.8)
    assert annotate(one).types[at(one)] is NodeType.LINK
    assert judgement.noise[at(one)]
    assert judgement.reason(at(one)) == "within: link node without a text neighbour"


@pytest.mark.parametrize(
    ("line", "stays"),
    [
        ("words <a id=x href=/>link</a><br>", True),
        ("<br><a id=x href=/>link</a> words", True),
        ("words<br><a id=x href=/>link</a><br>words", False),
        ("words<br><a id=x href=/>link</a><a href=/>link</a> words", False),
    ],
)
def test_a_link_stays_if_a_neighbouring_sibling_is_text(line: str, stays: bool) -> None:
    one, judgement = judged(f"<div>{line}</div>{MENU}", coherence=1.0)
    assert judgement.noise[at(one)] is not stays


def test_a_block_of_links_beside_text_is_noise_unless_told_otherwise() -> None:
    html = f"<div><p>{'t' * 60}</p><ul id=x><li><a href=/>one</a></li><li><a href=/>two</a></li></ul></div>{MENU}"
    one, judgement = judged(html)
    assert judgement.reason(at(one)) == "link node beside a text node, but not in a line of text"
    assert judgement.noise[at(one)]
    one, judgement = judged(html, inline_links=False)
    assert judgement.reason(at(one)) == "link node beside a text node"
    assert not judgement.noise[at(one)]


def test_ignorable_nodes_are_skipped() -> None:
    one, judgement = judged("<div><p>words words</p><label id=x>Name <input></label></div>")
    assert clean_text(one, judgement.noise) == "words words"
    assert judgement.reason(at(one)) == "ignorable node"


@pytest.mark.parametrize("tag", ["form", "label", "button"])
def test_an_ignorable_tag_that_holds_most_of_the_text_has_the_type_of_its_content(tag: str) -> None:
    html = f"<{tag} id=x><div><p>words words</p><p>words words</p></div></{tag}><form><p>words</p></form>"
    assert type_of(html) is NodeType.TEXT
    assert kept(html) == "words words\nwords words"
    one, judgement = judged(html, ignorable_share=1.0)
    assert all(judgement.noise)
    assert apply_guard(one, judgement).guarded


@given(html=html_pages())
def test_the_statistics_of_a_node_are_those_of_its_children_and_its_own(html: str) -> None:
    one = Page.parse("https://example.com/", html)
    nodes, counted = one.nodes, annotate(one).statistics
    for index, tag in enumerate(nodes.tags):
        if tag is TEXT:
            continue
        children = list(nodes.children(index))
        assert counted.links[index] == (tag == "a") + sum(counted.links[child] for child in children)
        assert counted.images[index] == (tag == "img") + sum(counted.images[child] for child in children)
        for column in (counted.link_characters, counted.text_characters):
            assert column[index] == sum(column[child] for child in children)
