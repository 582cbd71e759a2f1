"""What every method promises, and the format of the bytes of what it knows."""

from collections.abc import Sequence
from pathlib import Path
from random import Random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from denoise_crawler.errors import DenoiseError, MethodError
from denoise_crawler.methods import METHODS, MethodChoice, apply_guard
from denoise_crawler.output.clean_text import clean_text
from denoise_crawler.page import TEXT, Page
from tests.strategies import html_pages

GOLDEN = Path(__file__).parent / "golden"


def page(number: int, html: str) -> Page:
    return Page.parse(f"https://example.com/{number}", html)


def news(body: str) -> str:
    return f"""<html><body><div class="top"><a href="/">Home</a> <a href="/world">World</a></div>
    <h1>Headline number {body}</h1><div class="text"><p>{body}</p>
    <p class="appeal">The same appeal on every page.</p></div>
    <div class="foot">All rights reserved</div></body></html>"""


STORIES = [
    "A ferry ran aground off the northern cape before dawn",
    "Voters rejected the harbour toll by a narrow margin",
    "The museum bought back its stolen astrolabe",
    "Rain delayed every train across the valley",
    "Scientists counted more seals than in any earlier winter",
]


def test_style_tree_removes_what_stands_on_all_pages_and_keeps_what_is_new() -> None:
    method = MethodChoice("style_tree").new()
    pages = [page(number, news(story)) for number, story in enumerate(STORIES)]
    for one in pages:
        method.observe(one)
    for one, story in zip(pages, STORIES, strict=True):
        assert clean_text(one, method.judge(one).noise) == f"Headline number {story}\n{story}"


def test_style_tree_keeps_what_it_has_never_seen() -> None:
    method = MethodChoice("style_tree").new()
    for number, story in enumerate(STORIES):
        method.observe(page(number, news(story)))
    new = page(9, "<html><body><section><p>Quite another layout</p></section></body></html>")
    judgement = method.judge(new)
    assert clean_text(new, judgement.noise) == "Quite another layout"
    assert judgement.reason(len(new.nodes) - 1) == "the site's other pages do not have this"


def test_link_ratio_removes_blocks_of_links_and_keeps_links_in_sentences() -> None:
    html = "<ul><li><a href=1>One</a><li><a href=2>Two</a></ul><p>A sentence with <a href=3>a link</a> in it.</p>"
    one = page(0, html)
    judgement = MethodChoice("link_ratio").new().judge(one)
    assert clean_text(one, judgement.noise) == "A sentence with a link in it."
    assert judgement.reason(1) == "100% links, over 70%"


@pytest.mark.parametrize("name", sorted(METHODS))
def test_each_method_gives_the_golden_text(name: str) -> None:
    files = sorted(GOLDEN.glob("*.html"))
    pages = [Page.parse(f"https://golden.example/{file.name}", file.read_text("utf-8")) for file in files]
    method = MethodChoice(name).new()
    for one in pages:
        method.observe(one)
    for file, one in zip(files, pages, strict=True):
        expected = file.with_suffix(f".{name}.txt").read_text("utf-8")
        assert clean_text(one, method.judge(one).noise) + "\n" == expected


@pytest.mark.parametrize("name", sorted(METHODS))
@given(pages=st.lists(html_pages(), min_size=1, max_size=4))
def test_no_page_raises_and_a_page_with_text_never_comes_out_empty(name: str, pages: list[str]) -> None:
    method = MethodChoice(name).new()
    parsed = [page(number, html) for number, html in enumerate(pages)]
    for one in parsed:
        method.observe(one)
    for one in parsed:
        judgement = apply_guard(one, method.judge(one))
        assert len(judgement.noise) == len(judgement.scores) == len(one.nodes)
        for index, parent in enumerate(one.nodes.parents):
            assert judgement.noise[index] or parent < 0 or not judgement.noise[parent]
            assert isinstance(judgement.reason(index), str)
        texts = [index for index, tag in enumerate(one.nodes.tags) if tag is TEXT]
        assert not texts or not all(judgement.noise[index] for index in texts)


LEARNING = {"style_tree": "max_pages", "fusion": "max_pages", "feature_tree": "references"}
SITE = st.lists(html_pages(12), min_size=1, max_size=7)


def learned(name: str, pages: Sequence[Page], most: int = 3) -> Any:
    method = MethodChoice(name, {LEARNING[name]: most}).new()
    for one in pages:
        method.observe(one)
    return method


