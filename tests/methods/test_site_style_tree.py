"""The site style tree, its sketches and its bytes."""

import random
from collections.abc import Iterator
from typing import NamedTuple

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from denoise_crawler import SiteStyleTree
from denoise_crawler.errors import TreeFormatError
from denoise_crawler.methods.bottom_k_sample import BottomKSample
from denoise_crawler.methods.style_tree.page_nodes import encode
from denoise_crawler.methods.style_tree.tree import ElementNode
from denoise_crawler.page import Page
from tests.methods.style_tree_definition import Definition, combine_importance, entropy, labels_of, node_importance
from tests.strategies import html_pages


def page(number: int, html: str) -> Page:
    return Page.parse(f"https://example.com/{number}", html)


def tree_of(*bodies: str, **options: object) -> SiteStyleTree:
    tree = SiteStyleTree(**options)  # type: ignore[arg-type]
    for number, body in enumerate(bodies):
        tree.add(page(number, body))
    tree.refresh()
    return tree


def walk(root: ElementNode) -> Iterator[tuple[int, ElementNode]]:
    """Yield (depth, element node) for ``root`` and the unfolded nodes below it, parents first."""
    waiting = [(0, root)]
    while waiting:
        depth, element = waiting.pop()
        yield depth, element
        below = [child for style in element.styles.values() for child in style.children]
        waiting.extend((depth + 1, child) for child in reversed(below))


def find(tree: SiteStyleTree, *path: str) -> ElementNode:
    """The element node that is reached by labels, the first of each."""
    element = tree.root
    for label in path:
        below = [child for style in element.styles.values() for child in tree.unfold(style)]
        element = next(child for child in below if child.label == label)
    return element


# --- the worked examples of the blog


def test_the_blogs_text_leaf_has_importance_three_quarters() -> None:
    sources = ("新华网", "人民网", "CCTV")
    tree = tree_of(*(f"<p>来源 {name}</p>" for name in sources))
    assert find(tree, "p", "#text").importance == pytest.approx(0.75, abs=1e-5)


def test_the_blogs_two_style_nodes_on_three_pages_have_node_importance_057938() -> None:
    assert node_importance([2, 1], 3) == pytest.approx(0.57938, abs=1e-5)
    tree = tree_of("<div><p>a</p></div>", "<div><p>b</p></div>", "<div><b>c</b></div>")
    div = find(tree, "div")
    assert sorted(style.pages for style in div.styles.values()) == [1, 2]
    below = (0.9 * 1.0) * 2 / 3 + 0.9 * 1.0 / 3  # text of one page's own has importance 1, its p and b 0.9
    assert div.importance == pytest.approx((1 - 0.81) * 0.57938 + 0.81 * below, abs=1e-5)


@pytest.mark.parametrize("presence", [False, True])
def test_entropy_reads_p_as_share_of_occurrences_or_of_pages(presence: bool) -> None:
    tree = tree_of("<p>a a a a a</p>", "<p>a</p>", "<p>a</p>", presence=presence)
    leaf = find(tree, "p", "#text").importance
    assert leaf == pytest.approx(0.0 if presence else 0.275, abs=1e-3)
    assert leaf == pytest.approx(1 - entropy([5, 1, 1], 3, presence=presence), abs=1e-9)


def test_on_one_page_an_inner_node_has_the_node_importance_that_the_rule_says() -> None:
    assert node_importance([1], 1) == 0.0
    assert node_importance([1], 1, single_page=1.0) == 1.0
    html = "<div><p>a</p></div>"
    blog, kdd = tree_of(html), tree_of(html, single_page=1.0)
    one = blog.importances(page(0, html))
    other = kdd.importances(page(0, html))
    assert [round(s.importance, 5) for s in one] == [0.729, 0.81, 0.9, 1.0]
    assert [round(s.importance, 5) for s in other] == [1.0, 1.0, 1.0, 1.0]


def test_gamma_weighs_the_node_itself_against_what_is_below() -> None:
    bodies = ("<p>a</p>", "<p>b</p>")
    assert tree_of(*bodies).root.importance == pytest.approx(0.9 * 0.9)
    assert tree_of(*bodies, gamma=0.5).root.importance == pytest.approx(0.25)


def test_leaves_without_features_have_importance_0_and_links_and_images_have_their_addresses() -> None:
    tree = tree_of("<br><img src=a><a href=x>t</a>", "<br><img src=b><a href=x>t</a>")
    assert find(tree, "br").importance == 0.0
    assert find(tree, "img").importance == pytest.approx(1.0)  # another image on each page
    assert find(tree, "a", "#text").importance == pytest.approx(0.0)


