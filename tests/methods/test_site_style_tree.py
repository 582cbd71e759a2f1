"""The site style tree: the sources' worked examples, merging and forgetting, its bytes."""

import random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from denoise_crawler import SiteStyleTree
from denoise_crawler.errors import KnowledgeFormatError
from denoise_crawler.methods.style_tree.tree import ElementNode
from denoise_crawler.page import Page
from tests.memory import bytes_held
from tests.methods.style_tree_definition import Definition, entropy, labels_of, node_importance
from tests.strategies import html_pages


def page(number: int, html: str) -> Page:
    return Page.parse(f"https://example.com/{number}", html)


def tree_of(*bodies: str, **options: object) -> SiteStyleTree:
    tree = learned([page(number, body) for number, body in enumerate(bodies)], options)
    tree.refresh()
    return tree


def learned(pages: list[Page], options: dict[str, object]) -> SiteStyleTree:
    tree = SiteStyleTree(**{"collapse": False, **options})  # type: ignore[arg-type]
    for one in pages:
        tree.observe(one)
    return tree


def find(tree: SiteStyleTree, *path: str) -> ElementNode:
    """The element node that is reached by labels, the first of each."""
    element = tree.root
    for label in path:
        below = [child for style in element.styles.values() for child in tree.children_of(style)]
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
    one = blog.elements_of(page(0, html))
    other = kdd.elements_of(page(0, html))
    assert [round(s.importance, 5) for s in one] == [0.729, 0.81, 0.9, 1.0]
    assert [round(s.importance, 5) for s in other] == [1.0, 1.0, 1.0, 1.0]


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


def test_numbers_and_hashes_in_class_and_id_make_no_label_of_their_own() -> None:
    found = page(
        0, "<div class='post-123 x' id='b3f9a0c1'></div><div class='h2o grid'></div><td width='50%'></td>"
    )
    assert labels_of(found)[1:3] == ["div|class=post- x", "div|class=ho grid"]


# --- learning, merging, forgetting, writing and reading

SITE = st.lists(html_pages(12), min_size=1, max_size=7)
OPTIONS = st.fixed_dictionaries(
    {"max_pages": st.sampled_from([2, 3, 100]), "single_page": st.sampled_from([0.0, 1.0])}
    | {"gamma": st.sampled_from([0.3, 0.9]), "features_per_leaf": st.just(1_000)}
    | {option: st.booleans() for option in ("collapse", "data_node", "presence")}
)


@settings(max_examples=60)
@given(SITE, OPTIONS, st.randoms())
def test_importance_is_that_of_the_definition_however_pages_are_learned_merged_read_and_forgotten(
    bodies: list[str], options: dict[str, Any], chance: random.Random
) -> None:
    pages = [page(number, body) for number, body in enumerate(bodies)]
    kept = sorted(pages, key=lambda one: one.key)[: options["max_pages"]]
    shuffled, cut = chance.sample(pages, len(pages)), chance.randint(0, len(pages))
    tree = learned(shuffled[:cut], options)
    if chance.random() < 0.5:
        tree.refresh()
    tree.merge(learned(shuffled[cut:], options))
    tree.merge(learned(pages[:1], options))  # which it knows
    back = learned([], options)
    back.merge_bytes(tree.to_bytes())
    assert back.to_bytes() == tree.to_bytes() == learned(kept, options).to_bytes()
    rules = {name: value for name, value in options.items() if name not in ("max_pages", "features_per_leaf")}
    defined = Definition(kept, **rules)
    for one, standings in zip(kept, defined.standings, strict=True):
        expected = [pytest.approx(standings[node], abs=1e-9) for node in range(len(one.nodes))]
        for found in (tree, back):
            assert [(node.pages, node.importance, node.peak) for node in found.elements_of(one)] == expected


def test_a_word_that_stands_on_a_page_more_than_4095_times_counts_as_4095() -> None:
    trees = [tree_of("<p>" + "word " * count, "<p>word") for count in (4_095, 9_000)]
    assert find(trees[0], "p", "#text").importance == find(trees[1], "p", "#text").importance


def test_of_many_features_those_with_the_lowest_hash_stay_whatever_the_order() -> None:
    words = [f"w{number}" for number in range(500)]
    pages = [page(number, f"<p>{' '.join(random.Random(number).sample(words, 200))}</p>") for number in range(8)]
    one, other = (learned(order, {"features_per_leaf": 32}) for order in (pages, pages[::-1]))
    whole = learned(pages, {"features_per_leaf": 10_000})
    for tree in (one, whole):
        tree.refresh()
    assert one.to_bytes() == other.to_bytes()
    sampled, exact = (find(tree, "p", "#text").importance for tree in (one, whole))
    assert sampled == pytest.approx(exact, abs=3 * 0.5 / 32**0.5)


def test_a_tree_stays_small_however_many_pages_come() -> None:
    tree, sizes = SiteStyleTree(max_pages=20, collapse=False), []
    for number in range(400):
        changing = f"<h1>{number}</h1><p>{'a b c ' * 9}</p><div class='n'>menu</div>" + "<br>" * (number % 7)
        tree.observe(page(number, changing))
        sizes.append(len(tree.to_bytes()) if number % 100 == 99 else 0)
    assert tree.pages_known == 20
    assert sizes[399] <= 1.1 * sizes[99]
    assert bytes_held(tree.root) < 25_000


def test_trees_with_another_number_of_features_cannot_be_merged() -> None:
    few = SiteStyleTree(features_per_leaf=3)
    with pytest.raises(ValueError, match="features_per_leaf"):
        SiteStyleTree().merge(few)
    with pytest.raises(KnowledgeFormatError, match="features_per_leaf is 3, not 64"):
        SiteStyleTree().merge_bytes(few.to_bytes())
