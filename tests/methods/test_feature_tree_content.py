from hypothesis import given
from hypothesis import strategies as st

from denoise_crawler.errors import KnowledgeFormatError
from denoise_crawler.methods import MethodChoice
from denoise_crawler.methods.base import Judgement
from denoise_crawler.methods.feature_tree.matching import match
from denoise_crawler.methods.feature_tree.method import (
    FeatureTreeMatching,
    most_similar,
)
from denoise_crawler.methods.feature_tree.nodes import build_target, decode, encode
from denoise_crawler.output.clean_text import clean_text
from denoise_crawler.page import Boxes, Page


def page(html: str, name: str = "a", boxes: "Boxes | None" = None) -> Page:
    return Page.parse(f"https://example.com/{name}", html, boxes=boxes)


def judged(target: str, similar: str, **options: object) -> tuple[str, Judgement]:
    method, one = MethodChoice("feature_tree", options).new(), page(target)
    method.observe(page(similar, "b"))
    judgement = method.judge(one)
    return clean_text(one, judgement.noise), judgement


# --- clusters


# --- indicators and points


# --- from a page to its content

FRAME = (
    "<div id=nav><ul><li><a href=/>Home</a></ul></div><div id=text>{}</div><div id=foot><ul><li>Imprint</ul></div>"
)
STORY = "<p>A ferry ran aground before dawn, and nobody was hurt.</p><p>It was towed away at noon.</p>"
OTHER = "<p>Voters rejected the harbour toll.</p>"


def test_what_the_similar_page_has_as_well_is_noise() -> None:
    text, _ = judged(FRAME.format(STORY), FRAME.format(OTHER))
    assert text == "A ferry ran aground before dawn, and nobody was hurt.\nIt was towed away at noon."


def test_clusters_with_scores_close_to_the_best_are_content_too() -> None:
    def two(first: str, second: str) -> str:
        return f"<div><div><div>{first}</div></div></div><div><div><div>{second}</div></div></div>"

    target, similar = two("<p>The longer of two texts</p>", "<p>The shorter</p>"), two("<p>a</p>", "<p>b</p>")
    assert judged(target, similar, closeness=0)[0] == "The longer of two texts"
    assert judged(target, similar, closeness=25)[0] == "The longer of two texts\nThe shorter"


def test_the_method_says_why() -> None:
    _, judgement = judged(FRAME.format(STORY), FRAME.format(OTHER))
    matched = f"matched a node of the similar page {page('', 'b').key:016x} with similarity 1.00"
    assert judgement.reason(0) == f"{matched}, but holds content"
    assert judgement.reason(1) == matched
    home = page(FRAME).nodes.texts.index("Home")
    assert judgement.reason(home) == f"its element {matched}"
    assert "candidate, cluster 1 with score 15, best is 15" in map(judgement.reason, range(len(judgement.noise)))


def test_a_page_alone_keeps_everything_and_says_so() -> None:
    method, one = MethodChoice("feature_tree").new(), page(FRAME.format(STORY))
    for _ in range(2):
        judgement = method.judge(one)
        assert not any(judgement.noise)
        assert judgement.reason(3) == "no other page of the site to compare with, so all was kept"
        method.observe(one)


def test_a_page_is_never_compared_with_its_own_text_at_another_address() -> None:
    method, one = MethodChoice("feature_tree").new(), page(FRAME.format(STORY))
    method.observe(page(f"<div>{FRAME.format(STORY)}</div>", "print"))
    assert method.judge(one).reason(0) == "no other page of the site to compare with, so all was kept"
    method.observe(page(FRAME.format(OTHER), "b"))
    assert clean_text(one, method.judge(one).noise).startswith("A ferry")


def test_a_page_that_adds_nothing_to_its_similar_page_is_kept_and_says_so() -> None:
    _, judgement = judged("<ul><li>a</ul>", "<ul><li>a</ul><ul><li>b</ul>")
    assert not any(judgement.noise)
    assert judgement.reason(0).endswith("has all that this page has, so all was kept")


def test_the_page_with_most_nodes_of_the_same_names_is_compared_with() -> None:
    method = FeatureTreeMatching(references=9)
    for name, html in {"far": "<ol><li>x</ol>", "near": FRAME.format(OTHER), "mid": FRAME[:60]}.items():
        method.observe(page(html, name))
    similar = most_similar(build_target(page(FRAME.format(STORY))).tree, method.sample)
    assert similar is not None
    assert similar.key == page("", "near").key


# --- large and deep pages


def test_a_page_of_more_cells_than_are_compared_is_judged() -> None:
    def large(text: str) -> str:
        rows = "".join(f"<div class=c{number % 5}><ul><li>{number}</ul></div>" for number in range(1_100))
        return f"<body>{rows}<div id=text><p>{text}</p></div></body>"

    text, judgement = judged(large("alpha"), large("beta"))
    assert len(judgement.noise) > 3_300
    assert text == "alpha"


def test_of_a_very_large_page_no_more_than_a_bounded_tree_is_kept() -> None:
    method, back = FeatureTreeMatching(references=1), FeatureTreeMatching(references=1)
    method.observe(page("<p>1" * 30_000))
    back.merge_bytes(method.to_bytes())
    assert [len(tree) for tree in back.sample] == [20_000]
    assert back.to_bytes() == method.to_bytes()


# --- the set of reference pages

PAGES = [page(FRAME.format(f"<p>story {number}</p>"), str(number)) for number in range(7)]


@given(data=st.data())
def test_well_packed_bytes_are_read_as_the_tree_they_describe_or_raise_an_error(data: st.DataObject) -> None:
    tree = build_target(PAGES[0]).tree
    column = data.draw(st.sampled_from(["parents", "kinds"]))
    numbers = getattr(tree, column).copy()
    place = data.draw(st.integers(1 if column == "parents" else 0, len(numbers) - 1))
    numbers[place] = data.draw(st.integers(0, 99).filter(lambda number: number != numbers[place]))
    setattr(tree, column, numbers)
    try:
        [found] = decode(encode([tree]))
    except KnowledgeFormatError:
        return
    assert getattr(found, column).tolist() == numbers.tolist()
    match(build_target(PAGES[1]).tree, found, 210)