def test_relative_and_absolute_links_to_one_place_are_one_feature() -> None:
    tree = tree_of("<a href='/x'>t</a>", "<a href='https://example.com/x'>t</a>")
    assert find(tree, "a", "#text").importance == pytest.approx(0.0)


def test_links_that_name_their_own_page_are_alike_on_all_pages() -> None:
    tree = tree_of(*(f"<a href='/login?back=/{number}'>t</a><b><a href='#top'>t</a></b>" for number in range(3)))
    assert find(tree, "a", "#text").importance == pytest.approx(0.0)
    assert find(tree, "b", "a", "#text").importance == pytest.approx(0.0)


def test_links_that_only_begin_like_their_own_page_are_left_alone() -> None:
    links = "<a href='/1999/x'>t</a><b><a href='/x/1'>t</a></b><i><a href='/?a=/1x'>t</a></i>"
    tree = tree_of(*(links for _ in range(3)))
    for label in ((), ("b",), ("i",)):
        assert find(tree, *label, "a", "#text").importance == pytest.approx(0.0)


def test_text_below_an_element_with_children_counts_only_with_the_data_node() -> None:
    assert combine_importance(0.5, 0.5) == 0.5
    assert combine_importance(0.0, 0.0) == 0.0
    assert combine_importance(0.2, 0.6) == pytest.approx(0.25 * 0.2 + 0.75 * 0.6)
    bodies = ("<div>one<p>x</p></div>", "<div>two<p>x</p></div>")
    former = 0.9 * (1.0 + 0.0) / 2
    assert find(tree_of(*bodies), "div").importance == pytest.approx(former)
    assert find(tree_of(*bodies, data_node=True), "div").importance == pytest.approx(
        combine_importance(former, 1.0)
    )


def test_runs_of_equal_siblings_are_one_style_when_collapsed() -> None:
    bodies = ("<ul><li>a<li>b</ul>", "<ul><li>a<li>b<li>c</ul>", "<ul><li>a</ul>")
    assert len(find(tree_of(*bodies), "ul").styles) == 3
    ul = find(tree_of(*bodies, collapse=True), "ul")
    assert [style.pages for style in ul.styles.values()] == [3]
    assert find(tree_of(*bodies, collapse=True), "ul", "li").pages == 3


def test_numbers_and_hashes_in_class_and_id_make_no_label_of_their_own() -> None:
    found = page(
        0, "<div class='post-123 x' id='b3f9a0c1'></div><div class='h2o grid'></div><td width='50%'></td>"
    )
    assert labels_of(found)[1:3] == ["div|class=post- x", "div|class=ho grid"]


def test_a_word_that_comes_back_on_later_pages_pulls_its_leaf_down() -> None:
    few = tree_of("<p>fresh words</p>", "<p>other things</p>")
    many = tree_of("<p>fresh words</p>", "<p>other things</p>", "<p>fresh words</p>", "<p>fresh words</p>")
    assert find(many, "p", "#text").importance < (find(few, "p", "#text").importance)


# --- learning, merging, forgetting

SITE = st.lists(html_pages(12), min_size=1, max_size=7)
OPTIONS = st.fixed_dictionaries(
    {"max_pages": st.sampled_from([2, 3, 100]), "collapse": st.booleans(), "data_node": st.booleans()}
    | {"features_per_leaf": st.sampled_from([1, 2, 64])}
)


def learned(pages: list[Page], options: dict[str, object]) -> SiteStyleTree:
    tree = SiteStyleTree(**options)  # type: ignore[arg-type]
    for one in pages:
        tree.add(one)
    return tree


RULES = st.fixed_dictionaries(
    {"collapse": st.booleans(), "data_node": st.booleans(), "presence": st.booleans()}
    | {"gamma": st.sampled_from([0.3, 0.9]), "single_page": st.sampled_from([0.0, 1.0])}
)


@settings(max_examples=200)
@given(SITE, RULES, st.randoms())
def test_importance_is_that_of_the_definition_in_whatever_order_pages_come(
    bodies: list[str], rules: dict[str, object], chance: random.Random
) -> None:
    pages = [page(number, body) for number, body in enumerate(bodies)]
    tree = learned(chance.sample(pages, len(pages)), {**rules, "features_per_leaf": 1_000})
    defined = Definition(pages, **rules)  # type: ignore[arg-type]
    for number, one in enumerate(pages):
        for node, standing in enumerate(tree.importances(one)):
            pages_with, importance, peak = defined.standings[number][node]
            assert standing.pages == pages_with
            assert standing.importance == pytest.approx(importance, abs=1e-9)
            assert standing.peak == pytest.approx(peak, abs=1e-9)


