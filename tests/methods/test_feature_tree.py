from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from denoise_crawler.methods.feature_tree.matching import (
    FULL_SIMILARITY,
    Matching,
    kind_similarities,
    match,
    match_top_down,
    to_420ths,
)
from denoise_crawler.methods.feature_tree.nodes import CONTENT_TAGS, FeatureTree, build_target
from denoise_crawler.page import Boxes, Page

TS = 0.5


def page(html: str, name: str = "a", boxes: "Boxes | None" = None) -> Page:
    return Page.parse(f"https://example.com/{name}", html, boxes=boxes)


def tree(html: str, name: str = "a") -> FeatureTree:
    return build_target(page(html, name)).tree


def similarities(target: Page, similar: Page, threshold: float = TS) -> dict[tuple[str, str], Fraction]:
    """The similarity of each two elements, named by their tags in level order: ``p``, ``p.2`` …"""
    one, other = build_target(target).tree, build_target(similar).tree
    found = kind_similarities(one, other, to_420ths(threshold))
    return {
        (name, other_name): Fraction(int(found[other.kinds[row], one.kinds[column]]), FULL_SIMILARITY)
        for column, name in enumerate(names(target))
        for row, other_name in enumerate(names(similar))
    }


def names(of: Page) -> list[str]:
    found: list[str] = []
    for index in build_target(of).order:
        tag = of.nodes.tags[index]
        before = sum(name.partition(".")[0] == tag for name in found)
        found.append(f"{tag}.{before + 1}" if before else tag)
    return found


# --- the rules of similarity, each on two pages where it alone decides


def test_rule_1_nodes_of_different_tags_are_not_similar() -> None:
    found = similarities(page("<ul id=x class=y></ul>"), page("<ol id=x class=y></ol>"))
    assert found["ul", "ol"] == 0
    assert similarities(page("<ul id=x class=y></ul>"), page("<ul id=x class=y></ul>"))["ul", "ul"] == 1


def test_rule_2_two_bodies_are_wholly_similar_whatever_differs() -> None:
    found = similarities(page("<body id=x class=y>one"), page("<body id=z>quite another text"))
    assert found["body", "body"] == 1


def test_rule_3_a_body_is_similar_to_nothing_else() -> None:
    found = similarities(page("<body id=x class=y><div id=x class=y></div>"), page("<body id=x class=y>"))
    assert found["div", "body"] == 0
    assert found["body", "body"] == 1


def test_rule_4_nodes_whose_parents_are_not_similar_are_not_similar() -> None:
    inner = "<ul id=same></ul>"
    assert similarities(page(f"<div id=x>{inner}</div>"), page(f"<div id=x>{inner}</div>"))["ul", "ul"] == 1
    found = similarities(page(f"<div id=x class=a>{inner}</div>"), page(f"<div id=y class=b>{inner}</div>"))
    assert found["div", "div"] == Fraction(1, 3)
    assert found["ul", "ul"] == 0


@pytest.mark.parametrize("tag", sorted(CONTENT_TAGS))
def test_rule_5_content_nodes_are_similar_if_their_inner_html_is_equal(tag: str) -> None:
    one, same, other = (page(f"<{tag} id={name}>{text}</{tag}>") for name, text in ("xa", "ya", "xb"))
    assert similarities(one, same)[tag, tag] == 1
    assert similarities(one, other)[tag, tag] == 0


def test_rule_5_looks_at_the_tags_attributes_and_absolute_addresses_inside() -> None:
    def inner(html: str, address: str = "https://example.com/a/b") -> Page:
        return Page.parse(address, f"<p>{html}</p>")

    one = inner("see <a href=c>that</a>")
    assert similarities(one, inner("see <a href=/a/c>that</a><!-- note --><script>x</script>"))["p", "p"] == 1
    assert similarities(one, inner("see <a href=c>that</a>", "https://example.com/z"))["p", "p"] == 0
    assert similarities(one, inner("see <a href=c class=x>that</a>"))["p", "p"] == 0
    assert similarities(one, inner("see <i>that</i>"))["p", "p"] == 0
    assert similarities(inner("a<b>b</b>c"), inner("<b>ab</b>c"))["p", "p"] == 0


def test_rule_6_a_content_node_is_not_similar_to_a_structure_node() -> None:
    structure, content = "<div id=x><ul><li>long text inside</ul></div>", "<div id=x>long text inside</div>"
    assert similarities(page(structure), page(content))["div", "div"] == 0
    assert similarities(page(structure), page(structure))["div", "div"] == 1


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [
        ("<div>", "<div>", Fraction(1)),  # depth alone
        ("<div id=a>", "<div id=a>", Fraction(1)),
        ("<div id=a>", "<div id=b>", Fraction(1, 2)),
        ("<div id=a>", "<div>", Fraction(1, 2)),
        ("<div class='x  y'>", "<div class='x y'>", Fraction(1)),
        ("<div class=x>", "<div class=y>", Fraction(1, 2)),
        ("<div id=a class=x>", "<div id=a class=y>", Fraction(2, 3)),
        ("<div width=10 height=5>", "<div style='height:5px;width:9px'>", Fraction(2, 3)),
        ("<div width=10>", "<div width=10%>", Fraction(1, 2)),
        ("<div width=0>", "<div>", Fraction(1, 2)),
        ("<div style='left:1px;top:2px'>", "<div style='left:1px;top:3px'>", Fraction(2, 3)),
        ("<div id=a class=x width=1 height=2 style='left:3px;top:4px'>", "<div>", Fraction(1, 7)),
    ],
)
def test_rule_7_structure_nodes_are_similar_by_the_share_of_equal_features(
    one: str, other: str, expected: Fraction
) -> None:
    assert similarities(page(one), page(other))["div", "div"] == expected