@pytest.mark.parametrize("name", LEARNING)
@given(bodies=SITE, chance=st.randoms())
def test_merging_parts_in_any_order_and_again_equals_learning_all_pages(
    name: str, bodies: list[str], chance: Random
) -> None:
    pages = [page(number, html) for number, html in enumerate(bodies)]
    shuffled = chance.sample(pages, len(pages))
    cut = chance.randint(0, len(pages))
    whole, first, second = (learned(name, some) for some in (pages, shuffled[:cut], shuffled[cut:]))
    back = learned(name, [])
    back.merge_bytes(second.to_bytes())
    for other in (first, second, back):
        back.merge(other)
    first.merge(second)
    assert whole.to_bytes() == first.to_bytes() == back.to_bytes()
    assert whole.pages_known == back.pages_known <= 3
    kept = sorted(pages, key=lambda one: one.key)[:3]
    assert learned(name, kept).to_bytes() == whole.to_bytes() or name == "fusion"  # which counts equal texts once
    for one in pages:
        assert back.knows(one) == whole.knows(one)
        assert back.judge(one).noise == whole.judge(one).noise


@pytest.mark.parametrize("name", LEARNING)
@given(cut=st.integers(0, 2_000), at=st.integers(0, 2_000), bits=st.integers(1, 255))
def test_bytes_that_are_damaged_cut_off_or_no_knowledge_are_refused_and_take_nothing_away(
    name: str, cut: int, at: int, bits: int
) -> None:
    method = learned(name, [page(number, news(story)) for number, story in enumerate(STORIES[:3])])
    data = method.to_bytes()
    flipped = bytearray(data)
    flipped[at % len(data)] ^= bits
    for damaged in (b"", data[: cut % len(data)], bytes(flipped), data[:3] + b"\x63" + data[4:]):
        with pytest.raises(DenoiseError):
            method.merge_bytes(damaged)
        assert method.to_bytes() == data


def test_data_nodes_of_a_style_tree_are_an_option_that_shares_what_it_knows() -> None:
    plain, data = MethodChoice("style_tree").new(), MethodChoice("style_tree", {"data_node": True}).new()
    assert plain.store_key == data.store_key
    pages = [page(number, news(story)) for number, story in enumerate(STORIES)]
    for one in pages:
        plain.observe(one)
    data.merge_bytes(plain.to_bytes())
    # an element with text of its own beside its children: that text counts twice
    html = "<html><body><div>{0} <b>always</b> never {0}</div></body></html>"
    for method in (plain, data):
        for number, story in enumerate(STORIES):
            method.observe(page(10 + number, html.format(story)))
    mixed = page(10, html.format(STORIES[0]))
    scores = [method.judge(mixed).scores[1] for method in (plain, data)]
    assert scores[0] != scores[1]


def test_unknown_methods_and_options_are_named_in_the_error() -> None:
    with pytest.raises(MethodError, match=r"unknown method 'svm'; the methods are .*link_ratio, .*style_tree"):
        MethodChoice("svm").new()
    with pytest.raises(MethodError, match="wrong"):
        MethodChoice("style_tree", {"wrong": 1}).new()


@pytest.mark.parametrize(
    ("name", "option", "value", "message"),
    [
        ("layout_table", "min_width", -1, "min_width must be a number of at least 0, not -1"),
        ("layout_table", "min_width_percent", 101, "min_width_percent must lie between 0 and 100, not 101"),
        ("layout_table", "max_aspect", 0.5, "max_aspect must be a number of at least 1, not 0.5"),
        ("layout_table", "min_area_share", 2, "min_area_share must lie between 0 and 1, not 2"),
        ("layout_table", "min_width", "wide", "not supported"),
        ("node_type", "density", 2, "density must lie between 0 and 1, not 2"),
        ("node_type", "image_width", -1, "image_width must not be negative"),
        ("feature_tree", "similarity_threshold", 0, "similarity_threshold"),
        ("feature_tree", "closeness", -1, "closeness"),
        ("feature_tree", "references", 0, "references"),
        ("style_tree", "gamma", 1.0, "must"),
        ("style_tree", "max_pages", 2**20, "must"),
        ("style_tree", "features_per_leaf", 0, "must"),
        ("link_ratio", "threshold", 7, "threshold must lie between 0 and 1"),
        ("one_look", "title", "perhaps", "title"),
        ("one_look", "comments", "keep", "comments"),
        ("fusion", "favour", "speed", "favour"),
        ("fusion", "comments", True, "comments"),
    ],
)
def test_a_wrong_option_is_named_with_what_it_may_be(name: str, option: str, value: object, message: str) -> None:
    with pytest.raises(MethodError, match=message):
        MethodChoice(name, {option: value}).new()