def test_a_word_that_stands_on_a_page_more_than_4095_times_counts_as_4095() -> None:
    trees = [tree_of("<p>" + "word " * count, "<p>word") for count in (4_095, 9_000)]
    assert find(trees[0], "p", "#text").importance == find(trees[1], "p", "#text").importance


@settings(max_examples=50)
@given(st.lists(html_pages(12), min_size=8, max_size=16), OPTIONS)
def test_a_tree_that_forgot_more_than_it_knows_is_that_of_the_pages_that_it_knows(
    bodies: list[str], options: dict[str, object]
) -> None:
    pages = sorted((page(number, body) for number, body in enumerate(bodies)), key=lambda one: -one.key)
    options = {**options, "max_pages": 2}
    forgetful, never_knew = learned(pages, options), learned(pages[-2:], options)
    for one in pages:
        assert forgetful.importances(one) == never_knew.importances(one)
    assert forgetful.to_bytes() == never_knew.to_bytes()


def test_of_many_features_those_with_the_lowest_hash_stay_whatever_the_order() -> None:
    words = [f"w{number}" for number in range(500)]
    pages = [page(number, f"<p>{' '.join(random.Random(number).sample(words, 200))}</p>") for number in range(8)]
    one, other = SiteStyleTree(features_per_leaf=32), SiteStyleTree(features_per_leaf=32)
    whole = SiteStyleTree(features_per_leaf=10_000)
    for first, second in zip(pages, reversed(pages), strict=True):
        one.add(first)
        other.add(second)
        whole.add(first)
    for tree in (one, other, whole):
        tree.refresh()
    assert one.to_bytes() == other.to_bytes()
    sampled, exact = (find(tree, "p", "#text").importance for tree in (one, whole))
    assert sampled == pytest.approx(exact, abs=3 * 0.5 / 32**0.5)


def test_a_tree_stays_small_however_many_pages_come() -> None:
    tree, sizes = SiteStyleTree(max_pages=20), []
    for number in range(400):
        tree.add(
            page(
                number, f"<h1>{number}</h1><p>{'a b c ' * 9}</p><div class='n'>menu</div>" + "<br>" * (number % 7)
            )
        )
        sizes.append(len(tree.to_bytes()) if number % 100 == 99 else 0)
    assert tree.pages == 20
    assert sizes[399] <= 1.1 * sizes[99]
    assert sum(1 for _ in walk(tree.root)) < 200


def test_trees_with_another_number_of_features_cannot_be_merged() -> None:
    with pytest.raises(ValueError, match="features_per_leaf"):
        SiteStyleTree().merge(SiteStyleTree(features_per_leaf=3))


class Value(NamedTuple):
    key: int
    body: bytes = b""


def body(value: Value) -> bytes:
    return value.body


VALUES = st.lists(st.builds(Value, st.integers(0, 9), st.binary(max_size=1)), max_size=12)


def sample(values: list[Value], limit: int = 3) -> BottomKSample[Value]:
    made = BottomKSample(limit, body)
    made.merge(values)
    return made


@given(values=VALUES, limit=st.integers(1, 5))
def test_the_lowest_keys_stay_each_with_the_lowest_bytes(values: list[Value], limit: int) -> None:
    lowest = sorted({value.key for value in values})[:limit]
    expected = [min(value for value in values if value.key == key) for key in lowest]
    assert list(sample(values, limit)) == expected


@given(values=VALUES, limit=st.integers(1, 5), lower=st.integers(1, 6))
def test_what_leaves_and_what_stays_are_all_that_came_in(values: list[Value], limit: int, lower: int) -> None:
    found, inside = BottomKSample[Value](limit, body), list[Value]()
    for value in values:
        wanted = found.wants(value.key)
        gone = found.add(value)
        if wanted or found.get(value.key) is value:
            inside = [one for one in [*inside, value] if not any(one is left for left in gone)]
        assert not wanted or value.key in found
        assert sorted(inside) == list(found)
    gone = found.shrink(lower)
    assert sorted([*gone, *found]) == sorted(inside)
    assert found.limit == min(limit, lower)
    assert len(found) == min(len(inside), found.limit)


def test_a_tree_with_limits_out_of_range_is_refused_and_takes_nothing_away() -> None:
    tree = tree_of("<p>some text</p>")
    with pytest.raises(TreeFormatError, match="below 1"):
        tree.merge_bytes(encode(0, 64, []))
    with pytest.raises(TreeFormatError, match="more than 1,048,575 pages"):
        tree.merge_bytes(encode(2**20, 64, []))
    assert tree.pages == 1