def test_nodes_of_different_depth_are_never_similar_since_their_ancestors_are_not() -> None:
    found = similarities(page("<ul class=x></ul>"), page("<div><ul class=x></ul></div>"), 0.1)
    assert found["ul", "ul"] == 0


def test_rule_7_reads_the_boxes_of_a_rendered_page_from_its_attributes_or_from_a_mapping() -> None:
    attributes = page("<div data-box='0 0 100 50'></div>")
    mapping = page("<div></div>", boxes={"/html/body/div": (0, 0, 100, 50)})
    wider = page("<div></div>", boxes={"/html/body/div": (0, 0, 120, 50)})
    assert similarities(attributes, mapping)["div", "div"] == 1
    assert similarities(attributes, wider)["div", "div"] == Fraction(4, 5)


def test_a_rendered_and_an_unrendered_page_are_compared_without_their_lengths() -> None:
    drawn, plain = page("<div id=x width=9 data-box='0 0 9 5'></div>"), page("<div id=x width=8></div>")
    assert similarities(drawn, plain)["div", "div"] == 1


def test_a_node_with_more_than_three_quarters_of_the_text_below_as_its_own_is_a_content_node() -> None:
    at_the_rate, above = "<div>123456<i>78</i></div>", "<div>1234567<i>89</i></div>"
    for html, content in ((at_the_rate, False), (above, True)):
        found = tree(html)
        assert bool(found.features[found.kinds[1], 1]) is content


# --- the table, its directions and the way back


def matched(target: str, similar: str, threshold: float = TS) -> Matching:
    return match(tree(target), tree(similar, "b"), to_420ths(threshold))


def test_of_equal_scores_the_way_back_goes_diagonally_first() -> None:
    found = matched("<ul></ul>", "<ul></ul><ul></ul>")
    assert found.partners.tolist() == [0, 2]  # up would lead to the first ul


def test_a_pair_without_any_similarity_is_a_replacement_not_a_deletion() -> None:
    found = matched("<ul></ul>", "<ol></ol>")
    assert found.partners.tolist() == [0, 1]
    assert found.candidates(to_420ths(TS)).tolist() == [1]


def test_of_up_and_left_with_equal_scores_the_way_back_goes_up() -> None:
    found = matched("<ul></ul><ol></ol>", "<ol></ol><ul></ul>")
    assert found.partners.tolist() == [0, -1, 1]  # the ol has its partner, the ul none


def test_a_direction_with_a_larger_score_comes_before_all_preferences() -> None:
    found = matched("<ul></ul><ol></ol>", "<ul></ul>")
    assert found.partners.tolist() == [0, 1, -1]


def test_the_papers_figure_a_leaf_below_another_parent_is_different() -> None:
    def figure(below_b: str, below_c: str) -> str:
        return f"<div><ul></ul><ol></ol>{below_b}</div><section>{below_c}<table></table></section>"

    leaf = "<form></form>"
    one, other = figure(leaf, ""), figure("", leaf)
    assert names(page(one)) == names(page(other)) == ["body", "div", "section", "ul", "ol", "form", "table"]
    assert matched(one, other).candidates(to_420ths(TS)).tolist() == [names(page(one)).index("form")]
    assert not len(matched(one, one).candidates(to_420ths(TS)))


def small_trees() -> st.SearchStrategy[str]:
    """Well-formed pages with few tags, names and texts, so that much is equal and many scores tie."""
    names = ["div", "div id=a", "div class=x", "div id=a class=x", "div width=5", "div style='left:1px;top:2px'"]
    opening = st.sampled_from([f"<{name}>" for name in [*names, "ul class=x", "ul", "p", "span"]])
    leaf = st.sampled_from(["one", "two two", "", "<img src=1.png>", "<p>one</p>", "<span>two</span>"])

    def element(parts: tuple[str, list[str]]) -> str:
        tag = parts[0].strip("<>").split()[0]
        return f"{parts[0]}{''.join(parts[1])}</{tag}>"

    node = st.recursive(
        leaf, lambda below: st.tuples(opening, st.lists(below, max_size=4)).map(element), max_leaves=12
    )
    return st.lists(node, max_size=5).map("".join)


# --- pages too large for one table


@given(one=small_trees(), other=small_trees())
def test_matching_top_down_pairs_only_similar_children_of_pairs(one: str, other: str) -> None:
    target, similar, threshold = tree(one), tree(other, "a"), to_420ths(TS)
    found = match_top_down(target, similar, threshold)
    full = kind_similarities(target, similar, threshold)
    for column, row in enumerate(found.partners.tolist()):
        if row < 0:
            continue
        assert found.similarities[column] == full[similar.kinds[row], target.kinds[column]]
        if column:
            above = target.parents[column]
            assert found.partners[above] == similar.parents[row]
            assert found.similarities[above] >= threshold
    pairs = [row for row in found.partners.tolist() if row >= 0]
    assert len(pairs) == len(set(pairs))


def test_trees_over_the_limit_of_cells_are_matched_top_down() -> None:
    one, other = tree("<ul></ul><ol></ol>"), tree("<ol></ol><ul></ul>", "b")
    whole, limited = match(one, other, to_420ths(TS)), match(one, other, to_420ths(TS), max_cells=15)
    assert np.array_equal(limited.partners, match_top_down(one, other, to_420ths(TS)).partners)
    assert np.array_equal(limited.partners, whole.partners)


def test_child_lists_longer_than_a_chunk_are_matched_piece_by_piece() -> None:
    many = "".join(f"<div>{number}</div>" for number in range(5_000))
    found = match(tree(many), tree(many.replace(">4321<", ">new<"), "b"), to_420ths(TS))
    assert found.candidates(to_420ths(TS)).tolist() == [4_322]
